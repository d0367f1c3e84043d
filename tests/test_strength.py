"""How strong an answer is, what scores then mean, and that no order changes by it; over vectors made for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Metric
from sciretrieve.base.types import Query
from sciretrieve.matching import search
from sciretrieve.matching.dense import VectorShard
from sciretrieve.matching.dense.scale import Scale, scale
from sciretrieve.matching.effort import USUAL
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.late import TokenShard
from sciretrieve.matching.lexical.spelling import Correction
from sciretrieve.matching.scope import Scope
from sciretrieve.matching.search import Probe, Searcher
from sciretrieve.query.index import Index
from tests.made_up import made_up_papers, write_jsonl

PAPERS = made_up_papers(120, seed=2)
for paper in PAPERS[:10]:  # all that have this word lie together
    paper["abstract"] += " zeolite"
DIM = 16
ALL = Scope(len(PAPERS))


def clustered(offset: float = 0.0) -> Any:
    """Unit vectors in twelve fields of ten; with an offset, all of them lie in one cone."""
    chance = np.random.default_rng(4)
    centres = chance.normal(size=(12, DIM))
    vectors = np.repeat(centres, 10, axis=0) + 0.3 * chance.normal(size=(120, DIM))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[:, 0] += offset
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def shard_of(folder: Path, vectors: Any, metric: Metric = "cosine") -> VectorShard:
    np.save(folder / "vectors.npy", vectors)
    return VectorShard(folder / "vectors.npy", len(vectors), vectors.shape[1], metric, 0)


def pairs(vectors: Any, metric: Metric) -> Any:
    if metric == "l2":
        return -np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    return vectors @ vectors.T


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_the_scale_is_of_pairs_and_of_nearest_papers(tmp_path: Path, metric: Metric, offset: float) -> None:
    vectors = clustered(offset)
    told = scale([shard_of(tmp_path, vectors, metric)], vectors[[0, 0]], ALL.places)
    assert told is not None
    scores = pairs(vectors.astype(np.float64), metric)
    assert told.chance == pytest.approx(np.percentile(scores[np.triu_indices(120, 1)], 90), abs=1e-3)
    np.fill_diagonal(scores, -np.inf)
    assert told.near == pytest.approx(np.median(scores.max(axis=1)), abs=1e-3)
    between = (told.chance + told.near) / 2
    assert told.strength(np.array([told.chance, told.near, -9.0, 9.0, between])).tolist() == pytest.approx([0, 1, 0, 1, 0.5])


def test_queries_that_lie_elsewhere_than_papers_have_no_scale(tmp_path: Path) -> None:
    vectors = clustered()
    shard = shard_of(tmp_path, vectors)
    assert scale([shard], np.stack([vectors[0], -vectors[0]]), ALL.places) is None
    assert scale([shard], None, ALL.places) is None


def test_few_papers_have_no_scale(tmp_path: Path) -> None:
    vectors = clustered()[:40]
    assert scale([shard_of(tmp_path, vectors)], vectors[[0, 0]], np.arange(40)) is None


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("strength")
    return sr.build(write_jsonl(folder / "papers.jsonl", PAPERS), folder / "index", encoder=None)


@dataclass
class Halves:
    """Vectors, and the words of an index."""

    vectors: Sequence[VectorShard]
    index: Index
    scale: Scale | None
    tokens: Sequence[TokenShard] = ()
    late, usual_effort, fusion, fulltext = False, USUAL, Fusion(), None

    def __post_init__(self) -> None:
        self.bm25, self.scope, self.ids = self.index.snapshot.bm25, self.index.snapshot.scope, self.index.ids


@pytest.fixture(scope="module")
def searchers(index: Index, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Searcher]:
    """A search that knows its scale, and the same without."""
    vectors = clustered()
    shard = shard_of(tmp_path_factory.mktemp("vectors"), vectors)
    told = scale([shard], vectors[[0, 0]], ALL.places)
    return {"told": Searcher.of(Halves([shard], index, told)), "untold": Searcher.of(Halves([shard], index, None))}


def probe(index: Index, words: str, vector: Any, corrections: Sequence[Correction] = ()) -> Probe:
    terms = index.reader.speller.terms(words, corrections)
    return Probe(Query("q", words), index.snapshot.scope, vector, terms, terms, corrections)


def away() -> Any:
    """A direction that no paper lies in."""
    vectors = clustered().astype(np.float64)
    direction = -vectors.mean(axis=0)
    return (direction / np.linalg.norm(direction)).astype(np.float32)


@pytest.mark.parametrize(
    ("words", "near", "low", "high"),
    [
        ("graph networks", True, 0.99, 1.0),  # both
        ("graph networks", False, 0.7, 0.701),  # words alone, of a paper that is far
        ("qqqq zzzz", True, 0.999, 1.0),  # meaning alone
        ("qqqq zzzz", False, 0.0, 0.39),  # neither
        ("the of", False, 0.0, 0.39),
        ("graph qqqq zzzz xxxx", False, 0.0, 0.39),  # one word of four, and not a rare one
    ],
)
def test_an_answer_is_as_strong_as_its_best_paper_by_meaning_or_by_words(
    index: Index, searchers: dict[str, Searcher], words: str, near: bool, low: float, high: float
) -> None:
    asked = probe(index, words, clustered()[17] if near else away())
    told, untold = (searchers[name].search([asked], 30)[0] for name in ("told", "untold"))
    assert told.strength is not None
    assert low <= told.strength <= high
    assert told.weak == (high < 0.4)
    assert (untold.strength, untold.weak) == (None, False)
    assert list(told.ids) == list(untold.ids)
    np.testing.assert_allclose(told.scores, untold.scores * max(told.strength, 0.01))
    assert (told.scores[:5] > 0).all()


def test_a_listing_is_neither_strong_nor_weak(index: Index, searchers: dict[str, Searcher]) -> None:
    asked = replace(probe(index, "", away()), listing=True)
    ranking = searchers["told"].search([asked], 30)[0]
    assert (ranking.strength, ranking.weak, set(ranking.scores.tolist())) == (None, False, {1.0})


def test_a_short_query_is_as_strong_as_the_deciding_word_that_near_papers_have(
    index: Index, searchers: dict[str, Searcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`graph neural networks` is not answered by papers on networks of neurons, however near they are."""
    monkeypatch.setattr(search, "AROUND", 10)
    assert index.snapshot.bm25 is not None
    rarity = index.snapshot.bm25.rarity

    def strength(words: str, vector: Any) -> float:
        ranking = searchers["told"].search([probe(index, words, vector)], 5)[0]
        assert ranking.strength is not None
        return ranking.strength

    vectors = clustered()
    assert strength("zeolite graph", vectors[5]) > 0.99  # whose papers have it
    lacks = strength("zeolite graph", vectors[55])
    assert lacks == pytest.approx((rarity("graph") / (rarity("graph") + rarity("zeolit"))) ** 2.5, rel=0.05)
    assert lacks < 0.4
    # one that no paper of the index has counts twice: none near has it, and none at all
    unknown = strength("qqqq graph", vectors[5])
    assert unknown == pytest.approx((rarity("graph") / (rarity("graph") + rarity("qqqq"))) ** 5, rel=0.05)
    assert strength("qqqq zzzz", vectors[5]) > 0.99  # by another vocabulary, which meaning alone can tell
    # a sentence says more than any paper has
    sentence = "zeolite graph nodes edges molecules message passing neighbours networks"
    assert strength(sentence, vectors[55]) > 0.99
    # and from a few words on, a paper need not have all
    assert strength("zeolite graph nodes edges molecules message passing neighbours", vectors[55]) > strength(
        "zeolite graph nodes", vectors[55]
    )


@pytest.mark.parametrize("method", ["rrf", "convex"])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_no_order_changes_by_strength(index: Index, searchers: dict[str, Searcher], method: Any, alpha: float) -> None:
    for words in ("graph zzzz", "star dust", "qqqq"):
        for vector in (clustered()[3], away()):
            fusion = replace(index.snapshot.fusion, method=method, alpha=alpha)
            rankings = [replace(one, fusion=fusion).search([probe(index, words, vector)], 120)[0] for one in searchers.values()]
            assert list(rankings[0].ids) == list(rankings[1].ids)


@pytest.mark.parametrize(
    ("typed", "weight", "strength"),
    [
        ("grpah", 0.35, 0.7 * 0.35),  # a slip in a short word
        ("grap", 0.8, 0.7 * 0.35),  # the beginning of a word, which is looked for, and too short to be sure of
        ("networkss", 0.8, 0.7 * 0.8),
    ],
)
def test_a_word_that_was_guessed_counts_by_how_sure_it_is(
    index: Index, searchers: dict[str, Searcher], typed: str, weight: float, strength: float
) -> None:
    meant = "networks" if typed.startswith("net") else "graph"
    guess = Correction(typed, meant, meant.removesuffix("s"), weight)
    ranking = searchers["told"].search([probe(index, typed, away(), [guess])], 5)[0]
    assert ranking.strength == pytest.approx(strength)
    assert ranking.weak == (strength < 0.4)
    assert ranking.corrections == {typed: meant}


def test_a_doubted_guess_is_dropped_where_the_query_is_understood_and_no_paper_with_it_is_near(
    index: Index, searchers: dict[str, Searcher]
) -> None:
    vectors, told = clustered(), searchers["told"]
    doubted, sure = (Correction("zeolte", "zeolite", "zeolit", weight) for weight in (0.35, 0.8))
    assert not told.believes(doubted, vectors[55])
    assert told.believes(sure, vectors[55])
    assert told.believes(doubted, vectors[5])  # a paper that has the word is near
    assert told.believes(doubted, away())  # the dense half does not know what is meant either
    assert searchers["untold"].believes(doubted, vectors[55])
