"""Marks of papers, equal where titles or DOIs are, and quickly made: most papers of an answer share neither with another, so they need not
be compared."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from . import identifiers
from .duplicates import bare_title

_LOWER = bytes(range(256)).lower()
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_OF_DOIS = bytes(code for code in range(128) if chr(code).isalnum()) + b"./()_-"
"""Characters of a DOI with nothing around it."""


def title_mark(title: str) -> bytes:
    """The letters and digits of a title in plain: equal for titles of one `duplicates.key`, b"" for those without."""
    if title.isascii() and "\\" not in title and "$" not in title:  # which `folding.fold` only lowers
        return title.encode().translate(_LOWER, _SIGNS)
    return bare_title(title).encode()


def doi_mark(doi: str) -> bytes:
    """The letters and digits of a DOI: equal if `identifiers.doi` is; b"" for a missing DOI."""
    if not doi.startswith("1") or doi.encode().translate(None, _OF_DOIS):
        doi = identifiers.doi(doi) or ""
    return doi.encode().translate(_LOWER, _SIGNS)


def sharing(marks: Sequence[bytes]) -> Collection[int]:
    """Positions of the marks that equal another, leaving out b""."""
    distinct = len({*marks})
    if distinct == len(marks) or distinct - 1 == len(marks) - marks.count(b""):  # nearly always
        return ()
    first: dict[bytes, int] = {}
    shared: set[int] = set()
    for place, mark in enumerate(marks):
        if mark and (other := first.setdefault(mark, place)) != place:
            shared |= {other, place}
    return shared
