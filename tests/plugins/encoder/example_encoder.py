"""An encoder: how often each letter is in a text."""

from collections.abc import Sequence

import sciretrieve as sr

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Alphabet:
    dim = len(LETTERS)
    identity = "counts of a to z in title and abstract, 1"

    def encode_papers(self, papers: Sequence[sr.Paper]) -> list[list[int]]:
        return [self._vector(f"{paper.title} {paper.abstract}") for paper in papers]

    def encode_queries(self, queries: Sequence[sr.Query]) -> list[list[int]]:
        return [self._vector(query.text) for query in queries]

    def _vector(self, text: str) -> list[int]:
        return [1 + text.lower().count(letter) for letter in LETTERS]


class Square(Alphabet):
    dim = 2


class Never(Alphabet):
    def __init__(self) -> None:
        raise AssertionError
