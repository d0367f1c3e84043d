"""Exports read back by the programs that users will read them with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.errors import InvalidRequest
from sciretrieve.exporting import export


def test_parquet_has_papers_and_vectors(index: sr.Index, papers: list[dict[str, Any]], tmp_path: Path) -> None:
    assert export(index, tmp_path / "out.parquet") == [tmp_path / "out.parquet"]
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["id"].to_pylist() == [paper["id"] for paper in papers]
    assert table["citations"].to_pylist() == [paper["citations"] for paper in papers]
    vectors = np.stack(pd.read_parquet(tmp_path / "out.parquet")["vector"].to_list())
    np.testing.assert_array_equal(vectors, np.concatenate([shard.vectors for shard in index.vectors]))


def test_npy_has_vectors_and_ids(index: sr.Index, papers: list[dict[str, Any]], tmp_path: Path) -> None:
    export(index, tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.concatenate([shard.vectors for shard in index.vectors]))
    assert (tmp_path / "out.ids.txt").read_text().splitlines() == [paper["id"] for paper in papers]


def test_an_export_can_be_indexed(index: sr.Index, tmp_path: Path) -> None:
    export(index, tmp_path / "out.parquet")
    rebuilt_index = sr.build(tmp_path / "out.parquet", tmp_path / "again", encoder=None)
    assert (
        rebuilt_index.search("graph networks", 20, mode="bm25").rankings[0].ids
        == index.search("graph networks", 20, mode="bm25").rankings[0].ids
    )


def test_without_vectors(built: Callable[..., Any], tmp_path: Path) -> None:
    export(built(encoder=None), tmp_path / "out.parquet")
    assert "vector" not in pq.read_schema(tmp_path / "out.parquet").names
    with pytest.raises(InvalidRequest, match="no vectors to export"):
        export(built(encoder=None), tmp_path / "out.npy")


@pytest.mark.parametrize(("name", "words"), [("out.xyz", "cannot export to out.xyz"), ("nowhere/out.npy", "no directory")])
def test_what_cannot_be_written_is_refused(index: sr.Index, tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        export(index, tmp_path / name)
    assert not list(tmp_path.iterdir())
