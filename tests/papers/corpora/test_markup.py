"""Markup in texts as plain text: tags, references however often they were escaped, formulas; and what stands for no value."""

import html

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.papers.corpora.markup import PLACEHOLDERS, is_placeholder, plain_column, plain_text

MATH = "<mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup><mml:annotation>x^2</mml:annotation></mml:math>"


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("CO<sub>2</sub> on <i>Arabidopsis</i> &amp; kin", "CO₂ on Arabidopsis & kin"),
        ("<jats:p>CO<jats:sub>2</jats:sub> rises &gt; 5.</jats:p>", "CO₂ rises > 5."),
        ("10<sup>-3</sup> M, x<sub>max</sub>, x<sub>Q</sub>", "10⁻³ M, xₘₐₓ, xQ"),
        ("Science &amp;amp; Caf&eacute; &amp;lt;i&amp;gt;in vitro&amp;lt;/i&amp;gt;", "Science & Café in vitro"),
        (f"The area {MATH} of it", "The area x² of it"),
        ('<math altimg="si1.svg"><mi>k</mi></math>-means', "k-means"),
        ("<h4>Background</h4>Text<br/>and more", "Background Text and more"),
        ("Solitons in<i>N</i>-Coupled <i>E. coli</i>and kin", "Solitons in N-Coupled E. coli and kin"),
        ("a <b> test", "a <b> test"),
        ("a < b and c > d, p <1.5% (<0.05), AT&T, R&D; x?a=1&copy=2", "a < b and c > d, p <1.5% (<0.05), AT&T, R&D; x?a=1&copy=2"),
        ("List<String> and std::vector<int>", "List<String> and std::vector<int>"),
    ],
)
def test_what_is_marked_is_plain(marked: str, plain: str) -> None:
    assert plain_text(marked) == plain
    assert plain_text(plain) == plain


@given(st.text(st.characters(exclude_characters="&<>", exclude_categories=["Cs"])), st.integers(0, 3))
def test_however_often_it_was_escaped(text: str, times: int) -> None:
    inner = " ".join(f"{text} < & > x".split())
    escaped = inner
    for _ in range(times):
        escaped = html.escape(escaped, quote=False)
    assert plain_text(escaped) == inner


@given(
    st.lists(st.one_of(st.none(), st.sampled_from([*PLACEHOLDERS, "[No abstract available]", "NAN", "None of it", "A &amp; B"]), st.text()))
)
def test_a_column_is_made_plain_as_its_texts(texts: list[str | None]) -> None:
    texts = [text if text is None else text.encode(errors="ignore").decode() for text in texts]
    expected = [None if text is None or is_placeholder(text) else plain_text(text) for text in texts]
    column = plain_column(pa.array(texts, pa.string())).to_pylist()
    assert [text and text.strip() for text in column] == [text and text.strip() for text in expected]
