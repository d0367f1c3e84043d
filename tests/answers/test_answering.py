"""One request, one answer: what the searches and the views give one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.answers.overview import CLUSTER_DEPTH, FACET_DEPTH, clusters_of, facets_at, facets_of
from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.matching.lexical import Analyzer


def test_an_answer_to_words_is_the_search_and_its_views(index: sr.Index) -> None:
    options = sr.SearchOptions(filter="impact > 1", diversify=True)
    answer = sr.answer(index, sr.Request("graph networks", k=5, options=options, facets=["topic", "year"], cluster=True, explain=True))
    run = index.search("graph networks", 5, options)
    assert [hit.id for hit in answer.hits] == run.rankings[0].ids
    assert answer.query == "graph networks"
    plain = replace(options, group=False, diversify=False)
    counted = facets_at(index, index.matching("graph networks", "impact > 1"), ["topic", "year"])
    assert answer.facets == [replace(facet, papers_are="has all words") for facet in counted]
    assert sr.answer(index, sr.Request("graph star", options=options, facets=["year"])).facets == facets_of(
        index, index.search("graph star", FACET_DEPTH, plain), ["year"]
    )
    assert answer.groups == clusters_of(index, index.search("graph networks", CLUSTER_DEPTH, plain))
    assert answer.explanations == sr.explain(index, "graph networks", run.rankings[0].ids, filter="impact > 1")


def test_an_answer_is_moved_by_papers_that_are_liked(index: sr.Index) -> None:
    first, second = index.search("graph networks", 2).rankings[0].ids
    answer = sr.answer(index, sr.Request("graph networks", like=[first], unlike=[second], k=7, explain=True))
    run = index.search("graph networks", 7, like=[first], unlike=[second])
    assert [hit.id for hit in answer.hits] == run.rankings[0].ids
    assert [why.id for why in answer.explanations] == run.rankings[0].ids


def test_without_a_query_an_answer_is_like_papers(index: sr.Index) -> None:
    first, second = index.search("graph networks", 2).rankings[0].ids
    answer = sr.answer(
        index, sr.Request(like=[first], unlike=[second], text="Graphs. About networks.", k=7, facets=["topic"], explain=True)
    )
    run = index.similar(first, 7, text="Graphs. About networks.", negatives=[second])
    assert [hit.id for hit in answer.hits] == run.rankings[0].ids
    assert answer.query == first
    probe = index.reader.likeness(first, text="Graphs. About networks.", negatives=[second])
    assert answer.explanations == sr.explain(index, probe, run.rankings[0].ids)
    assert answer.facets[0].papers


def test_an_empty_answer_says_what_no_paper_has(index: sr.Index) -> None:
    answer = sr.answer(index, sr.Request('graph "no such phrase anywhere"'))
    assert (list(answer.hits), list(answer.unmet)) == ([], ['"no such phrase anywhere"'])


def test_what_cannot_be_answered_is_refused(index: sr.Index) -> None:
    with pytest.raises(InvalidRequest, match="excludes a query"):
        sr.Request("graph", text="A title.")
    with pytest.raises(InvalidRequest, match="nothing to be similar to"):
        sr.answer(index, sr.Request())
    with pytest.raises(NotFound):
        sr.answer(index, sr.Request(like=["nobody"]))
    with pytest.raises(UnknownName, match="facets"):
        sr.answer(index, sr.Request("graph", facets=["nothing"]))


def test_an_answer_knows_how_many_papers_meet_its_demands(index: sr.Index, papers: list[dict[str, Any]]) -> None:
    """Whatever is asked for besides: a k, a mode, papers that are liked, which are left out of the hits alone."""
    texts = {paper["id"]: set(Analyzer().terms(f"{paper['title']} {paper['abstract']}")) for paper in papers}
    recent = {paper["id"] for paper in papers if (paper["year"] or 0) >= 2010}
    both = {id for id in recent if {"graph", "network"} <= texts[id]}
    one = {id for id in recent if texts[id] & {"graph", "star"}}
    liked = sorted(both)[:2]
    for mode in index.modes:
        options = sr.SearchOptions(mode=mode, since=2010)
        for request, total, is_what in (
            (sr.Request("graphs network", k=2, options=options), len(both), "has all words"),
            (sr.Request("graphs network", options=options, like=liked, unlike=sorted(recent)[-1:]), len(both), "has all words"),
            (sr.Request("graph OR star", options=options), len(one), "meets demands"),
            (sr.Request(like=liked, options=options), len(recent), "passes filters"),
            (sr.Request("p0007"), 1, "is named"),
        ):
            answer = sr.answer(index, request)
            assert (answer.total, answer.total_is) == (total, is_what)
            assert (answer.to_dict()["total"], answer.to_dict()["total_is"]) == (total, is_what)
    assert index.count("graphs network", "year >= 2010") == len(both)
    assert index.count(filter="year >= 2010") == len(recent)
    assert index.count() == len(index.matching()) == len(papers)


def test_facets_are_over_all_papers_that_meet_the_demands(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": str(number), "title": "graph" + " nets" * (number % 2) + " rare" * (number < 9), "year": 1900 + number % 40}
        for number in range(FACET_DEPTH + 200)
    ]
    index = sr.build(rows, tmp_path / "index", encoder=None, progress=False)
    for query, papers_are, chosen in (
        ("graph nets", "has all words", [row for row in rows if "nets" in row["title"]]),
        ("graph", "has all words", rows),
        ("graph rare", "match", [row for row in rows if "rare" in row["title"]]),
        ("graph NOT nets", "meets demands", [row for row in rows if "nets" not in row["title"]]),
        ("year:1900-1919", "meets demands", [row for row in rows if row["year"] < 1920]),
    ):
        (years,) = sr.answer(index, sr.Request(query, k=1, facets=["year:40"])).facets
        assert years.values == tuple(sorted(Counter(row["year"] for row in chosen).items()))
        assert (years.papers, years.papers_are, years.others) == (len(chosen), papers_are, 0)
