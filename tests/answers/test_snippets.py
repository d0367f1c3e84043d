"""Words of a query marked in texts, and the sentence that has the most of them: against the search's own idea of a word."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.answers.answering import Request, answer
from sciretrieve.answers.snippets import TOKEN, QueryWords, query_words
from sciretrieve.matching.lexical import Analyzer

ANALYZER = Analyzer()


def words_of(query: str) -> QueryWords:
    return QueryWords(ANALYZER, dict.fromkeys(ANALYZER.terms(query), 1.0))


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("graph networks", "A Graph network: networking on graphs", ["Graph", "network", "networking", "graphs"]),
        ("il6", "IL-6, il6 and IL-10 (or IL-6/R)", ["IL-6", "il6"]),
        ("IL-6", "the role of IL-6", ["IL-6"]),
        ("learning", "deep-learning-based", ["learning"]),
        ("uber", "Über die Wärme", ["Über"]),
        ("alpha synuclein", r"$\alpha$-synuclein", ["alpha", "synuclein"]),
        ("schrodinger", r"Schr{\"o}dinger's cat", [r"Schr{\"o}dinger's"]),
        ("the of", "the end of it", []),
        ("graph", "", []),
    ],
)
def test_words_are_marked_in_every_form_that_search_finds(query: str, text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in words_of(query).marks(text)] == expected


@given(st.text(max_size=60), st.text(max_size=120))
def test_a_text_is_marked_where_a_word_of_it_is_one_of_the_query(query: str, text: str) -> None:
    words = words_of(query)
    spans = words.marks(text)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    marked = [any(start >= token.start() and end <= token.end() for start, end in spans) for token in TOKEN.finditer(text)]
    assert marked == [bool(words.rarities.keys() & ANALYZER.terms(token)) for token in TOKEN.findall(text)]


def test_the_snippet_has_the_most_of_the_rare_words() -> None:
    words = QueryWords(ANALYZER, {"graph": 1.0, "network": 1.0, "isomorph": 3.0})
    abstract = "We study graphs. Networks of graphs are common. Isomorphism is rare! Graphs again."
    assert words.snippet(abstract) == "Isomorphism is rare!"
    assert words.snippet("Nothing here. Nor here.") == "Nothing here."
    assert words.snippet("") == ""


def test_the_words_of_an_answer(index: sr.Index) -> None:
    def terms(request: Request) -> set[str]:
        return set(query_words(index, answer(index, request)).rarities)

    assert terms(Request("graph networks -star")) == {"graph", "network"}
    assert "graph" in terms(Request("grahp price"))  # as it was read
    (paper,) = index.papers("p0000")
    assert terms(Request(like=["p0000"])) == set(ANALYZER.terms(paper.title))
    assert terms(Request(text="Planets. Dust around a star.")) == {"planet", "dust", "around", "star"}


def test_letters_that_stand_alone_are_marked_behind_the_word_before_them(built: Callable[..., sr.Index]) -> None:
    texts = ["Vitamin D (cholecalciferol), vitamin B, and a D: vitamin D.", "Type 2 diabetes, in 2 of 3", "Training a model: a training a"]
    index = built(lexical=None)
    for query, expected in (
        ("vitamin d", [["Vitamin", "D", "vitamin", "vitamin", "D"], [], []]),
        ('"vitamin D", type 2', [["Vitamin", "D", "vitamin", "vitamin", "D"], ["Type", "2"], []]),
        ("training a model", [[], [], ["Training", "model", "training"]]),
    ):
        words = query_words(index, answer(index, Request(query)))
        assert [[text[slice(*span)] for span in words.marks(text)] for text in texts] == expected


def test_rare_words_weigh_more(index: sr.Index) -> None:
    words = query_words(index, answer(index, Request("graph zebra")))
    assert index.snapshot.bm25 is not None
    assert words.rarities == {term: index.snapshot.bm25.rarity(term) for term in words.rarities}
    assert words.rarities["zebra"] > words.rarities["graph"]


def test_an_index_without_words_marks_them_all_the_same(built: Callable[..., sr.Index]) -> None:
    index = built(lexical=None)
    assert query_words(index, answer(index, Request("graph networks"))).rarities == {"graph": 1.0, "network": 1.0}
