"""Strategies of PubMed and Ovid: line by line what they become and what is said, and that they find what plain Python finds."""

import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest, SciretrieveError, UnknownName
from sciretrieve.strategies import Syntax, parse, run, translate
from sciretrieve.strategies.translation import numbered
from tests.strategies.libraries import WORDS, built, having, made_up


def lines_of(text: str, syntax: Syntax) -> dict[str, str]:
    """The lines of a translation."""
    lines: dict[str, str] = tomllib.loads(translate(text, syntax).text)["lines"]
    return lines


@pytest.mark.parametrize(
    ("ovid", "expected"),
    [
        ("heart attack.ti,ab.", '"heart attack"'),
        ("heart attack.TI, AB.", '"heart attack"'),
        ('"heart attack".tw.', '"heart attack"'),
        ("stroke.ti.", 'title:"stroke"'),
        ("stroke.ab.", 'abstract:"stroke"'),
        ("(stroke or apoplexy).ti.", 'title:"stroke" OR title:"apoplexy"'),
        ("attack*.tw.", "attack*"),
        ("attack$.tw.", "attack*"),
        ("attack:.tw.", "attack*"),
        ("heart attack*.tw.", '"heart attack*"'),
        ("t-cell*.tw.", "t-cell*"),
        ("HIV/AIDS.tw.", '"HIV AIDS"'),
        ("(HIV/AIDS adj2 drug).tw.", '"HIV AIDS" NEAR/1 "drug"'),
        ("C18:1.tw.", '"C18:1"'),
        ("crohn's disease.ti.", 'title:"crohn\'s disease"'),
        # adj with a number is within n - 1 words in any order, without one it is next to each other in order
        ("(heart adj3 attack*).ti,ab.", '"heart" NEAR/2 attack*'),
        ("(heart adj1 attack).tw.", '"heart" NEAR/0 "attack"'),
        ("(heart adj attack*).tw.", '"heart attack*"'),
        ("((heart or cardiac) adj attack).tw.", '"heart attack" OR "cardiac attack"'),
        ("((heart or cardiac) adj3 (attack* or failure)).ti.", 'title:(("heart" OR "cardiac") NEAR/2 (attack* OR "failure"))'),
        ("(heart failure adj3 drug).ab.", 'abstract:("heart failure" NEAR/2 "drug")'),
        ("stroke.tw. and (mouse or rat).tw.", '"stroke" AND ("mouse" OR "rat")'),
        ("stroke.tw. not review.ti.", '"stroke" NOT title:"review"'),
        ("(a1.tw. or b1.tw.) not (c1.tw. and d1.tw.)", '("a1" OR "b1") NOT ("c1" AND "d1")'),
        ("smith j.au.", 'authors:"smith j"'),
        ("smith j$.au.", 'authors:"smith j"'),
        ("lancet.jn.", 'venue:"lancet"'),
        ("2010.yr.", "year:2010"),
        ('("2010" or "2011").yr.', "year:2010 OR year:2011"),
        ("2010:2020.(sa_year).", "year:2010-2020"),
        ("10.1000/abc.do.", 'doi:"10.1000/abc"'),
    ],
)
def test_what_ovid_has_a_counterpart_for(ovid: str, expected: str) -> None:
    assert (lines_of(ovid, "ovid"), translate(ovid, "ovid").notes) == ({"s1": expected}, ())


@pytest.mark.parametrize(
    ("pubmed", "expected"),
    [
        ('"heart attack"[tiab]', '"heart attack"'),
        ('"heart attack"[Title/Abstract]', '"heart attack"'),
        ("“heart attack”[tiab]", '"heart attack"'),
        ("stroke[ti]", 'title:"stroke"'),
        ("stroke [Title]", 'title:"stroke"'),
        ("stroke[ab]", 'abstract:"stroke"'),
        ("attack*[tiab]", "attack*"),
        ('"heart attack*"[tiab]', '"heart attack*"'),
        ("breast feed*[tiab]", '"breast feed*"'),  # a star makes a phrase of words
        ("breast-feed*[tiab]", "breast-feed*"),
        ("stroke[tiab] OR apoplexy[tiab]", '"stroke" OR "apoplexy"'),
        ("stroke[tiab] NOT review[ti]", '"stroke" NOT title:"review"'),
        ("stroke[tiab] apoplexy[tiab]", '"stroke" AND "apoplexy"'),
        ("(a1[ti] OR b1[ti]) AND (c1[ti] OR d1[ti])", '(title:"a1" OR title:"b1") AND (title:"c1" OR title:"d1")'),
        ('"heart failure"[tiab:~3]', '"heart" NEAR/3 "failure"'),
        ('"heart failure"[Title:~0]', 'title:("heart" NEAR/0 "failure")'),
        ("smith j[au]", 'authors:"smith j"'),
        ("smith j*[Author]", 'authors:"smith j"'),
        ('"N Engl J Med"[ta]', 'venue:"N Engl J Med"'),
        ("2010[dp]", "year:2010"),
        ("2010:2020[dp]", "year:2010-2020"),
        ("2010:3000[dp]", "year:2010-"),
        ("2010/01/01:2020/12/31[dp]", "year:2010-2020"),
        ('("2010/01/01"[Date - Publication] : "3000"[Date - Publication])', "year:2010-"),
    ],
)
def test_what_pubmed_has_a_counterpart_for(pubmed: str, expected: str) -> None:
    assert (lines_of(pubmed, "pubmed"), translate(pubmed, "pubmed").notes) == ({"s1": expected}, ())


A_TO_M = " or ".join("abcdefghijklm")


def gone(text: str) -> str:
    return f'unavailable:"{text}"'


@pytest.mark.parametrize(
    ("syntax", "line", "expected", "said"),
    [
        ("ovid", "exp Myocardial Infarction/", gone("exp Myocardial Infarction/"), "not available: exp Myocardial Infarction/ (a subject"),
        ("ovid", "*Stroke/", gone("*Stroke/"), "not available: *Stroke/ (a subject heading"),
        ("ovid", 'exp "Wounds and Injuries"/', gone("exp Wounds and Injuries/"), "not available: exp Wounds and Injuries/"),
        ("ovid", "Diabetes, Type 2/dt, th [Drug Therapy, Therapy]", gone("Diabetes, Type 2/dt, th [Drug Therapy, Therapy]"), "not"),
        ("ovid", "exp Stroke/ or stroke.tw.", f'{gone("exp Stroke/")} OR "stroke"', "not available: exp Stroke/"),
        ("ovid", "(animals/ not humans/) or rat.tw.", f'({gone("animals/")} NOT {gone("humans/")}) OR "rat"', "not available: humans/"),
        ("ovid", "review.pt.", gone("review.pt."), "not available: review.pt. (there is no column for .pt.)"),
        ("ovid", "humans.sh.", gone("humans.sh."), "there is no column for .sh."),
        ("ovid", "ae.fs.", gone("ae.fs."), "there is no column for .fs."),
        ("ovid", "trial.ab. /freq=2", gone("trial.ab. /freq=2"), "the frequency of a word"),
        ("ovid", "stroke.ti,ab,kf.", '"stroke"', "not available: the field kf of stroke.ti,ab,kf.; the others are searched"),
        ("ovid", "stroke.mp. [mp=title, abstract, heading word]", '"stroke"', ".mp. is title and abstract here, without headings"),
        ("ovid", "stroke", '"stroke"', "text without a field is searched for in title and abstract only, not in headings"),
        ("ovid", "apoplex$2.tw.", "apoplex*", "apoplex$2 is read as apoplex*, without a limit to the letters"),
        ("ovid", "wom?n's #?x#.tw.", gone("wom?n's #?x#"), "several wildcards; write out the words"),
        ("ovid", "ab*cd.tw.", gone("ab*cd"), "a star within a word"),
        ("ovid", "a*.tw.", gone("a*"), "a star needs two letters before it"),
        ("ovid", "smit*.au.", gone("smit*"), "the beginning of a name"),
        ("ovid", "(smith adj2 jones).au.", gone("smith NEAR/1 jones"), "near is for words of title and abstract"),
        ("ovid", "((heart and lung) adj3 attack).tw.", gone("(heart and lung) adj3 attack"), "adj only joins words, phrases, and an OR"),
        ("ovid", f"(({A_TO_M}) adj ({A_TO_M})).tw.", None, "is read as next to each other in either order, which finds a little more"),
        ("ovid", "a1.tw. or b1.tw. and c1.tw.", '"a1" OR ("b1" AND "c1")', "AND and NOT are read before OR; add parentheses"),
        (
            "ovid",
            "(heart adj2 failure adj4 drug).tw.",
            '("heart" NEAR/1 "failure") AND (("heart" OR "failure") NEAR/3 "drug")',
            "three texts near each other are read as the third near one of the first two",
        ),
        ("pubmed", '"Stroke"[Mesh]', gone("Stroke[Mesh]"), "not available: Stroke[Mesh] (a heading"),
        ("pubmed", "stroke[MeSH Terms:noexp]", gone("stroke[MeSH Terms:noexp]"), "(a heading"),
        ("pubmed", "review[pt]", gone("review[pt]"), "there is no column for [pt]"),
        ("pubmed", "english[la]", gone("english[la]"), "there is no column for [la]"),
        ("pubmed", "hasabstract", gone("hasabstract"), "a filter of PubMed"),
        ("pubmed", "stroke", '"stroke"', "stroke has no tag: it is searched for in title and abstract, and not mapped to headings"),
        ("pubmed", "stroke[tw]", '"stroke"', "[tw] is title and abstract here, without headings and other fields"),
        ("pubmed", "heart attack[tiab]", '"heart" AND "attack"', "heart attack[tiab] is read as words that must all occur"),
        ("pubmed", "heart - attack[tiab]", '"heart" AND "attack"', "heart - attack[tiab] is read as words that must all occur"),
        ("pubmed", "- /[tiab]", gone("- /[tiab]"), "neither letters nor digits"),
        ("pubmed", "smith j[1au]", 'authors:"smith j"', "smith j[1au] is any author here, which finds more"),
        ("pubmed", "smit*[au]", gone("smit*"), "the beginning of a name"),
        ("pubmed", '"last 5 years"[dp]', gone("last 5 years[dp]"), "neither a date nor from one to another"),
        ("pubmed", "2010/05/03:2020[dp]", "year:2010-2020", "is read as whole years, which finds more"),
        ("pubmed", '"heart attack*"[tiab:~2]', gone("heart attack*[tiab:~2]"), "stars in a proximity search"),
        ("pubmed", "a1[ti] OR b1[ti] AND c1[ti]", '(title:"a1" OR title:"b1") AND title:"c1"', "from left to right, as PubMed does"),
        (
            "pubmed",
            '"heart attack drug"[tiab:~2]',
            '("heart" NEAR/3 "attack") AND ("heart" NEAR/3 "drug") AND ("attack" NEAR/3 "drug")',
            "is read as each two of its words near each other",
        ),
        ("pubmed", "(a1 OR b1)[tiab]", gone("(a1 OR b1)[tiab]"), "a tag after a parenthesis"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_said(syntax: Syntax, line: str, expected: str | None, said: str) -> None:
    translation = translate(line, syntax)
    assert expected is None or lines_of(line, syntax) == {"s1": expected}
    assert any(said in note for note in translation.notes), translation.notes
    assert all(note.startswith("line s1: ") for note in translation.notes)
    assert all(f"# {note.removeprefix('line s1: ')}" in translation.text.splitlines() for note in translation.notes)
    assert f"# 1. {line}" in translation.text


def test_a_letter_that_may_be_any_is_written_out() -> None:
    assert lines_of("wom#n.tw.", "ovid")["s1"] == " OR ".join(f'"wom{letter}n"' for letter in "abcdefghijklmnopqrstuvwxyz")
    query = lines_of("tumo?r*.ti.", "ovid")["s1"]
    assert query.startswith("title:(tumor* OR tumoar* OR ")
    assert query.count("*") == 27
    assert translate("tumo?r*.ti.", "ovid").notes == ("line s1: tumo?r* is written out, with each letter from a to z",)


OVID = """
1     exp Myocardial Infarction/ (184,523)
2     (heart adj3 attack*).ti,ab.
      or infarct*.ti,ab.\t9000
3     or/1-2 (1000)
4     mice.tw.
5     and/3,4
6     limit 5 to yr="2010 -Current"
7     limit 6 to (english language and yr="2012-2014")
8     remove duplicates from 6
9     (3 or 4) not 5
"""


def test_a_whole_strategy_of_ovid() -> None:
    assert lines_of(OVID, "ovid") == {
        "s1": gone("exp Myocardial Infarction/"),
        "s2": '("heart" NEAR/2 attack*) OR infarct*',
        "s3": "s1 OR s2",
        "s4": '"mice"',
        "s5": "s3 AND s4",
        "s6": "s5 AND year:2010-",
        "s7": f"s6 AND {gone('limit to english language')} AND year:2012-2014",
        "s8": "s6",
        "s9": "(s3 OR s4) NOT s5",
    }
    notes = translate(OVID, "ovid").notes
    assert [note.split(":")[0] for note in notes] == ["line s1", "line s7", "line s8"]
    with pytest.raises(InvalidRequest, match="line s7 has AND with operands that are not available here: limit to english language"):
        parse(translate(OVID, "ovid").text)


def test_a_whole_strategy_of_pubmed() -> None:
    text = '#1 "heart attack"[tiab]\n#2 mice[tiab]\n\n#3 #1 AND #2\n#10 Search: (#1 OR #2) NOT #3'
    assert lines_of(text, "pubmed") == {"s1": '"heart attack"', "s2": '"mice"', "s3": "s1 AND s2", "s10": "(s1 OR s2) NOT s3"}
    assert parse(translate(text, "pubmed").text).result == "s10"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a\n\nb", [("1", "a"), ("2", "b")]),
        ("1. a\n2. b\nc", [("1", "a"), ("2", "b c")]),
        ("3) a\n7) b", [("3", "a"), ("7", "b")]),
        ("#1 a\n#2: b", [("1", "a"), ("2", "b")]),
        ("1 a\n2 b", [("1", "a"), ("2", "b")]),
        ("1\ta\n2\tb\t1,234", [("1", "a"), ("2", "b")]),
        ("1 a\n2010 b", [("1", "a 2010 b")]),
        ("2 or 3", [("1", "2 or 3")]),
        ("1. 1  or  2", [("1", "1  or  2")]),
        ("1. a or (2)", [("1", "a or (2)")]),
        ("(a OR\nb)\nAND c\nd", [("1", "(a OR b) AND c"), ("2", "d")]),
        ("or/1-3\nand/1,2", [("1", "or/1-3"), ("2", "and/1,2")]),
    ],
)
def test_lines_and_their_numbers(text: str, expected: list[tuple[str, str]]) -> None:
    assert numbered(text) == expected


@pytest.mark.parametrize(
    ("syntax", "text", "message"),
    [
        ("ovid", " \n", "there is nothing in it; Ovid's lines are searches such as (heart adj3 attack*).ti,ab."),
        ("pubmed", "", 'there is nothing in it; PubMed\'s lines are searches such as "heart attack"[tiab]'),
        ("ovid", "a\n" * 1001, "it has 1,001 lines, and at most 1,000 are read; join some with OR"),
        ("ovid", "1. a\n1. b", "line 1 stands after line 1; number lines so that they rise"),
        ("ovid", "1. a\n2.", "line 2. has a number, and no search after it"),
        ("ovid", "1. a\n2. 1 and 3", "line 2 has the line 3, and there is none: 1 and 3"),
        ("ovid", "1. a\n2. or/1-9", "line 2 has '1-9', which is no line, and no range of lines"),
        ("ovid", "a and", "line 1 has an operator or a parenthesis with nothing beside it: a and"),
        ("ovid", "(a", 'line 1 has "(" without ")": (a'),
        ("ovid", "a)", 'line 1 has ")" without "(": a)'),
        ("ovid", "(" * 200 + "a", "line 1 has parentheses more than 100 levels deep"),
        ("pubmed", "#1 a\n#2 #3", "line 2 has #3, and there is no such line"),
        ("pubmed", "a[ti] AND", "line 1 has an operator, a tag or a parenthesis with nothing beside it"),
        ("pubmed", "(a[ti]", 'line 1 has "(" without ")"'),
        ("pubmed", "a[ti])", 'line 1 has ")" without "("'),
        ("pubmed", '"a[ti]', 'line 1 has a " that has no other'),
        ("pubmed", "(" * 200 + "a", "line 1 has parentheses more than 100 levels deep"),
        ("pubmed", " OR ".join(["a AND b"] * 100), "line 1 has more than 100 turns from AND to OR and back"),
        ("pubmed", "2010[dp] :", "line 1 has a range of dates that does not end"),
    ],
)  # fmt: skip
def test_lines_that_cannot_be_read(syntax: Syntax, text: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        translate(text, syntax)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_another_syntax() -> None:
    with pytest.raises(UnknownName, match="unknown syntax 'embase'; there are: ovid, pubmed"):
        translate("a", "embase")  # type: ignore[arg-type]


pieces = st.sampled_from(
    ["and", "OR", "NOT", "adj3", "adj", "(", ")", '"', "heart", "att*", "wom#n", "a?", ".ti.", ".ti,ab.", ".pt.", "exp X/", "[tiab]",
     "[mh]", "[tiab:~2]", "[dp]", "2010:2012", ":", "#1", "1", "or/1-2", "limit 1 to yr=", "'", "\\", "\n", "\n2. ", "\x00", "é", "''' "]
)  # fmt: skip


@given(st.lists(pieces, max_size=12).map(" ".join), st.sampled_from(["pubmed", "ovid"]))
@settings(max_examples=150)
def test_whatever_is_written_is_translated_or_refused(text: str, syntax: Syntax) -> None:
    with suppress(InvalidRequest):
        translation = translate(text, syntax)
        lines = tomllib.loads(translation.text)["lines"]
        assert set(lines) == {f"s{number}" for number, _ in numbered(text.replace("\x00", "\ufffd"))}
        with suppress(SciretrieveError):
            parse(translation.text)


PAPERS = made_up("p", 50, 3)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built(PAPERS, path := tmp_path_factory.mktemp("translated") / "index").close()
    return path


Tree: TypeAlias = Any
"""(column, word), ("adj", word, word, distance), or (operator, part, part)."""

words = st.sampled_from(WORDS)
tree_leaves = st.one_of(
    st.tuples(st.sampled_from(["title", "abstract", "both", "star"]), words), st.tuples(st.just("adj"), words, words, st.integers(1, 3))
)
tree = st.recursive(tree_leaves, lambda part: st.tuples(st.sampled_from(["AND", "OR", "NOT"]), part, part), max_leaves=6)


def found_by(tree: Tree) -> set[str]:
    """The papers that a tree means, read from their words."""
    kind, *parts = tree
    if kind == "adj":
        return {paper["id"] for paper in PAPERS if any(_are_near(paper[name].split(), *parts) for name in ("title", "abstract"))}
    if kind == "star":
        return having(PAPERS, parts[0])  # no word is the beginning of another
    if kind in ("title", "abstract", "both"):
        return having(PAPERS, parts[0], None if kind == "both" else kind)
    left, right = map(found_by, parts)
    return {"AND": left & right, "OR": left | right, "NOT": left - right}[kind]


def _are_near(words: list[str], one: str, other: str, distance: int) -> bool:
    places = [(place, word) for place, word in enumerate(words) if word in (one, other)]
    return any(
        {word, other_word} == {one, other} and 0 < abs(place - other_place) <= distance
        for place, word in places
        for other_place, other_word in places
    )


def as_ovid(tree: Tree) -> str:
    kind, *parts = tree
    if kind == "adj":
        return f"({parts[0]} adj{parts[2]} {parts[1]}).ti,ab."
    fields = {"title": ".ti.", "abstract": ".ab.", "both": ".ti,ab.", "star": "$.tw."}
    return f"{parts[0]}{fields[kind]}" if kind in fields else f"({as_ovid(parts[0])} {kind.lower()} {as_ovid(parts[1])})"


def as_pubmed(tree: Tree, is_right: bool = False) -> str:
    """What stands on the left needs no parentheses, as PubMed reads from left to right."""
    kind, *parts = tree
    if kind == "adj":
        return f'"{parts[0]} {parts[1]}"[tiab:~{parts[2] - 1}]'
    fields = {"title": "[ti]", "abstract": "[ab]", "both": "[tiab]", "star": "*[tiab]"}
    if kind in fields:
        return f"{parts[0]}{fields[kind]}"
    text = f"{as_pubmed(parts[0])} {kind} {as_pubmed(parts[1], is_right=True)}"
    return f"({text})" if is_right else text


@given(st.lists(tree, min_size=6, max_size=6))
@settings(max_examples=20)
def test_what_is_translated_finds_what_was_meant(place: Path, trees: list[Tree]) -> None:
    for syntax, write in (("ovid", as_ovid), ("pubmed", as_pubmed)):
        text = "\n".join(f"{number}. {write(tree)}" for number, tree in enumerate(trees, 1))
        translation = translate(text, syntax)  # type: ignore[arg-type]
        result = run(parse(translation.text), [place])
        for tree, line in zip(trees, result.log["lines"], strict=True):
            assert line["total"] == len(found_by(tree)), (write(tree), line["query"])
        assert {one.id for one in result.papers} | {one.removed for one in result.duplicates} == found_by(trees[-1])
