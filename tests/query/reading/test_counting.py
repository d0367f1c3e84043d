"""Counted queries: each line against plain Python over the papers, and the last against what is counted at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.matching.lexical import Analyzer

Test = Callable[[dict[str, Any]], bool]


def has(word: str, column: str | None = None) -> Test:
    """Whether a paper has a word in title and abstract, or in one of them."""
    (term,) = Analyzer().terms(word)
    return lambda paper: term in Analyzer().terms(f"{paper['title']}\n{paper['abstract']}" if column is None else paper[column])


def since(year: int) -> Test:
    return lambda paper: (paper["year"] or 0) >= year


GRAPH, STAR, DUST, NODES = (has(word) for word in ("graph", "star", "dust", "nodes"))
EITHER: Test = lambda paper: STAR(paper) or GRAPH(paper)  # noqa: E731
CASES: list[tuple[str, list[str], list[tuple[str, str, Test]]]] = [
    ("graph", [], [("graph", "graph", GRAPH)]),
    ("graph nodes", [], [("graph nodes", "graph nodes", lambda paper: GRAPH(paper) and NODES(paper))]),
    (
        "star AND (graph OR dust) NOT nodes",
        ["year >= 2010"],
        [
            ("star", "star", STAR),
            ("graph", "graph", GRAPH),
            ("dust", "dust", DUST),
            ("#2 OR #3", "graph OR dust", lambda paper: GRAPH(paper) or DUST(paper)),
            ("nodes", "nodes", NODES),
            ("#1 AND #4 NOT #5", "star AND (graph OR dust) AND NOT nodes", lambda paper: STAR(paper) and DUST(paper) and not NODES(paper)),
            ("year >= 2010", "year >= 2010", since(2010)),
            (
                "#6 AND #7",
                "(star AND (graph OR dust) AND NOT nodes) AND (year >= 2010)",
                lambda paper: STAR(paper) and DUST(paper) and not NODES(paper) and since(2010)(paper),
            ),
        ],
    ),
    (
        "(star OR graph) -dust (graph OR star OR -title:nodes)",
        [],
        [
            ("star", "star", STAR),
            ("graph", "graph", GRAPH),
            ("#1 OR #2", "star OR graph", EITHER),
            ("dust", "dust", DUST),
            ("title:nodes", "title:nodes", has("nodes", "title")),
            (
                "#2 OR #1 OR NOT #5",
                "graph OR star OR -title:nodes",
                lambda paper: EITHER(paper) or not has("nodes", "title")(paper),
            ),
            (
                "#3 NOT #4 AND #6",
                "(star OR graph) AND -dust AND (graph OR star OR -title:nodes)",
                lambda paper: EITHER(paper) and not DUST(paper),
            ),
        ],
    ),
    (
        "author:lovelace graph -author:turing",
        [],
        [
            ("graph", "graph", GRAPH),
            ("authors:lovelace", "authors:lovelace", lambda paper: "Ada Lovelace" in paper["authors"]),
            ("authors:turing", "authors:turing", lambda paper: "Alan Turing" in paper["authors"]),
            (
                "#1 AND #2 NOT #3",
                "graph AND authors:lovelace AND -authors:turing",
                lambda paper: GRAPH(paper) and "Ada Lovelace" in paper["authors"] and "Alan Turing" not in paper["authors"],
            ),
        ],
    ),
    (
        "NOT (star OR graph)",
        [],
        [
            ("star", "star", STAR),
            ("graph", "graph", GRAPH),
            ("#1 OR #2", "star OR graph", EITHER),
            ("NOT #3", "NOT (star OR graph)", lambda paper: not EITHER(paper)),
        ],
    ),
    ("-dust", [], [("dust", "dust", DUST), ("NOT #1", "-dust", lambda paper: not DUST(paper))]),
    ("p0007", [], [("p0007", "p0007", lambda paper: paper["id"] == "p0007")]),
    (
        "",
        ["year >= 2010", "year >= 2020"],
        [
            ("year >= 2010", "year >= 2010", since(2010)),
            ("year >= 2020", "year >= 2020", since(2020)),
            ("#1 AND #2", "(year >= 2010) AND (year >= 2020)", since(2020)),
        ],
    ),
]


@pytest.fixture(scope="module")
def pruned(corpus: Path, papers: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> tuple[sr.Index, list[dict[str, Any]]]:
    """The made-up papers in shards, some of them deleted, without vectors; and the papers that are left."""
    path = tmp_path_factory.mktemp("pruned") / "index"
    sr.build(corpus, path, encoder=None, shard_size=90)
    deleted = {paper["id"] for paper in papers[50:260:3]}
    sr.delete(path, sorted(deleted))
    return sr.open(path), [paper for paper in papers if paper["id"] not in deleted]


@pytest.mark.parametrize(("query", "filters", "expected"), CASES, ids=[case[0] for case in CASES])
def test_each_line_counts_what_it_says(
    pruned: tuple[sr.Index, list[dict[str, Any]]], query: str, filters: list[str], expected: list[tuple[str, str, Test]]
) -> None:
    index, left = pruned
    lines = index.count_lines(query, filters)
    assert [(line.number, line.text, line.query, line.papers) for line in lines] == [
        (number, text, written, sum(map(test, left))) for number, (text, written, test) in enumerate(expected, 1)
    ]
    assert lines[-1].papers == index.count(query, filters)
    assert index.ids(index.matching(query, filters)) == [paper["id"] for paper in left if expected[-1][2](paper)]


def test_words_without_terms_are_looked_for_where_they_stand_alone(tmp_path: Path) -> None:
    """C++ is no term of its own, and a search does not read papers to count it."""
    titles = ["C++ templates", "Type 2 diabetes", "Type theory of C", "Meta-analysis of IL-6", "Metaanalysis: IL6", "A meta analysis of IL"]
    rows = [{"id": str(number), "title": title} for number, title in enumerate(titles)]
    index = sr.build(rows, tmp_path / "index", encoder=None, progress=False)
    counts = {query: index.count(query) for query in ("C++", "2", "type 2", "type AND 2", "the", "the type")}
    assert counts == {"C++": 1, "2": 1, "type 2": 2, "type AND 2": 1, "the": 6, "the type": 2}
    assert (index.search("C++")[0].total, index.search("C++")[0].total_is) == (6, "passes filters")
    for query, count in (("meta-analysis", 3), ("meta-analysis of IL-6", 2), ("il6", 2), ("metaanalysis", 2), ("meta analysis", 2)):
        assert (index.count(query), index.search(query)[0].total) == (count, count), query


def test_what_cannot_be_counted_is_refused(index: sr.Index) -> None:
    for query, filter, error, words in (
        ("", None, InvalidRequest, "nothing to count"),
        ("graph AND (star", None, InvalidRequest, "without"),
        ("autor:kipf", None, UnknownName, "autor"),
        ("graph", "yaer > 3", UnknownName, "yaer"),
    ):
        with pytest.raises(error, match=words):
            index.count_lines(query, filter)
    assert index.count("", "year > 3000") == 0
