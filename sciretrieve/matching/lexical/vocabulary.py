"""Vocabulary: terms in code-point order, looked up in memory without decoding, since bytes of UTF-8 sort like code points."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...base.once import once
from ...files.schema import texts


@dataclass(frozen=True)
class Vocabulary:
    """Distinct terms, ascending. A term's number is its position."""

    terms: pa.StringArray

    @once
    def _texts(self) -> tuple[npt.NDArray[np.int32], memoryview]:
        """Offsets and data."""
        if not len(self.terms):
            return np.zeros(1, np.int32), memoryview(b"")
        _, offsets, data = self.terms.buffers()
        return np.frombuffer(offsets, np.int32), memoryview(data)

    def _text(self, number: int) -> bytes:
        offsets, data = self._texts
        return bytes(data[offsets[number] : offsets[number + 1]])

    def place(self, term: str) -> int:
        """Position of a term, or where it would be inserted."""
        return bisect_left(range(len(self.terms)), term.encode(), key=self._text)

    def number(self, term: str) -> int | None:
        """Number of a term; None if it is absent."""
        place = self.place(term)
        return place if place < len(self.terms) and self._text(place) == term.encode() else None

    def among(self, terms: Sequence[str]) -> set[str]:
        """Given terms that are present. Visits every term once, which is faster than hundreds of lookups."""
        return set(self.terms.filter(pc.is_in(self.terms, value_set=texts(terms))).to_pylist())

    def beginning_with(self, start: str) -> list[str]:
        """Terms that begin with `start`, ascending."""
        following = map(self._text, range(self.place(start), len(self.terms)))
        return [text.decode() for text in takewhile(lambda text: text.startswith(start.encode()), following)]
