"""What papers lack, and fields that look wrong: each check has its reason, and finds the rows of a table that it is true of.

Each looks for something that can hardly be meant, for an alarm that is false wastes the time of whoever looks at it. In 105,000 papers of
ACM, arXiv and PubMed the fields of 62 look wrong, and 50 of them are: notes such as "Minor misprints corrected" in place of abstracts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.types import Mask
from . import identifiers

FIELDS = ("title", "abstract", "year", "venue", "authors", "doi")
"""The columns that checks read."""

WORDS = re.compile(r"[^\W_]+")
_INITIALS = r"(?:\p{Lu}\.[ -]?)+"
_FAMILY = r"\p{Lu}\p{L}*(?:['’ -]\p{L}+)*"
_NAME = rf"(?:{_FAMILY},? {_INITIALS}|{_INITIALS} ?{_FAMILY})"
NAMES = rf"^{_NAME}(?:\s*(?:[;,&]|,? and )\s*{_NAME})+\.?$"
"""Two names or more with initials, "Lovelace, A. K., Turing, A." or "A. Turing and G. Hopper", and nothing else."""
NO_VENUE = rf"^(?:[\d\W_]+|(?:doi:\s*)?{identifiers.REGISTRANT}/\S+|https?://\S+)$"
"""A year or another number, a DOI, an address."""
AHEAD = 1
"""Years after the current one of which papers are already announced."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked for in a library.

    Attributes:
        name: what it is called in JSON.
        label: the same for people.
        remedy: what to do about it, in one clause.
    """

    name: str
    label: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Check(Look):
    """Something that may be wrong with a paper, as its own fields show.

    Attributes:
        finds: which rows of a table, with the columns of `FIELDS`, it is true of.
    """

    finds: Callable[[pa.Table], Mask]


def _is_empty(name: str) -> Callable[[pa.Table], Mask]:
    def finds(table: pa.Table) -> Mask:
        column = table[name]
        size = pc.list_value_length(column) if pa.types.is_list(column.type) else pc.utf8_length(column)
        return _mask(pc.equal(pc.fill_null(size, 0), 0))

    return finds


def _no_year(table: pa.Table) -> Mask:
    return _mask(pc.is_null(table["year"]))


def _outgrown(table: pa.Table) -> Mask:
    lengths = pc.utf8_length(table["abstract"])
    return _mask(pc.and_(pc.greater(lengths, 0), pc.greater(pc.utf8_length(table["title"]), lengths))) & ~_repeated(table)


def _repeated(table: pa.Table) -> Mask:
    lengths = (pc.utf8_length(table[name]).to_numpy() for name in ("title", "abstract"))
    is_near = np.abs(np.subtract(*(length.astype(np.int64) for length in lengths))) <= 5  # a full stop or blanks more
    rows = np.flatnonzero(is_near)
    texts = (table[name].take(pa.array(rows)).to_pylist() for name in ("title", "abstract"))
    is_repeated = np.zeros(len(table), bool)
    is_repeated[rows] = [bool(_words(title)) and _words(title) == _words(abstract) for title, abstract in zip(*texts, strict=True)]
    return is_repeated


def _is_of_names(table: pa.Table) -> Mask:
    titles, authors = table["title"], table["authors"]
    pairs = zip(titles.to_pylist(), authors.to_pylist(), strict=True)
    is_of_authors = [len(words := _words(title)) > 1 and set(words) <= set(_words(" ".join(names or ()))) for title, names in pairs]
    is_list: Mask = _mask(pc.match_substring_regex(titles, NAMES)) | np.array(is_of_authors, bool)
    return is_list


def _no_venue(table: pa.Table) -> Mask:
    return _mask(pc.fill_null(pc.match_substring_regex(table["venue"], NO_VENUE), False))


def _ahead(table: pa.Table) -> Mask:
    return _mask(pc.fill_null(pc.greater(table["year"], datetime.now(UTC).year + AHEAD), False))


def _no_doi(table: pa.Table) -> Mask:
    return np.array([bool(text) and identifiers.doi(text) is None for text in table["doi"].to_pylist()], bool)


def _words(text: str) -> list[str]:
    return WORDS.findall(text.casefold())


def _mask(column: pa.ChunkedArray) -> Mask:
    values: Mask = column.to_numpy().astype(bool)
    return values


_MEND = "mend the source, then `sync` it"
MISSING = (
    Check("no_title", "no title", "they are found by abstracts alone; add them again, by id, with titles", _is_empty("title")),
    Check("no_abstract", "no abstract", "they are found by titles alone; add them again, by id, with abstracts", _is_empty("abstract")),
    Check("no_authors", "no authors", "no search by author finds them; add them again, by id, with authors", _is_empty("authors")),
    Check("no_year", "no year", "filters by year leave them out; years such as 20155 and 0 are read as none", _no_year),
    Check("no_doi", "no DOI", "references by DOI do not lead to them; many works have none", _is_empty("doi")),
)
"""What papers lack."""
DOUBTFUL = (
    Check("title_longer_than_abstract", "title longer than abstract", f"swapped, or a note in place of the abstract; {_MEND}", _outgrown),
    Check("abstract_repeats_title", "abstract repeats the title", f"a title in place of the abstract; {_MEND}", _repeated),
    Check("title_of_names", "title made of names", f"swapped with the authors, or no paper; {_MEND}", _is_of_names),
    Check("venue_is_none", "venue is a number or an address", f"another field's value; {_MEND}", _no_venue),
    Check("doi_is_none", "DOI is none", f"another field's value, or cut short; {_MEND}", _no_doi),
    Check("year_ahead", "year in the future", f"a slip; {_MEND}", _ahead),
)
"""Fields that look wrong."""
