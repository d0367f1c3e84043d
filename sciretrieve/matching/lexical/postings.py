"""A shard's postings: the papers with each term, and how often they have it. Immutable, and without corpus-wide statistics.

Postings are two Arrow IPC files, memory-mapped when read:

postings.arrow   a row per term in code-point order: `term`, `rows` (int32, ascending), and for each of these how often the
                 term occurs in the paper: `counts` (uint16, capped at 65,535), and how often in its title: `titles` (uint8,
                 capped at 255)
lengths.arrow    a row per paper: `terms`, the sum of its counts, `title_terms`, of which in its title (int32), and `title`,
                 the numbers of its title's terms, that is their rows in postings.arrow (int32, ascending)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...base.errors import CorruptData
from ...base.once import once
from ...base.types import Rows
from ...files.schema import mapped_columns
from .analysis import Analyzer
from .lists import Ints, TermLists, by_term, lists, numbers_of, offsets_of, values_of, write_columns
from .words import pieces

POSTINGS, LENGTHS = "postings.arrow", "lengths.arrow"
TERM_COLUMNS = {"term": pa.string(), "rows": pa.list_(pa.int32()), "counts": pa.list_(pa.uint16()), "titles": pa.list_(pa.uint8())}
PAPER_COLUMNS = {"terms": pa.int32(), "title_terms": pa.int32(), "title": pa.list_(pa.int32())}


class _TermNumbers(dict[str, int]):
    """Piece of a text (`pieces`) -> its term's number, cached; -1 for no term, and less than -1 for a piece with several terms.

    Attributes:
        terms: numbers by term.
        of_pair: returns the number of the term for a single character with its neighbour; -1 if the pair is no term.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}
        self.of_pair = cache(lambda pair: self._of(analyzer.joined_term(*pair)))
        self._analyzer = analyzer
        self._several: list[list[int]] = []

    def __missing__(self, piece: str) -> int:
        words = list(self._analyzer.cut(piece))
        if words == [piece]:
            self[piece] = number = self._of(self._analyzer.term(piece))
            return number
        numbers = [number for word in words if (number := self._of(self._analyzer.term(word))) >= 0]
        if len(numbers) > 1:
            number = -2 - len(self._several)
            self._several.append(numbers)
        else:
            number = numbers[0] if numbers else -1
        self[piece] = number
        return number

    def several(self, number: int) -> list[int]:
        """Term numbers of a piece whose number stands for several terms."""
        return self._several[-2 - number]

    def _of(self, term: str | None) -> int:
        return -1 if term is None else self.terms.setdefault(term, len(self.terms))


class PostingsBuilder:
    """Counts the terms of papers in row order. Memory grows with the shard, not with the corpus."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._numbers = _TermNumbers(analyzer)
        self._parts: list[tuple[Ints, Ints, Ints, Ints]] = []  # (term numbers, rows, counts, counts in titles) of each batch
        self._papers = 0

    def add(self, titles: Sequence[str], abstracts: Sequence[str]) -> None:
        """Add the next papers."""
        in_titles, in_abstracts = self._pairs(titles), self._pairs(abstracts)
        self._papers += len(titles)
        pairs, inverse = np.unique(np.concatenate([in_titles, in_abstracts]), return_inverse=True)
        counts, of_titles = (np.bincount(part, minlength=len(pairs)) for part in (inverse, inverse[: len(in_titles)]))
        self._parts.append(
            (
                (pairs & 0xFFFFFFFF).astype(np.int32),
                (pairs >> 32).astype(np.int32),
                np.minimum(counts, 0xFFFF).astype(np.uint16),
                np.minimum(of_titles, 0xFF).astype(np.uint8),
            )
        )

    def _pairs(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Terms of the next papers' texts. Each number has the paper's row in its upper half."""
        known = self._numbers
        rows = np.arange(self._papers, self._papers + len(texts))
        plain_texts = list(map(self._analyzer.fold, texts))
        words, word_rows = _flat(list(map(pieces, plain_texts)), rows, known.__getitem__)
        places = np.flatnonzero(words < -1)
        parts, part_rows = _flat(list(map(known.several, words[places].tolist())), word_rows[places])
        beside = [self._analyzer.pairs(text, plain) for text, plain in zip(texts, plain_texts, strict=True)]
        singles, single_rows = _flat(beside, rows, known.of_pair)
        numbers = np.concatenate([words, parts, singles])
        pairs: npt.NDArray[np.int64] = (np.concatenate([word_rows, part_rows, single_rows]) << 32 | numbers)[numbers >= 0]
        return pairs

    def write(self, folder: Path) -> None:
        """Write the postings of all added papers."""
        names = list(self._numbers.terms)
        empty_arrays = tuple(np.empty(0, kind) for kind in (np.int32, np.int32, np.uint16, np.uint8))
        numbers, rows, counts, titles = (np.concatenate(part) for part in zip(empty_arrays, *self._parts, strict=True))
        write_postings(folder, pa.array(names, pa.string()), numbers, rows, counts, titles, self._papers)


def _flat(
    lists: Sequence[Sequence[Any]], rows: Rows, number: Callable[[Any], int] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Items of lists, concatenated, as numbers, converted by `number` if given; and each item's row, which is its list's."""
    sizes = list(map(len, lists))
    items = chain.from_iterable(lists)
    return np.fromiter(items if number is None else map(number, items), np.int64, sum(sizes)), np.repeat(rows, sizes)


def write_postings(folder: Path, terms: pa.StringArray, numbers: Ints, rows: Ints, counts: Ints, titles: Ints, papers: int) -> None:
    """Write a shard's two files from its postings, which must be in ascending order of row for each term.

    Args:
        folder: the shard's folder.
        terms: distinct terms in any order.
        numbers, rows, counts, titles: for each posting its term's position in `terms`, its paper's row, and the two counts, (n,).
        papers: number of papers in the shard.
    """
    names, offsets, order = by_term(terms, numbers)
    rows, counts, titles = rows[order], counts[order], titles[order]
    write_columns(
        folder / POSTINGS,
        {
            "term": names,
            "rows": lists(offsets, rows),
            "counts": lists(offsets, counts),
            "titles": lists(offsets, titles),
        },
    )
    in_titles = np.flatnonzero(titles)
    title_terms = (np.searchsorted(offsets, in_titles, side="right") - 1).astype(np.int32)
    title_order = np.argsort(rows[in_titles], kind="stable")  # terms stay ascending within a paper
    title_offsets = np.zeros(papers + 1, np.int32)
    np.cumsum(np.bincount(rows[in_titles], minlength=papers), out=title_offsets[1:])
    write_columns(
        folder / LENGTHS,
        {
            "terms": pa.array(np.bincount(rows, counts, papers).astype(np.int32)),
            "title_terms": pa.array(np.bincount(rows, titles, papers).astype(np.int32)),
            "title": lists(title_offsets, title_terms[title_order]),
        },
    )


class Postings(TermLists):
    """A shard's postings, opened."""

    file, columns = POSTINGS, TERM_COLUMNS

    @once
    def _paper_table(self) -> dict[str, pa.Array]:
        columns = mapped_columns(self.folder / LENGTHS, PAPER_COLUMNS)
        if len(columns["terms"]) != self.papers:
            raise CorruptData(f"{self.folder / LENGTHS} has {len(columns['terms'])} papers where the manifest says {self.papers}")
        return columns

    @once
    def counts(self) -> npt.NDArray[np.uint16]:
        """Occurrences of the term in the paper, (postings,)."""
        counts: npt.NDArray[np.uint16] = self._values("counts")
        return counts

    @once
    def titles(self) -> npt.NDArray[np.uint8]:
        """Occurrences of the term in its title, (postings,)."""
        counts: npt.NDArray[np.uint8] = self._values("titles")
        return counts

    @once
    def lengths(self) -> npt.NDArray[np.int32]:
        """Sum of counts of each paper, (papers,)."""
        lengths: npt.NDArray[np.int32] = numbers_of(self._paper_table["terms"], np.int32)
        return lengths

    @once
    def title_lengths(self) -> npt.NDArray[np.int32]:
        """Sum of counts in each paper's title, (papers,)."""
        lengths: npt.NDArray[np.int32] = numbers_of(self._paper_table["title_terms"], np.int32)
        return lengths

    @once
    def title_offsets(self) -> Ints:
        """Start of each paper's terms in `title_terms`, and end of the last, (papers + 1,) int32."""
        return offsets_of(self.folder / LENGTHS, self._paper_table["title"])

    @once
    def title_terms(self) -> npt.NDArray[np.int32]:
        """Numbers of the titles' terms, ascending within each paper."""
        numbers: npt.NDArray[np.int32] = values_of(self._paper_table["title"], np.int32)
        if len(numbers) and numbers.view(np.uint32).max() >= len(self.terms):
            raise CorruptData(
                f"{self.folder / LENGTHS} names terms that the shard does not have; `sciretrieve verify --repair` rebuilds it"
            )
        return numbers

    def frequencies(self, live: Rows | None) -> npt.NDArray[np.int32]:
        """Number of papers with each term, (terms,), limited to the rows in `live`, ascending, if given. Raises CorruptData as `of`."""
        if live is None:
            return np.diff(self.offsets).astype(np.int32)
        self.check(self.rows)
        is_live = np.zeros(self.papers, bool)
        is_live[live] = True
        ends = np.concatenate([[0], np.cumsum(is_live[self.rows], dtype=np.int64)])
        counts: npt.NDArray[np.int32] = (ends[self.offsets[1:]] - ends[self.offsets[:-1]]).astype(np.int32)
        return counts
