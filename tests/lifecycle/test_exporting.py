"""Exports read back by the programs that users will read them with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.choices import METRICS, Metric
from sciretrieve.errors import InvalidRequest
from sciretrieve.lifecycle.exporting import export


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


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dense", ["flat", "hnsw", "IVF4,Flat"])
def test_faiss_answers_as_the_index_does(built: Callable[..., Any], tmp_path: Path, metric: Metric, dense: str) -> None:
    shutil.copytree(built(metric=metric, shard_size=120).path, tmp_path / "index")
    deleted_ids = sr.open(tmp_path / "index").live_ids()[40:200:2]
    sr.delete(tmp_path / "index", deleted_ids)
    index = sr.open(tmp_path / "index")
    written = export(index, tmp_path / "out.faiss", dense)
    assert written == [tmp_path / "out.faiss", tmp_path / "out.ids.txt"]
    theirs, ids = faiss.read_index(str(written[0])), written[1].read_text().splitlines()
    assert theirs.ntotal == len(ids) == len(index)
    if isinstance(theirs, faiss.IndexIVF):
        theirs.nprobe = 4
    same = 0
    for paper in index.papers(ids[::25]):
        run = index.search(sr.Query("q", paper.title), 10, mode="dense", group=False)
        query = index.encode([sr.Query("q", paper.title)])
        if metric == "cosine":
            faiss.normalize_L2(query)
        _, numbers = theirs.search(query, 10)
        same += len({ids[number] for number in numbers[0].tolist()} & set(run.rankings[0].ids))
    assert same >= (0.95 if dense == "hnsw" else 1) * 10 * len(ids[::25])
    assert not set(deleted_ids) & set(ids)


def test_what_faiss_cannot_make_is_refused(index: sr.Index, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="FAISS has no index type 'Foo'"):
        export(index, tmp_path / "out.faiss", "Foo")
    with pytest.raises(InvalidRequest, match="too few to train a FAISS index of the type PQ8x9"):
        export(index, tmp_path / "out.faiss", "PQ8x9")
    with pytest.raises(InvalidRequest, match=r"`dense='hnsw'` is for FAISS; name a \.faiss file"):
        export(index, tmp_path / "out.npy", "hnsw")
    assert not list(tmp_path.iterdir())


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
