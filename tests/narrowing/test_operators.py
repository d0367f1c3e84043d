"""Typed queries taken apart: what is an operator, what is a word, and that nothing typed is lost or fails."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sciretrieve.narrowing.operators import Demand, TypedQuery, parse

COLUMNS = ("id", "title", "abstract", "year", "venue", "authors", "doi")


@pytest.mark.parametrize(
    ("text", "words", "demands"),
    [
        ("graph networks", "graph networks", []),
        ('"graph networks"', "graph networks", [Demand(None, "graph networks")]),
        ('deep "graph networks" now', "deep graph networks now", [Demand(None, "graph networks")]),
        ("graphs -survey", "graphs", [Demand(None, "survey", absent=True)]),
        ('graphs -"neural networks"', "graphs", [Demand(None, "neural networks", absent=True)]),
        ("title:graph nodes", "graph nodes", [Demand("title", "graph")]),
        ('abstract:"graph nodes" edges', "graph nodes edges", [Demand("abstract", "graph nodes")]),
        ("graphs -title:survey", "graphs", [Demand("title", "survey", absent=True)]),
        ("graphs -venue:ACL", "graphs", [Demand("venue", "ACL", absent=True)]),
        ("graphs year:2019", "graphs", [Demand("year", "2019")]),
        ("graphs author:kipf", "graphs", [Demand("authors", "kipf")]),
        ("graphs Author:kipf", "graphs", [Demand("authors", "kipf")]),
        ('graphs authors:"ada lovelace"', "graphs", [Demand("authors", "ada lovelace")]),
        ("graphs journal:nature", "graphs", [Demand("venue", "nature")]),
        ("graphs doi:10.1/2-3:4", "graphs", [Demand("doi", "10.1/2-3:4")]),
        ('"a b" "c d" -e -f', "a b c d", [Demand(None, "a b"), Demand(None, "c d"), Demand(None, "e", True), Demand(None, "f", True)]),
        ("  spaces \t between\nwords  ", "spaces between words", []),
        ("", "", []),
    ],
)
def test_operators(text: str, words: str, demands: list[Demand]) -> None:
    assert parse(text, COLUMNS) == TypedQuery(words, tuple(demands))


@pytest.mark.parametrize(
    "text",
    [
        "temperatures of -5 degrees",
        "from -0.5 to -.5",
        "BERT-based re-ranking",
        "alpha - beta",
        "- beta",
        "-(beta)",
        "--",
        'the "graph networks',
        'graph networks"',
        'a 5" telescope',
        'say"graph"now',
        '""',
        '" "',
        "keyword:graph",
        "-keyword:graph",
        'keyword:"graph"',
        "https://example.org/a",
        "a title: with a colon",
        "title:",
        "title: graph",
        ":graph",
        "2019:year",
    ],
)
def test_what_is_no_operator_is_searched_for(text: str) -> None:
    assert parse(text, COLUMNS) == TypedQuery(text, ())


def test_without_columns_a_colon_is_a_word() -> None:
    assert parse("title:graph author:kipf -year:2019 -survey", ()) == TypedQuery(
        "title:graph author:kipf -year:2019", (Demand(None, "survey", absent=True),)
    )


def test_an_alias_needs_its_column() -> None:
    assert parse("author:kipf", ("title",)) == TypedQuery("author:kipf", ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("author:lovelace", "lovelace"),
        ("author:lovelace year:2019 -survey", "lovelace 2019"),
        ('venue:"The Lancet"', "The Lancet"),
        ('"graph networks" author:kipf', "graph networks"),
        ("-survey", ""),
        ("-year:2019 -survey", ""),
    ],
)
def test_a_query_of_demands_searches_for_them(text: str, words: str) -> None:
    assert parse(text, COLUMNS).words == words


typed = st.text('ab5 "-:.é\n', max_size=30) | st.lists(
    st.sampled_from(["graph", "-graph", "-5", '"', "title:", "author:x", "-year:2", '"a b"', '-"c"', "no:one", " ", "-"]), max_size=8
).map(" ".join)


@given(typed)
def test_nothing_typed_fails_or_is_lost(text: str) -> None:
    typed = parse(text, COLUMNS)
    assert typed.words == " ".join(typed.words.split())
    for demand in typed.demands:
        assert demand.column is None or demand.column in COLUMNS
        assert demand.text.strip()
    remaining_text = typed.words + "".join(demand.text for demand in typed.demands)
    for letter in set(text) - set('":- \ntileauhoryx'):
        assert letter in remaining_text


@given(st.lists(st.text("abc5é.,", min_size=1, max_size=5), max_size=6))
def test_plain_words_stay_as_they_are(words: list[str]) -> None:
    assert parse(" ".join(words), COLUMNS) == TypedQuery(" ".join(words), ())


@example('a:"5"5')
@given(typed)
def test_the_words_of_a_query_without_demands_are_its_own(text: str) -> None:
    typed = parse(text, COLUMNS)
    if not typed.demands:
        assert typed.words == " ".join(text.split())


@pytest.mark.parametrize("text", ['"' + "a" * 1_000_000, '" ' * 500_000, "a:" * 500_000, '"a' * 500_000, "-a:b " * 200_000])
def test_a_million_characters_are_read_in_one_go(text: str) -> None:
    """With steps back, an open quotation mark before so many would take hours."""
    assert len(parse(text, ("title",)).words) <= len(text)
