"""Facets and groups over an answer: against counting in plain Python, and over shards whose columns differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.answers.overview import clusters_of, facets_of
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.matching.dense.scale import Scale
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.runs import WEAK
from tests.made_up import write_jsonl


@pytest.fixture
def scaled(index: sr.Index) -> sr.Index:
    """The index with a scale of nearness, which its papers, four kinds of much the same, do not give."""
    opened = sr.open(index.path)
    vars(opened.snapshot)["scale"] = Scale(0.6, 0.95, np.arange(300))
    return opened


def matches(index: sr.Index, run: sr.Run, papers: list[dict[str, Any]]) -> set[str]:
    """The papers of an answer to "graph networks" that match it, by counting in plain Python, and by the scale of the index's vectors."""
    texts = {paper["id"]: set(Analyzer().terms(f"{paper['title']} {paper['abstract']}")) for paper in papers}
    counts = {term: sum(term in terms for terms in texts.values()) for term in ("graph", "network")}
    rarity = {term: log(1 + (len(papers) - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
    ranking = run[0]
    covered = {id: sum(rarity[term] for term in rarity if term in texts[id]) for id in ranking.ids if "bm25" in ranking.parts}
    by_words = {id for id, sum_of_rarities in covered.items() if sum_of_rarities > max(covered.values()) / 2}
    if "dense" not in ranking.parts:
        return by_words
    assert index.snapshot.scale is not None
    return by_words | {
        id
        for id, score in zip(ranking.ids, ranking.parts["dense"], strict=True)
        if index.snapshot.scale.strength(np.array([score]))[0] >= WEAK
    }


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "dense"])
@pytest.mark.parametrize("k", [1, 40, 300])
def test_facets_count_the_papers_of_the_answer_that_match(scaled: sr.Index, papers: list[dict[str, Any]], k: int, mode: Mode) -> None:
    run = scaled.search("graph networks", k, mode=mode, filter="impact > 1")
    ids = matches(scaled, run, papers)
    shown = [paper for paper in papers if paper["id"] in ids]
    assert k < 300 or 0 < len(shown) < len(run[0]) or mode == "bm25"
    summaries = facets_of(scaled, run, ["topic", "year", "authors"])
    assert [facet.column for facet in summaries] == ["topic", "year", "authors"]
    for facet in summaries:
        values = [paper[facet.column] if isinstance(paper[facet.column], list) else [paper[facet.column]] for paper in shown]
        counts = Counter(value for paper_values in values for value in paper_values if value is not None)
        assert dict(facet.values) == dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10])
        assert facet.papers == len(shown)
        assert facet.others == max(0, len(counts) - 10)
        assert facet.missing == sum(not any(value is not None for value in paper_values) for paper_values in values)


@pytest.mark.parametrize("columns", [["lab"], ["lab", "year"], ["id", "lab"]])
def test_shards_may_have_different_columns(tmp_path: Path, columns: list[str]) -> None:
    """A paper of a shard without the column is a paper without a value."""
    plain = [{"id": f"a{number}", "title": "graph theory", "year": 2000 + number % 3} for number in range(6)]
    more = [{"id": f"b{number}", "title": "graph theory", "lab": "xy"[number % 2]} for number in range(6)]
    files = [write_jsonl(tmp_path / "a.jsonl", plain), write_jsonl(tmp_path / "b.jsonl", more)]
    index = sr.build(files, tmp_path / "index", encoder=None, shard_size=6)
    assert ["lab" in shard.schema.names for shard in index.snapshot.shards] == [False, True]
    summaries = {facet.column: facet for facet in facets_of(index, index.search("graph", 12), columns)}
    assert (summaries["lab"].values, summaries["lab"].missing) == ((("x", 3), ("y", 3)), 6)
    if "year" in columns:
        assert (summaries["year"].values, summaries["year"].missing) == (((2000, 2), (2001, 2), (2002, 2)), 6)
    if "id" in columns:
        assert (len(summaries["id"].values), summaries["id"].others, summaries["id"].missing) == (10, 2, 0)


def test_papers_like_one_match_by_meaning_alone(scaled: sr.Index) -> None:
    """Nearly all papers of a field share a word with a whole paper."""
    run = scaled.similar("p0000", 300)
    scale = scaled.snapshot.scale
    assert scale is not None
    near = int((scale.strength(run[0].parts["dense"]) >= WEAK).sum())
    (facet,) = facets_of(scaled, run, ["year"])
    assert facet.papers == near < np.isfinite(run[0].parts["bm25"]).sum()


def test_where_nearness_cannot_be_told_shared_words_count(tmp_path: Path) -> None:
    rows = [{"id": str(number), "title": text} for number, text in enumerate(["graph theory", "graph of words", "star dust", "graph"])]
    index = sr.build(write_jsonl(tmp_path / "few.jsonl", rows), tmp_path / "index", encoder=None)
    (facet,) = facets_of(index, index.similar("0", 10), ["title"])
    assert facet.papers == 2


def test_what_the_query_names_matches(scaled: sr.Index, papers: list[dict[str, Any]]) -> None:
    (facet,) = facets_of(scaled, scaled.search("p0007", 300), ["id"])
    assert "p0007" in dict(facet.values)
    (facet,) = facets_of(scaled, scaled.search("lovelace", 300, group=False), ["authors"])
    assert facet.papers == sum("Ada Lovelace" in paper["authors"] for paper in papers)


def test_a_listing_counts_all_of_its_papers(index: sr.Index, papers: list[dict[str, Any]]) -> None:
    (facet,) = facets_of(index, index.search("topic:stars", 300, group=False), ["topic"])
    assert facet.values == (("stars", sum(paper["topic"] == "stars" for paper in papers)),)


def test_an_answer_without_papers_has_no_values(index: sr.Index) -> None:
    (facet,) = facets_of(index, index.search("graph", filter="year > 3000"), ["topic"])
    assert (facet.values, facet.others, facet.missing) == ((), 0, 0)


@pytest.mark.parametrize("k", [1, 5, 120])
def test_groups_part_the_answer(index: sr.Index, k: int) -> None:
    run = index.search("star market vaccine graph", k)
    groups = clusters_of(index, run)
    assert sorted(paper.id for group in groups for paper in group.papers) == sorted(run.rankings[0].ids)
    assert [len(group.papers) for group in groups] == sorted((len(group.papers) for group in groups), reverse=True)


def test_groups_are_of_papers_that_are_alike_and_say_so(index: sr.Index) -> None:
    """The made-up papers have four topics; the query's words label none of them."""
    run = index.search("graph star price", 200)
    groups = clusters_of(index, run)
    assert len(groups) > 1
    analyzer = Analyzer()
    for group in groups:
        topics = Counter(paper.extra["topic"] for paper in group.papers)
        assert topics.most_common(1)[0][1] >= 0.8 * len(group.papers)
        words = {word for paper in group.papers for word in f"{paper.title} {paper.abstract}".split()}
        assert group.label
        assert set(group.label) <= words
        assert not {analyzer.term(word) for word in group.label} & set(analyzer.terms("graph star price"))


@pytest.mark.parametrize("settings", [{"encoder": None}, {"lexical": None}], ids=["without vectors", "without BM25"])
def test_groups_need_vectors_and_words(built: Callable[..., Any], settings: dict[str, Any]) -> None:
    index = built(**settings)
    with pytest.raises(InvalidRequest, match="needs vectors and BM25"):
        clusters_of(index, index.search("graph"))
