"""What all training sets promise, whatever their form and recipe: no test query is in one, the seed decides, what is wrong is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.training import RECIPES, leakage, neighbourhoods
from tests.command_line import sciretrieve
from tests.made_up import write_jsonl
from tests.training.thousand import beir_folder, by_id, contents, facts, library, made, patients_folder, search_file, table, usable

ALL = [(form, recipe) for form, recipes in RECIPES.items() for recipe in recipes]


@pytest.fixture(autouse=True)
def _small_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is promised of `scincl` here holds for any embedding of the citations."""
    monkeypatch.setattr(neighbourhoods, "DIM", 32)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """By recipe, what a set is made of where that is not the papers, or no column is recognised."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "beir").mkdir()
    beir_folder(folder / "beir", papers_too=True)
    search_file(folder / "search.jsonl")
    patients = {"source": patients_folder(folder / "patients")}
    return {
        "queries": {"source": folder / "beir"},
        "scimult-search": {"source": folder / "search.jsonl"},
        "pmc-patients-par": patients,
        "pmc-patients-ppr": patients,
        "number": {"column": "year"},
    }


@pytest.mark.parametrize(("form", "recipe"), ALL)
def test_no_test_query_and_none_of_its_pairs_is_ever_there(
    tmp_path: Path, sources: dict[str, dict[str, Any]], form: str, recipe: str
) -> None:
    """Queries of the tests are papers, known by their ids or their titles, and the very texts that the recipes draw."""
    rows, how = usable(library()), sources.get(recipe, {})
    whole = made(form, recipe, tmp_path / "whole", **how)
    texts = [row["text"] for row in by_id(whole / "queries.jsonl").values()] if (whole / "queries.jsonl").exists() else []
    texts = texts or sorted({word.lower() for row in rows.values() for word in row["keywords"]})
    test = tmp_path / "test"
    (test / "qrels").mkdir(parents=True)
    write_jsonl(test / "corpus.jsonl", [{"_id": f"x{id}", "title": row["title"], "text": row["abstract"]} for id, row in rows.items()])
    by_title = [row for row in rows.values() if row["title"] != "A short note"][::20]
    queries: list[dict[str, str]] = [{"_id": f"t{number}", "text": f"  {text.upper()} !"} for number, text in enumerate(texts[::15])]
    queries += [{"_id": f"x{row['id']}", "title": row["title"], "abstract": "changed"} for row in by_title]
    queries += [{"_id": id, "title": "another title altogether", "abstract": "changed"} for id in list(rows)[7::40]]
    write_jsonl(test / "queries.jsonl", queries)
    judged = [f"{query['_id']}\tx{id}\t1" for query, id in zip(queries, list(rows)[1:], strict=False)]
    (test / "qrels" / "test.tsv").write_text("\n".join(judged) + "\n")
    folder = made(form, recipe, tmp_path / "set", without=(f"beir:{test}",), **how)
    tested_texts = {query["text"].lower().strip(" !.") for query in queries if "text" in query}
    tested_papers = {row["id"] for row in by_title} | set(list(rows)[7::40])
    papers = by_id(folder / "corpus.jsonl")
    assert not tested_papers & {id.split("#")[0] for id in papers}
    if form == "pairs":
        assert not tested_texts & {row["text"].lower().strip(" .") for row in by_id(folder / "queries.jsonl").values()}
        assert not tested_texts & {row["title"].lower() for id, row in papers.items() if id.startswith("label:")}
    before, leak = (leakage(path, f"beir:{test}") for path in (whole, folder))
    assert before.trained_queries
    assert (leak.queries, leak.trained_queries, leak.trained_pairs) == (len(queries), (), ())
    assert leak.trained_relevant
    assert len(table(folder, f"{form}.tsv")) > len(table(whole, f"{form}.tsv")) / 4
    assert facts(folder)["left_out"] > 0


@pytest.mark.parametrize(("form", "recipe"), ALL)
def test_the_seed_alone_decides(tmp_path: Path, sources: dict[str, dict[str, Any]], form: str, recipe: str) -> None:
    how = sources.get(recipe, {})
    first, again, other = (
        made(form, recipe, tmp_path / name, queries=50, seed=seed, **how) for name, seed in (("first", 0), ("again", 0), ("other", 1))
    )
    assert contents(first) == contents(again)
    few, others = ({tuple(row) for row in table(folder, f"{form}.tsv")} for folder in (first, other))
    assert few != others
    assert 15 < len({row[0] for row in few}) <= 50
    if form != "targets" and "label" not in recipe:
        assert few <= {tuple(row) for row in table(made(form, recipe, tmp_path / "whole", **how), f"{form}.tsv")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("labels --recipe venue", "papers with 3 of 3 labels, read from 'venue'"),
        ("targets --recipe number --set column=year", "papers with a number from 1990 to 2020, read from 'year'"),
        ("pairs --recipe label-papers --set column=fieldsOfStudy --set seed=3", "labels are read from 'fieldsOfStudy'"),
        ("triplets --recipe s2orc --set shares=Law=1,Zoology=2", "spread over fields by Law=1,Zoology=2; no papers are of Zoology"),
    ],
)
def test_the_command_makes_them_and_says_of_what(tmp_path: Path, arguments: str, words: str) -> None:
    write_jsonl(tmp_path / "papers.jsonl", library())
    done = sciretrieve("train", "build", *arguments.split(), "--from", tmp_path / "papers.jsonl", "--to", tmp_path / "set")
    assert done.returncode == 0, done.stderr
    assert words in done.stderr
    assert facts(tmp_path / "set")["seed"] == 3 * ("seed=3" in arguments)


def test_the_command_mines(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "papers.jsonl", library())
    sr.build(library(), tmp_path / "index", encoder=None, dense="none", progress=False).close()
    for name, by in (("one", "bm25"), ("other", tmp_path / "index")):
        done = sciretrieve(
            *("train", "build", "pairs", "--recipe", "titles", "--mine", by, "--set", "ranks=2-50", "--queries", "40"),
            *("--from", tmp_path / "papers.jsonl", "--to", tmp_path / name),
        )
        assert done.returncode == 0, done.stderr
        assert "40 pairs of 40 queries; negatives: " in done.stderr
        assert facts(tmp_path / name)["mined"]["ranks"] == [2, 50]
    one, other = contents(tmp_path / "one"), contents(tmp_path / "other")
    assert (one["pairs.tsv"], one["corpus.jsonl"]) == (other["pairs.tsv"], other["corpus.jsonl"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("triplets", "name how triplets are drawn with --recipe: specter, specter2, scimult, scincl, s2orc"),
        ("pairs", "name how pairs are drawn with --recipe: titles, sentences, keywords, queries, pmc-patients-par"),
        ("labels", "name how labels are drawn with --recipe: fields, keywords, venue"),
        ("targets", "name how targets are drawn with --recipe: citations, year, number"),
        ("triplets --recipe spectre", "unknown recipe 'spectre'; did you mean"),
        ("pairs --recipe title", "unknown recipe 'title'; did you mean 'titles'"),
        ("triplets --recipe specter --set cited=500", "the recipe specter makes no triplet"),
        ("triplets --recipe specter --without beir:nowhere", "nowhere"),
        ("triplets --recipe specter --without mdcr", "takes beir:DIR and cite:DIR, not 'mdcr'"),
        *(
            (f"triplets --recipe specter --set shares={text}", "share")
            for text in ("Law=", "Law=x", "Law=0", "=1", "Law=1,", "a=1,a=2", "a=nan", "a=inf")
        ),
        ("pairs --recipe titles --set column=x", "titles and sentences need no column"),
        ("pairs --recipe keywords --set column=abstract_", "unknown column 'abstract_'"),
        ("pairs --recipe titles --set shares=even", "--set shares is for triplets"),
        ("triplets --recipe specter --set column=venue", "the fields of triplets are named with --set field"),
        ("pairs --recipe scimult-labels --mine bm25", "an index has no labels to mine"),
        ("pairs --recipe titles --mine nowhere", "nowhere"),
        ("pairs --recipe titles --set ranks=1-9", "--set ranks is for --mine"),
        ("pairs --recipe titles --mine bm25 --set ranks=9", "--set ranks takes the first and the last rank"),
        ("pairs --recipe titles --mine bm25 --set ranks=9-3", "from one rank to another"),
        ("pairs --recipe queries", "has no qrels/train.tsv"),
        ("pairs --recipe scimult-search", "query 1: 'candidates' is not a list"),
        ("labels --recipe fields --set column=nothing", "unknown column 'nothing'"),
        ("labels --recipe fields --mine bm25", "labels have no negatives"),
        ("labels --recipe venue --set column=same", "'same' has 1 labels"),
        ("targets --recipe number", "name the column with the number to predict"),
        ("targets --recipe number --set column=title", "the column 'title' gives no paper a number"),
        ("targets --recipe number --set column=same", "'same' has no two different numbers"),
    ],
)
def test_a_wrong_command_is_a_line(tmp_path: Path, arguments: str, message: str) -> None:
    write_jsonl(tmp_path / "papers.jsonl", [row | {"same": 3} for row in library()[:200]])
    source = tmp_path if "queries" in arguments else tmp_path / "papers.jsonl"
    result = sciretrieve("train", "build", *arguments.split(), "--from", source, "--to", tmp_path / "set")
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()[-1]) < 400
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("form", "recipe", "source", "error", "message"),
    [
        ("rankings", "x", None, UnknownName, "form"),
        ("pairs", "other", None, UnknownName, "recipe"),
        ("pairs", "queries", Path("nowhere"), NotFound, "there is no BEIR folder at"),
        ("pairs", "queries", [{"id": "a", "title": "t"}], InvalidRequest, "name one BEIR folder"),
        (
            "pairs",
            "sentences",
            [{"id": "a", "title": "t", "abstract": "One sentence is all that it has."}],
            InvalidRequest,
            "makes no pair",
        ),
        ("pairs", "keywords", [{"id": "a", "title": "t", "abstract": "b", "keywords": []}], InvalidRequest, "no column has keywords"),
        ("labels", "fields", [{"id": "a", "title": "t", "abstract": "b"}], InvalidRequest, "no column has fields"),
    ],
)
def test_what_cannot_be_made_is_said(tmp_path: Path, form: str, recipe: str, source: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        made(form, recipe, tmp_path / "set", source)


def test_what_is_no_set_is_said(tmp_path: Path) -> None:
    for path, text, message in (
        (tmp_path / "set.json", "[{]", "is not JSON"),
        (tmp_path / "set.json", '{"query": 1}', "is not a list of"),
        (tmp_path / "set.json", json.dumps([{"query": {"title": "x"}}]), "triplet 1: 'query' is not a paper"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidRequest, match=message):
            leakage(path, "beir:nowhere")
    for place, message in ((tmp_path, r"has no corpus\.jsonl"), (tmp_path / "nothing", "there is no training set at")):
        with pytest.raises(NotFound, match=message):
            leakage(place, "beir:nowhere")
