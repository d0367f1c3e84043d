"""Typed queries through `Index.search`, against a slow scan over the papers' texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.answers.overview import facets_of
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.base.types import Query, Rows
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.query.narrowing import operators
from sciretrieve.query.narrowing.masks import Narrower
from tests.made_up import made_up_papers, write_jsonl

ODD: list[dict[str, Any]] = [
    {"id": "il6", "title": "IL-6 receptor antibodies", "abstract": "A trial of the vaccine.", "authors": ["Mary Jackson"], "year": 1999},
    {"id": "il6-plain", "title": "A receptor of IL6", "abstract": "Antibody response.", "venue": "The Lancet"},
    {"id": "compound", "title": "Graph-neural networks", "abstract": "nodes"},
    {"id": "apart", "title": "Graph neural networks", "abstract": "A survey of message passing"},
    {"id": "across", "title": "A survey of the graph", "abstract": "Neural networks and edges"},
    {"id": "stop", "title": "State of the art in planet search", "abstract": "price of risk"},
    {"id": "stop2", "title": "State, art and planets", "abstract": "risk and price"},
    {"id": "hyphens", "title": "State-of-the-art graph search", "abstract": ""},
    {"id": "greek", "title": r"$\alpha$-synuclein and stars", "abstract": ""},
    {"id": "greek2", "title": "", "abstract": "The α-synuclein of a star"},
    {"id": "minus", "title": "Stars at -5 degrees", "abstract": "", "celsius": -5},
    {"id": "types", "title": "Type 2 diabetes: T-cell studies in C++ for N=4", "abstract": "A study of type 1 diabetes"},
    {"id": "types2", "title": "Diabetes of type 2", "abstract": "Not the type-2 diabetes, but T cells in C and N = 4"},
    {"id": "types3", "title": "Graphs of N=45 T cell types in C", "abstract": "Type 2.5 diabetes $N=4$ graph network"},
    {"id": "colon", "title": "note: a market", "abstract": "keyword:graph", "extra:column": "x"},
]
PAPERS: list[dict[str, Any]] = [{"year": None, "venue": None, "authors": [], **paper} for paper in [*made_up_papers(90, seed=3), *ODD]]
MODES: dict[Mode, dict[str, Any]] = {"hybrid": {}, "dense": {"lexical": None}, "bm25": {"encoder": None}}
"""A way to search, and an index that knows no better one."""
Test = Callable[[dict[str, Any]], bool]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, sr.Index]:
    """An index of the papers with both halves, one without each, and the first in one shard."""
    folder = tmp_path_factory.mktemp("narrowing")
    corpus = write_jsonl(folder / "papers.jsonl", PAPERS)
    indexes = {mode: sr.build(corpus, folder / mode, shard_size=40, **settings) for mode, settings in MODES.items()}
    assert len(indexes["hybrid"].snapshot.shards) == 3
    return indexes | {"one": sr.build(corpus, folder / "one", encoder=None)}


@cache
def terms(text: str) -> frozenset[str]:
    """The terms of a text; the same few texts are asked about by the thousand."""
    return frozenset(Analyzer().terms(text))


def said(word: str, *columns: str) -> Test:
    """Whether the word's terms are all in one of the columns."""
    return lambda paper: any(terms(word) <= terms(paper[column]) for column in columns or ("title", "abstract"))


@cache
def spaced(text: str) -> str:
    for greek in ("α", r"$\alpha$"):
        text = text.replace(greek, "alpha")
    text = text.replace("$", "").replace("2.5", "2point5")
    return f" {' '.join(re.sub(r'[-.,:]', ' ', text.lower()).split())} "


def written(phrase: str, *columns: str) -> Test:
    """Whether the phrase is written in one of the columns: by looking for a text in a text."""
    return lambda paper: any(spaced(phrase) in spaced(paper[column]) for column in columns or ("title", "abstract"))


def beginning(text: str, *columns: str) -> Test:
    """Whether a word of one of the columns begins so."""
    return lambda paper: any(f" {text}" in spaced(paper[column]) for column in columns or ("title", "abstract"))


def moved(first: str, second: str, paper: dict[str, Any], column: str) -> list[int]:
    """How far the second word stands behind each place where it would follow the first at once, for each pair of them."""
    tokens = spaced(paper[column]).split()
    places = {word: [place for place, token in enumerate(tokens) if token == word] for word in (first, second)}
    return [b - a - 1 for a in places[first] for b in places[second] if a != b]


def near(first: str, second: str, distance: int, *columns: str) -> Test:
    """Whether at most so many words stand between both, in either order."""
    return lambda paper: any(
        abs(move + 1) - 1 <= distance for column in columns or ("title", "abstract") for move in moved(first, second, paper, column)
    )


def apart(first: str, second: str, slop: int) -> Test:
    """Whether the second word has to move by at most so many places to follow the first."""
    return lambda paper: any(abs(move) <= slop for column in ("title", "abstract") for move in moved(first, second, paper, column))


def said_in_title() -> Test:
    """title:(star OR graph NOT networks)."""
    return either(said("star", "title"), both(said("graph", "title"), without(said("networks", "title"))))


def without(test: Test) -> Test:
    return lambda paper: not test(paper)


def by(name: str) -> Test:
    return lambda paper: any(name.lower() in author.lower() for author in paper["authors"])


def inside(column: str, text: str) -> Test:
    return lambda paper: paper[column] is not None and text.lower() in paper[column].lower()


def having(*words: str) -> Test:
    """Whether the words all stand in title and abstract, in any order."""
    return lambda paper: all(said(word)(paper) for word in words)


def either(*tests: Test) -> Test:
    return lambda paper: any(test(paper) for test in tests)


def both(*tests: Test) -> Test:
    return lambda paper: all(test(paper) for test in tests)


def between(first: int, last: int) -> Test:
    return lambda paper: paper["year"] is not None and first <= paper["year"] <= last


def is_year(year: float) -> Test:
    return lambda paper: paper["year"] == year


@dataclass(frozen=True)
class Case:
    """A typed query, the words that it searches for, and what papers must be."""

    typed: str
    words: str
    tests: tuple[Test, ...]
    without_terms: bool = False
    """Whether it demands what BM25 has no terms for, so that all papers that meet it answer there, too."""

    def passes(self, paper: dict[str, Any]) -> bool:
        return all(test(paper) for test in self.tests)


CASES = [
    Case('"graph neural networks"', "graph neural networks", (written("graph neural networks"),)),
    Case('"graph neural" networks', "graph neural networks", (written("graph neural"),)),
    Case('"neural graph"', "neural graph", (written("neural graph"),)),
    Case('"survey of message"', "survey of message", (written("survey of message"),)),
    Case('"state art"', "state art", (written("state art"),)),
    Case('planets "STATE of the ART"', "planets STATE of the ART", (written("state of the art"),)),
    Case('"IL-6 receptor"', "IL-6 receptor", (written("IL-6 receptor"),)),
    Case('"IL6 receptor"', "IL6 receptor", (written("IL6 receptor"),)),
    Case('"receptor of IL6"', "receptor of IL6", (written("receptor of IL6"),)),
    Case('"α-synuclein" star', "α-synuclein star", (written("alpha-synuclein"),)),
    Case('stars "of the"', "stars of the", (written("of the"),), without_terms=True),
    Case('"star"', "star", (written("star"),)),
    Case("title:star", "star", (said("star", "title"),)),
    Case("abstract:star", "star", (said("star", "abstract"),)),
    Case('title:"star galaxy"', "star galaxy", (written("star galaxy", "title"),)),
    Case("graph -survey", "graph", (without(said("survey")),)),
    Case('graph networks -"graph neural"', "graph networks", (without(written("graph neural")),)),
    Case("graph -title:networks", "graph", (without(said("networks", "title")),)),
    Case("graph -state-of-the-art", "graph", (without(written("state-of-the-art")),)),
    Case("graph -the", "graph", ()),
    Case("graph -title:the", "graph", ()),
    Case("star author:lovelace", "star", (by("lovelace"),)),
    Case('star authors:"lovelace, A."', "star", (by("ada lovelace"),)),
    Case("star -author:lovelace", "star", (without(by("lovelace")),)),
    Case("vaccine journal:nature", "vaccine", (inside("venue", "nature"),)),
    Case('antibody journal:"the lancet"', "antibody", (inside("venue", "the lancet"),)),
    Case("vaccine -venue:acl", "vaccine", (without(inside("venue", "acl")),)),
    Case("vaccine year:2019", "vaccine", (is_year(2019),)),
    Case("vaccine year:2019.0", "vaccine", (is_year(2019),)),
    Case("vaccine year:2019.5", "vaccine", (is_year(2019.5),)),
    Case("star celsius:-5", "star", (lambda paper: paper.get("celsius") == -5,)),
    Case("vaccine -year:1999", "vaccine", (without(is_year(1999)),)),
    Case("star topic:stars -dust", "star", (lambda paper: "star" in paper.get("topic", ""), without(said("dust")))),
    Case("author:lovelace", "lovelace", (by("lovelace"),)),
    Case("year:2009 title:star", "star", (is_year(2009), said("star", "title"))),
    Case("stars at -5 degrees", "stars at -5 degrees", ()),
    Case("keywords: graph", "keywords: graph", ()),
    Case("star year:2005-2009", "star", (between(2005, 2009),)),
    Case("star year:2009-2005", "star", (between(2005, 2009),)),
    Case("star year:2005–2009", "star", (between(2005, 2009),)),
    Case("star year:2015-", "star", (between(2015, 9999),)),
    Case("star year:-2005", "star", (between(0, 2005),)),
    Case("star year:>=2015", "star", (between(2015, 9999),)),
    Case("star year:<2005", "star", (between(0, 2004),)),
    Case("star -year:2005-2009", "star", (without(between(2005, 2009)),)),
    Case("star celsius:-9--5", "star", (lambda paper: paper.get("celsius") == -5,)),
    Case("star AND planet", "star planet", (having("star", "planet"),)),
    Case("star dust OR vaccine trial", "star dust vaccine trial", (either(having("star", "dust"), having("vaccine", "trial")),)),
    Case("planet (star OR dust) year:2010-", "planet star dust", (either(said("star"), said("dust")), between(2010, 9999))),
    Case("star -(dust OR orbit)", "star", (without(either(said("dust"), said("orbit"))),)),
    Case('"graph neural" OR author:lovelace', "graph neural", (either(written("graph neural"), by("lovelace")),)),
    Case("IL-6 AND receptor", "IL-6 receptor", (either(said("IL6"), said("IL-6")), said("receptor"))),
    Case("graph-neural AND networks", "graph-neural networks", (either(said("graphneural"), having("graph", "neural")), said("networks"))),
    Case("state-of-the-art OR nothing", "state-of-the-art nothing", (either(said("stateoftheart"), having("state", "art")),)),
    Case("the AND star", "the star", (said("star"),)),
    Case("star OR the", "star the", (said("star"),)),
    Case("star NOT the", "star", (said("star"),)),
    Case("(the OR of) AND (a)", "the of a", ()),
    Case("Stars OR", "Stars OR", ()),
    Case('"graph networks', '"graph networks', ()),
    Case("graph - networks", "graph - networks", ()),
    Case('"C++"', "C++", (written("c++"),), without_terms=True),
    Case('graph "N=4"', "graph N=4", (written("n=4"),), without_terms=True),
    Case('"type 2 diabetes"', "type 2 diabetes", (written("type 2 diabetes"),)),
    Case("title:t-cell", "t-cell", (written("t cell", "title"),)),
    Case('-"t cell" type', "type", (without(written("t cell")),)),
    Case("type 2 AND C++", "type 2 C++", (said("type"), written("2"), written("c++")), without_terms=True),
    Case("plan*", "plan", (beginning("plan"),)),
    Case("star plan*", "star", (beginning("plan"),), without_terms=True),
    Case("title:plan* -title:star", "plan", (beginning("plan", "title"), without(said("star", "title")))),
    Case('"graph net*"', "graph", (beginning("graph net"),)),
    Case("star OR plan*", "star", (either(said("star"), beginning("plan")),), without_terms=True),
    Case("nodes NEAR/1 message", "nodes message", (near("nodes", "message", 1),)),
    Case("title:(edges NEAR/0 graph) nodes", "edges graph nodes", (near("edges", "graph", 0, "title"),)),
    Case("(star OR planet) NEAR/2 dust", "star planet dust", (either(near("star", "dust", 2), near("planet", "dust", 2)),)),
    Case('"graph nodes"~1', "graph nodes", (apart("graph", "nodes", 1),)),
    Case("title:(star OR graph NOT networks)", "star graph", (said_in_title(),)),
    Case("author:(lovelace OR turing) star", "star", (either(by("lovelace"), by("turing")),)),
]
FILTERS: dict[str | None, Test] = {
    None: lambda paper: True,
    "year >= 2010": lambda paper: (paper["year"] or 0) >= 2010,
    'not (venue == "ACL")': lambda paper: paper["venue"] != "ACL",
}


def shares_a_term(words: str, paper: dict[str, Any]) -> bool:
    return bool(terms(words) & terms(f"{paper['title']} {paper['abstract']}"))


def is_listing(case: Case) -> bool:
    columns = [*PAPERS[0], "celsius", "extra:column"]
    return operators.parse(case.typed, columns).listing or (case.without_terms and not Analyzer().indexed(case.words))


def answered(index: sr.Index, query: Any, mode: Mode, filter: str | None = None) -> dict[str, float]:
    ranking = index.search(query, 1000, mode=mode, filter=filter).rankings[0]
    assert len(set(ranking.ids)) == len(ranking)
    return dict(zip(ranking.ids, ranking.scores.tolist(), strict=True))


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("mode", MODES)
def test_the_papers_that_meet_the_demands_are_answered(made: dict[str, sr.Index], mode: Mode, filter: str | None) -> None:
    run = made[mode].search([case.typed for case in CASES], 1000, mode=mode, filter=filter)
    wrong = {}
    for case, ranking in zip(CASES, run, strict=True):
        expected = {paper["id"] for paper in PAPERS if case.passes(paper) and FILTERS[filter](paper)}
        if mode == "bm25" and not is_listing(case) and not case.without_terms:
            expected = {paper["id"] for paper in PAPERS if paper["id"] in expected and shares_a_term(case.words, paper)}
        if sorted(ranking.ids) != sorted(expected):
            wrong[case.typed] = expected ^ {*ranking.ids}
    assert wrong == {}


@pytest.mark.parametrize("filter", [None, "year >= 2010"])
@pytest.mark.parametrize("mode", MODES)
def test_how_many_papers_meet_them_is_known(made: dict[str, sr.Index], mode: Mode, filter: str | None) -> None:
    """Words that stand free of operators must all be there; without BM25 a search leaves them out of its total, which `count` does not."""
    index, wrong = made[mode], {}
    run = index.search([case.typed for case in CASES], 3, mode=mode, filter=filter)
    for case, ranking in zip(CASES, run, strict=True):
        typed = operators.parse(case.typed, [*PAPERS[0], "celsius", "extra:column"])
        words = [word for word in typed.free.split() if terms(word)]
        passing = [paper for paper in PAPERS if case.passes(paper) and FILTERS[filter](paper)]
        expected = [paper["id"] for paper in passing if having(*words)(paper)]
        has_words = bool(words) and mode != "dense"
        total = (
            len(expected if has_words else passing),
            "has all words" if has_words else "meets demands" if typed.demands else "passes filters",
        )
        found = index.ids(index.matching(case.typed, filter)), index.count(case.typed, filter), (ranking.total, ranking.total_is)
        if found != (expected, len(expected), total):
            wrong[case.typed] = found, expected, total
        assert ranking.ranked == (None if mode == "bm25" else len(passing))
    assert wrong == {}


def test_demands_change_no_score(made: dict[str, sr.Index]) -> None:
    changed = {}
    for case in CASES:
        ranking, narrowed = (answered(made["bm25"], query, "bm25") for query in (Query("1", case.words), case.typed))
        expected = {id: 1.0 if is_listing(case) else ranking.get(id, 0.0) for id in narrowed}
        if narrowed != expected:
            changed[case.typed] = narrowed, expected
        if not is_listing(case):
            assert made["bm25"].search(case.typed).rankings[0].query == Query("1", case.words)
    assert changed == {}


@pytest.mark.parametrize("mode", MODES)
def test_a_batch_answers_as_its_queries_alone(made: dict[str, sr.Index], mode: Mode) -> None:
    queries: list[str | Query] = [case.typed for case in CASES]
    queries[3] = Query("mine", "graph -survey")
    run = made[mode].search(queries, 7, mode=mode)
    assert [ranking.query.id for ranking in run] == ["1", "2", "3", "mine", *map(str, range(5, len(CASES) + 1))]
    for query, ranking in zip(queries, run, strict=True):
        one_query = made[mode].search(query, 7, mode=mode).rankings[0]
        if mode == "bm25":
            assert ranking.ids == one_query.ids
        assert ranking.scores.tolist() == pytest.approx(one_query.scores.tolist(), abs=5e-3)


leaf_tests: list[tuple[str, Test]] = [
    ("star", said("star")),
    ("graph networks", having("graph", "networks")),
    ('"graph networks"', written("graph networks")),
    ('("star dust" "vaccine dose")', both(written("star dust"), written("vaccine dose"))),
    ("title:planet", said("planet", "title")),
    ("abstract:vaccine", said("vaccine", "abstract")),
    ("-market", without(said("market"))),
    ("year:2005-2012", between(2005, 2012)),
    ("-year:2010-", without(between(2010, 9999))),
    ("author:lovelace", by("lovelace")),
    ("topic:graphs", lambda paper: "graphs" in (paper.get("topic") or "")),
]
leaf_texts = st.sampled_from(range(len(leaf_tests))).map(lambda number: (leaf_tests[number][0], f"test({number})"))
JOINTS = {"AND": "and", "OR": "or", "NOT": "and not", "AND NOT": "and not", "OR NOT": "or not"}


def chained(operands: list[tuple[str, str]], joints: list[str]) -> tuple[str, str]:
    """Operands joined as typed, and as an expression of Python, whose operators have the same precedence."""
    typed, python = operands[0]
    for joint, (operand, meaning) in zip(joints, operands[1:], strict=False):
        typed, python = f"{typed} {joint} {operand}", f"{python} {JOINTS[joint]} {meaning}"
    return typed, python


def in_parentheses(expression: tuple[str, str]) -> tuple[str, str]:
    return f"({expression[0]})", f"({expression[1]})"


expressions = st.recursive(
    leaf_texts,
    lambda inner: st.builds(
        chained,
        st.lists(leaf_texts | inner.map(in_parentheses), min_size=2, max_size=4),
        st.lists(st.sampled_from(sorted(JOINTS)), min_size=3, max_size=3),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(expression=expressions, first=st.sampled_from(["", "NOT "]))
def test_any_expression_is_as_python_evaluates_it(made: dict[str, sr.Index], expression: tuple[str, str], first: str) -> None:
    typed, python = expression
    if not any(joint in typed for joint in ("AND", "OR", "NOT")):
        typed, python = f"({typed}) AND star", f"({python}) and test(0)"
    typed, python = first + typed, {"": "", "NOT ": "not "}[first] + python
    code = compile(python, "expression", "eval")
    expected = {paper["id"] for paper in PAPERS if eval(code, {"test": lambda number, paper=paper: leaf_tests[number][1](paper)})}
    for name in ("hybrid", "dense", "one"):
        index = made[name]
        scope = index.snapshot.narrower.meeting(operators.parse(typed, index.snapshot.columns.names).demands, index.snapshot.scope)
        assert {paper.id for paper in index.papers_at(scope.places)} == expected, name


def test_texts_are_read_only_for_phrases_and_only_where_they_matter(made: dict[str, sr.Index], monkeypatch: pytest.MonkeyPatch) -> None:
    index = made["hybrid"]
    read: list[int] = []
    texts = Narrower._texts

    def counted(self: Narrower, rows: Rows, columns: Sequence[str]) -> Iterable[tuple[Rows, pa.Table]]:
        read.append(len(rows))
        return texts(self, rows, columns)

    monkeypatch.setattr(Narrower, "_texts", counted)

    def rows_read(typed: str) -> int:
        read.clear()
        index.snapshot.narrower.meeting(operators.parse(typed, index.snapshot.columns.names).demands, index.snapshot.scope)
        return sum(read)

    for typed in ("star AND (dust OR title:planet) NOT abstract:orbit year:2005- author:ada", "graph-neural OR -star -(a the)"):
        assert rows_read(typed) == 0
    graphs = len([paper for paper in PAPERS if having("graph", "networks")(paper)])
    assert rows_read('"graph networks"') == graphs > 5
    assert rows_read('"graph networks" year:2005') < graphs / 2
    assert rows_read('"graph networks" OR graph') == 0
    assert rows_read("gra* OR planet*") == rows_read("gra*") == len(PAPERS)
    assert rows_read(" OR ".join(f"gra{letter}*" for letter in "bcdefghijklm")) == len(PAPERS)


BEGINNINGS = ["gra*", "il-6 rec*", '"α-syn*"', "C++", '"N = 4"', "title:sta*", "abstract:ris*", '"type 2 diab*"', "zz*", '"neural net*"']


@pytest.mark.parametrize("many", [2, 40])
@pytest.mark.parametrize("name", ["hybrid", "dense", "one"])
def test_many_beginnings_together_are_each_of_them(made: dict[str, sr.Index], name: str, many: int) -> None:
    """Texts are read for many at once; in plain ASCII by one expression, the others one by one."""
    index = made[name]
    alone = {typed: set(index.matching(typed).tolist()) for typed in BEGINNINGS}
    for first in range(len(BEGINNINGS)):
        chosen = (BEGINNINGS[first:] + BEGINNINGS[:first])[:many]
        absent = [f"zz{number}*" for number in range(many)]
        expected = set().union(*(alone[typed] for typed in chosen))
        assert set(index.matching(" OR ".join([*absent, *chosen])).tolist()) == expected
        assert set(index.matching(f"NOT ({' OR '.join(chosen)})").tolist()) == set(index.snapshot.scope.places.tolist()) - expected
    assert all(alone[typed] for typed in BEGINNINGS if typed != "zz*")


def test_a_word_where_numbers_stand_is_refused_in_one_line(made: dict[str, sr.Index]) -> None:
    with pytest.raises(InvalidRequest, match=r"year holds int.*does not compare with 'soon'") as caught:
        made["hybrid"].search("graph year:soon")
    assert "\n" not in str(caught.value)


def test_a_column_that_only_some_shards_have(tmp_path: Path) -> None:
    rows = [{"id": str(number), "title": "stars", **({"late": f"word{number}"} if number >= 5 else {})} for number in range(10)]
    index = sr.build(write_jsonl(tmp_path / "p.jsonl", rows), tmp_path / "index", encoder=None, shard_size=5)
    assert index.search("stars late:word", 20).rankings[0].ids == ["5", "6", "7", "8", "9"]
    assert index.search("stars -late:word8", 20).rankings[0].ids == ["0", "1", "2", "3", "4", "5", "6", "7", "9"]


# columns that have one type in some shards and another in others


CITED: list[dict[str, Any]] = [
    {"id": f"c{count}", "title": "graphs", "citations": count, "tags": ["a", f"t{count}"], "open": True} for count in (5, 50, 500, 1000)
]
ODD_ONE: dict[str, Any] = {"id": "odd", "title": "graphs", "citations": "n/a", "tags": "single", "open": "maybe"}
FEW, MANY = {"c5"}, {"c50", "c500", "c1000"}


def added(folder: Path) -> None:
    sr.build(CITED, folder, encoder=None).close()
    sr.add([ODD_ONE], folder)


def joined(folder: Path) -> None:
    added(folder)
    sr.merge(folder)


def built_at_once(folder: Path) -> None:
    sr.build([ODD_ONE, *CITED], folder, encoder=None).close()


def with_nothing(folder: Path) -> None:
    sr.build([{"id": "nothing", "title": "graphs", "citations": None, "tags": []}], folder, encoder=None).close()
    sr.add(CITED[:2], folder)
    sr.add([{**CITED[2], "citations": 500.0}, {"id": "half", "title": "graphs", "citations": 2000.5}], folder)
    sr.add([ODD_ONE, {**CITED[3], "citations": "1000"}], folder)
    sr.delete(folder, ["nothing", "half"])


WAYS = [added, joined, built_at_once, with_nothing]


def judged(index: sr.Index, filter: str) -> tuple[set[str], set[str]]:
    """The papers that pass, and those of which it cannot be told."""
    ranking = index.search("graphs", 20, filter=filter, group=False)[0]
    return set(ranking.ids), set(index.ids(ranking.undecided))


@pytest.mark.parametrize("way", WAYS)
def test_one_text_among_numbers_leaves_them_numbers(way: Callable[[Path], None], tmp_path: Path) -> None:
    way(tmp_path / "index")
    with sr.open(tmp_path / "index") as index:
        for filter, passing in (
            ("citations < 6", FEW),
            ("citations <= 5.5", FEW),
            ("citations >= 50", MANY),
            ("citations between 6 and 1000", MANY),
            ("not citations < 6", MANY),
            ("citations < 6 or tags contains 't50'", FEW | {"c50", "c500"}),
        ):
            assert judged(index, filter) == (passing, {"odd"}), filter
        for filter, passing in (
            ("citations == 5", FEW),
            ('citations == "5"', FEW),
            ("citations != 5", MANY | {"odd"}),
            ("citations in (5, 50)", {"c5", "c50"}),
            ('citations in (5, "n/a")', {"c5", "odd"}),
            ('citations == "n/a"', {"odd"}),
            ("citations is null", set()),
            ('citations < 6 and not citations in ("n/a")', FEW),
            ('citations < 6 and open != "maybe"', FEW),
            ("citations < 6 or open == 'maybe'", FEW | {"odd"}),
            ("open == true", FEW | MANY),
        ):
            assert judged(index, filter) == (passing, set()), filter
        with pytest.raises(InvalidRequest, match=r"does not compare with '6'; write 6 without quotation marks"):
            index.search("graphs", filter='citations < "6"')
        for typed, passing in (
            ("graphs citations:5", FEW),
            ("graphs citations:6-1000", MANY),
            ("graphs citations:>=50", MANY),
            ("graphs -citations:<6", MANY),
            ("graphs AND NOT citations:<6", MANY),
            ("citations:<6 OR citations:1000", FEW | {"c1000"}),
            ("graphs tags:t50", {"c50", "c500"}),
        ):
            ranking = index.search(typed, 20, group=False)[0]
            assert set(ranking.ids) == passing, typed
            assert set(index.ids(ranking.undecided)) <= {"odd"}, typed
        assert facets_of(index, index.search("graphs", 20, group=False), ["citations", "tags", "open"])[0].papers == 5


@pytest.mark.parametrize(
    ("typed", "passing", "undecided"),
    [
        ("citations:<6 OR citations:1000", FEW | {"c1000"}, {"odd"}),
        ("citations:1000 OR citations:<6", FEW | {"c1000"}, {"odd"}),
        ("citations:<6 OR tags:single", FEW | {"odd"}, set()),
        ("citations:<6 OR citations:>=50", FEW | MANY, {"odd"}),
        ("citations:<6 AND tags:single", set(), {"odd"}),
        ("citations:<6 AND tags:t5", FEW, set()),
        ("NOT citations:<6", MANY, {"odd"}),
        ("tags:single AND NOT citations:<6", set(), {"odd"}),
        ("tags:t50 AND NOT citations:<6", {"c50", "c500"}, set()),
        ("NOT (citations:<6 OR tags:single)", MANY, set()),
        ("NOT (citations:<6 AND tags:single)", FEW | MANY, {"odd"}),
        ("NOT (NOT citations:<6)", FEW, {"odd"}),
        ("-citations:<6 OR tags:t5", FEW | MANY, {"odd"}),
        ("tags:t50 OR NOT the", {"c50", "c500"}, set()),
    ],
)
def test_what_cannot_be_told_of_typed_demands(typed: str, passing: set[str], undecided: set[str], typed_index: sr.Index) -> None:
    """Kleene's logic: what one part decides is decided; a paper of which it cannot be told never answers, `NOT` or no `NOT`."""
    scope = typed_index.snapshot.narrower.meeting(
        operators.parse(typed, typed_index.snapshot.columns.names).demands, typed_index.snapshot.scope
    )
    assert {*typed_index.ids(scope.places)} == passing
    assert {*typed_index.ids(scope.undecided)} == undecided


@pytest.fixture(scope="module")
def typed_index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """An index in one of whose papers numbers are texts."""
    folder = tmp_path_factory.mktemp("typed") / "index"
    added(folder)
    return sr.open(folder)


@pytest.mark.parametrize("way", WAYS)
def test_deleted_papers_have_no_say(way: Callable[[Path], None], tmp_path: Path) -> None:
    way(tmp_path / "index")
    sr.delete(tmp_path / "index", "odd")
    for _ in range(2):
        with sr.open(tmp_path / "index") as index:
            assert judged(index, "citations < 6") == (FEW, set())
            assert judged(index, "not citations < 6") == (MANY, set())
            if way is added:
                assert index.snapshot.columns.field("citations").type == "int64"
                with pytest.raises(InvalidRequest, match="citations holds int64, which does not compare with 'n/a'"):
                    index.search("graphs", filter='citations == "n/a"')
        sr.merge(tmp_path / "index")


def test_texts_that_are_no_numbers_are_not_compared_with_any(tmp_path: Path) -> None:
    codes = ["007", "1,000", "12345678901234567890", "12345678901234567891", "1e3", "-2.50", ""]
    rows = [{"id": f"i{place}", "title": "graphs", "code": code} for place, code in enumerate(codes)]
    with sr.build(rows, tmp_path / "index", encoder=None) as index:
        assert judged(index, "code > 7") == ({"i2", "i3", "i4"}, {"i0", "i1"})
        assert judged(index, "code == 12345678901234567890") == ({"i2"}, set())
        assert judged(index, "code in (1000, -2.5)") == ({"i4", "i5"}, set())
        assert judged(index, "code == 7") == (set(), set())
        with pytest.raises(InvalidRequest, match=r'title holds string, .* write "2018" in quotation marks to compare texts'):
            index.search("graphs", filter="title >= 2018")


def test_an_unknown_field_within_objects_names_the_near_ones(tmp_path: Path) -> None:
    rows = [{"id": "a", "title": "graphs", "grants": [{"funder": {"country": "NL"}, "number": 3}]}]
    expected = pytest.raises(UnknownName, match=r"'grants\.funder\.contry'; did you mean 'grants\.funder\.country'")
    with sr.build(pa.Table.from_pylist(rows), tmp_path / "index", encoder=None) as index, expected:
        index.search("graphs", filter='grants.funder.contry == "NL"')
