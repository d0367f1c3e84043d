"""BM25 against rank_bm25, bm25s itself and NumPy over dense matrices, whatever the sharding."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import bm25s
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from sciretrieve.base.choices import Bm25Variant
from sciretrieve.base.errors import CorruptData, InvalidRequest, UnknownName
from sciretrieve.matching.lexical import Analyzer, Bm25, Bm25Parameters, Postings, compiled, lexical_shard, scoring
from sciretrieve.matching.lexical.bm25 import weigh_terms
from sciretrieve.matching.lexical.variants import VARIANTS
from sciretrieve.matching.scope import Scope
from tests.bm25_indexes import joined, postings_of
from tests.made_up import made_up_papers

PAPERS = [
    *((paper["title"], f"{paper['abstract']} of {paper['id']} the") for paper in made_up_papers(200, seed=7)),
    ("", ""),
    ("the of", "and"),
    ("graph graph of the graph", ""),
    ("", "galaxy"),
]
ALL = np.arange(len(PAPERS))
TEXTS = [f"{title} {title} {abstract}" for title, abstract in PAPERS]
"""What the papers are to a BM25 that knows no titles: those count twice."""
QUERY = "graph networks of molecules, molecules and star dust; unheardof"


IndexOf = Callable[[list[int], Bm25Parameters], Bm25]


@pytest.fixture(scope="module")
def index_of(tmp_path_factory: pytest.TempPathFactory) -> IndexOf:
    """Makes an index of the papers in shards of some sizes; those of the same sizes are written once."""
    written: dict[tuple[int, ...], list[Postings]] = {}

    def index(sizes: list[int], parameters: Bm25Parameters) -> Bm25:
        if tuple(sizes) not in written:
            assert sum(sizes) == len(PAPERS)
            folder, ends = tmp_path_factory.mktemp("shards"), np.cumsum(sizes).tolist()
            written[tuple(sizes)] = [
                postings_of(folder / str(end), PAPERS[end - size : end]) for size, end in zip(sizes, ends, strict=True)
            ]
        return joined(written[tuple(sizes)], parameters)

    return index


def scores(index: Bm25, query: str = QUERY) -> Any:
    return index.scores(weigh_terms(Analyzer().terms(query)))[0]


def weighed(score: Callable[[list[str]], Any], query: str = QUERY) -> Any:
    """The query's score from an oracle that takes every term to weigh 1: term by term, those said n times 4n / (3 + n) times."""
    return sum(4 * count / (3 + count) * np.asarray(score([term]), np.float64) for term, count in Counter(Analyzer().terms(query)).items())


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (2.0, 0.0), (1.5, 0.99)])
def test_okapi_is_rank_bm25s_okapi(index_of: IndexOf, k1: float, b: float) -> None:
    oracle = BM25Okapi([Analyzer().terms(text) for text in TEXTS], k1=k1, b=b, epsilon=0)
    ours = scores(index_of([len(TEXTS)], Bm25Parameters("okapi", k1, b)))
    np.testing.assert_allclose(ours, weighed(oracle.get_scores), atol=1e-4)
    assert ours.max() > 1


@pytest.mark.parametrize("sizes", [[len(PAPERS)], [150, len(PAPERS) - 150]], ids=str)
@pytest.mark.parametrize("variant", VARIANTS)
def test_bm25s_builds_the_same_from_the_same_terms(index_of: IndexOf, variant: Bm25Variant, sizes: list[int]) -> None:
    formulas = VARIANTS[variant]
    oracle = bm25s.BM25(k1=1.2, b=0.75, delta=0.5, method=formulas.frequency, idf_method=formulas.rarity)
    oracle.index([Analyzer().terms(text) for text in TEXTS], show_progress=False)
    ours = scores(index_of(sizes, Bm25Parameters(variant)))
    np.testing.assert_allclose(ours, weighed(oracle.get_scores), atol=1e-4)
    assert ours.max() > 1


def counted() -> tuple[list[str], Any, Any]:
    """All terms, and how often each stands in each title and abstract: (papers, terms) each."""
    terms = sorted({term for title, abstract in PAPERS for term in Analyzer().terms(f"{title} {abstract}")})
    titles, abstracts = (np.zeros((len(PAPERS), len(terms))) for _ in range(2))
    for row, texts in enumerate(PAPERS):
        for matrix, text in zip((titles, abstracts), texts, strict=True):
            for term in Analyzer().terms(text):
                matrix[row, terms.index(term)] += 1
    return terms, titles, abstracts


@pytest.mark.parametrize("title", [0, 0.0, 1, 1.0, 2, 3.5])
@pytest.mark.parametrize("variant", ["lucene", "okapi"])
def test_a_term_in_a_title_counts_by_its_weight(index_of: IndexOf, variant: Bm25Variant, title: float) -> None:
    k1, b = 1.2, 0.75
    terms, titles, abstracts = counted()
    counts = abstracts + title * titles
    lengths = counts.sum(axis=1)
    holding = ((titles + abstracts) > 0).sum(axis=0)
    ratio = (len(PAPERS) - holding + 0.5) / (holding + 0.5)
    part = counts / (counts + k1 * (1 - b + b * lengths / lengths.mean())[:, None])
    whole = np.log(1 + ratio) * part if variant == "lucene" else np.log(ratio) * (k1 + 1) * part
    weights = np.array([{"molecul": 1.6}.get(term, 1.0 if term in Analyzer().terms(QUERY) else 0.0) for term in terms])
    assert sorted(weights)[-1] == 1.6
    index = index_of([90, len(PAPERS) - 90], Bm25Parameters(variant, k1, b, title=title))
    np.testing.assert_allclose(scores(index), whole @ weights, atol=1e-4)


QUERIES = ["graph", QUERY, "star galaxy telescope orbit", "graph graph graph network", "unheardof", "the of", ""]


@pytest.mark.parametrize("query", [*QUERIES, "graph network node", "star vaccine", "graph unheardof"])
def test_rows_with_all_terms(index_of: IndexOf, query: str) -> None:
    terms = Analyzer().terms(query)
    index = index_of([70, len(PAPERS) - 70], Bm25Parameters())
    rows = index.rows_with(terms)
    texts = [set(Analyzer().terms(f"{title} {abstract}")) for title, abstract in PAPERS]
    assert rows.tolist() == [row for row, held in enumerate(texts) if terms and set(terms) <= held]
    for step in (1, 7, 40):  # many of them, and few
        among = np.arange(0, len(PAPERS), step)
        assert index.rows_with(terms, among=among).tolist() == np.intersect1d(rows, among).tolist()
    for place, column in enumerate(("title", "abstract")):
        held = [set(Analyzer().terms(paper[place])) for paper in PAPERS]
        assert index.rows_with(terms, column).tolist() == [row for row in range(len(PAPERS)) if terms and set(terms) <= held[row]]


@pytest.mark.parametrize("variant", ["lucene", "okapi", "robertson"])
def test_weights_are_what_each_term_adds(index_of: IndexOf, variant: Bm25Variant) -> None:
    index = index_of([70, len(PAPERS) - 70], Bm25Parameters(variant))
    terms = weigh_terms(Analyzer().terms(QUERY))
    total, _ = index.scores(terms)
    scores_by_term = {term: index.scores({term: weight}) for term, weight in terms.items()}
    papers_with_several = 0
    for row in range(len(PAPERS)):
        weights = index.weights(terms, row)
        assert weights == pytest.approx(
            {term: float(term_scores[row]) for term, (term_scores, term_mask) in scores_by_term.items() if term_mask[row]}
        )
        assert list(weights.values()) == sorted(weights.values(), reverse=True)
        assert sum(weights.values()) == pytest.approx(float(total[row]), abs=1e-5)
        papers_with_several += len(weights) > 1
    assert papers_with_several > 10


@pytest.mark.parametrize("variant", get_args(Bm25Variant))
@pytest.mark.parametrize("k", [1, 3, 20, 10_000])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.0])
def test_the_best_are_those_of_all_scores_whatever_the_shards(index_of: IndexOf, variant: Bm25Variant, k: int, share: float) -> None:
    random = np.random.default_rng(k)
    mask = None if share == 1 else random.random(len(PAPERS)) < share
    scope, others = Scope(len(PAPERS), mask), random.permutation(ALL)[:50]
    index = index_of([60, 1, len(PAPERS) - 61], Bm25Parameters(variant))
    for query in (QUERY, "graph", "star of the galaxy", "unheardof"):
        terms = weigh_terms(Analyzer().terms(query))
        every, matched = index.scores(terms)
        every[~matched] = -np.inf
        eligible = np.sort(every[scope.flags & matched])[::-1]
        wanted = np.flatnonzero(scope.flags & matched & (every >= eligible[:k].min(initial=np.inf)))
        rows, best_scores, other_scores = index.best(terms, k, scope, others[scope.has(others)])
        assert sorted(rows.tolist()) == wanted.tolist()
        assert best_scores.tobytes() == every[rows].tobytes()
        assert other_scores.tobytes() == every[others[scope.has(others)]].tobytes()


@pytest.fixture(scope="module")
def zipf(tmp_path_factory: pytest.TempPathFactory) -> list[Postings]:
    """Postings of 3,000 papers in shards of 500, with words as frequent as words are: the n-th in every n-th paper or so."""
    folder, chance = tmp_path_factory.mktemp("zipf"), np.random.default_rng(0)
    words = [f"w{number}x" for number in range(300)]
    has_word = chance.random((3000, 300)) < 1 / np.arange(1, 301) ** 0.7
    papers = [("", " ".join(words[number] for number in np.flatnonzero(row) for _ in range(chance.integers(1, 4)))) for row in has_word]
    return [postings_of(folder / str(first), papers[first : first + 500]) for first in range(0, 3000, 500)]


@pytest.mark.parametrize("variant", get_args(Bm25Variant))
@given(
    numbers=st.lists(st.integers(0, 299), min_size=1, max_size=8),
    weights=st.lists(st.floats(0.0, 3.0, width=32), min_size=8, max_size=8),
    k=st.sampled_from([1, 10, 200]),
    others=st.lists(st.integers(0, 2999), max_size=30, unique=True),
    looked_up=st.sampled_from([1, scoring.LOOKED_UP]),
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_passed_over_is_not_among_the_best(
    zipf: Any, variant: Bm25Variant, numbers: list[int], weights: list[float], k: int, others: list[int], looked_up: int
) -> None:
    index = joined(zipf, Bm25Parameters(variant))
    terms = {f"w{number}x": weight for number, weight in zip(numbers, weights, strict=False)}
    every, matched = index.scores(terms)
    every[~matched] = -np.inf
    eligible = np.sort(every[matched])[::-1]
    with mock.patch.object(scoring, "LOOKED_UP", looked_up):
        rows, best_scores, other_scores = index.best(terms, k, Scope(3000), np.array(others, np.int64))
    assert sorted(rows.tolist()) == np.flatnonzero(matched & (every >= eligible[:k].min(initial=np.inf))).tolist()
    assert best_scores.tobytes() == every[rows].tobytes()
    assert other_scores.tobytes() == every[others].tobytes()


def test_what_ties_with_the_last_is_found_however_little_a_word_adds(zipf: Any) -> None:
    """Which is less than what is lost to rounding: a word of every paper, that counts for next to nothing."""
    index, chance = joined(zipf, Bm25Parameters(k1=0.0)), np.random.default_rng(0)
    for _ in range(100):
        terms = {f"w{number}x": float(chance.choice([1.0, 3e-4, 1e-6, 2.3])) for number in chance.choice(60, 4, replace=False)}
        terms["w0x"] = float(chance.choice([1e-3, 1e-5, 5e-3]))
        every, matched = index.scores(terms)
        for k in (1, 10, 100):
            rows, _, _ = index.best(terms, k, Scope(3000))
            least = np.sort(every[matched])[::-1][:k].min()
            assert sorted(rows.tolist()) == np.flatnonzero(matched & (every >= least)).tolist()


@pytest.mark.parametrize("parameters", [Bm25Parameters(title=0.0), Bm25Parameters(title=1e-9)])
def test_papers_that_have_a_word_are_found_even_if_it_adds_nothing(tmp_path: Path, parameters: Bm25Parameters) -> None:
    index = joined([postings_of(tmp_path / "shard", [("star", ""), ("dust", "dust"), ("star", "dust")])], parameters)
    rows, _, _ = index.best({"star": 1.0}, 5, Scope(3))
    assert sorted(rows.tolist()) == [0, 2]


def test_postings_of_common_terms_are_read_for_few_papers(zipf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    index, read = joined(zipf, Bm25Parameters()), Counter[str]()
    whole, some = lexical_shard.LexicalShard.weights_of, lexical_shard.LexicalShard.weights_at

    def weights_of(shard: Any, number: int) -> Any:
        read["all of a common term"] += number == shard.number("w0x")
        return whole(shard, number)

    def weights_at(shard: Any, number: int, places: Any) -> Any:
        read["some of a common term"] += number == shard.number("w0x")
        return some(shard, number, places)

    monkeypatch.setattr("sciretrieve.matching.lexical.bm25.KERNEL", compiled.Kernel())  # which has its own way
    monkeypatch.setattr(scoring, "LOOKED_UP", 1)  # as in a shard of many papers
    monkeypatch.setattr(lexical_shard.LexicalShard, "weights_of", weights_of)
    monkeypatch.setattr(lexical_shard.LexicalShard, "weights_at", weights_at)
    index.best({"w0x": 1.0, "w250x": 1.0, "w280x": 1.0}, 3, Scope(3000))
    # of the five later shards, those where a paper can still be among the best
    assert read == {"all of a common term": 1, "some of a common term": 2}


def test_other_parameters_need_no_other_index(index_of: IndexOf) -> None:
    index = index_of([70, len(PAPERS) - 70], Bm25Parameters())
    before = scores(index)
    for parameters in (Bm25Parameters("bm25+", 0.7, 0.2), Bm25Parameters("okapi", title=0.5)):
        assert (scores(index.weighted(parameters)) == scores(index_of([len(PAPERS)], parameters))).all()
    assert (scores(index) == before).all()


def test_weights_that_are_not_remembered_are_computed_again(index_of: IndexOf, monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_of([70, len(PAPERS) - 70], Bm25Parameters())
    whole = scores(index)
    monkeypatch.setattr(lexical_shard, "REMEMBERED", 50)
    forgetful = index.weighted(Bm25Parameters())
    for _ in range(2):
        assert (scores(forgetful) == whole).all()
        for query in ("star galaxy", "vaccine dose trial"):
            assert (scores(forgetful, query) == scores(index, query)).all()
    remembered = forgetful.shards[0].remembered
    assert remembered is forgetful.shards[1].remembered
    assert sum(len(known.weights) for known in remembered._weights.values()) == remembered._size <= 50


@pytest.mark.parametrize("column", [None, "title", "abstract"])
def test_papers_with_a_term_are_told_alike_by_masks_and_by_search(
    index_of: IndexOf, monkeypatch: pytest.MonkeyPatch, column: str | None
) -> None:
    index = index_of([70, len(PAPERS) - 70], Bm25Parameters())
    for common, tried in ((1_000, 1_000), (0, 0)):
        monkeypatch.setattr(lexical_shard, "COMMON", common)
        monkeypatch.setattr(lexical_shard, "TRIED", tried)
        for shard in index.shards:
            rows = np.arange(0, shard.papers, 3)
            for number in range(len(shard.postings.terms)):
                expected = np.isin(rows, shard.rows_within(number, column))
                assert (shard.have(number, rows, column) == expected).all()


def test_postings_come_back_as_they_went_in(tmp_path: Path) -> None:
    papers = [("graph star graph", "star"), ("star", ""), ("", "graph"), ("dust", "")]
    postings = postings_of(tmp_path / "shard", papers, batch=2)
    assert postings.terms.to_pylist() == ["dust", "graph", "star"]
    assert postings.offsets.tolist() == [0, 1, 3, 5]
    assert postings.rows.tolist() == [3, 0, 2, 0, 1]
    assert postings.counts.tolist() == [1, 2, 1, 2, 1]
    assert postings.titles.tolist() == [1, 2, 0, 1, 1]
    assert postings.lengths.tolist() == [4, 1, 1, 1]
    assert postings.title_lengths.tolist() == [3, 1, 0, 1]
    assert postings.title_offsets.tolist() == [0, 2, 3, 3, 4]
    assert postings.title_terms.tolist() == [1, 2, 2, 0]


def test_counts_end_where_their_numbers_do(tmp_path: Path) -> None:
    postings = postings_of(tmp_path / "shard", [("graph " * 300, "star " * 70_000), ("dust", "dust")])
    assert postings.counts.tolist() == [2, 300, 65_535]
    assert postings.titles.tolist() == [1, 255, 0]
    assert postings.lengths.tolist() == [300 + 65_535, 2]
    assert postings.title_lengths.tolist() == [255, 1]


def used(postings: Postings) -> None:
    """Read all that a search reads."""
    index = joined([postings], Bm25Parameters())
    scores(index)
    assert len(postings.title_terms) >= 0


def test_a_file_of_another_shard_is_refused(tmp_path: Path) -> None:
    postings_of(tmp_path / "few", [("graph", ""), ("star dust", "")])
    for name, names in (("postings.arrow", r"lengths\.arrow names terms"), ("lengths.arrow", r"lengths\.arrow has 2 papers")):
        folder = postings_of(tmp_path / f"with {name}", PAPERS).folder
        shutil.copy(tmp_path / "few" / name, folder / name)
        with pytest.raises(CorruptData, match=names):
            used(Postings(folder, len(PAPERS)))


def test_an_index_of_other_papers_is_refused(tmp_path: Path) -> None:
    postings_of(tmp_path / "shard", PAPERS)
    with pytest.raises(CorruptData, match="has 204 papers where the manifest says 205"):
        used(Postings(tmp_path / "shard", len(PAPERS) + 1))
    fewer = Postings(tmp_path / "shard", 9)
    with pytest.raises(CorruptData, match="names papers that the shard does not have"):
        fewer.of(fewer.terms.to_pylist().index("graph"))


def test_an_unknown_variant_names_the_near_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'lucene'"):
        Bm25Parameters("lucen")  # type: ignore[arg-type]


BAD = {"k1": (-0.1, math.nan), "b": (-0.1, 1.1, math.nan), "title": (-0.5, math.nan)}


@pytest.mark.parametrize("settings", [{name: value} for name, values in BAD.items() for value in values], ids=str)
def test_bad_parameters_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidRequest, match=r"`(k1|b|title)` must (be at least 0|lie between 0 and 1), not"):
        Bm25Parameters(**settings)  # type: ignore[arg-type]
    Bm25Parameters(k1=0, b=0, title=0)
    Bm25Parameters(b=1)


def test_an_index_without_any_term(tmp_path: Path) -> None:
    index = joined([postings_of(tmp_path / "empty", [("", ""), ("the", "of")])], Bm25Parameters())
    assert not index.scores({"graph": 1.0})[1].any()
    assert index.rows_with(["graph"]).tolist() == index.beginning_with("g") == []
