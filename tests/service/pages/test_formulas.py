"""Formulas on pages: MathML that browsers set, of elements and values that can do no harm; what cannot be converted stays as typed."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import sciretrieve as sr
from sciretrieve.answers.snippets import QueryWords
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.service.pages.cards import pieces
from sciretrieve.service.pages.formulas import ATTRIBUTES, ELEMENTS, mathml
from tests.service.served import client_of

pytest.importorskip("latex2mathml")

ANALYZER = Analyzer()
HOSTILE = [
    "<script>alert(1)</script>",
    r"\text{<img src=x onerror=alert(1)>}",
    r"\text{&lt;script&gt;alert(1)&lt;/script&gt;}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{background:url(//evil)}{x}",
    r"\class{evil}{x}",
    r"\color{red\" onclick=\"alert(1)}x",
    r"\hspace{9000em}x",
    r"\rule{9000em}{9000em}",
    r"\mathrm{</mi></math><script>alert(1)</script>}",
    r"\unicode{x3c}script\unicode{x3e}",
    r"x\text{\"}\text{'}",
]


def harmless(text: str) -> None:
    root = ElementTree.fromstring(text)
    for element in root.iter():
        assert element is root or element.tag in ELEMENTS
        assert all(ATTRIBUTES[name].fullmatch(value) for name, value in element.items() if element is not root)
    assert list(root.keys()) == ["alttext"]


@pytest.mark.parametrize(
    ("tex", "inner"),
    [
        (r"\alpha", "<mi>α</mi>"),
        ("^{208}", "<msup><mi></mi><mrow><mn>208</mn></mrow></msup>"),
        ("x<y", "<mi>x</mi><mo>&lt;</mo><mi>y</mi>"),
        (r"{\hat c}=1", '<mrow><mover accent="true"><mi>c</mi><mo>^</mo></mover></mrow><mo>=</mo><mn>1</mn>'),
        (r"\frac{1}{2}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
    ],
)
def test_a_formula_is_mathml(tex: str, inner: str) -> None:
    assert f"<mrow>{inner}</mrow></math>" in (mathml(tex) or "")
    harmless(mathml(tex) or "")


@pytest.mark.parametrize("tex", HOSTILE)
def test_what_a_formula_asks_for_is_not_done(tex: str) -> None:
    math = mathml(tex)
    if math is not None:
        harmless(math)


@pytest.mark.parametrize(
    "tex",
    [
        r"\foo{x}",
        r"\ce{H2O}",
        "x^",
        "{",
        r"\frac",
        r"\begin{matrix}",
        r"\def\a{\a\a}\a",
        r"\newcommand{\b}{\b\b}\b",
        "{" * 50 + "x" + "}" * 50,
        "x" * 301,
        "^" * 300,
        "",
    ],
)
def test_what_cannot_be_converted_is_no_mathml(tex: str) -> None:
    assert mathml(tex) is None


SIGNS = [*"ab1<>&\"'{}[]^_ =()", r"\frac", r"\text", r"\left", r"\right", r"\sqrt", r"\href", r"\begin{array}", "&#7;", "&#x202e;"]


@given(st.lists(st.sampled_from(SIGNS), max_size=25).map("".join))
def test_whatever_the_formula_it_is_harmless_or_as_typed(tex: str) -> None:
    math = mathml(tex)
    if math is not None:
        harmless(math)


def words(query: str) -> QueryWords:
    return QueryWords(ANALYZER, dict.fromkeys(ANALYZER.terms(query), 1.0))


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        (r"The $\alpha$-decay of $^{208}$Pb", "decay", ["decay"]),
        (r"The $\alpha$-decay of $^{208}$Pb", "alpha", ["<math"]),
        (r"An $H_2O$ cluster", "H2O cluster", ["<math", "cluster"]),
        (r"CO$_2$ uptake", "CO2 uptake", ["CO", "<math", "uptake"]),
        ("It costs $5 and $6", "costs", ["costs"]),
        (r"A $\foo{x}$ word", "word", ["word"]),
    ],
)
def test_marks_break_no_formula(text: str, query: str, marked: list[str]) -> None:
    parts = pieces(text, words(query))
    assert [
        part[: len(expected)] for (part, is_marked), expected in zip([part for part in parts if part[1]], marked, strict=True)
    ] == marked
    assert "".join(part for part, _ in parts if not part.startswith("<math")) in text or "<math" in str(parts)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    papers = [
        {
            "id": "a",
            "title": r"$\alpha$-decay of $^{208}$Pb costs $5 & $6",
            "abstract": r"The $H_2O$ decays <b>. $\text{<script>alert(1)</script>}$ and $\foo{<i>}$.",
        }
    ]
    folder: Path = tmp_path_factory.mktemp("formulas")
    index = sr.build(papers, folder / "index", encoder=None, progress=False)
    with client_of(index.path, headers={"Accept": "text/html"}) as client:
        yield client


def test_pages_set_formulas_in_titles_sentences_and_abstracts(client: TestClient) -> None:
    answers, paper = client.get("/?q=decay").text, client.get("/paper/a").text
    for page in (answers, paper):
        assert '<math alttext="\\alpha"><mrow><mi>α</mi></mrow></math>-' in page
        assert "costs $5 &amp; $6" in page
        assert "<script>alert" not in page
        assert "<b>." not in page
    assert '<math alttext="H_2O">' in answers
    assert '<math alttext="H_2O">' in paper
    assert "$\\foo{&lt;i&gt;}$" in paper
    assert "<title>α-decay of ²⁰⁸Pb costs $5 &amp; $6" in paper
