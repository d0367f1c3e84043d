"""What an approximate index finds of the exact answer, now: held against brute force, for a sound index and for a spoilt one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Vectors
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.matching.dense.ann import Ann
from tests.command_line import answer, sciretrieve

PAPERS, SHARD, DIM, K = 150, 75, 8, 10
ALL = 10_000
"""More queries than papers: every paper is one."""
WHOLE = "IVF1,Flat"
"""A type that proposes the true best: all papers are in one list."""


@pytest.fixture(autouse=True)
def asks_faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    """FAISS is asked however few the papers."""
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "v.npy"
    np.save(path, np.random.default_rng(5).normal(size=(PAPERS + 5, DIM)).astype(np.float32))
    path.with_suffix(".ids.txt").write_text("".join(f"p{number:03d}\n" for number in range(PAPERS + 5)))
    return path


@pytest.fixture
def build(vectors: Path, tmp_path: Path) -> Callable[..., Path]:
    def build(papers: int = PAPERS, dense: str = WHOLE, **settings: Any) -> Path:
        settings = {"encoder": f"vectors:{vectors}", "lexical": None, "dense": dense, "shard_size": SHARD} | settings
        sr.build(rows(0, papers), tmp_path / "index", progress=False, **settings).close()
        return tmp_path / "index"

    return build


def rows(first: int, end: int) -> list[dict[str, Any]]:
    return [{"id": f"p{number:03d}", "title": f"Paper {number}"} for number in range(first, end)]


def spoil(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let FAISS propose no paper that stands in an odd row of its shard."""
    candidates = Ann.candidates

    def even(ann: Ann, *arguments: Any) -> Any:
        return [(proposed[proposed % 2 == 0], scores[proposed % 2 == 0]) for proposed, scores in candidates(ann, *arguments)]

    monkeypatch.setattr(Ann, "candidates", even)


def share_of_even(vectors: Vectors) -> float:
    """By brute force: the share of the ten nearest other papers, of all papers, that stand in an even row of their shard."""
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :K]
    return float((nearest % SHARD % 2 == 0).mean())


def answer_lines(*words: str | Path, code: int) -> list[str]:
    result = sciretrieve(*words)
    assert result.returncode == code, result.stderr
    return result.stdout.splitlines()


def test_a_sound_index_finds_all(build: Callable[..., Path]) -> None:
    found = sr.measure_recall(sr.open(build()), queries=ALL, progress=False)
    assert (found.queries, found.k, found.promised, found.is_exact, found.holds) == (PAPERS, K, 0.98, False, True)
    assert (found.whole.type, found.whole.shards, found.whole.papers, found.whole.recall) == (WHOLE, 2, PAPERS, 1.0)
    assert (found.whole.low, found.whole.high) == (round(0.025 ** (1 / PAPERS), 4), 1.0)
    assert found.parts == ()
    assert (found.ef, found.nprobe) == (None, 1)


def test_what_a_spoilt_index_misses_is_counted_as_by_brute_force(
    build: Callable[..., Path], vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build()
    spoil(monkeypatch)
    found = sr.measure_recall(sr.open(path), queries=ALL, progress=False)
    assert found.whole.recall == round(share_of_even(np.load(vectors)[:PAPERS]), 4)
    assert 0 < found.whole.low < found.whole.recall < found.whole.high < 0.98
    assert not found.holds


def test_the_seed_says_which_papers_are_asked(build: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    index = sr.open(build())
    spoil(monkeypatch)
    first, again, other = (sr.measure_recall(index, queries=20, seed=seed, progress=False) for seed in (1, 1, 2))
    assert first == again
    assert first.queries == 20
    assert first.whole.recall != other.whole.recall


def test_deleted_papers_are_neither_queries_nor_answers(build: Callable[..., Path]) -> None:
    path = build()
    sr.delete(path, [f"p{number:03d}" for number in range(0, 60, 2)], progress=False)
    found = sr.measure_recall(sr.open(path), queries=ALL, progress=False)
    assert (found.queries, found.whole.papers, found.whole.recall) == (PAPERS - 30, PAPERS - 30, 1.0)


def test_shards_that_are_searched_in_different_ways_are_told_apart(build: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = build(dense="IVF8,Flat")
    sr.add(rows(PAPERS, PAPERS + 5), path, progress=False)  # too few to train on
    found = sr.measure_recall(sr.open(path), queries=ALL, progress=False)
    assert [(part.type, part.shards, part.papers) for part in found.parts] == [("IVF8,Flat", 2, PAPERS), ("exact", 1, 5)]
    assert (found.whole.type, found.whole.shards, found.whole.papers, found.queries) == ("all", 3, PAPERS + 5, PAPERS + 5)
    spoil(monkeypatch)
    spoilt = sr.measure_recall(sr.open(path), queries=ALL, progress=False)
    assert spoilt.parts[0].recall < spoilt.whole.recall < 1
    assert spoilt.parts[1] == found.parts[1]
    lines = answer_lines("measure-recall", "-i", path, code=1)
    assert [line.split()[0] for line in lines[:4]] == ["type", "IVF8,Flat", "exact", "all"]


@pytest.mark.parametrize(
    "settings", [{"dense": "flat"}, {"encoder": None, "lexical": sr.Bm25Parameters(), "dense": "auto"}], ids=["flat", "bm25"]
)
def test_an_exact_index_has_nothing_to_measure(build: Callable[..., Path], settings: dict[str, Any]) -> None:
    path = build(**settings)
    found = sr.measure_recall(sr.open(path), progress=False)
    assert (found.is_exact, found.holds, found.queries, found.whole.recall) == (True, True, 0, 1.0)
    assert answer("measure-recall", "-i", path) == "its search is exact: there is no recall to measure\n"
    printed = json.loads(answer("measure-recall", "-i", path, "-f", "json"))
    assert printed["is_exact"]


def test_the_command_fails_where_less_is_found_than_promised(build: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = build()
    lines = answer_lines("measure-recall", "-i", path, code=0)
    assert lines[-1] == "150 papers as queries, nprobe 1; the index was built to find 98 %"
    spoil(monkeypatch)
    assert answer_lines("measure-recall", "-i", path, code=1)[-1].startswith("recall is below that: try `sciretrieve reindex`")
    printed = json.loads("\n".join(answer_lines("measure-recall", "-i", path, "-f", "json", code=1)))
    assert printed["whole"]["high"] < printed["promised"]
    assert not printed["holds"]
    assert answer_lines("verify", "-i", path, code=0) == []


def test_no_queries_are_refused(build: Callable[..., Path]) -> None:
    with pytest.raises(InvalidRequest, match="queries must be a whole number, at least 1"):
        sr.measure_recall(sr.open(build()), queries=0, progress=False)
