"""Phrases, beginnings and distances through `Index.search`, against a slow scan that cuts texts into tokens."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.query.narrowing.phrases import Loose, Nearby, having, phrase
from tests.made_up import write_jsonl

TOKENS = ["type", "types", "the", "of", "b", "2", "2.5", "c++", "n=4", "n", "c", "t-cell", "cell", "typed,", "(b)", "$n=4$", "été", "tÿpe"]
COLUMNS = ("title", "abstract")


def plain(text: str) -> str:
    """A text in small letters, without accents and LaTeX, with a blank for punctuation between words and for hyphens."""
    text = text.lower().replace("é", "e").replace("ÿ", "y").replace("$", "")
    return f" {' '.join(re.sub(r'[-(),]', ' ', text).split())} "


def numbered(text: str) -> list[str]:
    """Its words and numbers and signs, a word a place: what is typed without a blank is one."""
    return plain(text).split()


def has(text: str, sought: str) -> bool:
    """Whether a phrase is in a text, by Python's regular expressions; 2 is not in 2.5."""
    return re.search(rf"(?<![a-z0-9]){re.escape(plain(sought).strip())}(?![a-z0-9]|\.\d)", plain(text)) is not None


texts = st.lists(st.sampled_from(TOKENS), max_size=8).map(" ".join)
corpora = st.lists(st.tuples(texts, texts), min_size=1, max_size=6)
WORDS = ["type", "the", "b", "2", "2.5", "c++", "n=4", "c", "t-cell", "t cell", "ete"]
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)


def found(papers: list[tuple[str, str]], queries: list[str]) -> list[set[int]]:
    """The papers that each query finds, by keyword search alone."""
    with TemporaryDirectory() as folder:
        rows: list[dict[str, Any]] = [{"id": str(number), "title": title, "abstract": text} for number, (title, text) in enumerate(papers)]
        rows.append({"id": "other", "title": "something else"})
        index = sr.build(write_jsonl(Path(folder) / "papers.jsonl", rows), Path(folder) / "index", encoder=None, shard_size=4)
        return [{int(id) for id in index.search(query, 100, group=False).rankings[0].ids if id != "other"} for query in queries]


def expected(papers: list[tuple[str, str]], test: Callable[[str], bool], columns: tuple[str, ...] = COLUMNS) -> set[int]:
    places = [COLUMNS.index(column) for column in columns]
    return {number for number, paper in enumerate(papers) if any(test(paper[place]) for place in places)}


@pytest.mark.slow
@example(papers=[("type 2 2", "")], words=["2", "2"])  # 2-2 has the term 22
@settings(deadline=None, max_examples=25)
@given(papers=corpora, words=phrases)
def test_a_phrase_is_every_character_of_it(papers: list[tuple[str, str]], words: list[str]) -> None:
    typed = " ".join(words)
    queries = [f'"{typed}"', f'title:"{typed}"', f'"{typed.replace(" ", "-")}"', "typ*", *(f'"{word}"' for word in words)]
    whole, in_title, hyphened, beginning, *each = found(papers, queries)
    exact = expected(papers, lambda text: has(text, typed))
    if exact or len(typed.split()) < 4:  # else it is prose, which demands no phrase that no paper has
        assert whole == exact
    assert in_title == expected(papers, lambda text: has(text, typed), ("title",))
    assert hyphened == exact
    for one in each:
        assert exact <= one
    assert beginning == expected(papers, lambda text: re.search(r"(?<![a-z0-9])typ", plain(text)) is not None)


def places(text: str, word: str) -> list[int]:
    return [place for place, token in enumerate(numbered(text)) if token == word]


def is_near(text: str, first: str, second: str, distance: int) -> bool:
    return any(a != b and abs(a - b) <= distance + 1 for a, b in product(places(text, first), places(text, second)))


def is_loose(text: str, words: list[str], slop: int) -> bool:
    for chosen in product(*(places(text, word) for word in words)):
        moves = [place - number for number, place in enumerate(chosen)]
        if len(set(chosen)) == len(chosen) and max(moves) - min(moves) <= slop:
            return True
    return False


simple = st.sampled_from(["type", "b", "2", "c", "the"])
simple_texts = st.lists(simple | st.sampled_from(["é", "x", "type,"]), max_size=9).map(" ".join)


@settings(deadline=None, max_examples=150)
@given(text=simple_texts, words=st.lists(simple, min_size=2, max_size=4), distance=st.integers(0, 4))
def test_distances_are_those_of_every_choice_of_places(text: str, words: list[str], distance: int) -> None:
    table = pa.chunked_array([[text, ""]])
    near = Nearby((phrase(words[0]),), (phrase(words[1]),), distance)
    assert having(near, table).tolist() == [is_near(text, words[0], words[1], distance), False]
    assert having(Loose(phrase(" ".join(words)), distance), table).tolist() == [is_loose(text, words, distance), False]


@settings(deadline=None, max_examples=20)
@given(papers=st.lists(st.tuples(simple_texts, simple_texts), min_size=1, max_size=6), words=st.lists(simple, min_size=2, max_size=2))
def test_distances_in_an_index(papers: list[tuple[str, str]], words: list[str]) -> None:
    first, second = words
    near, back, loose, whole, none = found(
        papers,
        [f"{first} NEAR/2 {second}", f"{second} NEAR/2 {first}", f'"{first} {second}"~2', f'"{first} {second}"', f'"{first} {second}"~0'],
    )
    assert near == back == expected(papers, lambda text: is_near(text, first, second, 2))
    assert loose == expected(papers, lambda text: is_loose(text, words, 2))
    assert whole == none <= loose & near


@pytest.mark.parametrize(
    ("typed", "text", "is_in"),
    [
        ("gesture recognition", "Hand-gesture recognition", True),
        ("t-cell", "T cells", False),
        ("t-cell*", "T cells", True),
        ("type 2 diabetes", "type 2 (diabetes)", True),
        ("type 2 diabetes", "type 2.\nDiabetes", True),
        ("type 2, diabetes", "type 2 diabetes", False),
        ("p = 0", "p = 0.05", False),
        ("5 mg", "2.5 mg", False),
        ("N=4", r"${\cal N}=4$ theory", True),
        ("N=4", "N = 4", False),
        ("HIV AIDS", "HIV/AIDS", True),
        ("alzheimer's disease", "Alzheimer’s disease", True),
        ("RRT* planning", "planning by RRT* planning", True),
        ("A* search", "A search", False),
        ("Muller cells", "Müller—cells", True),
        ("α-helix", "alpha helix", True),
        pytest.param("word " * 900, "some " + "word " * 900, True, id="900 words"),
        pytest.param("word " * 900, "some " + "word " * 899, False, id="899 words"),
        ("нейронная сеть", "Нейронная сеть", True),
    ],
)
def test_what_is_the_same_in_a_phrase(typed: str, text: str, is_in: bool) -> None:
    """In plain ASCII, which Arrow compares, and in a text of which one letter is not."""
    for whole in (text, f"{text} ünd"):
        assert having(phrase(typed), pa.chunked_array([[whole, "other"]])).tolist() == [is_in, False]
