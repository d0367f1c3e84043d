"""Queries that are vectors, alone or beside a text, among queries that are texts. The oracle is NumPy's cosine over all papers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, WordsAlone
from sciretrieve.base.types import Paper, Query, Scores
from tests.toy_encoder import OwnLetters

VECTORS = arrays(np.int64, 26, elements=st.integers(-100, 100))


@pytest.fixture(scope="module")
def letters(papers: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """An index in three shards, opened without what encodes its queries."""
    path = tmp_path_factory.mktemp("letters") / "index"
    sr.build(papers, path, encoder=OwnLetters(), shard_size=128, progress=False).close()
    return sr.open(path)


def cosines(index: sr.Index, vector: Any) -> dict[str, float]:
    matrix = np.concatenate([np.asarray(shard.vectors, np.float64) for shard in index.snapshot.vectors])
    query = np.asarray(vector, np.float64)
    lengths = np.maximum(np.linalg.norm(matrix, axis=1) * np.linalg.norm(query), 1e-300)
    return dict(zip(index.snapshot.live_ids(), matrix @ query / lengths, strict=True))


def plain(index: sr.Index, query: Any, k: int = 300, **options: Any) -> sr.Ranking:
    return index.search(query, k, group=False, **options)[0]


@given(vector=VECTORS, k=st.integers(1, 320))
def test_a_vector_finds_the_papers_nearest_to_it(letters: sr.Index, vector: Any, k: int) -> None:
    expected = cosines(letters, vector)
    ranking = plain(letters, Query(vector=vector), k)
    assert len(ranking) == min(k, 300)
    np.testing.assert_allclose(ranking.scores, sorted(expected.values(), reverse=True)[:k], atol=1e-9)
    np.testing.assert_allclose(ranking.scores, [expected[id] for id in ranking.ids], atol=1e-9)
    assert (ranking.query.id, set(ranking.parts), ranking.lacks) == ("1", {"dense"}, "words")


def test_beside_a_text_it_takes_the_meanings_place(letters: sr.Index) -> None:
    vector = np.arange(26, dtype=np.float64) - 7
    query = Query("q", "star dust", vector=vector)
    expected, words = cosines(letters, vector), plain(letters, Query("q", "star dust"), mode="bm25")
    hybrid, dense, bm25 = (plain(letters, query, mode=mode) for mode in ("hybrid", "dense", "bm25"))
    np.testing.assert_allclose(hybrid.parts["dense"], [expected[id] for id in hybrid.ids], atol=1e-9)
    score_of = dict(zip(words.ids, words.scores.tolist(), strict=True))
    assert [None if np.isnan(score) else score for score in hybrid.parts["bm25"]] == [score_of.get(id) for id in hybrid.ids]
    assert (dense.ids, bm25.ids) == (plain(letters, Query(vector=vector)).ids, words.ids)
    assert [ranking.lacks for ranking in (hybrid, dense, bm25)] == [None] * 3
    known = letters.search("star dust", 300, group=False, vectors=vector[None].astype(np.float32))[0]
    assert hybrid.ids == known.ids
    assert letters.search(query).mode == "hybrid"


def test_no_encoder_is_asked_for_a_vector(letters: sr.Index) -> None:
    class Forbidden(OwnLetters):
        def encode_queries(self, queries: Any) -> Any:
            raise AssertionError("it is asked")

    index = sr.open(letters.path, encoder=Forbidden())
    assert index.search([Query(vector=np.ones(26)), Query("b", "star", vector=np.ones(26))]).mode == "hybrid"


def test_texts_and_vectors_in_one_batch_are_as_they_are_alone(letters: sr.Index) -> None:
    index = sr.open(letters.path, encoder=OwnLetters())
    vector = np.linspace(-1, 2, 26)
    queries: list[str | Query] = [
        "star dust",
        Query(vector=vector),
        Query("own", "vaccine trial", vector=vector[::-1]),
        Query("text", "market price"),
        Query("paper", paper=Paper("x", "galaxy telescope")),
        Query(vector=np.zeros(26)),
        'title:star -dust "no such phrase"',
    ]
    run = index.search(queries, 20, filter="year >= 2005")
    assert run.mode == "hybrid"
    assert [ranking.query.id for ranking in run] == ["1", "2", "own", "text", "paper", "6", "7"]
    for query, ranking in zip(queries, run, strict=True):
        alone = index.search(query, 20, filter="year >= 2005")[0]
        assert (ranking.ids, ranking.lacks, set(ranking.parts)) == (alone.ids, alone.lacks, set(alone.parts))
        np.testing.assert_array_equal(ranking.scores, alone.scores)
    assert [ranking.lacks for ranking in run] == [None, "words", None, None, None, "words", None]
    table = run.to_arrow().to_pylist()
    assert {row["query_id"] for row in table if row["bm25"] is not None} <= {"1", "own", "text", "paper"}
    assert all(row["dense"] is not None for row in table)


def test_a_batch_says_of_each_query_what_it_lacks(letters: sr.Index) -> None:
    with pytest.warns(WordsAlone):
        run = letters.search(["star", Query(vector=np.ones(26)), Query("3", "star", vector=np.ones(26))], 5)
    assert (run.mode, [ranking.lacks for ranking in run]) == ("hybrid", ["meaning", "words", None])
    value = run.to_dict()
    jsonschema.validate(value, sr.schema("run"))
    assert [ranking["lacks"] for ranking in value["rankings"]] == ["meaning", "words", None]
    assert [ranking["query"] for ranking in value["rankings"]] == [
        {"id": "1", "text": "star", "paper": None, "has_vector": False},
        {"id": "2", "text": "", "paper": None, "has_vector": True},
        {"id": "3", "text": "star", "paper": None, "has_vector": True},
    ]
    assert "'star' (answered by words alone)" in repr(run)
    assert "'(vector 2)' (answered by the vector alone)" in repr(run)
    assert "(vector 2)" in run._repr_html_()
    assert [line.split()[0] for line in run.to_trec()] == [id for id, ranking in zip("123", run, strict=True) for _ in ranking.ids]
    assert "bm25" not in run[1:2].to_arrow(titles=False).column_names


def test_vectors_go_with_all_that_a_search_may_have(letters: sr.Index, built: Callable[..., Any]) -> None:
    vector = np.ones(26)
    ids = letters.snapshot.live_ids()[:9]
    expected = cosines(letters, vector)
    np.testing.assert_allclose(letters.score(Query("q", vector=vector), ids, mode="dense"), [expected[id] for id in ids])
    liked = letters.search(Query(vector=vector), 5, like=ids[0], unlike=ids[1], diversify=True)[0]
    assert not {ids[0], ids[1]} & set(liked.ids)
    passing = plain(letters, Query(vector=vector), filter="year < 2003")
    assert {paper.year for paper in letters.papers(passing.ids)} <= {2000, 2001, 2002}
    why = sr.explain(letters, Query("q", "star", vector=vector), ids[:1])[0]
    assert why.dense is not None
    assert why.dense.score == pytest.approx(expected[ids[0]])
    assert set(sr.why_not(letters, ids[0], Query(vector=vector), k=1).ranks) == {"dense"}
    assert set(sr.why_not(letters, ids[0], Query("q", "star", vector=vector), k=1).ranks) == {"hybrid", "dense", "bm25"}
    index = built(shard_size=128, dense="hnsw")
    query = index.reader.query_encoder.encode([Query("q", "star dust")])[0]
    assert index.search(Query("q", "star dust", vector=query), 9)[0].ids == index.search(Query("q", "star dust"), 9)[0].ids


def test_late_interaction_reads_texts_and_a_vector_has_none(papers: list[dict[str, Any]], tmp_path: Path) -> None:
    index = sr.build(papers[:30], tmp_path / "index", late=True, progress=False)
    vector = index.reader.query_encoder.encode([Query("q", "graph networks")])[0]
    text, both, alone = index.search([Query("t", "graph networks"), Query("b", "graph networks", vector=vector), Query(vector=vector)], 5)
    assert ["tokens" in ranking.parts for ranking in (text, both, alone)] == [True, False, False]
    asked = index.search(Query("b", "graph networks", vector=vector), 5, late=True)[0]
    assert (asked.ids, "tokens" in asked.parts) == (text.ids, True)
    table = index.search([Query(vector=vector), Query("t", "graph networks")], 5).to_arrow()
    assert {"dense", "bm25", "tokens"} <= set(table.column_names)


@pytest.mark.parametrize(
    ("query", "options", "words"),
    [
        (Query(vector=np.ones(25)), {}, "the vector of query 1 has 25 numbers, and those of .* have 26"),
        (Query(vector=[np.nan] * 26), {}, "the vector of query 1 has values that are no numbers"),
        (Query(vector=[np.inf] * 26), {}, "the vector of query 1 has values that are no numbers"),
        (Query(vector=[1e300] * 26), {}, "the vector of query 1 .* is too long to be compared"),
        (Query(vector=[1e30] * 26), {}, "the vector of query 1 .* is too long to be compared"),
        (Query(vector=np.ones(26)), {"mode": "bm25"}, "a vector alone has no words for `mode='bm25'`; give it a text"),
        (Query(vector=np.ones(26)), {"reranker": True}, "a reranker reads the query, and a vector alone has no text"),
        (Query(vector=np.ones(26)), {"late": True}, "late interaction is a part of hybrid search"),
        (Query("q"), {}, "the query is empty"),
        (Query("q", " "), {"mode": "bm25"}, "the query is empty"),
    ],
    ids=["dimension", "nan", "infinite", "infinite in float32", "too long", "words", "reranker", "late", "empty", "blank"],
)
def test_a_vector_that_cannot_be_searched_for_is_an_error_of_one_line(
    letters: sr.Index, query: Query, options: dict[str, Any], words: str
) -> None:
    class Reranker:
        name = "none"

        def score(self, query: Query, papers: Any) -> Scores:
            raise AssertionError("it is asked")

    chosen: Any = {name: Reranker() if name == "reranker" else value for name, value in options.items()}
    index = sr.open(letters.path, encoder=OwnLetters())
    with pytest.raises(InvalidRequest, match=words) as caught:
        index.search(query, **chosen)
    assert "\n" not in str(caught.value)


def test_an_index_of_words_has_nothing_to_compare_a_vector_with(built: Callable[..., Any]) -> None:
    index = built(encoder=None)
    for query in (Query(vector=[1.0]), Query("q", "star", vector=[1.0])):
        with pytest.raises(InvalidRequest, match="has no vectors to compare the query's with; leave out the vector"):
            index.search(query)


def test_an_index_of_vectors_alone_takes_a_vector(papers: list[dict[str, Any]], tmp_path: Path) -> None:
    index = sr.build(papers[:20], tmp_path / "index", encoder=OwnLetters(), lexical=None, progress=False)
    ranking = sr.open(index.path).search(Query(vector=np.ones(26)), 20, group=False)[0]
    assert (len(ranking), ranking.lacks) == (20, None)
    with pytest.raises(InvalidRequest, match="is one of your own"):
        sr.open(index.path).search("star")


# queries as values


def test_queries_are_values() -> None:
    values = np.array([1.0, 2.5])
    query = Query("q", "star", vector=values)
    values[0] = 7
    assert isinstance(query.vector, np.ndarray)
    assert query.vector.dtype == np.float32
    assert query.vector.tolist() == [1.0, 2.5]
    with pytest.raises(ValueError, match="read-only"):
        query.vector[0] = 7
    same = Query("q", "star", vector=[1, 2.5])
    assert query == same
    assert len({query, same, Query("q", "star"), Query("q", "star", vector=[1, 2.6]), Query("q", "dust")}) == 4
    assert query != Query("q", "star")
    assert query != "q"
    copy = pickle.loads(pickle.dumps(query))
    assert copy == query
    assert replace(query, id="other").vector is not None
    assert "2.5" not in repr(query)


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        ("star", "is a list of numbers, not str"),
        (np.ones((1, 3)), r"has the shape \(dimension,\), not \(1, 3\)"),
        ([], r"not \(0,\)"),
        (1.0, r"not \(\)"),
        ([[1.0], [2.0, 3.0]], "is a list of numbers"),
        ([None, "x"], "is a list of numbers"),
    ],
)
def test_what_is_no_vector_is_refused(vector: Any, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        Query(vector=vector)
