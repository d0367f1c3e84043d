"""An index that is open is evaluated as one that is named, with the encoder of its user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.evaluation.reports import all_measures
from tests.evaluation.made_up_benchmarks import write_beir
from tests.made_up import made_up_papers
from tests.toy_encoder import LetterEncoder

PAPERS = made_up_papers(30)


@pytest.fixture
def benchmark(tmp_path: Path) -> str:
    """Papers that are sought by their titles."""
    queries = {f"q{row['id']}": row["title"] for row in PAPERS[:5]}
    qrels = {f"q{row['id']}": {row["id"]: 1} for row in PAPERS[:5]}
    return f"beir:{write_beir(tmp_path / 'data', PAPERS, queries, qrels)}"


@pytest.mark.parametrize("mode", ["bm25", "dense", "hybrid"])
def test_an_open_index_is_evaluated(benchmark: str, tmp_path: Path, mode: Any) -> None:
    index = sr.build(PAPERS, tmp_path / "index", encoder=LetterEncoder())
    report = sr.evaluate(benchmark, index=index, mode=mode, progress=False, output=tmp_path / "out").as_json()
    if mode == "bm25":
        by_name = sr.evaluate(benchmark, index=tmp_path / "index", mode=mode, progress=False)
        assert all_measures(report) == all_measures(by_name.as_json())
    assert len(index.search("graph networks", k=3, mode="bm25").hits) == 3  # it stays open
    index.close()
    with pytest.raises(sr.InvalidRequest, match="is closed"):
        sr.evaluate(benchmark, index=index, mode=mode, progress=False)


def test_what_is_not_taken_says_what_is(benchmark: str) -> None:
    with pytest.raises(sr.InvalidRequest, match=r"`encoder` is a name here; build an index .* `index=index`"):
        sr.evaluate(benchmark, encoder=LetterEncoder())  # type: ignore[arg-type]
