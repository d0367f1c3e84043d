"""Late interaction's scores, against MaxSim written out."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import CorruptData
from sciretrieve.base.types import Vectors
from sciretrieve.files.writing import write_array
from sciretrieve.matching.late import Packing, QueryTokens, TokenShard, learn, match, matches
from tests.matching.late.test_packing import states


@pytest.fixture(scope="module")
def packing() -> Packing:
    return learn(states([200] * 20))


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
