"""BM25 search over the index written by `building`: memory-mapped, and checked as it is read."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CorruptData
from ..files import read_json
from ..once import once
from ..types import Mask, Rows
from .building import ABSENT, DATA, PARAMETERS, ROWS, STARTS, TITLE_ROWS, TITLE_STARTS, VOCABULARY
from .variants import RARITIES, Floats

K3 = 3.0
"""Saturates a term's frequency in a query; measured, see docs/quality.md."""

PostingRows = npt.NDArray[np.int32]


class Bm25:
    """A BM25 index opened for searching."""

    def __init__(self, directory: Path, papers: int) -> None:
        """Map the index in `directory`, which must cover `papers` papers. Raises CorruptData if it does not."""
        self._directory = directory
        self._papers = papers
        try:
            parameters = read_json(directory / PARAMETERS)
            self._vocabulary: dict[str, int] = read_json(directory / VOCABULARY)
        except OSError as error:
            raise CorruptData(f"the BM25 index {directory} cannot be read: {error}; rebuild the index with --overwrite") from error
        terms = len(self._vocabulary)
        self._weights, self._rows = self._array(DATA, np.float32), self._array(ROWS, np.int32)
        self._starts = np.asarray(self._array(STARTS, np.int64))
        self._absent = np.asarray(self._array(ABSENT, np.float32)) if (directory / ABSENT).exists() else None
        self._title_rows, self._title_starts = self._array(TITLE_ROWS, np.int32), np.asarray(self._array(TITLE_STARTS, np.int64))
        checks = {
            PARAMETERS: parameters.get("num_docs") == papers,
            VOCABULARY: list(self._vocabulary.values()) == list(range(terms)),
            STARTS: _are_starts(self._starts, terms, len(self._rows)),
            DATA: len(self._weights) == len(self._rows),
            ABSENT: self._absent is None or len(self._absent) == terms,
            TITLE_STARTS: _are_starts(self._title_starts, terms, len(self._title_rows)),
        }
        for name, fits in checks.items():
            if not fits:
                raise self._corrupt(name)

    def _array(self, name: str, dtype: npt.DTypeLike) -> Any:
        """Map a file with a one-dimensional array. Raises CorruptData for anything else."""
        try:
            array = np.load(self._directory / name, mmap_mode="r")
        except Exception as error:  # NumPy may raise anything here: it reads a header as Python
            raise self._corrupt(name) from error
        if array.dtype != dtype or array.ndim != 1:
            raise self._corrupt(name)
        return array

    def _corrupt(self, name: str) -> CorruptData:
        return CorruptData(f"{self._directory / name} is damaged or does not fit its index; rebuild the index with --overwrite")

    def _numbers(self, terms: Iterable[str]) -> list[int]:
        """The numbers of the terms that any paper has, ascending, each once."""
        return sorted({self._vocabulary[term] for term in terms if term in self._vocabulary})

    def _postings(self, number: int) -> tuple[PostingRows, npt.NDArray[np.float32]]:
        """The rows of the papers that have a term, ascending, and the term's weight in each. Raises CorruptData."""
        places = slice(self._starts[number], self._starts[number + 1])
        return self._check_rows(self._rows[places], ROWS), self._weights[places]

    def _check_rows(self, rows: PostingRows, name: str) -> PostingRows:
        # viewed as unsigned, a negative row is a large one
        if len(rows) and rows.view(np.uint32).max() >= self._papers:
            raise self._corrupt(name)
        return rows

    def scores(self, terms: Mapping[str, float]) -> tuple[npt.NDArray[np.float32], Mask]:
        """Score every paper for weighted query terms: a float32 score per paper, and whether it has any of the terms."""
        scores, matched = np.zeros(self._papers, np.float32), np.zeros(self._papers, bool)
        for number, weight in sorted((self._vocabulary[term], weight) for term, weight in terms.items() if term in self._vocabulary):
            rows, weights = self._postings(number)
            scores[rows] += np.float32(weight) * weights
            matched[rows] = True
            if self._absent is not None:
                scores += np.float32(weight) * self._absent[number]
        if not np.isfinite(scores.sum()):  # one non-finite weight makes the sum non-finite
            raise self._corrupt(DATA)
        return scores, matched

    def rarity(self, term: str) -> float:
        """A term's inverse document frequency in Lucene's form, also for a term that no paper has."""
        return float(RARITIES["lucene"](np.array([float(self.frequency(term))]), self._papers)[0])

    def covered_rarity(self, terms: Mapping[str, float], rows: Rows) -> Floats:
        """The sum of weight times `rarity` over the terms that each paper has, (rows,)."""
        sums = np.zeros(len(rows))
        for term in self.known_terms(terms):
            term_rows, _ = self._postings(self._vocabulary[term])
            places = np.minimum(np.searchsorted(term_rows, rows), len(term_rows) - 1)
            sums += terms[term] * self.rarity(term) * (term_rows[places] == rows)
        return sums

    def title_overlap(self, terms: Iterable[str], rows: Rows) -> Floats:
        """How much of papers' titles the terms cover: the share of a title's inverse document frequencies, (rows,)."""
        covered, totals = np.zeros(self._papers), self._title_totals
        for number in self._numbers(terms):
            covered[self._title_rows[self._title_starts[number] : self._title_starts[number + 1]]] += self._rarities[number]
        overlap: Floats = covered[rows] / totals[rows]
        return overlap

    @once
    def _rarities(self) -> Floats:
        """Each term's inverse document frequency in Lucene's form, which is positive for every term."""
        return RARITIES["lucene"](np.diff(self._starts).astype(np.float64), self._papers)

    @once
    def _title_totals(self) -> Floats:
        """The sum of the inverse document frequencies of a title's terms; infinite without a title, so that the share is 0."""
        title_rows = self._check_rows(self._title_rows, TITLE_ROWS)
        totals = np.bincount(title_rows, np.repeat(self._rarities, np.diff(self._title_starts)), self._papers)
        return np.where(totals == 0, np.inf, totals)

    def known_terms(self, terms: Iterable[str]) -> list[str]:
        """The given terms that any paper has."""
        return [term for term in terms if term in self._vocabulary]

    def frequency(self, term: str) -> int:
        """How many papers have a term."""
        number = self._vocabulary.get(term)
        return 0 if number is None else int(self._starts[number + 1] - self._starts[number])

    def beginning_with(self, start: str) -> list[str]:
        """The index's terms that begin with `start`, ascending."""
        low = bisect_left(self._terms, start)
        return list(takewhile(lambda term: term.startswith(start), islice(self._terms, low, None)))

    @once
    def _terms(self) -> list[str]:
        return list(self._vocabulary)  # ascending, as `build` wrote them

    def rows_with(self, terms: Iterable[str]) -> PostingRows:
        """The rows of the papers that have all of the terms, ascending; none for no terms."""
        numbers = {self._vocabulary.get(term) for term in terms}
        if not numbers or None in numbers:
            return np.empty(0, np.int32)
        rarest, *others = sorted((self._postings(number)[0] for number in numbers if number is not None), key=len)
        rows = np.asarray(rarest)
        for term_rows in others:  # the rarest came first, so the rest only shrinks the rows
            places = np.minimum(np.searchsorted(term_rows, rows), len(term_rows) - 1)
            rows = rows[term_rows[places] == rows]
        return rows

    def weights(self, terms: Mapping[str, float], row: int) -> dict[str, float]:
        """What each query term that a paper has adds to the paper's score; the greatest first."""
        contributions = {}
        for term, weight in terms.items():
            number = self._vocabulary.get(term)
            if number is None:
                continue
            rows, weights = self._postings(number)
            place = int(np.searchsorted(rows, row))
            if place < len(rows) and rows[place] == row:
                contributions[term] = weight * float(weights[place])
        return dict(sorted(contributions.items(), key=lambda item: (-item[1], item[0])))


def _are_starts(starts: npt.NDArray[np.int64], terms: int, postings: int) -> bool:
    """Whether the starts divide all the postings among the terms, without overlap."""
    if len(starts) != terms + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        return False
    # an index without terms keeps one unused place
    return int(starts[-1]) == postings or (terms == 0 and postings == 1)


def weigh_terms(terms: Sequence[str]) -> dict[str, float]:
    """A query's terms with their weights: 1 for a term that occurs once, and less than its frequency for any other.

    The weight is BM25's own for queries, (k3 + 1) n / (k3 + n) (Robertson et al., "Okapi at TREC-3", 1994); it matters
    where a whole paper is the query.
    """
    return {term: (K3 + 1) * count / (K3 + count) for term, count in Counter(terms).items()}
