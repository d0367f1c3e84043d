"""Pages: each goes on where the one before ends, and together they are one long answer, whatever the search."""

import json
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr

WAYS: list[dict[str, Any]] = [
    {"mode": "hybrid"},
    {"mode": "bm25"},
    {"mode": "dense"},
    {"mode": "hybrid", "fusion": "rrf", "group": False},
    {"mode": "bm25", "group": False},
    {"mode": "hybrid", "diversify": True},
    {"mode": "hybrid", "filter": "year >= 2010"},
]
QUERIES = ["graph networks", "p0007", "star venue:nature", "year:2015"]
SIZE, PAGES = 13, 5


class Shortest:
    """A reranker that prefers short titles."""

    name = "shortest"

    def score(self, query: sr.Query, papers: Any) -> list[float]:
        return [-len(paper.title) for paper in papers]


def hits(run: sr.Run) -> list[Any]:
    """What pages must agree in; the further records of a work are those that the depth of a search reaches."""
    return [[(hit.rank, hit.score, hit.id, hit.scores) for hit in hits] for hits in run.hits_of_each]


@pytest.mark.parametrize("way", [*WAYS, {"reranker": Shortest(), "rerank_depth": 20}], ids=lambda way: "-".join(way))
def test_pages_are_one_long_answer(index: sr.Index, way: dict[str, Any]) -> None:
    whole = index.search(QUERIES, SIZE * PAGES, **way)
    pages = [index.search(QUERIES, SIZE, offset=SIZE * page, **way) for page in range(PAGES)]
    assert [list(chain(*parts)) for parts in zip(*map(hits, pages), strict=True)] == hits(whole)
    assert {tuple(ranking.total for ranking in page) for page in pages} == {tuple(ranking.total for ranking in whole)}


@pytest.mark.parametrize("by", ["text", "citations", "both"])
def test_pages_of_similar_papers(by: Any) -> None:
    papers = [{"id": f"p{n}", "title": f"Graphs {n % 7}", "references": [f"p{n % 5}", f"p{n % 3}"]} for n in range(40)]
    index = sr.build(papers, into="indexes/cited", encoder="letters", progress=False)
    whole = index.similar("p7", 20, by=by)
    assert list(chain(*(hits(index.similar("p7", 5, by=by, offset=first))[0] for first in range(0, 20, 5)))) == hits(whole)[0]


def test_pages_by_an_approximate_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds depends on how deep it looks; here it answers, though a scan of so few papers is faster, and looks less deep."""
    monkeypatch.setattr("sciretrieve.matching.search.LEAST_DEPTH", 1)
    monkeypatch.setattr("sciretrieve.matching.dense.vectors.OVERSAMPLING", 1)
    vectors = np.random.default_rng(0).standard_normal((300, 32))
    papers = [{"id": f"p{n}", "title": f"Paper {n}"} for n in range(len(vectors))]
    vector_of = {paper["id"]: vector for paper, vector in zip(papers, vectors, strict=True)}
    index = sr.build(papers, into="indexes/near", encoder=vector_of, dense="hnsw", progress=False)
    index.searcher = replace(index.searcher, effort=replace(index.searcher.effort, ef=1, always=True))
    queries = [sr.Query(vector=vector) for vector in -vectors[:40]]
    whole = index.search(queries, 15, mode="dense", group=False)
    pages = [index.search(queries, 3, offset=3 * page, mode="dense", group=False) for page in range(5)]
    assert [[id for ranking in parts for id in ranking.ids] for parts in zip(*pages, strict=True)] == [list(one.ids) for one in whole]
    assert all((np.diff(ranking.scores) <= 0).all() and len(set(ranking.ids)) == 15 for ranking in whole)


def test_a_page_says_where_it_is_in_every_form(index: sr.Index) -> None:
    page = index.search(["graph networks", "star dust"], 3, offset=4)
    ranks = [5, 6, 7, 5, 6, 7]
    assert page.to_arrow()["rank"].to_pylist() == page.to_pandas()["rank"].tolist() == ranks
    assert [int(line.split()[3]) for line in page.to_trec()] == ranks
    assert [hit["rank"] for ranking in page.to_dict()["rankings"] for hit in ranking["hits"]] == ranks
    assert [hit["rank"] for ranking in page for hit in ranking.to_dict()["hits"]] == ranks
    assert "  5  " in repr(page)
    by_numpy = sr.answer(index, sr.Request("graph networks", k=np.int64(3), offset=np.int64(4)))  # type: ignore[arg-type]
    assert [hit["rank"] for hit in json.loads(by_numpy.to_json())["hits"]] == ranks[:3]
    answer = sr.answer(index, sr.Request("graph networks", k=3, offset=4, sort="year"))
    assert sorted(hit.rank for hit in answer.hits) == [5, 6, 7]
    assert answer.to_arrow()["paper_id"].to_pylist() == [hit.id for hit in answer.hits]


def test_beyond_the_end_there_is_nothing(index: sr.Index) -> None:
    answer = sr.answer(index, sr.Request("graph networks", offset=1000))
    assert answer.hits == [] == list(answer.unmet)
    assert answer.total > 0
    assert index.search("graph networks", 10, offset=296)[0].offset == 296


@pytest.mark.parametrize("offset", [-1, 1.5, "2"])
def test_an_offset_is_a_whole_number(index: sr.Index, offset: Any) -> None:
    with pytest.raises(sr.InvalidRequest, match="offset"):
        index.search("graph", offset=offset)
    with pytest.raises(sr.InvalidRequest, match="offset"):
        index.similar("p0007", offset=offset)
    with pytest.raises(sr.InvalidRequest, match="offset"):
        sr.Request("graph", offset=offset)
