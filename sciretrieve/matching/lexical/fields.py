"""Fields of papers: words of authors, venue and keywords, and the year, with the papers of a shard that have them.

fields.arrow, an Arrow IPC file that is memory-mapped when read, has a row per word in code-point order: `word`; `rows` (int32, ascending),
the papers that have it; and `fields` (uint8), for each of these the sum of 1 for authors, 2 for venue, 4 for keywords and 8 for the year.

Words of authors and venues are folded (Müller becomes muller), but neither stemmed nor filtered by stop words, since an author may be
called An or The. Keywords are terms of the text analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...base.once import once
from ...papers.folding import fold_name
from .analysis import Analyzer, cut
from .lists import TermLists, by_term, lists, write_columns
from .words import pieces

FIELDS_FILE = "fields.arrow"
WORD_COLUMNS = {"word": pa.string(), "rows": pa.list_(pa.int32()), "fields": pa.list_(pa.uint8())}
FIELDS = {"authors": 1, "venue": 2, "keywords": 4, "year": 8}
"""Columns that are fields, each with its bit."""
EVERY_FIELD = sum(FIELDS.values())
APOSTROPHES = str.maketrans("", "", "'\u2019\u02bc")
TEXTS_REMEMBERED = 65_536
"""Pieces of texts, and names, venues and keywords while a shard is filled, whose words are cached."""
NUMBERS_REMEMBERED = 65_536
"""Words of a shard whose numbers are cached."""


FIELD_END = ":"
"""Separates a field and a word in a field's term. No term of a text contains it."""


def field_term(field: str, word: str) -> str:
    """A field word as a query term: `authors:muller`."""
    return f"{field}{FIELD_END}{word}"


def is_field_term(term: str) -> bool:
    """Whether a term is a field word."""
    return FIELD_END in term


def readable_term(term: str) -> str:
    """A field's term for display: `muller (authors)`."""
    field, _, word = term.partition(FIELD_END)
    return f"{word} ({field})"


def name_words(text: str) -> list[str]:
    """Words of an author's name or a venue, in order: Jean-Pierre gives jean, pierre and jeanpierre; O'Brien gives o, brien and obrien."""
    folded = fold_name(text)
    words = [*chain.from_iterable(map(_words_of, pieces(folded)))]
    joined = folded.translate(APOSTROPHES)
    if joined != folded:
        known = set(words)
        words += [word for word in cut(joined) if word not in known]
    return words


@lru_cache(TEXTS_REMEMBERED)
def _words_of(piece: str) -> tuple[str, ...]:
    """Words of a piece of a folded text."""
    return tuple(cut(piece))


class FieldsBuilder:
    """Collects the fields of papers in row order. Memory grows with the shard, not with the corpus."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._numbers: dict[str, int] = {}
        self._remembered = lru_cache(TEXTS_REMEMBERED)(self._read)
        empty = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8)
        self._parts: list[tuple[npt.NDArray[Any], ...]] = [empty]  # (numbers of words, rows, fields) of each batch
        self._papers = 0

    def add(self, papers: pa.Table) -> None:
        """Add the next papers. Columns of the table that are not fields are ignored."""
        keys, bits = [np.empty(0, np.int64)], [np.empty(0, np.uint8)]
        for field, bit in FIELDS.items():
            if field not in papers.column_names:
                continue
            per_paper = [self._words(field, value) for value in papers[field].to_pylist()]
            sizes = [len(numbers) for numbers in per_paper]
            numbers = np.fromiter((number for numbers in per_paper for number in numbers), np.int64, sum(sizes))
            rows = np.repeat(np.arange(self._papers, self._papers + len(papers)), sizes)
            keys.append(rows << 32 | numbers)
            bits.append(np.full(len(numbers), bit, np.uint8))
        all_keys, all_bits = np.concatenate(keys), np.concatenate(bits)
        pairs, inverse = np.unique(all_keys, return_inverse=True)
        fields = np.zeros(len(pairs), np.uint8)
        np.bitwise_or.at(fields, inverse, all_bits)
        self._parts.append(((pairs & 0xFFFFFFFF).astype(np.int32), (pairs >> 32).astype(np.int32), fields))
        self._papers += len(papers)

    def _words(self, field: str, value: Any) -> list[int]:
        """Numbers of the words in a paper's field."""
        if field == "year":
            return [] if value is None else [self._number(str(value))]
        texts: Sequence[Any] = value if isinstance(value, list) else [value]
        return [number for text in texts if isinstance(text, str) for number in self._remembered(text, field == "keywords")]

    def _read(self, text: str, is_keyword: bool) -> list[int]:
        return [self._number(word) for word in (self._analyzer.terms(text) if is_keyword else name_words(text))]

    def _number(self, word: str) -> int:
        return self._numbers.setdefault(word, len(self._numbers))

    def write(self, folder: Path) -> None:
        """Write the fields of all added papers."""
        numbers, rows, fields = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        words, offsets, order = by_term(pa.array(list(self._numbers), pa.string()), numbers)
        columns = {"word": words, "rows": lists(offsets, rows[order]), "fields": lists(offsets, fields[order])}
        write_columns(folder / FIELDS_FILE, columns)


class FieldPostings(TermLists):
    """A shard's fields, opened."""

    file, columns = FIELDS_FILE, WORD_COLUMNS

    @once
    def bits(self) -> npt.NDArray[np.uint8]:
        """Fields of each posting, as bits from `FIELDS`, (postings,)."""
        bits: npt.NDArray[np.uint8] = self._values("fields")
        return bits

    @once
    def _number(self) -> Any:
        """A function from a word to its number; None if no paper of the shard has it."""
        return lru_cache(NUMBERS_REMEMBERED)(self.vocabulary.number)

    def rows_with(self, word: str, field: str) -> npt.NDArray[np.int32]:
        """Rows within the shard of the papers with a word in a field, deleted papers included, ascending. Raises CorruptData as `of`."""
        number = self._number(word)
        if number is None:
            return np.empty(0, np.int32)
        places = self.of(number)
        return self.rows[places][self.bits[places] & FIELDS[field] > 0]
