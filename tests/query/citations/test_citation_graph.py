"""The citation graph of an index: whom references mean, and how papers are related, held against plain sets."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.citations.citation_graph import CitationGraph, Link

OUTSIDE = 12


def library(count: int = 40, seed: int = 0) -> list[dict[str, Any]]:
    """Made-up papers that cite each other, in both directions, and works that are not there."""
    chance = random.Random(seed)
    ids = [f"p{number:02d}" for number in range(count)]
    works = [*ids, *(f"10.1000/outside{number}" for number in range(OUTSIDE))]
    return [
        {"id": id, "title": f"Paper {id}", "abstract": "graph networks", "references": chance.sample(works, chance.randint(0, 6))}
        for id in ids
    ]


def built(path: Path, rows: Sequence[dict[str, Any]], **settings: Any) -> sr.Index:
    return sr.build(list(rows), path, encoder=None, **settings)


def neighbourhoods(rows: Sequence[dict[str, Any]]) -> dict[str, set[str]]:
    """What each paper cites, what cites it, and itself."""
    near = {row["id"]: {row["id"], *row["references"]} for row in rows}
    for row in rows:
        for other in row["references"]:
            if other in near:
                near[other].add(row["id"])
    return near


def cosines(rows: Sequence[dict[str, Any]], id: str) -> dict[str, float]:
    """How closely each paper is related with one, by sets."""
    near = neighbourhoods(rows)
    works = {work for works in near.values() for work in works}
    weight = {work: math.log1p(len(near) / sum(work in of for of in near.values())) ** 2 for work in works}
    unknown = 20 * math.log1p(len(near)) ** 2
    lengths = {other: math.sqrt(sum(weight[work] for work in near[other]) + unknown) for other in near}
    scores = {other: sum(weight[work] for work in near[id] & near[other]) / lengths[id] / lengths[other] for other in near if other != id}
    return {other: score for other, score in scores.items() if score}


def related(index: sr.Index, id: str) -> dict[str, float]:
    rows, scores = index.snapshot.citations.related(int(index.snapshot.rows([id])[0]))
    return dict(zip(index.ids(rows), scores.tolist(), strict=True))


@pytest.mark.parametrize("shard_size", [100, 7])
def test_papers_are_related_by_all_that_links_them(tmp_path: Path, shard_size: int) -> None:
    rows = library()
    index = built(tmp_path / "index", rows, shard_size=shard_size)
    for row in rows:
        assert related(index, row["id"]) == pytest.approx(cosines(rows, row["id"]), rel=1e-4)


def test_the_sharding_and_the_order_of_references_change_no_bit(tmp_path: Path) -> None:
    rows = library(seed=1)
    index = built(tmp_path / "whole", rows)
    turned = [{**row, "references": row["references"][::-1]} for row in rows]
    other = built(tmp_path / "parts", turned, shard_size=3)
    assert all(related(index, row["id"]) == related(other, row["id"]) for row in rows)


def test_deleted_papers_neither_cite_nor_are_cited(tmp_path: Path) -> None:
    rows = library()
    gone = {row["id"] for row in rows[::5]}
    built(tmp_path / "index", rows, shard_size=7)
    sr.delete(tmp_path / "index", sorted(gone))
    left = [row for row in rows if row["id"] not in gone]
    index = sr.open(tmp_path / "index")
    for row in left:
        assert related(index, row["id"]) == pytest.approx(cosines(left, row["id"]), rel=1e-4)


def test_links_are_counted(tmp_path: Path) -> None:
    rows = library()
    index = built(tmp_path / "index", rows)
    cites = {row["id"]: set(row["references"]) - {row["id"]} for row in rows}
    cited_by = {id: {other for other in cites if id in cites[other]} for id in cites}
    for given in (["p00"], ["p03", "p17"]):
        they_cite = set().union(*(cites[id] for id in given))
        cite_them = set().union(*(cited_by[id] for id in given))
        for id in cites.keys() - set(given):
            assert index.snapshot.citations.link(index.snapshot.rows(given).tolist(), int(index.snapshot.rows([id])[0])) == Link(
                shared=len(cites[id] & they_cite),
                together=len(cited_by[id] & cite_them),
                between=len(cites[id] & cite_them) + len(cited_by[id] & they_cite),
                cites=bool(cites[id] & set(given)),
                cited=bool(cited_by[id] & set(given)),
            )


MIXED: list[dict[str, Any]] = [
    {"id": "https://openalex.org/W1", "title": "One", "doi": "https://doi.org/10.1000/One"},
    {"id": "vaswani2017", "title": "Two", "eprint": "1706.03762"},
    {"id": "31452104", "title": "Three", "pmid": "31452104"},
    {"id": "f" * 40, "title": "Four", "corpusId": 44},
    {"id": "a", "title": "Five", "doi": "10.1000/Five"},
    {"id": "b", "title": "Its twin", "doi": "10.1000/FIVE"},
]


@pytest.mark.parametrize(
    ("reference", "cited"),
    [
        ("https://openalex.org/W1", 0),
        ("openalex.org/w1", 0),
        ("10.1000/ONE", 0),
        ("doi:10.1000/one", 0),
        ("https://arxiv.org/abs/1706.03762v5", 1),
        ("10.48550/arXiv.1706.03762", 1),
        ("vaswani2017", 1),
        ("pmid:31452104", 2),
        ("https://pubmed.ncbi.nlm.nih.gov/31452104/", 2),
        ("31452104", 2),
        ("f" * 40, 3),
        (f"https://www.semanticscholar.org/paper/Four/{'f' * 40}", 3),
        ("CorpusId:44", 3),
        ("b", 5),
        ("10.1000/five", 4),  # of two, the one with the least id
        ("44", None),
        ("https://openalex.org/W11", None),
        ("10.1000/one/1", None),
        ("Vaswani2017", None),
    ],
)
def test_a_reference_finds_its_paper_in_any_form(tmp_path: Path, reference: str, cited: int | None) -> None:
    rows = [*MIXED, {"id": "citing", "title": "Citing", "references": [reference]}]
    index = built(tmp_path / "index", rows)
    assert index.snapshot.citations.graph.cites(6).tolist() == [7 if cited is None else cited]


def test_numbers_are_pubmed_ids_in_papers_from_pubmed_alone(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "title": "A", "pmid": "5"},
        {"id": "6", "title": "B", "pmid": "6", "references": ["5", "77"]},
        {"id": "7", "title": "C", "pmid": "8", "references": ["5", "pmid:77"]},
    ]
    index = built(tmp_path / "index", rows)
    graph = index.snapshot.citations.graph
    assert 0 in graph.cites(1).tolist()
    assert 0 not in graph.cites(2).tolist()
    assert set(graph.cites(1).tolist()) & set(graph.cites(2).tolist())  # both cite the PubMed id 77, which is not there


def test_two_columns_are_read_and_papers_need_not_have_them(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"id": "a", "title": "A", "referenced_works": ["b", "c"]}\n{"id": "b", "title": "B"}\n')
    (tmp_path / "two.jsonl").write_text('{"id": "c", "title": "C", "cites": "a, b"}\n{"id": "d", "title": "D", "references": 3}\n')
    index = sr.build([tmp_path / "one.jsonl", tmp_path / "two.jsonl"], tmp_path / "index", encoder=None, shard_size=1)
    assert [index.snapshot.citations.graph.cites(row).tolist() for row in range(4)] == [[1, 2], [], [0, 1], []]


def test_an_index_without_references_says_so(tmp_path: Path) -> None:
    index = built(tmp_path / "index", [{"id": "a", "title": "A", "references": 12}])
    assert not index.snapshot.has_references
    with pytest.raises(InvalidRequest, match="has no column of references; add one such as references, referenced_works"):
        _ = index.snapshot.citations


def test_an_index_without_a_citation_has_an_empty_graph(tmp_path: Path) -> None:
    index = built(tmp_path / "index", [{"id": "a", "title": "A", "references": ["x"]}, {"id": "b", "title": "B", "references": None}])
    sr.delete(index.path, ["a"])
    citations = sr.open(index.path).snapshot.citations
    assert isinstance(citations, CitationGraph)
    assert len(citations.graph) == 0
    assert citations.related(1)[0].tolist() == []
