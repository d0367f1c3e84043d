"""Typed queries taken apart: what is an operator, what is a word, and that nothing typed is lost or fails."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sciretrieve.base.characters import typed as as_typed
from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.query.narrowing.combining import Combination, leaves
from sciretrieve.query.narrowing.demands import Demand, Expression, Leaf, Near, Words, written
from sciretrieve.query.narrowing.operators import MOST_DEMANDS, TypedQuery, parse

COLUMNS = ("id", "title", "abstract", "year", "venue", "authors", "doi")


def exact(text: str, column: str | None = None, *, absent: bool = False, slop: int | None = None) -> Demand:
    """A phrase, or the beginning of a word."""
    return Demand(column, text, absent, exact=True, slop=slop)


@pytest.mark.parametrize(
    ("text", "words", "demands"),
    [
        ("graphs Author:kipf", "graphs", [Demand("authors", "kipf")]),
        ("graphs doi:10.1/2-3:4", "graphs", [Demand("doi", "10.1/2-3:4")]),
        ('"a b" "c d" -e -f', "a b c d", [exact("a b"), exact("c d"), Demand(None, "e", True), Demand(None, "f", True)]),
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
        "- (beta)",
        "-(-5)",
        "--",
        'the "graph networks',
        'graph networks"',
        'a 5" telescope',
        'say"graph"now',
        '""',
        '" "',
        "signal:noise ratio",
        "GO:0008150",
        "std::vector",
        "hosts:pathogens",
        "BERT: pre-training",
        "Deep learning: a review",
        "keyword: graph",
        "a (CNN) or (the) rest",
        "f(x) and g(x",
        "either or",
        "neither AND",
        "OR",
        "AND gates, OR",
        "logical AND OR gates",
        "Portland, OR",
        "Portland OR",
        "a NOT",
        "x AND ()",
        "( AND )",
        "ORAND NOTE ANDROID",
        "TO BE OR NOT TO BE: WHY MODELS FAIL",
        "OBJECTIVE: x. DESIGN AND METHODS: we asked (in two towns) all who came to see a doctor, (or a nurse",
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


def every(*parts: Expression) -> Combination[Leaf]:
    return Combination("AND", parts)


def either(*parts: Expression) -> Combination[Leaf]:
    return Combination("OR", parts)


def none(part: Expression) -> Combination[Leaf]:
    return Combination("NOT", (part,))


@pytest.mark.parametrize(
    ("text", "words", "demands"),
    [
        ("a b OR c d year:2019", "a b c d", [either(Words("a b"), Words("c d")), Demand("year", "2019")]),
        ("a NOT b OR c", "a c", [either(every(Words("a"), none(Words("b"))), Words("c"))]),
        ("a OR b AND c", "a b c", [either(Words("a"), every(Words("b"), Words("c")))]),
        ("x (a OR b) (c d) y", "x a b c d y", [either(Words("a"), Words("b"))]),
        ("(a OR (b AND (c OR d)))", "a b c d", [either(Words("a"), every(Words("b"), either(Words("c"), Words("d"))))]),
        ("a AND(b OR c)", "a b c", [Words("a"), either(Words("b"), Words("c"))]),
        ("x -(a OR -b)", "x b", [none(either(Words("a"), Demand(None, "b", absent=True)))]),
        ('x AND ("a b" title:c)', "x a b c", [Words("x"), exact("a b"), Demand("title", "c")]),
        ("x NOT -b", "x b", [Words("x"), Demand(None, "b")]),
        ("(S)-ibuprofen AND rats", "(S)-ibuprofen rats", [Words("(S)-ibuprofen"), Words("rats")]),
        ("(rats AND (S)-ibuprofen)", "rats (S)-ibuprofen", [Words("rats"), Words("(S)-ibuprofen")]),
        ("f(x) AND C++", "f(x) C++", [Words("f(x)"), Words("C++")]),
        ("(doi:10.1/s(20)3 OR y)", "y", [either(Demand("doi", "10.1/s(20)3"), Words("y"))]),
        ("doi:https://doi.org/10.1/x y", "y", [Demand("doi", "10.1/x")]),
        ("א OR b c d e f g", "א b c d e f g", [either(Words("א"), Words("b c d e f g"))]),
        ("א ב 1 2 3 4 OR 5", "א ב 1 2 3 4 5", [either(Words("א ב 1 2 3 4"), Words("5"))]),
        ('"A" OR B C D E F G H', "A B C D E F G H", [either(exact("A"), Words("B C D E F G H"))]),
    ],
)
def test_and_or_not(text: str, words: str, demands: list[Expression]) -> None:
    assert parse(text, COLUMNS) == TypedQuery(words, tuple(demands))


NO_E = Demand("title", "e", absent=True)
CHILDREN, A_NEAR_B = exact("child*"), Near(None, ("a",), ("b",), 3)


@pytest.mark.parametrize(
    ("text", "words", "demands"),
    [
        ("asthma child*,", "asthma", [CHILDREN]),
        ("A* search in C*-algebras", "A* search in C*-algebras", []),
        ('title:"a b"~0 x', "a b x", [exact("a b", "title", slop=0)]),
        ("-(a NEAR/3 b) y", "y", [replace(A_NEAR_B, absent=True)]),
        ("a NEAR/3 b OR c", "a b c", [either(A_NEAR_B, Words("c"))]),
        ('(a OR "b c" OR d*) NEAR/0 ef*', "a b c d*", [Near(None, ("a", "b c", "d*"), ("ef*",), 0)]),
        ('(a) NEAR/3 ("b c")', "a b c", [Near(None, ("a",), ("b c",), 3)]),
        ('title:(a b NOT "c d" -e)', "a b", [Demand("title", "a"), Demand("title", "b"), exact("c d", "title", absent=True), NO_E]),
        ("title:((a OR year:2019) AND b)", "a b", [either(Demand("title", "a"), Demand("year", "2019")), Demand("title", "b")]),
        ("x author:(Ada Lovelace OR kipf)", "x", [either(Demand("authors", "Ada Lovelace"), Demand("authors", "kipf"))]),
    ],
)
def test_beginnings_distances_and_fields_over_groups(text: str, words: str, demands: list[Expression]) -> None:
    assert parse(text, COLUMNS) == TypedQuery(words, tuple(demands))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("asthma ch*ld", r"has ch\*ld, which is not understood, at character 8 of 'asthma ch\*ld'; a star ends the beginning of a word"),
        ("*itis", r"has \*itis, which is not understood, at character 1 "),
        ("title:ch*ld", r"has ch\*ld, .* at character 7 "),
        ("wom?n", r"has wom\?n, .* write \(woman OR women\)"),
        ("a NEAR/x b", "has NEAR/x, which is not understood, at character 3 of 'a NEAR/x b'; write a NEAR/3 b"),
        ("a NEAR b", "has NEAR, which is not understood, at character 3 "),
        ("a ADJ3 b", "has ADJ3, .* write a NEAR/3 b"),
        ("a W/3 b", "has W/3, .* write a NEAR/3 b"),
        ("NEAR/3 b", "has NEAR/3 without a word or a phrase on each side, at character 1 "),
        ("(a AND b) NEAR/3 c", "has NEAR/3 without a word or a phrase on each side, at character 11 "),
        ("a NEAR/3 b NEAR/3 c", "has NEAR/3 without a word or a phrase on each side, at character 12 "),
        ("a NEAR/3 title:b", "has NEAR/3 without a word or a phrase on each side"),
        ('"a b"~x', "has ~x, which is not understood, at character 6 of .*; ~ follows a quoted phrase, and a number"),
        ('"a b"~1000', "has ~1000, which is not understood"),
        ("graph~2", "has graph~2, .* never a word"),
        ('"a b"[tiab]', r"has \[tiab\], .* fields come first"),
        ("author:vasw*", r"has authors:vasw\*, which is not understood, at character 1 .* title and abstract"),
        ("author:(a NEAR/3 b)", r"has authors:\(a NEAR/3 b\), which is not understood"),
        ("title:(a OR", r'has "\(" without "\)", at character 7 '),
        ("foo AND (bar", r'has "\(" without "\)", at character 9 '),
        ("note:(a OR b)", "unknown field in the query 'note'; there are: "),
        ('x AND "' + "a " * 3000 + '"', "has a phrase of 6,000 characters, and at most 5,000 are compared, at character 7 "),
        ('"' + "a " * 60 + '"~3', "has a phrase of 60 words, which may stand apart, and at most 50 are compared"),
    ],
)
def test_what_looks_like_an_operator_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as caught:
        parse(text, COLUMNS)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_what_looks_like_an_operator_in_pasted_text_is_a_word() -> None:
    text = "we asked how the p*q norm of all of these many ch*ld words may be bounded below by wom?n"
    assert parse(text, COLUMNS) == TypedQuery(text, ())


def test_demands_are_written_as_they_are_typed() -> None:
    texts = ('(a OR "b c") AND (d e) NOT year:2019', "a AND NOT (b OR -c)", "NOT (a AND b)", '"b c"~3 OR child*', '"t-cell" AND title:"a"')
    for text in (*texts, 'a AND ((b OR "c d") NEAR/3 e*)', "title:(a NEAR/3 b) AND c", "x AND -(a NEAR/3 b)"):
        demands = parse(text, COLUMNS).demands
        again = parse(" AND ".join(f"({written(demand)})" for demand in demands), COLUMNS).demands
        assert again == demands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("author:kipf OR author:bronstein", "kipf bronstein"),
        ("author:kipf AND year:2015-2019", "kipf 2015-2019"),
        ("author:kipf NOT author:bronstein", "kipf"),
    ],
)
def test_demands_on_columns_alone_are_a_listing(text: str, words: str) -> None:
    typed = parse(text, COLUMNS)
    assert typed.listing
    assert typed.words == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a AND (b OR c",
            r'has "\(" without "\)", at character 7 of .a AND \(b OR c.; add the other parenthesis, or write and, or, not in lower case',
        ),
        ("a AND b) OR c", r'has "\)" without "\(", at character 8'),
        ("(" * 200 + "a OR b" + ")" * 200, "nests parentheses more than 100 levels deep"),
        (" OR ".join(["word"] * (MOST_DEMANDS + 1)), f"has {MOST_DEMANDS + 1} operators"),
        ("autor:kipf", "unknown field in the query 'autor'; did you mean 'authors'"),
        ("graphs -titel:x", "unknown field in the query 'titel'; did you mean 'title'"),
        ('keyword:"graph"', "unknown field in the query 'keyword'; there are: abstract, authors, doi, id, title, venue, year"),
        ("MeSH:neoplasms OR tumours", "unknown field in the query 'MeSH'; there are: "),
    ],
)
def test_what_cannot_be_meant(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as caught:
        parse(text, COLUMNS)
    assert "\n" not in str(caught.value)


def test_an_alias_needs_its_column() -> None:
    with pytest.raises(UnknownName, match="unknown field in the query 'author'; there are: title"):
        parse("author:kipf", ("title",))


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


PIECES = 'graph|AND|OR|NOT|NEAR/1|title:(|"x y"~2|(|)|-(|"|"a b"|-c|title:x|year:2-| |,|((|(d)'


@example("a AND (b")
@example(") AND a OR b (")
@example('-(a) OR "b) AND (c"')
@example("NOT (NOT (a) NOT) b")
@given(
    st.lists(st.sampled_from(PIECES.split("|"))).flatmap(lambda parts: st.sampled_from([" ", ""]).map(lambda joint: joint.join(parts)))
    | st.text('abANDORNT() -":,', max_size=40)
    | st.text(max_size=20)
)
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    refusal, typed = "", TypedQuery("", ())
    try:
        typed = parse(text, COLUMNS)
    except InvalidRequest as error:
        refusal = str(error)
    assert "\n" not in refusal
    if refusal:
        return
    said = typed.words + "".join(leaf.text for demand in typed.demands for leaf in leaves(demand))
    for word in ("graph", "d"):
        assert word not in text or word in said
    if not typed.demands:
        assert typed.words == " ".join((as_typed(text).replace('"', "") if typed.liked else as_typed(text)).split())
    for demand in typed.demands:
        assert written(demand)


@pytest.mark.slow
@pytest.mark.torture
@pytest.mark.parametrize(
    "text", ["a AND " + "(" * 10**6, "a AND b" + ")" * 10**6, "a AND b " * 20_000, "(a OR b) " * 20_000, "a OR (x)-" * 20_000]
)
def test_a_million_characters_with_operators_are_read_or_refused_in_one_go(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse(text, ("title",))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("graph neural networks", "graph neural networks"),
        ('"graph neural" networks -survey author:kipf', "networks"),
        ("(a OR b) c d", "c d"),
        ("x (a OR b) (c d) y", "x c d y"),
        ("a AND b", ""),
        ("a b NOT c", ""),
        ("x -(a OR -b)", "x"),
        ("x child* y", "x y"),
        ("x a NEAR/3 b y", "x y"),
        ("title:(a b) c", "c"),
        ("(S)-ibuprofen OR", "(S)-ibuprofen OR"),
        ("", ""),
    ],
)
def test_words_are_free_that_nothing_demands(text: str, free: str) -> None:
    assert parse(text, COLUMNS).free == free
