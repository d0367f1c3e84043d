"""The fields of papers besides their text: the words of authors, venue and keywords, and the year; which papers of a shard have them.

fields.arrow, an Arrow IPC file that is mapped into memory when read, has a row per word in code-point order: `word`, `rows` (int32,
ascending), and for each of these in which fields of the paper the word is: `fields` (uint8, the sum of 1 for authors, 2 for venue, 4 for
keywords and 8 for the year).

Words of authors and venues are folded (Müller is muller) and neither stemmed nor left out: an author may be called An or The.
Keywords are terms of the text analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...base.once import once
from ...papers.folding import fold_name
from .analysis import Analyzer, cut
from .lists import TermLists, by_term, lists, write_columns

FIELDS_FILE = "fields.arrow"
WORD_COLUMNS = {"word": pa.string(), "rows": pa.list_(pa.int32()), "fields": pa.list_(pa.uint8())}
FIELDS = {"authors": 1, "venue": 2, "keywords": 4, "year": 8}
"""The columns that are fields, each with its bit."""
EVERY_FIELD = sum(FIELDS.values())
APOSTROPHES = str.maketrans("", "", "'\u2019\u02bc")
TEXTS_REMEMBERED = 65_536
"""Names, venues and keywords whose words are kept in memory while a shard is filled, for they recur."""
NUMBERS_REMEMBERED = 65_536
"""Words of a shard whose numbers are kept in memory."""


FIELD_END = ":"
"""What stands between a field and a word in a field's term; no term of a text has it."""


def field_term(field: str, word: str) -> str:
    """A word in a field, as a query's term: `authors:muller`."""
    return f"{field}{FIELD_END}{word}"


def is_field_term(term: str) -> bool:
    """Whether a term is a word in a field."""
    return FIELD_END in term


def in_words(term: str) -> str:
    """A field's term for people: `muller (authors)`."""
    field, _, word = term.partition(FIELD_END)
    return f"{word} ({field})"


def name_words(text: str) -> list[str]:
    """The words of an author's name or of a venue, in order: Jean-Pierre gives jean, pierre and jeanpierre; O'Brien o, brien and obrien."""
    folded = fold_name(text)
    words = [*cut(folded)]
    joined = folded.translate(APOSTROPHES)
    if joined != folded:
        known = set(words)
        words += [word for word in cut(joined) if word not in known]
    return words


class FieldsBuilder:
    """Collects the fields of papers added in row order; memory grows with the shard, not with the corpus."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._numbers: dict[str, int] = {}
        self._remembered = lru_cache(TEXTS_REMEMBERED)(self._read)
        empty = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8)
        self._parts: list[tuple[npt.NDArray[Any], ...]] = [empty]  # (numbers of words, rows, fields) of each batch
        self._papers = 0

    def add(self, papers: pa.Table) -> None:
        """Add the next papers; columns of the table that are no fields are not looked at."""
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
        """The numbers of the words in a paper's field."""
        if field == "year":
            return [] if value is None else [self._number(str(value))]
        texts: Sequence[Any] = value if isinstance(value, list) else [value]
        return [number for text in texts if isinstance(text, str) for number in self._remembered(text, field == "keywords")]

    def _read(self, text: str, is_keyword: bool) -> list[int]:
        return [self._number(word) for word in (self._analyzer.terms(text) if is_keyword else name_words(text))]

    def _number(self, word: str) -> int:
        return self._numbers.setdefault(word, len(self._numbers))

    def write(self, folder: Path) -> None:
        """Write the fields of all papers added."""
        numbers, rows, fields = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        words, offsets, order = by_term(pa.array(list(self._numbers), pa.string()), numbers)
        columns = {"word": words, "rows": lists(offsets, rows[order]), "fields": lists(offsets, fields[order])}
        write_columns(folder / FIELDS_FILE, columns)


class FieldPostings(TermLists):
    """A shard's fields, opened."""

    file, columns = FIELDS_FILE, WORD_COLUMNS

    @once
    def bits(self) -> npt.NDArray[np.uint8]:
        """The fields of each posting, by their bits in `FIELDS`, (postings,)."""
        bits: npt.NDArray[np.uint8] = self._values("fields")
        return bits

    @once
    def _number(self) -> Any:
        """Gives a word's number; None if no paper of the shard has it."""
        return lru_cache(NUMBERS_REMEMBERED)(self.vocabulary.number)

    def rows_with(self, word: str, field: str) -> npt.NDArray[np.int32]:
        """The rows within the shard of the papers that have a word in a field, deleted ones too, ascending. Raises CorruptData as `of`."""
        number = self._number(word)
        if number is None:
            return np.empty(0, np.int32)
        places = self.of(number)
        return self.rows[places][self.bits[places] & FIELDS[field] > 0]
