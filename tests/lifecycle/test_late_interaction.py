"""Token vectors through an index's life: built, interrupted, added to, merged, repaired, in parts, added and removed later."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import IndexExists, InvalidRequest
from sciretrieve.base.types import Vectors
from sciretrieve.lifecycle import building, merging
from sciretrieve.matching.dense.vectors import vectors_at
from sciretrieve.matching.late import matches
from tests.command_line import answer, sciretrieve
from tests.edited import edited_manifest
from tests.lifecycle.test_building import contents
from tests.listeners import Notes, Stop, StopAfter
from tests.made_up import made_up_papers, write_jsonl

PAPERS = 90
QUERY = "graph networks for citation"


build = partial(sr.build, encoder="minilm")
"""The encoder whose indexes have token vectors by default."""


@pytest.fixture(scope="module")
def papers() -> list[dict[str, Any]]:
    return made_up_papers(PAPERS, seed=3)


@pytest.fixture(scope="module")
def corpus(papers: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("late") / "papers.jsonl", papers)


@pytest.fixture(scope="module")
def built(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    return build(corpus, tmp_path_factory.mktemp("late") / "index", shard_size=40)


def by_id(index: sr.Index) -> dict[str, Vectors]:
    """The packed token vectors of each paper."""
    return {
        id: np.array(part.of(row))
        for shard, part in zip(index.snapshot.shards, index.snapshot.tokens, strict=True)
        for row, id in enumerate(shard.ids.to_pylist())
        if shard.scope.flags[row]
    }


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether papers have the same token vectors, but for bytes of a dimension that varies so little that a batch's last bits decide it."""
    alike = one.keys() == other.keys() and all(one[id].shape == other[id].shape for id in one)
    return alike and sum(int((one[id] != other[id]).sum()) for id in one) <= 0.05 * sum(one[id].size for id in one)


def test_the_default_keeps_token_vectors_and_searches_by_them(built: sr.Index) -> None:
    assert built.snapshot.manifest.late is not None
    assert [part.counts.shape for part in built.snapshot.tokens] == [(40,), (40,), (10,)]
    (ranking,) = built.search(QUERY, PAPERS)
    scored = np.isfinite(ranking.parts["tokens"])
    assert scored.all()  # there are fewer than late interaction scores
    assert built.snapshot.packing is not None
    (probe,) = built.reader.probes([QUERY], "hybrid", None)
    assert probe.tokens is not None
    np.testing.assert_array_equal(ranking.parts["tokens"], matches(built.snapshot.tokens, probe.tokens, ranking.rows))
    assert not sr.verify(built.path).faults


def test_scores_of_late_interaction_are_maxsim_of_the_encoders_own_token_vectors(built: sr.Index, papers: list[dict[str, Any]]) -> None:
    """Nearly, for what is stored are means of neighbours in few bits."""
    from sciretrieve.encoders import late, load_encoder

    encoder = late(load_encoder("minilm"))
    (ranking,) = built.search(QUERY, PAPERS)
    (probe,) = built.reader.probes([QUERY], "hybrid", None)
    assert probe.tokens is not None
    query, weights = probe.tokens.vectors, probe.tokens.weights
    assert built.snapshot.bm25 is not None
    own_terms = [built.snapshot.analyzer.terms(word) for word in encoder.words("query", sr.Paper("", QUERY))]
    np.testing.assert_allclose(weights, [built.snapshot.bm25.rarity(term) for terms in own_terms for term in terms])
    text_of = {paper["id"]: sr.Query("", paper=sr.Paper("", paper["title"], paper["abstract"])) for paper in papers}
    _, states = encoder.encode_queries_late([text_of[id] for id in ranking.ids])
    exact = [np.average((query @ tokens.T).max(axis=1).clip(0) ** 4, weights=weights) for tokens in states]
    assert np.corrcoef(exact, ranking.parts["tokens"])[0, 1] > 0.9


def test_an_index_without_them_answers_as_before(corpus: Path, built: sr.Index, tmp_path: Path) -> None:
    plain = build(corpus, tmp_path / "plain", shard_size=40, late=False)
    assert (plain.snapshot.manifest.late, plain.snapshot.tokens) == (None, [])
    (ranking,) = plain.search(QUERY, 5)
    assert "tokens" not in ranking.parts
    np.testing.assert_array_equal(
        np.concatenate([part.vectors for part in plain.snapshot.vectors]), np.concatenate([part.vectors for part in built.snapshot.vectors])
    )
    for mode in ("dense", "bm25"):
        assert plain.search(QUERY, 9, mode=mode)[0].ids == built.search(QUERY, 9, mode=mode)[0].ids
    assert plain.search(QUERY, 9, fusion="rrf")[0].ids == built.search(QUERY, 9, fusion="rrf")[0].ids


def test_an_index_without_them_makes_those_of_the_first_papers_when_asked(corpus: Path, built: sr.Index, tmp_path: Path) -> None:
    plain = build(corpus, tmp_path / "plain", shard_size=40, late=False)
    (stored,) = built.search(QUERY, 9)
    for _ in range(2):  # the second time from the cache
        (made,) = plain.search(QUERY, 9, late=True)
        assert made.ids == stored.ids
        np.testing.assert_allclose(made.parts["tokens"], stored.parts["tokens"], atol=0.01)  # other batches, other last bits
    assert "tokens" not in built.search(QUERY, 9, late=False)[0].parts
    assert built.search(QUERY, 9, late=False)[0].ids == plain.search(QUERY, 9)[0].ids
    shown = answer("search", QUERY, "-i", plain.path, "--rerank", "tokens", "-f", "jsonl", "-k", "3")
    assert [json.loads(line)["id"] for line in shown.splitlines()] == made.ids[:3]
    explained = json.loads(answer("search", QUERY, "-i", plain.path, "--rerank", "tokens", "-f", "json", "-k", "3", "--explain"))
    assert any(hit["explanation"]["meanings"] for hit in explained["hits"])
    with pytest.raises(InvalidRequest, match="late interaction is a part of hybrid search, not of `mode='bm25'`; leave out one of them"):
        plain.search(QUERY, mode="bm25", late=True)


def test_papers_that_were_not_scored_stay_below(built: sr.Index) -> None:
    fusion = sr.Fusion(tokens=0.5, token_depth=7)
    (probe,) = built.reader.probes([QUERY], "hybrid", None)
    (ranking,) = replace(built.searcher, fusion=fusion).search([probe], PAPERS)
    scored = np.isfinite(ranking.parts["tokens"])
    assert scored[:7].all()
    assert not scored[7:].any()
    (before,) = replace(built.searcher, fusion=sr.Fusion(tokens=0)).search([probe], PAPERS)
    assert ranking.ids[7:] == before.ids[7:]
    assert sorted(ranking.ids[:7]) == sorted(before.ids[:7])
    (shorter,) = replace(built.searcher, fusion=fusion).search([probe], 3)
    assert shorter.ids == ranking.ids[:3]


@pytest.mark.parametrize("papers_done", [16, 50, 70])
def test_an_interrupted_build_goes_on_to_the_same_bytes(
    corpus: Path, built: sr.Index, tmp_path: Path, papers_done: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sciretrieve.encoders import text_encoder

    monkeypatch.setattr(text_encoder, "CPU_WINDOW", 8)
    whole = build(corpus, tmp_path / "whole", shard_size=40)
    with pytest.raises(Stop):
        build(corpus, tmp_path / "index", shard_size=40, progress=StopAfter(papers_done, "papers"))
    for path in (tmp_path / "index" / "shards").rglob("tokens.npy"):
        if ".partial" in str(path):  # as if the last writes had been lost
            path.write_bytes(path.read_bytes()[:-500])
    resumed = build(corpus, tmp_path / "index", shard_size=40)
    assert contents(resumed) == contents(whole)


def in_parts(corpus: Path, index: Path, of: int) -> sr.Index:
    for number in range(1, of + 1):
        sr.build_part(corpus, index, f"{number}/{of}", encoder="minilm", shard_size=40)
    sr.index_parts(index)
    return sr.open(index)


def test_parts_of_whole_shards_are_joined_to_the_same_bytes(corpus: Path, built: sr.Index, tmp_path: Path) -> None:
    assert contents(in_parts(corpus, tmp_path / "index", of=3)) == contents(built)


def test_parts_of_smaller_shards_have_the_same_token_vectors(corpus: Path, built: sr.Index, tmp_path: Path) -> None:
    joined = in_parts(corpus, tmp_path / "index", of=2)
    assert [shard.papers for shard in joined.snapshot.manifest.shards] == [40, 5, 35, 10]  # 80 and 10 papers would be too uneven
    assert joined.snapshot.live_ids() == built.snapshot.live_ids()
    assert same(by_id(joined), by_id(built))
    assert not sr.verify(joined.path).faults


def test_parts_with_and_without_are_not_joined(corpus: Path, tmp_path: Path) -> None:
    sr.build_part(corpus, tmp_path / "index", "1/2", encoder="minilm", shard_size=40)
    sr.build_part(corpus, tmp_path / "index", "2/2", encoder="minilm", shard_size=40, late=False)
    with pytest.raises(InvalidRequest, match="have another late interaction"):
        sr.index_parts(tmp_path / "index")


def test_added_papers_have_theirs(papers: list[dict[str, Any]], built: sr.Index, tmp_path: Path) -> None:
    start = write_jsonl(tmp_path / "start.jsonl", papers[:50])
    build(start, tmp_path / "index", shard_size=40)
    sr.add(write_jsonl(tmp_path / "more.jsonl", papers[50:]), tmp_path / "index")
    assert same(by_id(sr.open(tmp_path / "index")), by_id(built))
    assert not sr.verify(tmp_path / "index").faults


def test_each_block_that_is_merged_has_its_own_deleted_papers(
    papers: list[dict[str, Any]], built: sr.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copytree(built.path, tmp_path / "index"))
    gone = [paper["id"] for place, paper in enumerate(papers) if place % 16 < place // 16]
    sr.delete(path, gone)
    monkeypatch.setattr(merging, "BLOCK", 16)
    sr.merge(path)
    merged = sr.open(path)
    left = [id for id in built.snapshot.live_ids() if id not in gone]
    assert sorted(merged.snapshot.live_ids()) == sorted(left)
    assert same(by_id(merged), {id: tokens for id, tokens in by_id(built).items() if id in left})
    rows_before, rows = built.snapshot.rows(left), merged.snapshot.rows(left)
    assert not sr.verify(path).faults
    assert (vectors_at(merged.snapshot.vectors, rows) == vectors_at(built.snapshot.vectors, rows_before)).all()


@pytest.mark.torture
@pytest.mark.parametrize("name", ["shards/000001/tokens.npy", "shards/000000/token-counts.npy", "encoder/late-000001.npy"])
def test_what_is_damaged_is_made_anew(built: sr.Index, tmp_path: Path, name: str) -> None:
    path = Path(shutil.copytree(built.path, tmp_path / "index"))
    damaged = bytearray((path / name).read_bytes())
    damaged[-3] ^= 1
    (path / name).write_bytes(damaged)
    assert [fault.file for fault in sr.verify(path).faults] == [name]
    assert not sr.repair(path).faults
    assert same(by_id(sr.open(path)), by_id(built))


def test_they_are_added_to_an_index_and_removed(corpus: Path, built: sr.Index, tmp_path: Path) -> None:
    path = build(corpus, tmp_path / "index", shard_size=40, late=False).path
    with pytest.raises(IndexExists, match=r"another `late`; `sciretrieve reindex --set late=true -i \S+` adds token vectors to it"):
        build(corpus, path, shard_size=40, late=True)
    sr.delete(path, [sr.open(path).snapshot.live_ids()[5]])
    assert sciretrieve("reindex", "-i", path, "--set", "late=true").returncode == 0
    index = sr.open(path)
    expected = by_id(built)
    assert same(by_id(index), {id: expected[id] for id in index.snapshot.live_ids()})
    assert index.search(QUERY)[0].parts["tokens"].size
    assert not sr.verify(path).faults
    assert "token vectors" in answer("info", "-i", path)
    index.close()
    sr.reindex(path, late=False)
    sr.merge(path)  # which lets go of earlier generations
    assert sr.open(path).snapshot.manifest.late is None
    assert not sr.verify(path).faults
    assert not list(path.rglob("token*.npy"))
    assert "no token vectors" in answer("info", "-i", path)


def test_adding_them_can_be_interrupted(corpus: Path, built: sr.Index, tmp_path: Path, papers: list[dict[str, Any]]) -> None:
    path = build(corpus, tmp_path / "index", shard_size=40, late=False).path
    with pytest.raises(Stop):
        sr.reindex(path, late=True, progress=StopAfter(60, "papers"))
    assert sr.open(path).snapshot.manifest.late is None
    finished = path / "shards" / "000003" / "tokens.npy"
    before = finished.stat().st_ino
    sr.reindex(path, late=True)
    assert finished.stat().st_ino == before
    assert same(by_id(sr.open(path)), by_id(built))


def test_adding_papers_goes_before_adding_them(corpus: Path, tmp_path: Path) -> None:
    path = build(corpus, tmp_path / "index", shard_size=40, late=False).path
    with pytest.raises(Stop):
        sr.reindex(path, late=True, progress=StopAfter(60, "papers"))
    more = [row | {"id": f"new{row['id']}"} for row in made_up_papers(3, seed=9)]
    sr.add(write_jsonl(tmp_path / "more.jsonl", more), path)
    assert not list(path.glob("pending*"))
    sr.reindex(path, late=True)
    index = sr.open(path)
    assert len(by_id(index)) == len(index) == 93


def test_many_papers_are_left_without_by_default(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LATE_PAPERS", 80)

    notes = Notes()
    assert build(corpus, tmp_path / "many", progress=notes).snapshot.manifest.late is None
    assert "token vectors are not kept, since 90 papers are many; `late=True` keeps them, some 5 kB a paper" in notes.texts
    assert build(corpus, tmp_path / "wanted", late=True).snapshot.manifest.late is not None


def test_late_interaction_needs_both_halves(corpus: Path, tmp_path: Path) -> None:
    reason = "`late` adds a part to hybrid search, which needs vectors and BM25"
    with pytest.raises(InvalidRequest, match=reason):
        build(corpus, tmp_path / "index", late=True, encoder=None)
    with pytest.raises(InvalidRequest, match=reason):
        build(corpus, tmp_path / "index", late=True, lexical=None)
    dense_only = build(corpus, tmp_path / "dense", lexical=None)
    assert dense_only.snapshot.manifest.late is None
    with pytest.raises(InvalidRequest, match="has no BM25, and late interaction is a part of hybrid search"):
        sr.reindex(dense_only.path, late=True)


def test_papers_that_were_encoded_in_int8_are_papers(corpus: Path, tmp_path: Path) -> None:
    """Nothing builds such an index any more; those that were built open, grow, and can have token vectors."""
    path = build(corpus, tmp_path / "index", late=False).path
    with edited_manifest(path) as manifest:
        receipt = {"queries": 60, "papers": 90, "ndcg_loss": 0.1, "recall_loss": 0.0, "cosine": 0.99}
        manifest["encoder"] |= {"precision": "int8", "ran_in": ["OpenVINO int8"], "receipt": receipt}
        manifest["build"]["settings"]["precision"] = "int8"
    assert "dimensions, int8 (OpenVINO int8)\n" in answer("info", "-i", path)
    expected = sr.open(path).search("graph networks", 5).rankings[0].ids
    build(corpus, path, late=False)
    sr.add([{"id": "new", "title": "Graphs of networks"}], path)
    opened = sr.open(path)
    assert len(opened) == 91
    assert set(expected) <= {*opened.search("graph networks", 6).rankings[0].ids}
    assert not sr.verify(path).faults
    late = sr.reindex(path, late=True)
    assert late.encoder is not None
    assert late.encoder["precision"] == "fp32"


def test_an_estimate_counts_their_bytes(corpus: Path) -> None:
    with_tokens, without = (sr.estimate(corpus, encoder="minilm", shard_size=40, late=late).bytes for late in (True, False))
    assert with_tokens > 1.2 * without
