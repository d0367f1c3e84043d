"""A response's JSON says what the commands' JSON says, and commands no terminal."""

import json
from typing import Any

import hypothesis.strategies as st
from hypothesis import example, given

from sciretrieve.base.wording import CONTROLS, as_json
from sciretrieve.service.service import as_response

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('\x00\x1b\x7f\x80\x9b\x9f\xa0±\u2028\r\n\t"\\'))
NUMBERS = st.integers(-(1 << 63), 1 << 63) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(VALUES)
@example({"title": "a\x7fb", "abstract": ["c\x9b31md ± é"]})
def test_json_is_that_of_the_commands(value: Any) -> None:
    body = bytes(as_response(value).body).decode()
    assert json.loads(body) == json.loads(as_json(value)) == value
    assert not CONTROLS.search(body)


def test_what_is_no_number_is_null() -> None:
    assert bytes(as_response({"score": [float("nan"), float("inf"), 0.5]}).body) == b'{"score":[null,null,0.5]}'
