"""`train build labels` and `targets`: what they hold, by plain loops over a thousand made-up papers."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.evaluation.builders import CiteSettings, build_cite
from sciretrieve.training import build_labels, build_targets, leakage, read_training_set
from tests.command_line import sciretrieve
from tests.made_up import write_jsonl
from tests.training.thousand import WORDS, by_id, contents, facts, library, table, usable


def many_keywords() -> list[dict[str, Any]]:
    """The papers with one of 48 keywords each, the first words more often."""
    return [row | {"keywords": WORDS[(place * place) % 97 % len(WORDS)]} for place, row in enumerate(library())]


def test_all_fields_are_labels(tmp_path: Path) -> None:
    build_labels(library(), tmp_path / "set", "fields")
    expected = [[id, field] for id, row in usable(library()).items() for field in row["fieldsOfStudy"]]
    assert table(tmp_path / "set", "labels.tsv") == expected
    papers = by_id(tmp_path / "set" / "corpus.jsonl")
    assert list(papers) == list(dict.fromkeys(id for id, _ in expected))
    assert all(row["title"] == usable(library())[id]["title"] for id, row in papers.items())
    said = facts(tmp_path / "set")
    assert (said["task"], said["recipe"], said["column"], said["papers"], said["labels"]) == (
        ("labels", "fields", "fieldsOfStudy", len(papers), 4)
    )
    read = read_training_set(tmp_path / "set")
    assert read.labels == {id: tuple(row["fieldsOfStudy"]) for id, row in usable(library()).items() if row["fieldsOfStudy"]}


def test_the_thirty_most_frequent_keywords_are_labels(tmp_path: Path) -> None:
    build_labels(many_keywords(), tmp_path / "set", "keywords")
    rows = usable(many_keywords())
    counts = Counter(row["keywords"] for row in rows.values())
    assert len(counts) > 30
    kept = sorted(counts, key=lambda word: (-counts[word], word))[:30]
    assert table(tmp_path / "set", "labels.tsv") == [[id, row["keywords"]] for id, row in rows.items() if row["keywords"] in kept]


def test_a_venue_is_a_label_and_so_is_any_column(tmp_path: Path) -> None:
    build_labels(library(), tmp_path / "venue", "venue")
    rows = usable(library())
    assert table(tmp_path / "venue", "labels.tsv") == [[id, row["venue"]] for id, row in rows.items() if row["venue"]]
    build_labels(library(), tmp_path / "year", "venue", column="year")
    assert {label for _, label in table(tmp_path / "year", "labels.tsv")} <= set(map(str, range(1990, 2021)))


def test_numbers_to_predict(tmp_path: Path) -> None:
    rows = usable(library())
    build_targets(library(), tmp_path / "citations", "citations")
    counts = {id: row["citationCount"] for id, row in rows.items() if row["citationCount"]}
    assert table(tmp_path / "citations", "targets.tsv") == [[id, repr(math.log1p(count))] for id, count in counts.items()]
    build_targets(library(), tmp_path / "year", "year")
    years = {id: row["year"] for id, row in rows.items() if row["year"]}
    found = {id: float(value) for id, value in table(tmp_path / "year", "targets.tsv")}
    assert found == pytest.approx({id: (year - 1990) / 30 for id, year in years.items()}, abs=1e-15)
    assert (min(found.values()), max(found.values())) == (0, 1)
    said = facts(tmp_path / "year")
    assert (said["task"], said["column"], said["least"], said["greatest"]) == ("targets", "year", 1990, 2020)
    build_targets(library(), tmp_path / "number", "number", column="citationCount")
    expected = {id: float(row["citationCount"]) for id, row in rows.items() if row["citationCount"] is not None}
    assert read_training_set(tmp_path / "number").targets == expected


def test_citations_are_counted_in_the_corpus(tmp_path: Path) -> None:
    build_targets(library(), tmp_path / "set", "citations", CiteSettings(references="references", cited=1))
    counts = Counter(other for row in library() for other in row["references"])
    expected = {id: math.log1p(counts[id]) for id in usable(library()) if counts[id]}
    assert read_training_set(tmp_path / "set").targets == expected
    assert facts(tmp_path / "set")["column"] == "references"


def test_citations_by_tested_papers_do_not_count(tmp_path: Path) -> None:
    build_cite(library(), tmp_path / "tests", CiteSettings(queries=200, cited=3, cocited=1000))
    settings = CiteSettings(references="references", cited=1)
    build_targets(library(), tmp_path / "set", "citations", settings, without=(f"beir:{tmp_path / 'tests'}",))
    tested = set(by_id(tmp_path / "tests" / "queries.jsonl"))
    counts = Counter(other for row in library() if row["id"] not in tested for other in row["references"])
    expected = {id: math.log1p(counts[id]) for id in usable(library()) if counts[id] and id not in tested}
    assert read_training_set(tmp_path / "set").targets == expected


@pytest.mark.parametrize("form", ["labels", "targets"])
def test_no_test_query_is_ever_there_and_the_seed_alone_decides(tmp_path: Path, form: str) -> None:
    build_cite(library(), tmp_path / "tests", CiteSettings(queries=60, cited=3, cocited=1000))
    build, recipe = (build_labels, "fields") if form == "labels" else (build_targets, "year")
    name = f"beir:{tmp_path / 'tests'}"
    for folder, seed, without in (("whole", 0, ()), ("set", 0, (name,)), ("again", 0, (name,)), ("other", 1, (name,))):
        build(library(), tmp_path / folder, recipe, CiteSettings(queries=300, cited=1, seed=seed), without=without)
    tested = set(by_id(tmp_path / "tests" / "queries.jsonl"))
    whole, kept, other = ({row[0] for row in table(tmp_path / folder, f"{form}.tsv")} for folder in ("whole", "set", "other"))
    assert len(whole) == len(kept) == len(other) == 300
    assert tested & whole
    assert not tested & kept
    assert leakage(tmp_path / "whole", name).trained_queries
    leak = leakage(tmp_path / "set", name)
    assert (leak.trained_queries, leak.trained_pairs) == ((), ())
    assert leak.trained_relevant
    assert facts(tmp_path / "set")["left_out"] == len(tested)
    assert contents(tmp_path / "set") == contents(tmp_path / "again")
    assert kept != other


def test_the_commands_make_them(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "papers.jsonl", library())
    build = ("train", "build")
    made = sciretrieve(*build, "labels", "--recipe", "venue", "--from", tmp_path / "papers.jsonl", "--to", tmp_path / "labels")
    assert "papers with 3 of 3 labels, read from 'venue'" in made.stderr
    made = sciretrieve(
        *(
            *build,
            "targets",
            "--recipe",
            "number",
            "--set",
            "column=year",
            "--from",
            tmp_path / "papers.jsonl",
            "--to",
            tmp_path / "targets",
        )
    )
    assert "papers with a number from 1990 to 2020, read from 'year'" in made.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labels"], "name how labels are drawn with --recipe: fields, keywords, venue"),
        (["targets"], "name how targets are drawn with --recipe: citations, year, number"),
        (["labels", "--recipe", "field"], "unknown recipe 'field'; did you mean 'fields'"),
        (["labels", "--recipe", "fields", "--set", "column=nothing"], "unknown column 'nothing'"),
        (["labels", "--recipe", "fields", "--mine", "bm25"], "labels have no negatives"),
        (["targets", "--recipe", "number"], "name the column with the number to predict"),
        (["targets", "--recipe", "number", "--set", "column=title"], "the column 'title' says of no paper a number"),
        (["targets", "--recipe", "number", "--set", "column=same"], "'same' has no two different numbers"),
        (["labels", "--recipe", "venue", "--set", "column=same"], "'same' has 1 labels"),
    ],
)
def test_a_wrong_command_is_a_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    write_jsonl(tmp_path / "papers.jsonl", [row | {"same": 3} for row in library()[:100]])
    result = sciretrieve("train", "build", *arguments, "--from", tmp_path / "papers.jsonl", "--to", tmp_path / "set")
    assert result.returncode == 2
    assert message in result.stderr
    assert not (tmp_path / "set").exists()


def test_an_unknown_recipe_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="recipe"):
        build_targets(library(), tmp_path / "set", "other")
    with pytest.raises(InvalidRequest, match="no column says fields"):
        build_labels([{"id": "a", "title": "t", "abstract": "b"}], tmp_path / "set", "fields")
