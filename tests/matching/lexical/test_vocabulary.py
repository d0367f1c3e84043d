"""Terms are looked up in a vocabulary one by one, or many at once, with the same outcome."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.matching.lexical.vocabulary import Vocabulary

WORDS = st.text(st.sampled_from("abcé∂"), max_size=4)


@given(st.sets(WORDS), st.lists(WORDS, max_size=60))
def test_terms_are_found_alone_and_together(terms: set[str], asked: list[str]) -> None:
    vocabulary = Vocabulary(pa.array(sorted(terms, key=str.encode), pa.string()))
    assert vocabulary.among(asked) == terms & set(asked)
    for term in asked:
        number = vocabulary.number(term)
        assert (number is not None) == (term in terms)
        assert number is None or vocabulary.terms[number].as_py() == term


@given(st.sets(WORDS), WORDS)
def test_beginnings_are_those_of_python(terms: set[str], start: str) -> None:
    ordered = sorted(terms, key=str.encode)
    assert Vocabulary(pa.array(ordered, pa.string())).beginning_with(start) == [term for term in ordered if term.startswith(start)]
