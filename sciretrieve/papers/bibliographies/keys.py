"""Citation keys: a paper's own if it has one, else made from family name, year and title."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from itertools import count, product
from string import ascii_lowercase

from ...base.types import Paper
from ...files.schema import letters
from .. import identifiers
from .author_names import names_of
from .works import DOI

KEY = re.compile(r"(?!ris:|made-[0-9a-f]{20}$)[^\W\d_](?!\w*://)[\w:.+/-]*")
"""Ids like citation keys, including DBLP's, but not URLs or ids that were made for a record without one."""

KEY_COLUMNS = {"key", "citekey", "citationkey", "bibkey", "bibtexkey"}
"""Columns of citation keys, by their letters alone, as Zotero, the ACL Anthology and Better BibTeX have them; in BibTeX keys are ids."""
NOTE_COLUMNS = {"extra", "note"}
"""Columns in which Zotero has a line "Citation Key: …"."""
NOTED = re.compile(r"(?im)^\s*citation key:\s*(\S+)\s*$")
ITEM_KEY = re.compile(r"[2-9A-NP-Z]{8}")
"""What Zotero calls an item's key, which is a number in letters and no citation key."""


def own_key(paper: Paper) -> str | None:
    """The citation key that a paper has in a column of its own, or in a note; None without one."""
    texts = {letters(name): value for name, value in paper.extra.items() if isinstance(value, str)}
    noted = (match[1] for name in NOTE_COLUMNS if (match := NOTED.search(texts.get(name, ""))))
    keys = (*(texts.get(name, "").strip() for name in sorted(KEY_COLUMNS)), *noted)
    return next((key for key in keys if KEY.fullmatch(key) and not ITEM_KEY.fullmatch(key)), None)


def keys_of(papers: Sequence[Paper], entry_keys: Sequence[str | None], taken: Collection[str] = ()) -> list[str]:
    """Keys for papers; those in `entry_keys` are kept, and the others are unique, ignoring case.

    A paper has the same key in every answer. Only where two in one answer would share a key, letters are added, in the order
    of their ids; and to any key, also a paper's own, that is among those `taken` by entries elsewhere.
    """
    keys = [key or _key(paper) for paper, key in zip(papers, entry_keys, strict=True)]
    counts = Counter(key.lower() for key in keys)
    taken_keys = {key.lower() for key in taken}
    used_keys = {*counts, *taken_keys}
    for place in sorted(range(len(papers)), key=lambda place: papers[place].id):
        is_shared = entry_keys[place] is None and counts[keys[place].lower()] > 1
        if is_shared or keys[place].lower() in taken_keys:
            keys[place] = next(key for key in _key_variants(keys[place]) if key.lower() not in used_keys)
            used_keys.add(keys[place].lower())
    return keys


def _key(paper: Paper) -> str:
    """The paper's own key; else the id if it is like one; else family name, year and first long word of the title, in ASCII."""
    if key := own_key(paper):
        return key
    is_other = ITEM_KEY.fullmatch(paper.id) or DOI.search(paper.id) or identifiers.arxiv(paper.id)
    if KEY.fullmatch(paper.id) and not is_other:
        return paper.id
    word = next((word for word in re.findall(r"[a-z]+", _ascii(paper.title)) if len(word) > 3), "")
    # a title without Latin letters, such as a Chinese one, still needs its own key
    word = word or blake2b(paper.id.encode(errors="replace"), digest_size=3).hexdigest()
    name = next((re.sub(r"[^a-z0-9]", "", _ascii(name.cited)) for name in names_of(paper)), "")
    return f"{name or 'anonymous'}{paper.year or ''}{word}"


def _key_variants(key: str) -> Iterator[str]:
    """A key followed by a, b … z, aa …."""
    return (key + "".join(letters) for length in count(1) for letters in product(ascii_lowercase, repeat=length))


def _ascii(text: str) -> str:
    """A text in lower-case ASCII, without accents; other characters are dropped."""
    return unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
