"""Formulas as typed: which dollars are TeX's, how they look in Unicode, and that all ways to write one are found alike."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.papers.formulas import formulas_in, in_unicode
from tests.made_up import write_jsonl


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"$\alpha$-decay of $^{208}$Pb", "α-decay of ²⁰⁸Pb"),
        (r"${\hat c}=1$ strings and $\bar{p}p$", "ĉ=1 strings and p̄p"),
        (r"$H_2O$ and CO$_{2}$ in $\mathbb{R}^n$", "H₂O and CO₂ in ℝⁿ"),
        (r"AdS$_5\times S^5$ at $\sqrt{s}=7$ TeV", "AdS₅× S⁵ at √s=7 TeV"),
        (r"\(x^2\), \[y_1\], $$z=1$$", "x², y₁, z=1"),
        ("$k$-means with $k = 3$, $p < 0.05$ in $O(n log n)$", "k-means with k = 3, p < 0.05 in O(n log n)"),
        ("costs $5 and $6", "costs $5 and $6"),
        ("from $5 to $10, and $x^2$", "from $5 to $10, and x²"),
        ("US$5 or A$6; CA$ 7", "US$5 or A$6; CA$ 7"),
        ("between $5M and $6M, US$5/h to A$ 3", "between $5M and $6M, US$5/h to A$ 3"),
        ("pay $ 5 $ now, $$$, a$b, $", "pay $ 5 $ now, $$$, a$b, $"),
        (r"\$5 or \$6", r"\$5 or \$6"),
        (r"it is \emph{not} a formula", r"it is \emph{not} a formula"),
        ("", ""),
    ],
)
def test_formulas_are_shown_in_unicode_and_prices_stay(text: str, shown: str) -> None:
    assert in_unicode(text) == shown


@given(st.text(st.sampled_from("ab5 $\\(){}[]^_=é\n"), max_size=40))
def test_formulas_are_parts_of_their_text_in_order(text: str) -> None:
    place = 0
    for formula in formulas_in(text):
        assert place <= formula.start < formula.end <= len(text)
        assert formula.tex in text[formula.start : formula.end]
        place = formula.end
    in_unicode(text)


WAYS = ["CO<sub>2</sub>", "CO$_2$", "CO$_{2}$", "CO₂", "CO2", "$CO_2$", r"$\mathrm{CO}_2$", r"\(\mathrm{CO}_2\)"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Papers that write the same in all ways, from a table and from a bibliography."""
    folder = tmp_path_factory.mktemp("formulas")
    (folder / "sources").mkdir()
    papers = [{"id": f"p{number}", "title": f"Uptake of {way} by leaves"} for number, way in enumerate(WAYS)]
    papers += [
        {"id": "w0", "title": "Clusters of H<sub>2</sub>O"},
        {"id": "w1", "title": "Clusters of $H_2O$"},
        {"id": "w2", "title": "Clusters of H₂O"},
        {"id": "w3", "title": "Clusters of H$_2$O"},
        {"id": "t0", "title": "Rates of 10<sup>-3</sup> per year"},
        {"id": "t1", "title": "Rates of 10$^{-3}$ per year"},
        {"id": "t2", "title": "Rates of 10⁻³ per year"},
    ]
    write_jsonl(folder / "sources" / "p.jsonl", papers)
    ways = "\n".join(f"@misc{{b{number}, title = {{Uptake of {way} by leaves}}}}" for number, way in enumerate(WAYS))
    (folder / "sources" / "p.bib").write_text(ways, encoding="utf-8")
    return sr.build(folder / "sources", folder / "index", encoder=None, progress=False)


@pytest.mark.parametrize(
    ("query", "count"),
    [(way, 2 * len(WAYS)) for way in ("CO2", "CO₂", "$CO_2$", "CO$_2$", "CO$_{2}$")]
    + [("H2O", 4), ("$H_2O$", 4), ("H₂O", 4), ("10-3", 3), ("10$^{-3}$", 3), ("10⁻³", 3)],
)
def test_however_a_formula_is_written_and_asked_for_it_is_found(index: sr.Index, query: str, count: int) -> None:
    assert index.count(query) == count


def test_a_formula_is_kept_as_typed(tmp_path: Path) -> None:
    index = sr.build([{"id": "a", "title": r"${\hat c}=1$ strings"}], tmp_path / "index", encoder=None, progress=False)
    assert index.papers(["a"])[0].title == r"${\hat c}=1$ strings"
