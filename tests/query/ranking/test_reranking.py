"""Reranking: a run in, a run out, against sorting in plain Python; and through `Index.search`."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.choices import Metric, Mode
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query, Rows
from sciretrieve.encoders import CrossEncoder, encode_sentences, load_encoder, open_sentence_encoder, pieces
from sciretrieve.encoders.catalogue import CATALOGUE
from sciretrieve.encoders.specs import FIELD_SEPARATOR
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.matching.sentence_pairs import transport
from sciretrieve.protocols import Encoder, Reranker
from sciretrieve.query.ranking.reranking import EncoderReranker, open_reranker, reranked
from sciretrieve.runs import Ranking, Run
from tests.made_up import made_up_papers
from tests.toy_encoder import LetterEncoder
from tests.toy_weights import write_bert

PAPERS = [Paper(row["id"], row["title"], row["abstract"]) for row in made_up_papers(300)]
QUERY = Query("q", "graph networks")


class Shelf:
    """Papers by row."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        return [Paper(f"row{row}") for row in rows.tolist()]


class Told:
    """A reranker with a given score for each paper, which records its calls."""

    name = "told"

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores
        self.asked: list[list[str]] = []

    def score(self, query: Query, papers: Sequence[Paper]) -> npt.NDArray[np.float64]:
        self.asked.append([paper.id for paper in papers])
        return np.array([self._scores[paper.id] for paper in papers], np.float64)


@st.composite
def rankings(draw: st.DrawFn) -> tuple[Ranking, dict[str, float]]:
    """A ranking in any order of rows and ids, with ties, and the reranker's score of each row's paper."""
    count = draw(st.integers(0, 12))
    rows = draw(st.permutations(range(count)))
    names = draw(st.permutations([f"id{number:02d}" for number in range(count)]))
    scores = sorted(draw(st.lists(st.integers(-6, 6).map(lambda value: value / 4), min_size=count, max_size=count)), reverse=True)
    new_scores = draw(st.lists(st.integers(-3, 3).map(float), min_size=count, max_size=count))
    values = np.array(scores, np.float64)
    ranking = Ranking(QUERY, names, values, np.array(rows, np.int64), {"dense": values * 2, "bm25": np.full(count, np.nan)})
    return ranking, {f"row{row}": score for row, score in zip(rows, new_scores, strict=True)}


@given(rankings(), st.integers(1, 15))
def test_the_first_papers_are_ordered_anew_and_the_others_follow(made: tuple[Ranking, dict[str, float]], depth: int) -> None:
    ranking, scores = made
    reranker = Told(scores)
    run = reranked(Run((ranking,), "hybrid", Shelf()), reranker, depth)
    ours = run.rankings[0]
    old = list(zip(ranking.ids, ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    first = sorted(old[:depth], key=lambda item: (-scores[f"row{item[1]}"], item[0]))
    expected = first + old[depth:]
    assert list(ours.ids) == [id for id, _, _ in expected]
    assert ours.rows.tolist() == [row for _, row, _ in expected]
    assert ours.query is QUERY
    assert (run.mode, len(run)) == ("hybrid", 1)
    # only the reranked papers are scored, in one call
    assert reranker.asked == ([[f"row{row}" for _, row, _ in old[:depth]]] if old else [])
    # the first keep the reranker's scores; the others stand below all that it gave, as far apart as they were
    cut = min(depth, len(old))
    new_scores = [scores[f"row{row}"] for _, row, _ in first]
    assert ours.scores[:cut].tolist() == new_scores
    assert (np.diff(ours.scores) <= 0).all()
    tail = ours.scores[cut:]
    if len(tail):
        assert tail[0] < min(new_scores)
        np.testing.assert_allclose(np.diff(tail), np.diff([score for _, _, score in old[cut:]][: len(tail)]), atol=1e-12)
    assert set(ours.parts) == {"dense", "bm25", "rerank"}
    np.testing.assert_array_equal(ours.parts["rerank"], new_scores + [np.nan] * (len(old) - cut))
    np.testing.assert_array_equal(ours.parts["dense"], [2 * score for _, _, score in expected])
    assert np.isnan(ours.parts["bm25"]).all()


@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
@pytest.mark.parametrize("query", [QUERY, Query("p", paper=Paper("p", "orbit", "of a planet"))], ids=["text", "paper"])
def test_an_encoders_score_is_its_similarity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: Metric, query: Query) -> None:
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    encoder = LetterEncoder(metric=metric)
    a, b = encoder.encode_queries([query])[0].astype(np.float64), encoder.encode_papers(PAPERS[:40]).astype(np.float64)
    expected = {"ip": b @ a, "l2": -np.linalg.norm(b - a, axis=1), "cosine": b @ a / np.linalg.norm(b, axis=1) / np.linalg.norm(a)}
    reranker: Reranker = EncoderReranker(encoder)
    assert reranker.name == "letters"
    for _ in range(2):  # the second time, from memory
        np.testing.assert_allclose(reranker.score(query, PAPERS[:40]), expected[metric], atol=1e-5)


def test_papers_are_encoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    encoder = LetterEncoder()
    EncoderReranker(encoder).score(QUERY, PAPERS[:40])
    count_before = len(encoder.asked)
    EncoderReranker(encoder).score(QUERY, PAPERS[20:45])
    assert len(encoder.asked) == count_before + 5


@pytest.mark.parametrize("mode", ["bm25", "dense", "hybrid"])
@pytest.mark.parametrize(("k", "depth"), [(5, 30), (30, 5), (10, 10), (7, 1), (1000, 1000)])
def test_searching_with_a_reranker(index: sr.Index, mode: Mode, k: int, depth: int) -> None:
    scores = {paper.id: float(number * 37 % 11) for number, paper in enumerate(PAPERS)}
    plain = index.search(QUERY, 300, mode=mode, group=False).rankings[0]
    reranker = Told(scores)
    run = index.search(QUERY, k, mode=mode, reranker=reranker, rerank_depth=depth, group=False)
    ours = run.rankings[0]
    first = sorted(plain.ids[:depth], key=lambda id: (-scores[id], id))
    assert list(ours.ids) == [*first, *plain.ids[depth:]][:k]
    assert [set(asked) for asked in reranker.asked] == [set(plain.ids[:depth])]
    cut = min(depth, len(ours))
    assert ours.scores[:cut].tolist() == [scores[id] for id in ours.ids[:cut]]
    assert np.isnan(ours.parts["rerank"][cut:]).all()
    for hit in run.hits:
        assert hit.scores["rerank"] == (scores[hit.id] if hit.rank <= depth else None)
        assert hit.paper == next(iter(index.papers([hit.id])))
    assert "rerank" in run.to_arrow().column_names


def test_filters_and_operators_hold(index: sr.Index) -> None:
    scores = {paper.id: float(number % 7) for number, paper in enumerate(PAPERS)}
    plain = index.search("graph -networks", 300, filter="year >= 2010", group=False).rankings[0]
    ours = index.search("graph -networks", 300, filter="year >= 2010", reranker=Told(scores), group=False).rankings[0]
    assert 0 < len(ours) < 300
    assert set(ours.ids) == set(plain.ids)


def test_an_encoder_over_bm25_orders_as_its_own_search(index: sr.Index) -> None:
    queries = ["graph networks", "vaccine trial dose"]
    dense = index.search(queries, 300, mode="dense", group=False)
    run = index.search(queries, 20, mode="bm25", reranker=open_reranker("minilm", precision="fp32"), rerank_depth=50, group=False)
    words = index.search(queries, 50, mode="bm25", group=False)
    for ours, near, by_words in zip(run, dense, words, strict=True):
        similarity = dict(zip(near.ids, near.scores.tolist(), strict=True))
        assert set(ours.ids) <= set(by_words.ids)
        assert len(ours) == 20
        # the index may be of another precision than the reranker
        np.testing.assert_allclose(ours.scores, [similarity[id] for id in ours.ids], atol=1e-2)
        least = min(similarity[id] for id in ours.ids)
        assert all(similarity[id] < least + 1e-2 for id in set(by_words.ids) - set(ours.ids))


def test_names_open_encoders_and_cross_encoders(models: Path) -> None:
    from tests.encoders.test_cross_encoder import write_bert_classifier

    encoder: Encoder = load_encoder("minilm")
    assert open_reranker("minilm").name == encoder.name
    write_bert_classifier(models / "toy" / "cross", 1)
    crossed: Any = open_reranker("toy/cross", precision="fp32", device="cpu")
    assert isinstance(crossed, CrossEncoder)
    assert crossed.name == "toy/cross"


@pytest.mark.parametrize("name", ["aspire-ts-compsci", "aspire-ot-biomed"])
def test_aspire_compares_sentences(models: Path, name: str) -> None:
    """A paper's rank follows its sentences, against distances by SciPy; a text query is an abstract without a title."""
    from scipy.spatial.distance import cdist

    write_bert(models / CATALOGUE[name].parts["base"].source, 31)
    papers = [*PAPERS[:6], Paper("two", "Graph", "The citation of a paper. Vaccine.")]
    reranker = open_reranker(name, precision="fp32", device="cpu")
    assert reranker.name == name
    encoder = open_sentence_encoder(name, precision="fp32", device="cpu")
    assert encoder is not None
    queries = {
        "text": (Query("q", "Graph networks. Vaccine."), ("", "Graph networks.", "Vaccine.")),
        "of fields": (Query("q", f"graph{FIELD_SEPARATOR}The citation."), ("graph", "The citation.")),
        "paper": (Query("q", paper=papers[-1]), ("Graph", "The citation of a paper.", "Vaccine.")),
    }
    for query, parts in queries.values():
        asked, *found = encode_sentences(encoder, [parts, *(pieces(paper) for paper in papers)])
        scores = reranker.score(query, papers)
        assert scores.shape == (len(papers),)
        assert scores.dtype == np.float64
        expected = [transport(asked, one) if "-ot-" in name else -cdist(asked, one).min() for one in found]
        np.testing.assert_allclose(scores, expected, atol=1e-4)
        np.testing.assert_allclose(reranker.score(query, papers[::-1])[::-1], scores, atol=1e-4)  # from the cache
        assert reranker.score(query, []).shape == (0,)
    assert reranker.score(queries["paper"][0], papers).argmax() == len(papers) - 1


class Giving:
    """A reranker of a user's own, which gives something of the papers."""

    name = "mine"

    def __init__(self, given: Callable[[Sequence[Paper]], Any]) -> None:
        self.score = lambda query, papers: given(papers)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda papers: np.full(len(papers), np.nan), r"`score` of the reranker mine returned nan for '\w+'; a score is a finite number"),
        (lambda papers: [*[1.0] * (len(papers) - 1), np.inf], "returned inf for"),
        (lambda papers: [None] * len(papers), "returned nan for"),
        (lambda papers: np.ma.masked_equal(np.ones(len(papers)), 1), "returned nan for"),
        (lambda papers: [10**400] * len(papers), "returned no list of 20 numbers"),
        (lambda papers: np.ones(len(papers) - 1), r"returned numbers of shape \(19,\), not \(20,\); return one per paper"),
        (lambda papers: np.ones(len(papers) + 1), r"shape \(21,\)"),
        (lambda papers: [], r"shape \(0,\)"),
        (lambda papers: np.ones((len(papers), 1)), r"shape \(20, 1\)"),
        (lambda papers: 1.0, r"shape \(\), not \(20,\)"),
        (lambda papers: ["0.5"] * len(papers), "returned no list of 20 numbers: texts are no real numbers"),
        (lambda papers: np.array(["0.5"] * len(papers), object), "texts are no real numbers"),
        (lambda papers: np.ones(len(papers), complex), "complex128 are no real numbers"),
        (lambda papers: [[1], [2, 3]], "returned no list of 20 numbers"),
        (lambda papers: {paper.id: 1.0 for paper in papers}, "returned no list of 20 numbers"),
        (lambda papers: None, r"returned numbers of shape \(\)|is no list"),
        (lambda papers: (1.0 for _ in papers), "returned no list of 20 numbers"),
    ],
)
def test_scores_that_are_none_are_refused(index: sr.Index, given: Callable[[Sequence[Paper]], Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words) as caught:
        index.search("graph networks", 3, mode="bm25", reranker=Giving(given), rerank_depth=20, group=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, lambda scores: np.array(scores, np.float16), lambda scores: [Fraction(one) for one in scores]]
)
def test_any_numbers_are_scores(index: sr.Index, kind: Callable[[list[int]], Any]) -> None:
    reranker = Giving(lambda papers: kind(list(range(len(papers)))))
    run = index.search("graph networks", 3, mode="bm25", reranker=reranker, rerank_depth=20, group=False)
    assert run[0].scores.tolist() == [19, 18, 17]
    assert run[0].scores.dtype == np.float64


@pytest.mark.parametrize("reranker", ["minilm", Giving, object()])
def test_what_is_no_reranker_is_refused(reranker: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"reranker is what .* gives, or an object with `score\(query, papers\)`"):
        sr.SearchOptions(reranker=reranker)


def test_scores_are_taken_as_they_are_when_they_are_given(index: sr.Index) -> None:
    buffer = np.zeros(20)

    def reused(papers: Sequence[Paper]) -> Any:
        buffer[:] += np.arange(len(papers))
        return buffer

    run = index.search(["graph networks", "graph networks"], 3, mode="bm25", reranker=Giving(reused), rerank_depth=20, group=False)
    assert [ranking.scores.tolist() for ranking in run] == [[19, 18, 17], [38, 36, 34]]


def test_aspires_vectors_are_read_once(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bert(models / CATALOGUE["aspire-ts-compsci"].parts["base"].source, 31)
    open_reranker("aspire-ts-compsci", precision="fp32", device="cpu").score(QUERY, PAPERS[:3])
    again = open_reranker("aspire-ts-compsci", precision="fp32", device="cpu")
    monkeypatch.setattr(TextEncoder, "encode_papers_late", lambda *_: pytest.fail("encoded again"))
    assert len(again.score(QUERY, PAPERS[:3])) == 3
