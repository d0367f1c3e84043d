"""Citation keys: a paper's own if it has one, else made from family name, year and title."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import count, product
from string import ascii_lowercase

from .. import identifiers
from ..types import Paper
from .names import family
from .works import DOI

KEY = re.compile(r"(?!ris:|made-[0-9a-f]{20}$)[^\W\d_](?!\w*://)[\w:.+/-]*")
"""Ids like citation keys, including DBLP's, but not URLs or ids that were made for a record without one."""


def keys_of(papers: Sequence[Paper], entry_keys: Sequence[str | None]) -> list[str]:
    """Keys for papers; those in `entry_keys` are kept, and the others are unique, ignoring case.

    A paper has the same key in every answer. Only where two in one answer would share a key, letters are added, in the order
    of their ids.
    """
    keys = [key or _key(paper) for paper, key in zip(papers, entry_keys, strict=True)]
    counts = Counter(key.lower() for key in keys)
    used_keys = set(counts)
    for place in sorted(range(len(papers)), key=lambda place: papers[place].id):
        if entry_keys[place] is None and counts[keys[place].lower()] > 1:
            keys[place] = next(key for key in _key_variants(keys[place]) if key.lower() not in used_keys)
            used_keys.add(keys[place].lower())
    return keys


def _key(paper: Paper) -> str:
    """The id if it is like a key; else family name, year and first long word of the title, in ASCII."""
    if KEY.fullmatch(paper.id) and not DOI.search(paper.id) and not identifiers.arxiv(paper.id):
        return paper.id
    word = next((word for word in re.findall(r"[a-z]+", _ascii(paper.title)) if len(word) > 3), "")
    # a title without Latin letters, such as a Chinese one, still needs its own key
    word = word or blake2b(paper.id.encode(errors="replace"), digest_size=3).hexdigest()
    name = re.sub(r"[^a-z0-9]", "", _ascii(family(paper.authors[0]))) if paper.authors else ""
    return f"{name or 'anonymous'}{paper.year or ''}{word}"


def _key_variants(key: str) -> Iterator[str]:
    """A key followed by a, b … z, aa …."""
    return (key + "".join(letters) for length in count(1) for letters in product(ascii_lowercase, repeat=length))


def _ascii(text: str) -> str:
    """A text in lower-case ASCII, without accents; other characters are dropped."""
    return unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
