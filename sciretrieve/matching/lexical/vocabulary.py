"""Terms in code-point order, looked up as they lie in memory: comparing bytes is comparing code points, and nothing has to be decoded."""

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
    """Distinct terms, ascending. A term's number is its place among them."""

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
        """Where a term is, or would have to be."""
        return bisect_left(range(len(self.terms)), term.encode(), key=self._text)

    def number(self, term: str) -> int | None:
        """A term's number; None if it is not among them."""
        place = self.place(term)
        return place if place < len(self.terms) and self._text(place) == term.encode() else None

    def among(self, terms: Sequence[str]) -> set[str]:
        """Those of the given terms that are here. It looks at every term once: of hundreds, that takes less time than looking each up."""
        return set(self.terms.filter(pc.is_in(self.terms, value_set=texts(terms))).to_pylist())

    def beginning_with(self, start: str) -> list[str]:
        """The terms that begin with `start`, ascending."""
        following = map(self._text, range(self.place(start), len(self.terms)))
        return [text.decode() for text in takewhile(lambda text: text.startswith(start.encode()), following)]
