"""Where one sentence of a text ends and the next begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.papers.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("no end mark", ["no end mark"]),
        ("One. Two? Three! Four", ["One.", "Two?", "Three!", "Four"]),
        ("One\nsentence  of two lines. Another", ["One sentence of two lines.", "Another"]),
        ("A p of 0.05 was found. It held.", ["A p of 0.05 was found.", "It held."]),
        ("Trees, e.g. Quercus, and i.e. Oaks. Next.", ["Trees, e.g. Quercus, and i.e. Oaks.", "Next."]),
        ("As Smith et al. Showed in Fig. 3. Next.", ["As Smith et al. Showed in Fig. 3.", "Next."]),
        ("By J. R. R. Tolkien. Next.", ["By J. R. R. Tolkien.", "Next."]),
        ("It ends. it goes on", ["It ends. it goes on"]),
        ('He said "yes." Then he left (by train.) Now', ['He said "yes."', "Then he left (by train.)", "Now"]),
        ('It is so. "Why?" they asked. (Nobody knew.)', ["It is so.", '"Why?" they asked.', "(Nobody knew.)"]),
        ("This was known (Smith et al.) Then not.", ["This was known (Smith et al.) Then not."]),
        ("It was seen. 40 papers say so.", ["It was seen.", "40 papers say so."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text("ab AJ.?!\"')( \n1é", max_size=60) | st.text(max_size=40))
def test_sentences_lose_nothing(text: str) -> None:
    parts = sentences(text)
    assert " ".join(parts) == " ".join(text.split())
    assert all(part == part.strip() != "" for part in parts)
