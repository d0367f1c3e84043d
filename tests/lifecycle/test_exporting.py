"""Exports read back by the programs that users will read them with."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow.parquet as pq
import pytest
import rispy

import sciretrieve as sr
from sciretrieve.base.choices import METRICS, Metric
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.lifecycle.exporting import export


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dense", ["flat", "hnsw", "IVF4,Flat"])
def test_faiss_answers_as_the_index_does(built: Callable[..., Any], tmp_path: Path, metric: Metric, dense: str) -> None:
    shutil.copytree(built(metric=metric, shard_size=120).path, tmp_path / "index")
    deleted_ids = sr.open(tmp_path / "index").snapshot.live_ids()[40:200:2]
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
        query = index.reader.query_encoder.encode([sr.Query("q", paper.title)])
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


@pytest.mark.parametrize("are_all", [True, False])
def test_papers_are_exported_in_every_form(built: Callable[..., Any], papers: list[dict[str, Any]], tmp_path: Path, are_all: bool) -> None:
    """All, or those that meet a query and pass a filter, found here by plain Python; of an index some of whose papers are deleted."""
    shutil.copytree(built(shard_size=128).path, tmp_path / "index")
    deleted = {paper["id"] for paper in papers[:200:7]}
    sr.delete(tmp_path / "index", sorted(deleted))
    index = sr.open(tmp_path / "index")
    expected = [
        paper["id"]
        for paper in papers
        if paper["id"] not in deleted
        and (are_all or ("star" in f"{paper['title']} {paper['abstract']}".split() and (paper["year"] or 0) >= 2010))
    ]
    rows = None if are_all else index.matching("star", "year >= 2010")
    files = {
        suffix: export(index, tmp_path / f"out.{suffix}", rows=rows)[-1] for suffix in ("parquet", "csv", "ris", "json", "npy", "faiss")
    }
    table = pq.read_table(files["parquet"])
    assert table["id"].to_pylist() == expected
    vectors = np.concatenate([shard.vectors for shard in index.snapshot.vectors])[index.snapshot.rows(expected)]
    np.testing.assert_array_equal(np.stack(table["vector"].to_pylist()).astype(np.float32), vectors)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), vectors)
    assert files["npy"].read_text().splitlines() == expected
    assert faiss.read_index(str(tmp_path / "out.faiss")).ntotal == len(expected)
    with files["csv"].open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == expected
    assert table["citations"].to_pylist() == [paper["citations"] for paper in papers if paper["id"] in expected]
    titles = [paper["title"] for paper in papers if paper["id"] in expected]
    assert [record["title"] for record in rispy.loads(files["ris"].read_text(encoding="utf-8"))] == titles
    assert [item["title"] for item in json.loads(files["json"].read_text(encoding="utf-8"))] == titles


def test_a_table_can_be_indexed_and_computes_nothing(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": "a",
            "title": '=HYPERLINK("x")',
            "authors": ["Ada Lovelace", "Alan Turing"],
            "year": 1999,
            "keywords": ["x", "y, z"],
            "n": -1.5,
        },
        {"id": "b", "title": 'Say "no",\nthen, \u001b[31mgo', "venue": "@ACL", "nested": {"k": [1, None]}, "n": float("nan")},
    ]
    index = sr.build(rows, tmp_path / "index", encoder=None, progress=False)
    (written,) = export(index, tmp_path / "out.csv")
    with written.open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    expected = {"title": '\'=HYPERLINK("x")', "authors": "Ada Lovelace; Alan Turing", "year": "1999", "keywords": "x; y, z", "n": "-1.5"}
    assert {name: first[name] for name in expected} == expected
    assert (second["title"], second["venue"], second["year"], second["n"]) == ('Say "no",\nthen, \ufffd[31mgo', "'@ACL", "", "")
    assert json.loads(second["nested"]) == {"k": [1, None]}
    again = sr.build(written, tmp_path / "again", encoder=None, progress=False)
    assert [(paper.id, paper.authors, paper.year) for paper in again] == [(paper.id, paper.authors, paper.year) for paper in index]


def test_bibliographies_have_keywords_and_no_marks_of_ours(tmp_path: Path) -> None:
    rows = [{"id": "a", "title": "Graphs", "keywords": ["graph theory", "trees"], "year": 2001}]
    index = sr.build(rows, tmp_path / "index", encoder=None, progress=False)
    texts = {suffix: export(index, tmp_path / f"out.{suffix}")[0].read_text(encoding="utf-8") for suffix in ("ris", "json", "bib")}
    assert rispy.loads(texts["ris"])[0]["keywords"] == ["graph theory", "trees"]
    assert json.loads(texts["json"])[0]["keyword"] == "graph theory, trees"
    assert "keywords = {graph theory, trees}" in texts["bib"]
    for text in texts.values():
        assert "sciretrieve" not in text.lower()
        assert "score" not in text


@pytest.mark.parametrize("suffix", ["parquet", "csv", "bib", "npy", "faiss"])
def test_where_no_paper_meets_it_the_export_is_empty(index: sr.Index, tmp_path: Path, suffix: str) -> None:
    written = export(index, tmp_path / f"out.{suffix}", rows=index.matching("graph", "year > 3000"))
    assert all(path.exists() for path in written)
    if suffix == "csv":
        assert len(written[0].read_text().splitlines()) == 1
    if suffix == "parquet":
        assert pq.read_metadata(written[0]).num_rows == 0
