"""`train build labels` and `targets`: what they hold, by plain loops over a thousand made-up papers."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.evaluation.builders import CiteSettings, build_cite
from sciretrieve.training import build_set, read_training_set
from tests.training.thousand import WORDS, by_id, facts, library, made, table, usable


def many_keywords() -> list[dict[str, Any]]:
    """The papers with one of 48 keywords each, the first words more often."""
    return [row | {"keywords": WORDS[(place * place) % 97 % len(WORDS)]} for place, row in enumerate(library())]


def test_all_fields_are_labels(tmp_path: Path) -> None:
    made("labels", "fields", tmp_path / "set")
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
    assert said["several"]
    assert read.several
    assert read.labels == {id: tuple(row["fieldsOfStudy"]) for id, row in usable(library()).items() if row["fieldsOfStudy"]}


def test_the_thirty_most_frequent_keywords_are_labels(tmp_path: Path) -> None:
    made("labels", "keywords", tmp_path / "set", many_keywords())
    rows = usable(many_keywords())
    counts = Counter(row["keywords"] for row in rows.values())
    assert len(counts) > 30
    kept = sorted(counts, key=lambda word: (-counts[word], word))[:30]
    assert table(tmp_path / "set", "labels.tsv") == [[id, row["keywords"]] for id, row in rows.items() if row["keywords"] in kept]


def test_a_venue_is_a_label_and_so_is_any_column(tmp_path: Path) -> None:
    made("labels", "venue", tmp_path / "venue")
    rows = usable(library())
    assert table(tmp_path / "venue", "labels.tsv") == [[id, row["venue"]] for id, row in rows.items() if row["venue"]]
    assert not read_training_set(tmp_path / "venue").several
    made("labels", "venue", tmp_path / "year", column="year")
    assert {label for _, label in table(tmp_path / "year", "labels.tsv")} <= set(map(str, range(1990, 2021)))


def test_numbers_to_predict(tmp_path: Path) -> None:
    rows = usable(library())
    made("targets", "citations", tmp_path / "citations")
    counts = {id: row["citationCount"] for id, row in rows.items() if row["citationCount"]}
    assert table(tmp_path / "citations", "targets.tsv") == [[id, repr(math.log1p(count))] for id, count in counts.items()]
    made("targets", "year", tmp_path / "year")
    years = {id: row["year"] for id, row in rows.items() if row["year"]}
    found = {id: float(value) for id, value in table(tmp_path / "year", "targets.tsv")}
    assert found == pytest.approx({id: (year - 1990) / 30 for id, year in years.items()}, abs=1e-15)
    assert (min(found.values()), max(found.values())) == (0, 1)
    said = facts(tmp_path / "year")
    assert (said["task"], said["column"], said["least"], said["greatest"]) == ("targets", "year", 1990, 2020)
    made("targets", "number", tmp_path / "number", column="citationCount")
    expected = {id: float(row["citationCount"]) for id, row in rows.items() if row["citationCount"] is not None}
    assert read_training_set(tmp_path / "number").targets == expected


def test_citations_are_counted_in_the_corpus(tmp_path: Path) -> None:
    build_set("targets", library(), tmp_path / "set", "citations", CiteSettings(references="references"))
    counts = Counter(other for row in library() for other in row["references"])
    expected = {id: math.log1p(counts[id]) for id in usable(library()) if counts[id]}
    assert read_training_set(tmp_path / "set").targets == expected
    assert facts(tmp_path / "set")["column"] == "references"


def test_citations_by_tested_papers_do_not_count(tmp_path: Path) -> None:
    build_cite(library(), tmp_path / "tests", CiteSettings(queries=200, cited=3, cocited=1000))
    settings = CiteSettings(references="references")
    build_set("targets", library(), tmp_path / "set", "citations", settings, without=(f"beir:{tmp_path / 'tests'}",))
    tested = set(by_id(tmp_path / "tests" / "queries.jsonl"))
    counts = Counter(other for row in library() if row["id"] not in tested for other in row["references"])
    expected = {id: math.log1p(counts[id]) for id in usable(library()) if counts[id] and id not in tested}
    assert read_training_set(tmp_path / "set").targets == expected
