"""What answers, runs, hits and papers are as JSON: what Python and the command line give is what the published schema says."""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict, fields
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import UnknownName
from sciretrieve.base.types import Paper, Passage
from tests.command_line import answer as printed_by


def check(value: Any, name: str) -> None:
    jsonschema.validate(value, sr.schema(name), cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", ["paper", "hit", "run", "answer", "count"])
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(sr.schema(name))


def test_another_schema_is_refused() -> None:
    with pytest.raises(UnknownName, match="answer"):
        sr.schema("answers")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Papers with columns of every kind, values missing, near-duplicates, and references to each other."""
    twin = {"title": "Heat flow in wires", "authors": ["A. Bee"]}
    day = datetime.date(2020, 1, 2)
    rows: list[dict[str, Any]] = [
        {"id": "a", **twin, "year": 2001, "x": float("inf"), "day": day, "nested": {"k": [1, None]}, "n": "n/a", "references": ["c"]},
        {"id": "b", **twin, "year": 2002, "x": float("nan"), "day": None, "nested": None, "n": "7", "references": ["c"]},
        {"id": "c", "title": "Heat pumps", "abstract": "They \u001b[31m pump heat.", "x": 1.5, "n": "9", "references": []},
        {"id": "d", "title": "Heat", "venue": "ACL", "doi": "10.1/x", "url": "https://example.org/d", "n": "1", "references": ["a"]},
    ]
    return sr.build(rows, tmp_path_factory.mktemp("odd") / "index", encoder=None, progress=False)


REQUESTS: list[tuple[str, ...]] = [
    ("search", "heat"),
    ("search", "heat", "--explain", "--facets", "year", "--facets", "authors"),
    ("search", "heet", "--sort", "year"),
    ("search", "10.1/x"),
    ("search", "year:2001"),
    ("search", '"no such phrase" heat'),
    ("search", "heat", "--filter", "n > 5"),
    ("similar", "a", "--explain"),
    ("similar", "a", "--by", "citations", "--explain"),
]


@pytest.mark.parametrize("request_words", REQUESTS, ids=" ".join)
def test_what_commands_print_is_of_the_schema(odd: sr.Index, request_words: tuple[str, ...]) -> None:
    command, what, *options = request_words
    answer = json.loads(printed_by(command, what, "-i", odd.path, "--format", "json", *options))
    check(answer, "answer")
    if "--explain" not in options:
        lines = printed_by(command, what, "-i", odd.path, "--format", "jsonl", *options).splitlines()
        assert [json.loads(line) for line in lines] == answer["hits"]
        for line in lines:
            check(json.loads(line), "hit")


def test_a_counted_query_is_of_the_schema(odd: sr.Index) -> None:
    printed = json.loads(printed_by("count", "heat NOT pumps", "-i", odd.path, "--filter", "n > 5", "--until", "2001", "-f", "json"))
    check(printed, "count")
    lines = odd.count_lines("heat NOT pumps", ["n > 5", "year <= 2001"])
    assert printed == {
        "schema": 1,
        "query": "heat NOT pumps",
        "filters": ["n > 5", "year <= 2001"],
        "total": odd.count("heat NOT pumps", ["n > 5", "year <= 2001"]),
        "lines": [asdict(line) for line in lines],
    }


def test_runs_hits_and_papers(index: sr.Index, odd: sr.Index) -> None:
    paper_query = sr.Query("q", paper=index["p0001"])
    for run in (
        index.search(["graph networks", "star"], 3),
        index.search(paper_query, 3, mode="dense"),
        odd.search("n:>5"),
        odd.search("heat"),
    ):
        value = json.loads(run.to_json())
        check(value, "run")
        for ranking, row in zip(run, value["rankings"], strict=True):
            assert row["hits"] == [json.loads(hit.to_json()) for hit in run.hits_of(ranking)]
            for hit in run.hits_of(ranking):
                check(hit.to_dict(), "hit")
                check(json.loads(hit.paper.to_json()), "paper")


def test_no_field_of_a_paper_is_left_out() -> None:
    assert set(Paper("a").to_dict()) == {field.name for field in fields(Paper)}
    assert {field.name for field in fields(sr.Hit)} - {"paper"} <= set(
        sr.Hit(1, 1.0, Paper("a"), {}, index="i", passage=Passage("a", 0, "t")).to_dict()
    )


def test_a_field_that_is_missing_or_new_is_a_fault(odd: sr.Index) -> None:
    whole = sr.answer(odd, sr.Request("heat")).to_dict()
    for name in whole:
        with pytest.raises(jsonschema.ValidationError):
            check({key: value for key, value in whole.items() if key != name}, "answer")
    hit = whole["hits"][0]
    for changed in ({**hit, "new": 1}, {key: value for key, value in hit.items() if key != "year"}, {**hit, "year": "2001"}):
        with pytest.raises(jsonschema.ValidationError):
            check(changed, "hit")
    with pytest.raises(jsonschema.ValidationError):
        check({**whole, "schema": 2}, "answer")


def test_numbers_that_are_not_finite_are_null(odd: sr.Index) -> None:
    papers = {paper.id: paper.to_dict()["extra"] for paper in odd}
    assert [papers[id].get("x") for id in "abc"] == [None, None, 1.5]
    assert papers["a"]["day"] == "2020-01-02"
    assert "Infinity" not in "".join(paper.to_json() for paper in odd)


def test_an_answer_as_a_table_is_in_its_order(odd: sr.Index) -> None:
    answer = sr.answer(odd, sr.Request("heat", sort="year", options=sr.SearchOptions(group=False)))
    table = answer.to_arrow()
    assert table["paper_id"].to_pylist() == [hit.id for hit in answer.hits] == ["b", "a", *table["paper_id"].to_pylist()[2:]]
    assert table["rank"].to_pylist() == [hit.rank for hit in answer.hits]
    assert isinstance(table, pa.Table)
    assert answer.to_pandas()["paper_id"].tolist() == table["paper_id"].to_pylist()
    empty = sr.answer(odd, sr.Request("zebra"))
    assert empty.to_arrow().num_rows == len(empty.hits) == 0


def test_the_command_prints_what_python_gives(index: sr.Index) -> None:
    options = sr.SearchOptions(mode="hybrid", filter="year >= 2005")
    request = sr.Request("graph networks", k=3, options=options, facets=["year"], cluster=True, explain=True)
    words = ("search", "graph networks", "-i", index.path, "--mode", "hybrid", "-k", "3", "--facets", "year", "--cluster", "--explain")
    printed = json.loads(printed_by(*words, "--filter", "year >= 2005", "--format", "json"))
    answer = json.loads(sr.answer(index, request).to_json())
    assert printed | {"total_time_ms": 0} == answer | {"total_time_ms": 0}
