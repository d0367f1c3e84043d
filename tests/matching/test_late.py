"""Token vectors in few bytes, and their scores: against the same done one token at a time, and MaxSim written out."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import CorruptData
from sciretrieve.base.types import Vectors
from sciretrieve.files.writing import write_array
from sciretrieve.matching.late import (
    Packing,
    QueryTokens,
    TokenShard,
    learn,
    levels,
    match,
    matches,
    packed_texts,
    read_packing,
    write_packing,
)

DIM = 24


def states(texts: list[int], seed: int = 0, dim: int = DIM) -> Vectors:
    """Unit vectors for texts of so many tokens, in some directions more than in others."""
    vectors = np.random.default_rng(seed).normal(size=(sum(texts), dim)) * np.linspace(3, 0.1, dim)
    units: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return units


@pytest.fixture(scope="module")
def packing() -> Packing:
    return learn(states([200] * 20))


def test_each_dimension_takes_the_nearest_of_four_levels(packing: Packing) -> None:
    vectors = states([60], 1)
    packed, counts = packing.pack(vectors, np.array([60]))
    assert (packed.shape, str(packed.dtype), counts.tolist()) == ((60, DIM // 4), "uint8", [60])
    scaled = (vectors @ packing.rotation - packing.mean) / packing.scale
    four = np.array([-1.5, -0.5, 0.5, 1.5]) * 0.9957
    nearest = np.abs(scaled[:, :, None] - four).argmin(axis=2)
    clear = np.abs(np.abs(scaled[:, :, None]) - np.array([0, 0.9957])).min(axis=2) > 1e-4  # at an edge, a last bit may decide
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(levels(packed)[clear], 2 * nearest[clear] - 3)
    expected = four[((levels(packed) + 3) / 2).astype(int)] * packing.scale + packing.mean
    np.testing.assert_allclose(packing.lengths(packed), np.linalg.norm(expected, axis=1), rtol=1e-5)
    np.testing.assert_allclose(packing.unpack(packed), expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)


def test_what_is_packed_is_near_what_it_was(packing: Packing) -> None:
    vectors = states([1] * 500, 2)
    packed, _ = packing.pack(vectors, np.ones(500, np.int64))
    back = packing.unpack(packed) @ packing.rotation.T
    assert (back * vectors).sum(axis=1).mean() > 0.93


def test_dimensions_that_vary_most_are_kept() -> None:
    wide = states([50] * 40, 3, 300)
    packing = learn(wide)
    assert packing.rotation.shape == (300, 192)
    np.testing.assert_allclose(packing.rotation.T @ packing.rotation, np.eye(192), atol=1e-5)
    kept = ((wide @ packing.rotation) ** 2).sum()
    _, singular_values, _ = np.linalg.svd(wide.astype(np.float64), full_matrices=False)
    assert kept == pytest.approx((singular_values[:192] ** 2).sum(), rel=1e-4)


def test_the_same_is_learnt_of_nearly_the_same() -> None:
    vectors = states([40] * 30, 4)
    noise = np.random.default_rng(5).normal(size=vectors.shape).astype(np.float32) * np.float32(1e-6)
    one, other = learn(vectors), learn(vectors + noise)
    assert one.is_like(other)
    assert not one.is_like(learn(states([40] * 30, 6)))


def test_dimensions_that_fill_no_byte_are_lost() -> None:
    assert learn(states([9] * 9, 0, 7)).kept == 4


def test_batches_come_back_in_the_order_of_their_texts(packing: Packing) -> None:
    texts = [3, 0, 5, 2, 8]
    vectors = states(texts, 7)
    whole, counts = packing.pack(vectors, np.array(texts))
    ends = np.cumsum(texts)
    order = [np.array([4, 2]), np.array([0, 3, 1])]  # the longest first, as batches are
    parts = []
    for places in order:
        rows = np.concatenate([np.arange(ends[place] - texts[place], ends[place]) for place in places])
        parts.append(packing.pack(vectors[rows], np.array([texts[place] for place in places])))
    joined, joined_counts = packed_texts(parts, order)
    np.testing.assert_array_equal(joined, whole)
    np.testing.assert_array_equal(joined_counts, counts)


def test_a_packing_survives_a_file(packing: Packing, tmp_path: Path) -> None:
    write_packing(tmp_path / "late.npy", packing)
    back = read_packing(tmp_path / "late.npy", DIM)
    np.testing.assert_array_equal(back.array(), packing.array())
    flat = packing.array()
    flat[-1, 0] = 0
    for damaged in (
        flat,
        packing.array()[:-1],
        packing.array()[:, :-1].copy(),
        packing.array().astype(np.int32),
        np.full((DIM + 2, 4), np.nan),
    ):
        write_array(tmp_path / "late.npy", damaged.astype(np.float32) if damaged.dtype == np.float64 else damaged)
        with pytest.raises(CorruptData, match=r"late\.npy holds"):
            read_packing(tmp_path / "late.npy", DIM)


def shard(folder: Path, packing: Packing, texts: list[int], seed: int, first: int) -> tuple[TokenShard, list[Vectors]]:
    """A shard's files with papers of so many tokens, and what its packed vectors stand for, of each paper."""
    folder.mkdir()
    packed, counts = packing.pack(states(texts, seed), np.array(texts))
    write_array(folder / "tokens.npy", packed)
    write_array(folder / "token-counts.npy", counts.astype(np.int32))
    unpacked = packing.unpack(packed)
    ends = np.cumsum(counts)
    return TokenShard(folder / "tokens.npy", folder / "token-counts.npy", len(texts), packing, first), [
        unpacked[end - count : end] for end, count in zip(ends, counts, strict=True)
    ]


def asked(tokens: int, seed: int) -> QueryTokens:
    return QueryTokens(states([tokens], seed), np.random.default_rng(seed).uniform(0.5, 9, tokens), ["word"] * tokens)


def slow(packing: Packing, query: QueryTokens, papers: list[Vectors]) -> list[float]:
    scores = []
    for tokens in papers:
        total = 0.0
        for vector, weight in zip(query.vectors @ packing.rotation, query.weights, strict=True):
            cosines = [float(vector @ token) / float(np.linalg.norm(vector)) / float(np.linalg.norm(token)) for token in tokens]
            total += weight * max([0.0, *cosines]) ** 4
        scores.append(total / query.weights.sum() if len(tokens) else -np.inf)
    return scores


def test_scores_are_means_of_best_cosines_over_all_shards(tmp_path: Path, packing: Packing) -> None:
    one, first_papers = shard(tmp_path / "one", packing, [5, 12, 1, 0, 30], 1, 0)
    other, last_papers = shard(tmp_path / "other", packing, [7, 2], 2, 5)
    query = asked(4, 3)
    rows = np.array([6, 0, 3, 5, 2])
    scores = matches([one, other], query, rows)
    expected = slow(packing, query, [(first_papers + last_papers)[row] for row in rows])
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert scores[2] == -np.inf  # a paper without tokens


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 9))
def test_a_score_does_not_depend_on_the_other_papers(packing: Packing, texts: list[int], tokens: int) -> None:
    """To the last bit: else answers would depend on how an index is cut into shards."""
    packed, counts = packing.pack(states(texts, 4), np.array(texts))
    ends = np.cumsum(counts)
    papers = [packed[end - count : end] for end, count in zip(ends, counts, strict=True)]
    query = asked(tokens, 5)
    alone = [match(packing, query, [paper])[0] for paper in papers]
    assert match(packing, query, papers).tolist() == alone


def test_files_that_do_not_fit_their_shard_are_corrupt(tmp_path: Path, packing: Packing) -> None:
    good, _ = shard(tmp_path / "good", packing, [4, 4], 0, 0)
    write_array(good.counts_path, np.array([4, 5], np.int32))
    with pytest.raises(CorruptData, match=r"tokens\.npy holds uint8\(8, 6\) where its shard has uint8\(9, 6\)"):
        _ = TokenShard(good.path, good.counts_path, 2, packing, 0).packed
    for counts in (np.array([4, 4, 0], np.int32), np.array([-1, 9], np.int32), np.array([4, 4], np.int64)):
        write_array(good.counts_path, counts)
        with pytest.raises(CorruptData, match=r"token-counts\.npy holds .* which is not its shard's"):
            _ = TokenShard(good.path, good.counts_path, 2, packing, 0).ends
