"""Numbers of papers, equal where titles or DOIs are, read off the bytes of many papers at once: most papers of an answer share neither with
another, so they need not be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import identifiers
from .duplicates import bare_title

Numbers: TypeAlias = npt.NDArray[np.uint64]

NO_NUMBERS: Numbers = np.empty(0, np.uint64)
_CODES = np.arange(256)
_LETTERS = np.array([code >= 0x80 or chr(code).isalnum() for code in range(256)])
_POWERS = np.cumprod(np.full(256, 0x9E3779B97F4A7C15, np.uint64))
WEIGHTS: Numbers = np.where(_LETTERS, _POWERS[np.frombuffer(bytes(range(256)).lower(), np.uint8)], np.uint64(0))
"""What a byte adds to a number: powers of an odd number; 0 for marks and blanks. Both cases of a letter add the same."""
UNUSUAL_IN_TITLES = (_CODES >= 0x80) | np.isin(_CODES, [*b"\\$"])
"""Bytes of which `folding.fold` makes more than lower case."""
UNUSUAL_IN_DOIS = ~(np.isin(_CODES, [*b"./()_-"]) | (_LETTERS & (_CODES < 0x80)))
"""Bytes that occur in what stands around a DOI."""


def title_numbers(titles: pa.StringArray) -> Numbers:
    """A number of each title, (n,): equal for titles of one `duplicates.key`, 0 for those without. Others differ, unless they have the same
    letters in another order."""
    return _numbers(titles, UNUSUAL_IN_TITLES, bare_title)


def doi_numbers(dois: pa.StringArray) -> Numbers:
    """A number of each DOI, (n,), likewise: equal if `identifiers.doi` is; 0 for a missing DOI."""
    return _numbers(dois, UNUSUAL_IN_DOIS, lambda text: identifiers.doi(text) or "", begins=b"1")


def _numbers(texts: pa.StringArray, unusual: npt.NDArray[np.bool_], plain: Callable[[str], str], begins: bytes = b"") -> Numbers:
    """The sum of each text's letters and digits; of texts with unusual bytes, or that begin otherwise, as they are in plain."""
    ends, data = _bytes(texts)
    sums = _sums(ends, data)
    is_odd = np.diff(np.searchsorted(np.flatnonzero(unusual[data]), ends)) > 0
    if begins:
        is_odd |= (ends[1:] > ends[:-1]) & (np.append(data, 0)[ends[:-1]] != begins[0])
    if len(odd := np.flatnonzero(is_odd)):
        encoded = [plain(texts[place].as_py()).encode() for place in odd.tolist()]
        sums[odd] = _sums(np.cumsum([0, *map(len, encoded)]), np.frombuffer(b"".join(encoded), np.uint8))
    return sums


def _bytes(texts: pa.StringArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Where each text begins among the bytes of all, (n + 1,), and these."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset).astype(np.int64)
    first, last = int(ends[0]), int(ends[-1])
    return ends - first, np.frombuffer(data, np.uint8, last - first, first) if last > first else np.empty(0, np.uint8)


def _sums(ends: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Numbers:
    sums = np.zeros(len(data) + 1, np.uint64)
    np.cumsum(WEIGHTS[data], out=sums[1:])
    of_each: Numbers = np.diff(sums[ends])
    return of_each
