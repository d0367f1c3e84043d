"""Searching an index: every promise of `Index.search` and `similar` against plain Python over the same papers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import CorruptData, EncoderMismatch, InvalidRequest, NotFound, UnknownName
from sciretrieve.base.types import Query
from sciretrieve.encoders import load_encoder
from sciretrieve.files.writing import describe, write_array
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.matching.search import NO_MATCH, Match
from sciretrieve.query.lookup import Lookup
from tests.edited import edited_manifest
from tests.made_up import made_up_papers

PAPERS = made_up_papers(300)
QUERIES = ["graph networks", "vaccine trial", "orbit of a planet", "market and star", "molecules"]

FILTERS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "year >= 2015": lambda paper: (paper["year"] or 0) >= 2015,
    'venue == "ACL"': lambda paper: paper["venue"] == "ACL",
    "citations > 97": lambda paper: (paper["citations"] or 0) > 97,
    'authors contains "hopper" and not (topic in ("stars", "markets"))': lambda paper: (
        "Grace Hopper" in paper["authors"] and paper["topic"] not in ("stars", "markets")
    ),
    "year > 3000": lambda _: False,
}


def shares_a_term(query: str, paper: dict[str, Any]) -> bool:
    terms = Analyzer().terms
    return bool(set(terms(query)) & set(terms(f"{paper['title']} {paper['abstract']}")))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.sampled_from(QUERIES),
    text=st.sampled_from(sorted(FILTERS)),
    k=st.integers(1, 320),
    mode=st.sampled_from(["hybrid", "dense", "bm25"]),
    dense=st.sampled_from(["flat", "hnsw", "ivf"]),
)
def test_the_filter_promise(built: Callable[..., Any], query: str, text: str, k: int, mode: Mode, dense: str) -> None:
    passing = {paper["id"] for paper in PAPERS if FILTERS[text](paper) and (mode != "bm25" or shares_a_term(query, paper))}
    index = built(shard_size=128, dense=dense)
    ranking = index.search(query, k, mode=mode, filter=text, group=False).rankings[0]
    assert len(ranking.ids) == len(set(ranking.ids)) == min(k, len(passing))
    assert set(ranking.ids) <= passing
    # the same papers as rows
    among = index.search(query, k, mode=mode, among=index.matching("", text), group=False).rankings[0]
    assert (among.ids, among.scores.tolist()) == (ranking.ids, ranking.scores.tolist())


def test_hybrid_shows_what_both_halves_gave(index: sr.Index) -> None:
    halves: dict[str, dict[str, float]] = {}
    for mode in ("dense", "bm25"):
        ranking = index.search("vaccine trial", 300, mode=mode, group=False)[0]
        halves[mode] = dict(zip(ranking.ids, ranking.scores.tolist(), strict=True))
    for hit in index.search("vaccine trial", 300, group=False).hits:
        assert hit.scores["dense"] == pytest.approx(halves["dense"][hit.id])
        assert hit.scores["bm25"] == (pytest.approx(halves["bm25"][hit.id]) if hit.id in halves["bm25"] else None)


def test_hits_carry_the_whole_paper(index: sr.Index) -> None:
    by_id = {paper["id"]: paper for paper in PAPERS}
    for hit in index.search("market price", 30, group=False).hits:
        given = by_id[hit.id]
        for name in ("title", "abstract", "year", "venue"):
            assert getattr(hit.paper, name) == given[name]
        assert list(hit.paper.authors) == given["authors"]
        assert hit.paper.extra.get("citations") == given["citations"]
        assert hit.paper.extra["impact"] == given["impact"]


def test_what_cannot_be_searched_is_refused(index: sr.Index, built: Callable[..., Any]) -> None:
    for call, error, words in (
        (lambda: index.search("  "), InvalidRequest, "empty"),
        (lambda: index.search([]), InvalidRequest, "there is no query"),
        (lambda: index.search(None), InvalidRequest, "a query is a text or a Query, not None"),  # type: ignore[arg-type]
        (lambda: index.similar("10.1145/3341161"), NotFound, "there is no paper '10.1145/3341161'"),
        (lambda: index.papers("10.1145/3341161"), NotFound, "there is no paper '10.1145/3341161'"),
        (lambda: index.search(["x", 3]), InvalidRequest, "a query is a text or a Query, not 3"),  # type: ignore[list-item]
        (lambda: index.corrections(None), InvalidRequest, "the query must be a string, not None"),  # type: ignore[arg-type]
        (lambda: index.papers(3), InvalidRequest, "ids of papers are a string or a list of strings, not 3"),  # type: ignore[arg-type]
        (lambda: index.similar(["p1", 3]), InvalidRequest, "the id must be a string, not 3"),  # type: ignore[list-item]
        (lambda: index.similar(text=3), InvalidRequest, "the text must be a string, not 3"),  # type: ignore[arg-type]
        (lambda: index.search("x", like=3), InvalidRequest, "ids of papers are"),  # type: ignore[arg-type]
        (lambda: index.search("x", vectors=[[1.0]]), InvalidRequest, r"have the shape \(1, \d+\)"),  # type: ignore[arg-type]
        (lambda: index.search("x", 0), InvalidRequest, "at least 1"),
        (lambda: index.search("x", "5"), InvalidRequest, "k must be a whole number, at least 1, not '5'"),  # type: ignore[arg-type]
        (lambda: index.search("x", 5.0), InvalidRequest, "k must be a whole number"),  # type: ignore[arg-type]
        (lambda: index.search("x", 5, "bm25"), InvalidRequest, "as in mode='bm25'"),  # type: ignore[arg-type]
        (lambda: index.search("x", fusion="rff"), UnknownName, "did you mean 'rrf'"),  # type: ignore[arg-type]
        (lambda: index.search("x", mode="densse"), UnknownName, "did you mean 'dense'"),  # type: ignore[arg-type]
        (lambda: index.search("x", filter="yaer > 3"), UnknownName, "did you mean 'year'"),
        (lambda: index.search("x", filter="year >"), InvalidRequest, "cannot be read"),
        (lambda: index.similar(["nowhere"]), NotFound, "no paper 'nowhere'"),
        (lambda: index.similar([]), InvalidRequest, "nothing to be similar to"),
        (lambda: built(encoder=None).search("x", mode="dense"), InvalidRequest, "no vectors"),
        (lambda: built(lexical=None).search("x", mode="hybrid"), InvalidRequest, "no BM25"),
    ):
        with pytest.raises(error, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "modes"), [({"encoder": None}, ("bm25",)), ({"lexical": None}, ("dense",)), ({}, ("hybrid", "dense", "bm25"))]
)
def test_modes_are_those_that_were_built(built: Callable[..., Any], settings: dict[str, Any], modes: tuple[str, ...]) -> None:
    made = built(**settings)
    assert made.modes == modes
    assert made.search("graph networks", 3).mode == modes[0]
    assert made.similar(["p0000"], 3).mode == modes[0]


def copied(index: sr.Index, folder: Path) -> Path:
    return Path(shutil.copytree(index.path, folder / "copy"))


def test_an_index_of_another_format_is_refused(index: sr.Index, tmp_path: Path) -> None:
    path = copied(index, tmp_path)
    with edited_manifest(path) as manifest:
        manifest["format"] = 99
    with pytest.raises(CorruptData, match="format version 99, and this version of sciretrieve reads 2; update sciretrieve"):
        sr.open(path)


def shard(name: str, *files: str, **facts: Any) -> dict[str, Any]:
    return {"name": name, "papers": 300, "files": {file: {"bytes": 1, "sha256": ""} for file in files}, "sources": [0], **facts}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"papers": 7}, "counts or metric"),
        ({"metric": "manhattan"}, "counts or metric"),
        ({"shards": [shard("../../etc")]}, "shard '../../etc'"),
        ({"shards": [shard("000000", "../x")]}, "shard '000000'"),
        ({"shards": [shard("000000", "deleted-000001.npy")]}, "deleted papers of shard '000000'"),
        ({"shards": [shard("000000", deleted=3)]}, "deleted papers of shard '000000'"),
        ({"shards": [shard("000000", "deleted-000001.npy", deleted=301)]}, "deleted papers of shard '000000'"),
        ({"shards": [shard("000000")]}, "lexical files"),
        ({"shards": 3}, "TypeError"),
        ({"sources": [{}]}, "KeyError"),
        ({"surprise": 1}, "TypeError"),
    ],
    ids=str,
)
def test_a_manifest_that_makes_no_sense_is_refused(index: sr.Index, tmp_path: Path, change: dict[str, Any], words: str) -> None:
    path = copied(index, tmp_path)
    with edited_manifest(path) as manifest:
        manifest.update(change)
    with pytest.raises(CorruptData, match=rf"manifest\.json is damaged \(.*{re.escape(words)}"):
        sr.open(path)


def test_an_index_of_another_encoder_is_refused(index: sr.Index, tmp_path: Path) -> None:
    path = copied(index, tmp_path)
    with edited_manifest(path) as manifest:
        manifest["encoder"]["max_length"] = 128
    with pytest.raises(EncoderMismatch, match="minilm here differs in its max_length"):
        sr.open(path, encoder=load_encoder("minilm")).search("x")
    assert sr.open(path).search("graph", mode="bm25").hits


BROKEN = "sta\udcffr"
"""A text as Python has it from bytes that are not UTF-8."""


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.search(BROKEN),
        lambda index: index.search(["star", f'"{BROKEN}" star']),
        lambda index: index.search(f"venue:{BROKEN} star"),
        lambda index: index.search(Query("1", BROKEN)),
        lambda index: index.search("star", filter=f'venue == "{BROKEN}"'),
        lambda index: index.similar([BROKEN]),
        lambda index: index.similar(text=BROKEN),
        lambda index: index.papers([BROKEN]),
    ],
)
def test_broken_bytes_are_refused_in_one_line(index: sr.Index, ask: Callable[[sr.Index], Any]) -> None:
    with pytest.raises(InvalidRequest, match="not UTF-8") as caught:
        ask(index)
    assert "\n" not in str(caught.value)


def test_known_vectors_of_queries_are_not_encoded_again(index: sr.Index) -> None:
    queries = ["graph networks", "star"]
    vectors = index.reader.query_encoder.encode([sr.Query(text, text) for text in queries])
    for mode in ("hybrid", "dense"):
        expected, run = index.search(queries, 20, mode=mode), index.search(queries, 20, mode=mode, vectors=vectors)
        assert [list(ranking.ids) for ranking in run] == [list(ranking.ids) for ranking in expected]
        swapped = index.search(queries, 20, mode=mode, vectors=vectors[::-1])
        assert [list(ranking.ids) for ranking in swapped] != [list(ranking.ids) for ranking in expected]
    ids = index.snapshot.live_ids()[:5]
    query = sr.Query("q", queries[0])
    np.testing.assert_array_equal(index.score(query, ids, vector=vectors[0]), index.score(query, ids))
    titles = [paper.title for paper in index.papers(ids)]
    np.testing.assert_array_equal(index.score(query, titles), index.score(query, index.papers(titles)))
    for wrong in (vectors[:1], vectors[:, :7]):
        with pytest.raises(InvalidRequest, match="the shape"):
            index.search(queries, vectors=wrong)
    with pytest.raises(InvalidRequest, match="the shape"):
        index.score(query, ids, vector=vectors[0, :7])


def test_of_many_unknown_names_the_first_is_said_and_no_other_looked_up(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def named(_: Lookup, text: str) -> Match:
        looked_up.append(text)  # which takes as long as a search
        return NO_MATCH

    monkeypatch.setattr(Lookup, "named", named)
    with pytest.raises(sr.NoSuchPaper, match="'unknown 0'"):
        index.score("graph", [f"unknown {number}" for number in range(1000)])
    assert looked_up == ["unknown 0"]


def test_an_encoder_may_be_given_by_its_name(index: sr.Index) -> None:
    name = index.snapshot.manifest.encoder["name"] if index.snapshot.manifest.encoder else ""
    assert sr.open(index.path, encoder=name).search("graph networks", 3)[0].ids == index.search("graph networks", 3)[0].ids


def test_what_is_no_encoder_is_refused(index: sr.Index) -> None:
    with pytest.raises(InvalidRequest, match=r"`encoder` is a name, vectors by id, or an object with .*, and int has no encode_papers"):
        sr.open(index.path, encoder=3)  # type: ignore[arg-type]


def test_an_index_is_a_mapping_of_ids_to_papers(tmp_path: Path) -> None:
    rows = made_up_papers(50)
    path = tmp_path / "index"
    sr.build(rows, path, encoder=None, shard_size=20, progress=False).close()
    sr.delete(path, ["p0003", "p0041"], progress=False)
    index = sr.open(path)
    live = [row["id"] for row in rows if row["id"] not in ("p0003", "p0041")]
    assert [paper.id for paper in index] == live
    assert len(index) == len(live)
    assert [id in index for id in ("p0000", "p0003", "p0041", "p0049", "nobody", "")] == [True, False, False, True, False, False]
    assert 3 not in index
    assert [index[id] for id in live] == list(index)
    assert index["p0007"].title == rows[7]["title"]
    for missing in ("p0003", "nobody"):
        with pytest.raises(KeyError) as caught:
            index[missing]
        assert isinstance(caught.value, NotFound)
        assert str(caught.value).startswith(f"there is no paper '{missing}' in ")
    with pytest.raises(InvalidRequest, match="must be a string"):
        index[3]  # type: ignore[index]


def test_every_name_of_an_index_can_be_typed(index: sr.Index) -> None:
    index.search("graph networks", 3)
    assert [name for name in dir(index) if not name.isidentifier()] == []


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_frequencies_of_other_terms_are_refused_by_name(tmp_path: Path, kind: Any) -> None:
    path, name = sr.build(PAPERS[:20], tmp_path / "index", encoder=None).path, "lexical/000001/000000.npy"
    terms = len(np.load(path / name))
    write_array(path / name, np.ones(terms - (kind is np.int32), kind))
    with edited_manifest(path) as manifest:
        manifest["lexical"]["files"]["000000.npy"] = describe(path / name)
    with pytest.raises(CorruptData, match=rf"{name} does not match its shard"):
        sr.open(path).search("graph networks")


def test_all_papers_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = sr.build(made_up_papers(50), tmp_path / "index", encoder=None, shard_size=20, progress=False)
    whole = list(index)
    monkeypatch.setattr("sciretrieve.query.index.READ_AT_ONCE", 7)
    assert list(index) == whole
