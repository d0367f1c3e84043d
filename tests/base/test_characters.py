"""The one form of texts: what is stored and shown, what is typed, and a filter."""

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sciretrieve.base.characters import clean, in_filter, typed

WRITTEN = st.text(
    alphabet=st.sampled_from("aB1 \"'-\n\u0301é“”„‘’‚«»‹›「」–−－：（）\u00ad\u200b\u200c\u200d\u202e\ufeff\u00a0\u2028م深か\u3099"),
    max_size=30,
)


@pytest.mark.parametrize("form", [clean, typed])
@given(text=WRITTEN | st.text(max_size=30))
@example(text="\u0301\u3099\u200cか")
def test_a_text_in_its_form_stays_as_it_is(form: Callable[[str], str], text: str) -> None:
    assert form(form(text)) == form(text)


@given(WRITTEN)
def test_what_is_stored_is_composed_and_seen(text: str) -> None:
    stored = clean(text)
    assert unicodedata.is_normalized("NFC", stored)
    assert not set(stored) & set("\u00ad\u200b\u202e\ufeff\u00a0\u2028")
    assert [char for char in stored if char in "“”„‘’‚«»‹›「」–−－："] == [char for char in text if char in "“”„‘’‚«»‹›「」–−－："]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("inter\u00adaction", "interaction"),
        ("inter\u00ad\n  action", "interaction"),
        ("mu\u0308\u200bller\u2060", "müller"),
        ("\u202eniv)\u202c Univ", "niv) Univ"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("Auf\u200clage", "Auflage"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_invisible_characters_go_where_they_have_no_part(text: str, stored: str) -> None:
    assert clean(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "“stem cell” -“bone marrow” title:atlas",
        "„stem cell“ −„bone marrow“ title:atlas",
        "«stem cell» –«bone marrow» title：atlas",
        "»stem cell« ‐»bone marrow« title:ａｔｌａｓ",
        "＂stem cell＂ －＂bone marrow＂ title：atlas",
        "‘stem cell’ ‑‘bone marrow’ title:atlas",
        "‚stem cell‘ ﹣‚bone marrow‘ title:atlas",
        "‹stem cell› -‹bone marrow› title:atlas",
        "「stem cell」\u3000-「bone marrow」\u00a0title:at\u00adlas",
        "\ufeff“stem\u2009cell” -“bone\u00a0marrow” ｔｉｔｌｅ：at\u200blas",
    ],
)
def test_every_keyboard_types_the_same_query(text: str) -> None:
    assert typed(text) == '"stem cell" -"bone marrow" title:atlas'


@pytest.mark.parametrize("text", ["patients’ data", "children’s ‘90s", "rock ’n’ roll", "‘omics and children’s health"])
def test_apostrophes_are_no_quotation_marks(text: str) -> None:
    assert '"' not in typed(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("year ≥ 2018 and venue == “A–B”", 'year >= 2018 and venue == "A–B"'),
        ("venue ＝＝ ‘it’s “x”’", 'venue == "it’s “x”"'),
        ("`a\u0301–` > −1", "`a\u0301–` > -1"),
        ('venue == "mu\u0308–" or title contains „x\\"y“', 'venue == "mü–" or title contains "x\\\\\\"y"'),
    ],
)
def test_a_filter_keeps_what_is_in_its_quotation_marks(text: str, read: str) -> None:
    assert in_filter(text) == read


def test_heaps_of_marks_take_no_time() -> None:
    start = time.process_time()
    clean("a" + "\u0301\u0316" * 200_000)
    assert time.process_time() - start < 5
