"""Vectors alone: each format and side, resuming, and what is refused."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import BadPaper, IndexExists, InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder
from tests.listeners import Stop, StopAfter
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = [Paper(row["id"], row["title"], row["abstract"]) for row in made_up_papers(300)]


@pytest.mark.parametrize("name", ["out.jsonl", "out.npy", "out.parquet"])
def test_what_is_written_is_read_back_as_vectors_made_elsewhere(corpus: Path, tmp_path: Path, name: str) -> None:
    assert sr.encode(corpus, tmp_path / name) == 300
    stored_vectors = load_encoder(f"vectors:{tmp_path / name}")
    np.testing.assert_array_equal(stored_vectors.encode_papers(PAPERS), load_encoder("minilm").encode_papers(PAPERS))
    assert {path.name for path in tmp_path.iterdir()} == {name} | ({"out.ids.txt"} if name == "out.npy" else set())


@pytest.mark.parametrize(("like", "key"), [("scidocs", "paper_id"), ("scirepeval", "doc_id")])
def test_json_lines_as_the_benchmarks_write_them(corpus: Path, tmp_path: Path, like: Any, key: str) -> None:
    sr.encode(corpus, tmp_path / "out.jsonl", like=like, limit=3)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [set(row) for row in rows] == [{key, "embedding"}] * 3
    assert [row[key] for row in rows] == ["p0000", "p0001", "p0002"]
    assert len(rows[0]["embedding"]) == load_encoder("minilm").dim


def test_parquet_has_a_list_column(corpus: Path, tmp_path: Path) -> None:
    sr.encode(corpus, tmp_path / "out.parquet", limit=5)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["id", "embedding"]
    assert str(table.schema.field("embedding").type) == f"fixed_size_list<element: float>[{load_encoder('minilm').dim}]"


def test_queries_are_read_by_the_query_side(tmp_path: Path, models: Path) -> None:
    from tests.toy_weights import write_bert

    write_bert(models / "intfloat" / "e5-base-v2", 1)
    (tmp_path / "q.tsv").write_text("a\tgraph networks\nb\tvaccine\n")
    rows = [{"id": "c", "title": "graph", "abstract": "citation"}, {"id": "d", "text": "paper"}]
    write_jsonl(tmp_path / "q.jsonl", rows)
    write_jsonl(tmp_path / "papers.jsonl", rows[:1])
    encoder = load_encoder("e5-base-v2", precision="fp32")
    for name, queries in (
        ("q.tsv", [Query("a", "graph networks"), Query("b", "vaccine")]),
        ("q.jsonl", [Query("c", paper=Paper("c", "graph", "citation")), Query("d", "paper")]),
    ):
        assert sr.encode(tmp_path / name, tmp_path / "out.npy", encoder=encoder, side="query", overwrite=True) == 2
        np.testing.assert_allclose(np.load(tmp_path / "out.npy"), encoder.encode_queries(queries), atol=1e-5)
    # a corpus in a format that no queries come in: its papers stand in place of queries
    (tmp_path / "papers.csv").write_text("id,title,abstract\nc,graph,citation\n")
    sr.encode(tmp_path / "papers.csv", tmp_path / "out.npy", encoder=encoder, side="query", overwrite=True)
    as_query = encoder.encode_queries([Query("c", paper=Paper("c", "graph", "citation"))])
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), as_query, atol=1e-5)
    assert not np.allclose(as_query, encoder.encode_papers([Paper("c", "graph", "citation")]), atol=1e-3)


@pytest.mark.parametrize("name", ["out.jsonl", "out.npy", "out.parquet"])
def test_a_run_that_stops_at_any_step_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A step is a system call that forces to disk, renames, removes or makes something."""
    monkeypatch.setattr(LetterEncoder, "window", 4)
    source = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(10))
    (tmp_path / "whole").mkdir()
    sr.encode(source, tmp_path / "whole" / name, encoder=LetterEncoder())
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    steps_left = stop_at = 0

    def stopping(call: Any) -> Any:
        def step(*args: Any, **kwargs: Any) -> Any:
            nonlocal steps_left
            steps_left -= 1
            if steps_left == 0:
                raise Stop
            return call(*args, **kwargs)

        return step

    for function in ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir", "truncate"):
        monkeypatch.setattr(os, function, stopping(getattr(os, function) if function != "fsync" else lambda handle: None))
    while True:
        stop_at += 1
        folder = tmp_path / str(stop_at)
        folder.mkdir()
        steps_left = stop_at
        with suppress(Stop):
            sr.encode(source, folder / name, encoder=LetterEncoder())
        if steps_left > 0:
            break
        whole_already = (folder / name).exists()
        sr.encode(source, folder / name, encoder=LetterEncoder(), overwrite=whole_already)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole
    assert stop_at > 15


@pytest.mark.parametrize("torn", [b'"p012', b"\0\0\0\0\0\0\0\0", b"\0\0\0\0\0\0\0\n"])
def test_a_torn_last_id_is_left_out(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torn: bytes) -> None:
    monkeypatch.setattr(LetterEncoder, "window", 64)
    with pytest.raises(Stop):
        sr.encode(corpus, tmp_path / "out.npy", encoder=LetterEncoder(), progress=StopAfter(128))
    ids = tmp_path / "out.npy.partial" / "ids.jsonl"
    ids.write_bytes(ids.read_bytes().removesuffix(b'"p0127"\n') + torn)
    encoder = LetterEncoder()
    assert sr.encode(corpus, tmp_path / "out.npy", encoder=encoder) == 300
    assert len(encoder.asked) == 300 - 64
    assert (tmp_path / "out.ids.txt").read_text().split() == [paper.id for paper in PAPERS]
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), LetterEncoder().encode_papers(PAPERS))


def test_ids_without_their_vectors_are_left_out(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LetterEncoder, "window", 64)
    with pytest.raises(Stop):
        sr.encode(corpus, tmp_path / "out.npy", encoder=LetterEncoder(), progress=StopAfter(128))
    os.truncate(tmp_path / "out.npy.partial" / "vectors.f32", 100 * 4 * LetterEncoder.dim)
    encoder = LetterEncoder()
    sr.encode(corpus, tmp_path / "out.npy", encoder=encoder)
    assert len(encoder.asked) == 300 - 64
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), LetterEncoder().encode_papers(PAPERS))


def test_what_is_there_is_not_replaced(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out.npy").write_text("precious")
    with pytest.raises(IndexExists, match="is there already"):
        sr.encode(corpus, tmp_path / "out.npy")
    assert (tmp_path / "out.npy").read_text() == "precious"
    with pytest.raises(Stop):
        sr.encode(corpus, tmp_path / "part.npy", progress=StopAfter(1))
    with pytest.raises(IndexExists, match="unfinished run of other papers or another encoder"):
        sr.encode(corpus, tmp_path / "part.npy", side="query")
    assert sr.encode(corpus, tmp_path / "part.npy", limit=4, overwrite=True) == 4


def test_bad_rows_and_bad_targets(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "x.jsonl", [{"id": "a", "title": "good"}, {"title": " "}, {"id": "b"}])
    assert sr.encode(tmp_path / "x.jsonl", tmp_path / "out.jsonl") == 1
    assert len((tmp_path / "out.jsonl.rejected.jsonl").read_text().splitlines()) == 2
    with pytest.raises(BadPaper, match="row 2"):
        sr.encode(tmp_path / "x.jsonl", tmp_path / "strict.jsonl", strict=True)
    with pytest.raises(InvalidRequest, match=r"name a \.jsonl, \.npy or \.parquet file"):
        sr.encode(tmp_path / "x.jsonl", tmp_path / "out.txt")
    with pytest.raises(InvalidRequest, match="there is no directory"):
        sr.encode(tmp_path / "x.jsonl", tmp_path / "no" / "out.npy")
    write_jsonl(tmp_path / "none.jsonl", [{"id": "a", "title": ""}])
    with pytest.raises(InvalidRequest, match="there is nothing to encode"):
        sr.encode(tmp_path / "none.jsonl", tmp_path / "none.npy")
    assert not (tmp_path / "none.npy.partial").exists()
