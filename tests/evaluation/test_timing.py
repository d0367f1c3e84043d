"""Run times: what is counted and what is not, what a report says of it, and how systems compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sciretrieve.evaluation import evaluate, replay
from sciretrieve.evaluation.timing import Times, line, relative, repeated, repeated_lines
from tests.evaluation.made_up_benchmarks import write_beir
from tests.made_up import made_up_papers


def test_what_was_there_already_is_not_timed(tmp_path: Path) -> None:
    papers = made_up_papers(30)
    # no run of the tests has asked for these before
    queries = {f"q{at}": f"{row['title']} {uuid4()}" for at, row in enumerate(papers[:8])}
    write_beir(tmp_path / "data", papers, queries, {f"q{at}": {row["id"]: 1} for at, row in enumerate(papers[:8])})
    options: dict[str, Any] = {"encoder": "minilm", "cache": tmp_path / "cache"}

    def counts(report: Any) -> dict[str, float]:
        return {name: value for name, value in report.as_json()["times"].items() if not name.endswith("seconds")}

    first = evaluate(f"beir:{tmp_path / 'data'}", output=tmp_path / "out", **options)
    assert counts(first) == {"indexed_papers": 30, "encoded_queries": 8, "answered_queries": 8}
    assert all(value > 0 for value in first.as_json()["times"].values())
    assert json.loads((tmp_path / "out/receipt.json").read_text())["times"] == first.as_json()["times"]
    again = evaluate(f"beir:{tmp_path / 'data'}", **options)
    assert counts(again) == {"answered_queries": 8}
    assert "not measured for the vectors of papers and queries, which were there already" in "\n".join(again.lines())
    hybrid = evaluate(f"beir:{tmp_path / 'data'}", mode="hybrid", **options)
    assert counts(hybrid) == {"answered_queries": 8}
    words = evaluate(f"beir:{tmp_path / 'data'}", mode="bm25", cache=tmp_path / "cache")
    assert counts(words) == {"indexed_papers": 30, "answered_queries": 8}
    assert "vectors" not in line(words.times, "bm25")
    # times differ from run to run, and a receipt is of figures
    assert replay(tmp_path / "out/receipt.json")[1] == []
    scores = evaluate(f"beir:{tmp_path / 'data'}", scores=tmp_path / "out/run.json")
    assert scores.times == {}


def test_searching_is_without_getting_vectors() -> None:
    times = Times(answered=4, answering=3.0, preparing=1.0)
    assert times.as_json() == {"answered_queries": 4, "searching_seconds": 2.0}
    assert line(times.as_json(), "bm25") == "times: searching 500 ms a query (4)"


def test_times_are_compared_only_where_runs_were_repeated() -> None:
    def row(papers: int, seconds: float) -> dict[str, float]:
        return {"indexed_papers": papers, "indexing_seconds": seconds}

    once = {"answered_queries": 10, "searching_seconds": 1.0}
    runs = {"a": [row(100, 10.0) | once, row(10, 3.0)], "b": [row(50, 10.0), row(10, 8.0), {}], "c": [row(1, 1.0) | once]}
    assert repeated(runs["a"]) == {"indexing": [pytest.approx(0.1), pytest.approx(0.3)]}
    assert relative(runs) == {"a": {"indexing": pytest.approx(1.0)}, "b": {"indexing": pytest.approx(2.5)}, "c": {}}
    assert relative({"c": runs["c"], "a": runs["a"]}) == {"c": {}, "a": {}}
    assert repeated_lines(runs) == [
        "a: indexing 200 ms a paper (100 to 300 in 2 runs)",
        "b: indexing 500 ms a paper (200 to 800 in 2 runs), 2.50x a",
    ]
