"""Hybrid scores and likeness to papers, against slow computations of their own; all through an opened index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.index import Index
from sciretrieve.lexical import Analyzer
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = [*made_up_papers(60, seed=11), {"id": "often", "title": "molecules", "abstract": "molecules " * 8, "topic": "molecules"}]
IDS = [paper["id"] for paper in PAPERS]
ENCODER = LetterEncoder(layout="vectors")


def terms(*texts: str) -> Counter[str]:
    return Counter(Analyzer().terms(" ".join(texts)))


TITLES = [terms(paper["title"]) for paper in PAPERS]
TEXTS = [terms(paper["title"], paper["abstract"]) for paper in PAPERS]


def rarity(term: str) -> float:
    papers = sum(term in text for text in TEXTS)
    return math.log(1 + (len(PAPERS) - papers + 0.5) / (papers + 0.5))


def bm25(weights: Mapping[str, float]) -> list[float]:
    """Lucene's BM25 of each paper, k1 1.2 and b 0.75, where a word in a title counts twice; minus infinity without a term."""
    counts = [text + title for text, title in zip(TEXTS, TITLES, strict=True)]
    mean = sum(count.total() for count in counts) / len(counts)
    scores = []
    for count in counts:
        norm = 1.2 * (0.25 + 0.75 * count.total() / mean)
        shared = [weight * rarity(term) * count[term] / (count[term] + norm) for term, weight in weights.items() if term in count]
        scores.append(sum(shared) if shared else -math.inf)
    return scores


def weigh(counts: Mapping[str, int]) -> dict[str, float]:
    return {term: 4 * count / (3 + count) for term, count in counts.items()}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("index")
    vectors = ENCODER.encode_papers([sr.Paper(paper["id"], paper["title"], paper["abstract"]) for paper in PAPERS])
    np.save(folder / "vectors.npy", vectors)
    (folder / "vectors.ids.txt").write_text("".join(f"{id}\n" for id in IDS))
    corpus = write_jsonl(folder / "papers.jsonl", PAPERS)
    built = sr.build(corpus, folder / "index", encoder=f"vectors:{folder / 'vectors.npy'}", metric="ip")
    return sr.open(built.path, encoder=ENCODER)


def ranked(scores: Sequence[float]) -> list[str]:
    answered = [(-score, id) for score, id in zip(scores, IDS, strict=True) if score > -math.inf]
    return [id for _, id in sorted(answered)]


def expected_blend(index: Index, words: str) -> list[float]:
    """Each paper's fused score by the documented formula with the documented defaults."""
    said = terms(words)
    lexical = bm25(weigh(said))
    query = ENCODER.encode_queries([sr.Query("", words)])[0].astype(float)
    meaning = [float(query @ vector) for vector in np.concatenate([shard.vectors for shard in index.vectors]).astype(float)]
    low, high, best = min(meaning), max(meaning), max(0.0, *lexical)
    known = [term for term in said if any(term in text for text in TEXTS)]
    scores = []
    for dense, score, title, text in zip(meaning, lexical, TITLES, TEXTS, strict=True):
        convex = 0.5 * (dense - low) / (high - low) + 0.5 * max(score, 0.0) / best
        overlap = sum(rarity(term) for term in title if term in said) / sum(rarity(term) for term in title)
        complete = bool(known) and all(term in text for term in known)
        scores.append((convex + 0.15 * overlap + 0.1 * complete) / 1.25)
    return scores


@pytest.mark.parametrize("words", ["graph networks", "graph zzzyx", "star galaxy dust", "vaccine trial qqqqq response", "market graph"])
def test_the_default_is_the_documented_blend(index: Index, words: str) -> None:
    expected = expected_blend(index, words)
    ranking = index.search(sr.Query("q", words), len(PAPERS)).rankings[0]
    assert list(ranking.ids) == ranked([round(score, 9) for score in expected])
    scores = dict(zip(IDS, expected, strict=True))
    np.testing.assert_allclose(ranking.scores / ranking.scores[0], [scores[id] / max(expected) for id in ranking.ids], atol=1e-6)


ALIKE = [paper["id"] for paper in PAPERS if paper["topic"] == "graphs"]
OTHERS = [next(paper["id"] for paper in PAPERS if paper["topic"] == topic) for topic in ("stars", "markets", "vaccines")]
LIKE: dict[str, dict[str, Any]] = {
    "one": {"ids": ALIKE[:1]},
    "two": {"ids": ALIKE[:2]},
    "three of two topics": {"ids": [*ALIKE[:2], OTHERS[0]]},
    "unlike one": {"ids": ALIKE[:2], "negatives": ALIKE[2:3]},
    "unlike two": {"ids": ALIKE[:1], "negatives": ALIKE[2:4]},
    "unlike more than like": {"ids": OTHERS[:1], "text": "molecules. auction", "negatives": ["often"]},
    "a text": {"ids": ALIKE[:1], "text": "graph molecules. nodes nodes nodes edges"},
    "a text of its own, unlike a paper": {"ids": [], "text": "star molecules. dust", "negatives": ALIKE[5:6]},
}


@pytest.mark.parametrize("name", LIKE)
def test_likeness_by_words_is_rocchios_formula(index: Index, name: str) -> None:
    asked = LIKE[name]
    at = {id: place for place, id in enumerate(IDS)}
    like = [weigh(TEXTS[at[id]]) for id in asked["ids"]]
    if "text" in asked:
        like.append(weigh(terms(asked["text"])))
    unlike = [weigh(TEXTS[at[id]]) for id in asked.get("negatives", ())]
    weights = {}
    for term in set().union(*like, *unlike):
        weight = sum(one.get(term, 0.0) for one in like) / len(like)
        weight -= 0.2 * sum(one.get(term, 0.0) for one in unlike) / max(len(unlike), 1)
        if weight > 0:
            weights[term] = weight
    if name == "unlike more than like":
        assert len(weights) < len(set().union(*like))
    expected = dict(zip(IDS, bm25(weights), strict=True))
    given = {*asked["ids"], *asked.get("negatives", ())}
    ranking = index.similar(asked["ids"], 60, text=asked.get("text"), negatives=asked.get("negatives", ()), mode="bm25").rankings[0]
    assert set(ranking.ids) == {id for id, score in expected.items() if score > -math.inf} - given
    np.testing.assert_allclose(ranking.scores, [expected[id] for id in ranking.ids], rtol=1e-5)
