"""Vectors made elsewhere: each format, each kind of faulty file, and an index made of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Metric
from sciretrieve.base.errors import EncoderMismatch, InvalidRequest, NotFound, WordsAlone
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.stored import StoredVectors
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers

IDS = ["b", "a", "é/1 2"]
VECTORS = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)


def write_lines(path: Path, rows: list[Any]) -> Path:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def rows(ids: list[str], vectors: Vectors, id: str = "paper_id", vector: str = "embedding") -> list[dict[str, Any]]:
    return [{id: one, vector: values.tolist()} for one, values in zip(ids, vectors, strict=True)]


def write(path: Path) -> Path:
    if path.suffix == ".npy":
        np.save(path, VECTORS)
        path.with_suffix(".ids.txt").write_text("\n".join(IDS) + "\n")
    elif path.suffix == ".parquet":
        values = pa.array(VECTORS.tolist(), pa.list_(pa.float64()) if "f64" in path.name else pa.list_(pa.float32(), 5))
        pq.write_table(pa.table({"id": IDS, "vector": values, "other": [1, 2, 3]}), path)
    else:
        write_lines(path, rows(IDS, VECTORS, "doc_id" if "scirepeval" in path.name else "paper_id"))
    return path


@pytest.mark.parametrize("name", ["x.jsonl", "scirepeval.jsonl", "x.jsonl.gz", "x.npy", "x.parquet", "f64.parquet"])
def test_vectors_are_found_by_id(tmp_path: Path, name: str) -> None:
    encoder = load_encoder(f"vectors:{write(tmp_path / name)}")
    assert encoder.dim == 5
    papers = [Paper(id) for id in ("a", "é/1 2", "b", "a")]
    np.testing.assert_array_equal(encoder.encode_papers(papers), VECTORS[[1, 2, 0, 1]])
    np.testing.assert_array_equal(encoder.encode_queries([Query("b", "any"), Query("a", paper=papers[0])]), VECTORS[[0, 1]])
    assert encoder.encode_papers([]).shape == (0, 5)
    assert encoder.identity()["layout"] == "vectors"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.jsonl", b'{"paper_id": "a", "embedding": [1, 2]}\n{"paper_id": "b", "embed', "line 2: not valid JSON"),
        (
            "x.jsonl",
            b'{"paper_id": "a", "embedding": [1, 2]}\n{"paper_id": "b", "embedding": [1]}',
            "line 2: .*has 1 numbers, those before it 2",
        ),
        ("x.jsonl", b'{"paper_id": "a", "embedding": [1, NaN]}', "line 1: .*values that are no numbers"),
        ("x.jsonl", b'{"paper_id": "a", "embedding": ["x"]}', "line 1: .*not a list of numbers"),
        ("x.jsonl", b'{"paper_id": "a", "embedding": [[1, 2]]}', "line 1: .*not a list of numbers"),
        ("x.jsonl", b'{"paper_id": "a", "embedding": []}', "holds no vectors"),
        ("x.jsonl", b'{"paper_id": "a"}', "line 1: expected an object with a paper_id and an embedding"),
        ("x.jsonl", b"[1, 2]", "line 1: not a JSON object"),
        ("x.jsonl", b'{"paper_id": 1, "embedding": [1]}\n{"paper_id": "1", "embedding": [1]}', "line 2: the id '1' was in an earlier line"),
        ("x.jsonl", b"\n", "holds no vectors"),
        ("x.npy", b"no array", r"cannot be read as a \.npy file"),
        ("x.parquet", b"PAR1 and no more", "cannot be read as Parquet"),
        ("x.csv", b"a,1", "not in a format that vectors are read from"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidRequest, match=words):
        _ = load_encoder(f"vectors:{tmp_path / name}").dim


def test_a_bad_npy_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, VECTORS)
    for ids, vectors, words in (
        (None, VECTORS, r"needs its ids beside it: x\.ids\.txt"),
        ("a\nb\n", VECTORS, r"shape \(3, 5\).*2 ids"),
        ("a\nb\na\n", VECTORS, "line 3: the id 'a' is in line 1 already"),
        ("a\nb\nc\n", np.where(VECTORS[1, 1] == VECTORS, np.nan, VECTORS), "row 1: the vector of 'b' has values that are no numbers"),
        ("a\nb\nc\n", VECTORS[0], r"shape \(5,\)"),
        ("a\nb\nc\n", VECTORS.astype(int), "int64"),
    ):
        np.save(path, vectors)
        if ids is not None:
            (tmp_path / "x.ids.txt").write_text(ids)
        with pytest.raises(InvalidRequest, match=words):
            _ = load_encoder(f"vectors:{path}").dim
    with pytest.raises(NotFound, match="there are no vectors"):
        load_encoder("vectors:absent.npy")


@pytest.fixture
def stored(corpus: Path, tmp_path: Path) -> tuple[sr.Index, Vectors]:
    """An index of the made-up papers with vectors of our own, compared by inner product."""
    papers = made_up_papers(300)
    vectors = np.random.default_rng(1).normal(size=(300, 7)).astype(np.float32)
    path = write_lines(tmp_path / "v.jsonl", rows([paper["id"] for paper in papers], vectors)[::-1])
    return sr.build(corpus, tmp_path / "stored", encoder=f"vectors:{path}", metric="ip"), vectors


def test_an_index_of_vectors_made_elsewhere(stored: tuple[sr.Index, Vectors], tmp_path: Path) -> None:
    index, vectors = stored
    np.testing.assert_array_equal(np.concatenate([shard.vectors for shard in index.snapshot.vectors]), vectors)
    queries = write_lines(tmp_path / "q.jsonl", rows(["q1", "q2"], vectors[:2] + 1))
    searched = sr.open(index.path, encoder=load_encoder(f"vectors:{queries}"))
    run = searched.search([Query("q1", "graph"), Query("q2", "star")], 5, mode="dense")
    for ranking, query in zip(run.rankings, vectors[:2] + 1, strict=True):
        assert ranking.ids == [f"p{row:04d}" for row in np.argsort(-(vectors @ query))[:5]]
    assert (
        index.similar(["p0003"], 3, mode="dense").rankings[0].ids
        == [f"p{row:04d}" for row in np.argsort(-(vectors @ vectors[3])) if row != 3][:3]
    )
    assert index.search("graph", 3, mode="bm25").hits


def test_typed_texts_are_answered_by_words_alone(tmp_path: Path) -> None:
    """A typed query has no id of its own, and must not get the vector of a paper whose id is its number."""
    papers = [{"id": str(number), "title": title} for number, title in enumerate(["Graphs", "Zebra finches", "Stars"], 1)]
    path = write_lines(tmp_path / "v.jsonl", rows(["1", "2", "3"], np.eye(3, dtype=np.float32)))
    index = sr.build(papers, tmp_path / "index", encoder=f"vectors:{path}")
    with pytest.warns(WordsAlone, match="made elsewhere"):
        run = index.search("zebra")
    assert (run.mode, [hit.id for hit in run.hits]) == ("bm25", ["2"])
    assert index.search(Query("1", "zebra")).mode == "hybrid"
    with pytest.warns(WordsAlone):
        mixed = index.search([Query("1", "zebra"), Query("9", "zebra")])
    assert [ranking.lacks for ranking in mixed] == [None, "meaning"]
    assert index.search("zebra", vectors=np.eye(3, dtype=np.float32)[:1], mode="dense").hits[0].id == "1"
    with pytest.raises(InvalidRequest, match="nothing here encodes a query; give the query as a vector, name the encoder"):
        index.search("zebra", mode="dense")
    assert "answered by words alone" in sciretrieve("search", "zebra", "-i", index.path, "--explain").stderr
    assert "search with --mode bm25" in sciretrieve("search", "zebra", "-i", index.path, "--mode", "dense").stderr
    assert "by words alone" not in sciretrieve("search", "zebra", "-i", index.path, "--mode", "bm25").stderr


def test_a_review_goes_by_the_words_where_nothing_encodes_its_query(tmp_path: Path) -> None:
    """And not by the vector of the paper whose id is a typed query's number, which stands apart here."""
    papers = [{"id": str(number), "title": title} for number, title in enumerate(["Zebra finches", "Zebra song", "Graphs", "Stars"], 1)]
    vectors = np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1]], np.float32)
    sessions = []
    for name in ("1", "one"):  # the first paper's id
        ids = [name, "2", "3", "4"]
        path = write_lines(tmp_path / f"{name}.jsonl", rows(ids, vectors))
        index = sr.build(
            [{**paper, "id": id} for paper, id in zip(papers, ids, strict=True)], tmp_path / name, encoder=f"vectors:{path}", progress=False
        )
        with sr.Screening(index, tmp_path / f"{name}.csv", "stars") as session:
            with pytest.warns(WordsAlone):
                session.next(1)
            session.decide(relevant=["3"])
            sessions.append([paper.title for paper in session.next(3)])
    assert sessions[0] == sessions[1]


def test_other_ids_make_other_vectors_and_files_are_read_once(tmp_path: Path) -> None:
    encoder = StoredVectors(write(tmp_path / "v.npy"))
    before = encoder.identity()
    (tmp_path / "v.ids.txt").write_text("\n".join(IDS[::-1]) + "\n")
    assert encoder.identity() == before
    assert StoredVectors(tmp_path / "v.npy").identity() != before


def test_vectors_of_another_width_are_refused(stored: tuple[sr.Index, Vectors], tmp_path: Path) -> None:
    queries = write_lines(tmp_path / "narrow.jsonl", rows(IDS, VECTORS))
    with pytest.raises(EncoderMismatch, match=r"built with the encoder vectors:.*v\.jsonl.*narrow\.jsonl here differs in its dim"):
        sr.open(stored[0].path, encoder=load_encoder(f"vectors:{queries}")).search(Query("a", "graph"), mode="dense")


def test_a_corpus_with_papers_that_have_no_vector_is_refused(corpus: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "few.jsonl", rows(["p0000"], VECTORS[:1]))
    with pytest.raises(InvalidRequest, match="has no vector of 'p0001', nor of 298 others"):
        sr.build(corpus, tmp_path / "few", encoder=f"vectors:{path}")
    assert not (tmp_path / "few").exists()


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet"])
def test_an_empty_vector_is_known_to_be_none(tmp_path: Path, name: str) -> None:
    rows = [{"paper_id": "a", "embedding": [1.0, 2.0]}, {"paper_id": "b", "embedding": []}]
    if name == "x.jsonl":
        write_lines(tmp_path / name, rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
    encoder = StoredVectors(tmp_path / name)
    assert (set(encoder.rows), encoder.empty) == ({"a"}, {"b"})
    with pytest.raises(InvalidRequest, match="has no vector of 'b'"):
        encoder.encode(["a", "b"])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1e19])
def test_vectors_that_cannot_be_compared_are_refused(value: float, tmp_path: Path) -> None:
    """Distances between such would overflow, and the papers be lost."""
    vectors = np.eye(3, dtype=np.float32)
    papers = [{"id": id, "title": "Graphs"} for id in "abc"]
    index = sr.build(papers, tmp_path / "index", encoder=f"vectors:{write_lines(tmp_path / 'v.jsonl', rows(list('abc'), vectors))}")
    vectors[1, 1] = value
    with pytest.raises(InvalidRequest, match="the vector of query 2 has values that are no numbers, or is too long"):
        index.search(["graphs", "networks", "stars"], vectors=vectors, mode="dense")
    np.save(tmp_path / "w.npy", vectors)
    (tmp_path / "w.ids.txt").write_text("a\nb\nc\n")
    with pytest.raises(InvalidRequest, match="row 1: the vector of 'b' has values that are no numbers, or is too long"):
        sr.build(papers, tmp_path / "other", encoder=f"vectors:{tmp_path / 'w.npy'}")


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_the_longest_vectors_are_compared_as_any(metric: Metric, tmp_path: Path) -> None:
    vectors = np.array([[2.0**62, 0], [-(2.0**62), 0], [0, 1]], np.float32)
    path = write_lines(tmp_path / "v.jsonl", rows(list("abc"), vectors))
    index = sr.build([{"id": id, "title": "Graphs"} for id in "abc"], tmp_path / "index", encoder=f"vectors:{path}", metric=metric)
    assert index.search("graphs", vectors=vectors[:1], mode="dense").rankings[0].ids == ["a", "c", "b"]
