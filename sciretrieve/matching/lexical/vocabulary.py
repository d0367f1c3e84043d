"""Vocabulary: terms in code-point order, looked up in memory without decoding, since bytes of UTF-8 sort like code points."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

import pyarrow as pa
import pyarrow.compute as pc

from ...base.once import once
from ...files.schema import texts

TERMS_REMEMBERED = 4_096
"""Terms that are cached."""


@dataclass(frozen=True)
class Vocabulary:
    """Distinct terms, ascending. A term's number is its position."""

    terms: pa.StringArray

    @once
    def _texts(self) -> tuple[memoryview, memoryview]:
        """Offsets, of int32, and data."""
        if not len(self.terms):
            return memoryview(bytes(4)).cast("i"), memoryview(b"")
        _, offsets, data = self.terms.buffers()
        return memoryview(offsets).cast("b").cast("i"), memoryview(data)

    @once
    def _text(self) -> Callable[[int], bytes]:
        """A function from a number to its term. Every bisection begins with the same terms, so most that it asks for are cached."""
        offsets, data = self._texts
        return lru_cache(TERMS_REMEMBERED)(lambda number: bytes(data[offsets[number] : offsets[number + 1]]))

    def place(self, term: str) -> int:
        """Position of a term, or where it would be inserted."""
        return self._place(term.encode())

    def _place(self, text: bytes) -> int:
        return bisect_left(range(len(self.terms)), text, key=self._text)

    def number(self, term: str) -> int | None:
        """Number of a term; None if it is absent."""
        text = term.encode()
        place = self._place(text)
        return place if place < len(self.terms) and self._text(place) == text else None

    def among(self, terms: Sequence[str]) -> set[str]:
        """Given terms that are present. Visits every term once, which is faster than hundreds of lookups."""
        return set(self.terms.filter(pc.is_in(self.terms, value_set=texts(terms))).to_pylist())

    def beginning_with(self, start: str) -> list[str]:
        """Terms that begin with `start`, ascending."""
        following = map(self._text, range(self.place(start), len(self.terms)))
        return [text.decode() for text in takewhile(lambda text: text.startswith(start.encode()), following)]
