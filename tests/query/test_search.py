"""Hybrid scores and likeness to papers, against slow computations of their own; all through an opened index."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.query.index import Index
from sciretrieve.query.reading.rocchio import DISLIKED, LIKED
from tests.made_up import made_up_papers, write_jsonl
from tests.query.test_relevance_models import Plain
from tests.toy_encoder import LetterEncoder

PAPERS = [*made_up_papers(60, seed=11), {"id": "often", "title": "molecules", "abstract": "molecules " * 8, "topic": "molecules"}]
IDS = [paper["id"] for paper in PAPERS]
ENCODER = LetterEncoder(layout="vectors")


def terms(*texts: str) -> Counter[str]:
    return Counter(Analyzer().terms(" ".join(texts)))


TEXTS = [terms(paper["title"], paper["abstract"]) for paper in PAPERS]
PLAIN = Plain(PAPERS)
rarity = PLAIN.rarity


def bm25(weights: Mapping[str, float]) -> list[float]:
    """Lucene's BM25 of each paper; minus infinity without a term."""
    scores = dict(PLAIN.scores(dict(weights)))
    return [scores.get(id, -math.inf) for id in IDS]


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


def expected_scores(index: Index, words: str) -> list[float]:
    """Each paper's fused score by the documented formula with the documented defaults."""
    query = ENCODER.encode_queries([sr.Query("", words)])[0].astype(float)
    return fused_scores(index, words, query, weigh(terms(words)))


def stored(index: Index) -> Any:
    return np.concatenate([shard.vectors for shard in index.snapshot.vectors]).astype(float)


def fused_scores(index: Index, words: str, query: Any, weights: Mapping[str, float], among: Sequence[str] = IDS) -> list[float]:
    """The fused score, where `among` may answer, of a query of so many words with this vector and these terms; else minus infinity."""
    answering = [id in among for id in IDS]
    lexical, meaning = bm25(weights), [float(query @ vector) for vector in stored(index)]
    low, high, best = (
        pick(score for score, may in zip(half, answering, strict=True) if may)
        for pick, half in ((min, meaning), (max, meaning), (max, lexical))
    )
    alpha = 0.3 + 0.3 * min(max(len(weights) - 2, 0), 6) / 6
    scores = []
    for may, dense, score in zip(answering, meaning, lexical, strict=True):
        convex = alpha * (dense - low) / (high - low) + (1 - alpha) * max(score, 0.0) / max(best, 0.0)
        scores.append(convex if may else -math.inf)
    return scores


@pytest.mark.parametrize("words", ["graph networks", "graph zzzyx", "star galaxy dust", "vaccine trial qqqqq response", "market graph"])
def test_the_default_is_the_documented_combination(index: Index, words: str) -> None:
    expected = expected_scores(index, words)
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
def test_likeness_is_rocchios_formula(index: Index, name: str) -> None:
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

    papers = [ENCODER.encode_queries([sr.Query("", paper=paper_at(at[id]))])[0] for id in asked["ids"]]
    if "text" in asked:
        title, _, abstract = asked["text"].partition(". ")
        papers.append(ENCODER.encode_queries([sr.Query("", paper=sr.Paper("", title, abstract))])[0])
    away = [ENCODER.encode_queries([sr.Query("", paper=paper_at(at[id]))])[0] for id in asked.get("negatives", ())]
    target = np.mean(papers, axis=0) - (0.2 * np.mean(away, axis=0) if away else 0.0)
    meaning = dict(zip(IDS, (stored(index) @ target).tolist(), strict=True))
    dense = index.similar(asked["ids"], 60, text=asked.get("text"), negatives=asked.get("negatives", ()), mode="dense").rankings[0]
    assert set(dense.ids) == {*IDS} - given
    np.testing.assert_allclose(dense.scores, [meaning[id] for id in dense.ids], rtol=1e-5)


FEEDBACK: dict[str, tuple[list[str], list[str]]] = {
    "one liked": (ALIKE[:1], []),
    "two liked of two topics": ([ALIKE[0], OTHERS[0]], []),
    "one liked twice": ([ALIKE[0], ALIKE[0]], []),
    "liked and disliked": (ALIKE[:2], [*ALIKE[2:4], OTHERS[1]]),
    "one disliked": ([], ALIKE[:1]),
}


def paper_at(place: int) -> sr.Paper:
    return sr.Paper("", PAPERS[place]["title"], PAPERS[place]["abstract"])


def expected_feedback(words: str, like: Sequence[str], unlike: Sequence[str]) -> tuple[Any, dict[str, float]]:
    """The vector and the weighted terms by the documented formula with the documented weights."""
    places = [sorted({IDS.index(id) for id in ids}) for ids in (like, unlike)]
    vector, total = ENCODER.encode_queries([sr.Query("", words)])[0].astype(float), 1.0
    said = weigh(terms(words))
    added: dict[str, float] = defaultdict(float)
    for group, weight in zip(places, (LIKED, -DISLIKED), strict=True):
        for place in group:
            vector = vector + weight / len(group) * ENCODER.encode_queries([sr.Query("", paper=paper_at(place))])[0]
            weights = weigh(TEXTS[place])
            length = math.hypot(*(value * rarity(term) for term, value in weights.items()))
            for term, value in weights.items():
                added[term] += weight / len(group) * value / length
        total += weight * bool(group)
    length = math.hypot(*(value * rarity(term) for term, value in said.items()))
    return vector / total, {
        term: said.get(term, 0.0) + length * max(added.get(term, 0.0), 0.0) for term in {*said, *added} if term in said or added[term] > 0
    }


@pytest.mark.parametrize("words", ["graph networks", "star zzzyx", "molecules market"])
@pytest.mark.parametrize("name", FEEDBACK)
def test_feedback_is_rocchios_formula_and_the_words_stay_those_typed(index: Index, name: str, words: str) -> None:
    like, unlike = FEEDBACK[name]
    vector, weights = expected_feedback(words, like, unlike)
    among = [id for id in IDS if id not in (*like, *unlike)]
    query = sr.Query("q", words)

    dense = index.search(query, 100, mode="dense", like=like, unlike=unlike).rankings[0]
    meaning = dict(zip(IDS, (stored(index) @ vector).tolist(), strict=True))
    assert sorted(dense.ids) == sorted(among)
    np.testing.assert_allclose(dense.scores, [meaning[id] for id in dense.ids], rtol=1e-5)

    lexical = index.search(query, 100, mode="bm25", like=like, unlike=unlike).rankings[0]
    expected = dict(zip(IDS, bm25(weights), strict=True))
    assert set(lexical.ids) == {id for id in among if expected[id] > -math.inf}
    np.testing.assert_allclose(lexical.scores, [expected[id] for id in lexical.ids], rtol=1e-5)

    hybrid = index.search(query, 100, like=like, unlike=unlike).rankings[0]
    fused = dict(zip(IDS, fused_scores(index, words, vector, weights, among), strict=True))
    assert sorted(hybrid.ids) == sorted(among)
    np.testing.assert_allclose(hybrid.scores / hybrid.scores[0], [fused[id] / max(fused.values()) for id in hybrid.ids], atol=1e-5)


def test_feedback_adds_the_hundred_best_terms(tmp_path: Path) -> None:
    words = [first + second for first in "bcdfghklmnprstvwz" for second in ("arix", "elox", "inux", "opax", "umex", "yrex", "otax", "azix")]
    long = {"id": "long", "title": "graph", "abstract": " ".join(words)}
    papers = [
        long,
        *({"id": word, "title": f"{word} paper", "abstract": ""} for word in words),
        {"id": "other", "title": "graph", "abstract": ""},
    ]
    index = sr.build(write_jsonl(tmp_path / "papers.jsonl", papers), tmp_path / "index", encoder=None)
    # two papers have each of the terms, and of equals the first in the alphabet count
    best = sorted({"graph", *words})[:100]
    assert "graph" in best
    ids = index.search("graph", 200, like="long").rankings[0].ids
    assert ids[0] == "other"
    assert {*ids[1:], "graph"} == set(best)


def test_feedback_goes_with_every_other_option(index: Index) -> None:
    like, judged = ALIKE[:2], {*ALIKE[:2], *OTHERS[:1]}
    for options in ({}, {"diversify": True}, {"fusion": "rrf"}, {"alpha": 1.0}, {"recall": 1.0}):
        run = index.search("graph -dust", 20, like=like, unlike=OTHERS[:1], filter="year >= 2005", **options)
        assert run.hits
        assert not judged & set(run.rankings[0].ids)
        assert not any("dust" in f"{hit.paper.title} {hit.paper.abstract}" or (hit.paper.year or 0) < 2005 for hit in run.hits)
    corrected = index.search("grahp", 5, like=like).rankings[0]
    assert corrected.corrections == {"grahp": "graph"}
    # demands alone list papers in no order; who likes one of them wants an order
    listed, liked = (index.search("topic:graphs", 50, like=given).rankings[0] for given in ((), like))
    assert listed.listing
    assert not liked.listing
    assert set(liked.ids) == set(listed.ids) - set(like)
    assert len(set(liked.scores.tolist())) > 1


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_demands_alone_list_all_papers_that_meet_them_in_every_mode(index: Index, mode: Mode) -> None:
    """Though no text has the words of the demand."""
    rows = [row for table in index.snapshot.tables(["id", "year"]) for row in table.to_pylist()]
    expected = {row["id"] for row in rows if row["year"] is not None and 2003 <= row["year"] <= 2006}
    listed = index.search("year:2003-2006", len(rows), mode=mode, group=False).rankings[0]
    assert set(listed.ids) == expected
    assert set(listed.scores.tolist()) == {1.0}
    assert len(index.search("year:2003-2006", 3, mode=mode).hits) == 3
    assert not index.search("year:1850-1860", 3, mode=mode).hits


def test_a_reranker_reads_the_query_as_it_was_typed(index: Index) -> None:
    class Recording:
        name = "recording"

        def score(self, query: sr.Query, papers: Sequence[sr.Paper]) -> Any:
            asked.append((query.words, {paper.id for paper in papers}))
            return np.arange(len(papers), dtype=float)

    asked: list[tuple[str, set[str]]] = []
    plain = index.search("graph networks", 10, like=ALIKE[:1], group=False).rankings[0].ids
    reordered = index.search("graph networks", 10, like=ALIKE[:1], group=False, reranker=Recording(), rerank_depth=10).rankings[0].ids
    assert asked == [("graph networks", set(plain))]
    assert list(reordered) == list(plain)[::-1]


def test_explanations_know_what_feedback_added(index: Index) -> None:
    like = next(paper["id"] for paper in PAPERS if "molecules" in paper["abstract"] and paper["id"] != "often")
    (plain,) = sr.explain(index, "networks", ["often"])
    probe = index.reader.probes(["networks"], "hybrid", None, like=like)[0]
    (fed,) = sr.explain(index, probe, ["often"])
    assert plain.words == {}
    assert list(fed.words) == ["molecules"]


def test_feedback_that_cannot_be_is_refused(index: Index) -> None:
    refused: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: index.search("graph", like="nowhere"), NotFound, "there is no paper 'nowhere'"),
        (lambda: index.search("graph", unlike=[IDS[0], "nowhere"]), NotFound, "there is no paper 'nowhere'"),
        (lambda: index.search("graph", like=IDS[:2], unlike=IDS[1:3]), InvalidRequest, f"the paper '{IDS[1]}' is both liked and disliked"),
        (lambda: index.search(["graph", "star"], like=IDS[0]), InvalidRequest, "search for one query at a time"),
        (lambda: index.search("", like=IDS[0]), InvalidRequest, "the query is empty"),
    ]
    for call, error, words in refused:
        with pytest.raises(error, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    nothing = index.search("graph networks", 10, like=[], unlike=())
    plain = index.search("graph networks", 10)
    assert (nothing[0].ids, nothing[0].scores.tolist()) == (plain[0].ids, plain[0].scores.tolist())
    everything = index.search("graph", 100, like=IDS[:30], unlike=IDS[30:])
    assert everything.hits == []
