"""A shard's postings: which of its papers have a term, and how often. Immutable, and free of corpus-wide statistics.

One Arrow IPC file, memory-mapped when read, with a row per term in code-point order: `term`, `rows` (int32, ascending),
and for each of these how often the term occurs in the paper: `counts` (uint16, capped at 65,535), and how often in its
title: `titles` (uint8, capped at 255).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .analysis import Analyzer

Ints = npt.NDArray[np.integer]


class _TermNumbers(dict[str, int]):
    """Word -> number of its term, looked up once per word; -1 for stop words. `terms` holds the terms by number."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}
        self._analyzer = analyzer

    def __missing__(self, word: str) -> int:
        term = self._analyzer.term(word)
        number = -1 if term is None else self.terms.setdefault(term, len(self.terms))
        self[word] = number
        return number


class PostingsBuilder:
    """Counts the terms of papers added in row order; memory grows with the shard, not with the corpus."""

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
        """The terms of the next papers' texts, each with its paper's row in the upper half of the number."""
        numbers = self._numbers
        per_paper = [[numbers[word] for word in self._analyzer.words(text)] for text in texts]
        lengths = [len(terms) for terms in per_paper]
        terms = np.fromiter((term for paper in per_paper for term in paper), np.int64, sum(lengths))
        rows = np.repeat(np.arange(self._papers, self._papers + len(texts)), lengths)
        pairs: npt.NDArray[np.int64] = (rows << 32 | terms)[terms >= 0]
        return pairs

    def write(self, path: Path) -> None:
        """Write the postings of all papers added."""
        names = sorted(self._numbers.terms)
        empty_arrays = tuple(np.empty(0, kind) for kind in (np.int32, np.int32, np.uint16, np.uint8))
        terms, rows, counts, titles = (np.concatenate(part) for part in zip(empty_arrays, *self._parts, strict=True))
        place = np.empty(len(names), np.int32)  # term number -> place in code-point order
        place[[self._numbers.terms[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        order = np.argsort(place[terms], kind="stable")  # rows stay in ascending order within a term
        offsets = np.zeros(len(names) + 1, np.int32)
        np.cumsum(np.bincount(place[terms], minlength=len(names)), out=offsets[1:])
        table = pa.table(
            {
                "term": pa.array(names, pa.string()),
                "rows": pa.ListArray.from_arrays(pa.array(offsets), pa.array(rows[order])),
                "counts": pa.ListArray.from_arrays(pa.array(offsets), pa.array(counts[order])),
                "titles": pa.ListArray.from_arrays(pa.array(offsets), pa.array(titles[order])),
            }
        )
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


@dataclass(frozen=True, slots=True)
class Postings:
    """A shard's postings as flat arrays: those of term i are at `offsets[i]:offsets[i + 1]`."""

    terms: list[str]
    offsets: Ints
    rows: Ints
    counts: Ints
    titles: Ints


def read_postings(path: Path) -> Postings:
    """Memory-map the postings that `PostingsBuilder.write` wrote."""
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all().combine_chunks()
    if not table.num_rows:
        return Postings([], np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0, np.uint16), np.empty(0, np.uint8))
    rows, counts, titles = (table[name].chunk(0) for name in ("rows", "counts", "titles"))
    return Postings(
        table["term"].to_pylist(), rows.offsets.to_numpy(), rows.values.to_numpy(), counts.values.to_numpy(), titles.values.to_numpy()
    )
