"""Terms are looked up in a vocabulary one by one, or many at once, with the same outcome."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.matching.lexical.lists import by_term
from sciretrieve.matching.lexical.vocabulary import Vocabulary

WORDS = st.text(st.sampled_from("abé∂ﬁ𝔘"), max_size=4)
"""In the order of code points, which that of UTF-8's bytes is and that of UTF-16's is not."""


@given(st.sets(WORDS), st.lists(WORDS, max_size=60))
def test_terms_are_found_alone_and_together(terms: set[str], asked: list[str]) -> None:
    ordered, *_ = by_term(pa.array([*terms], pa.string()), np.arange(len(terms)))
    vocabulary = Vocabulary(ordered)
    assert ordered.to_pylist() == sorted(terms)
    assert vocabulary.among(asked) == terms & set(asked)
    for term in asked:
        number = vocabulary.number(term)
        assert vocabulary.place(term) == sum(other < term for other in terms)
        assert (number is not None) == (term in terms)
        assert number is None or vocabulary.terms[number].as_py() == term


@given(st.sets(WORDS), WORDS)
def test_beginnings_are_those_of_python(terms: set[str], start: str) -> None:
    ordered = sorted(terms)
    assert Vocabulary(pa.array(ordered, pa.string())).beginning_with(start) == [term for term in ordered if term.startswith(start)]
