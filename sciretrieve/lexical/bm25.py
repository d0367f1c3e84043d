"""BM25 over all shards: one index in bm25s's own format, built from the shards' postings, memory-mapped to search.

The statistics (papers, their mean length, document frequencies) are the whole corpus's, so scores do not depend on
how it was sharded. `bm25s.BM25.load` reads the directory, but searching needs only NumPy: importing bm25s, which
brings numba, would cost every cold search more than the search itself.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CorruptData, InvalidRequest, UnknownName
from ..files import read_json, sync_file, write_json, write_whole
from ..once import once
from ..types import Mask, Rows
from .postings import Postings, read_postings

VARIANTS: Mapping[str, tuple[str, str]] = {
    "lucene": ("lucene", "lucene"),
    "robertson": ("robertson", "robertson"),
    "atire": ("atire", "atire"),
    "okapi": ("atire", "robertson"),
    "bm25l": ("bm25l", "bm25l"),
    "bm25+": ("bm25+", "bm25+"),
}
"""Variant -> (term-frequency part, inverse document frequency) as bm25s names them; the variants are those of
Kamphuis et al., "Which BM25 Do You Mean?", ECIR 2020, and `okapi` is rank_bm25's BM25Okapi with epsilon 0."""

BLOCK = 1 << 21
"""Postings weighted at a time while building, which bounds the build's memory."""

TITLE_ROWS, TITLE_STARTS = "titles.indices.npy", "titles.indptr.npy"
"""Beside bm25s's files: the papers with a term in their title, and where each term's begin."""

K3 = 3.0
"""Saturates how often a term stands in a query; measured, see docs/quality.md."""


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """How BM25 weighs terms: `k1` saturates term frequency, `b` normalises length, `delta` is for bm25l and bm25+.

    A term in a title counts `title` times (BM25F with one length normalisation; Robertson, Zaragoza and Taylor, CIKM
    2004). The defaults were measured, see docs/quality.md.
    """

    variant: str = "lucene"
    k1: float = 1.2
    b: float = 0.75
    delta: float = 0.5
    title: float = 2.0

    def __post_init__(self) -> None:
        if not (self.k1 >= 0 and 0 <= self.b <= 1 and self.title >= 0):
            raise InvalidRequest(f"BM25 wants k1 >= 0, 0 <= b <= 1 and a title weight >= 0, not {self.k1}, {self.b} and {self.title}")
        if self.variant not in VARIANTS:
            raise UnknownName("BM25 variant", self.variant, VARIANTS)


def build(directory: Path, shards: Sequence[tuple[Path, int]], parameters: Bm25Parameters) -> None:
    """Write the BM25 index of shards given as (postings file, number of papers), in row order.

    Memory holds the vocabulary, one length a paper, and a block of postings; the rest goes through mapped files.
    """
    import bm25s.scoring

    tf_part, idf_part = VARIANTS[parameters.variant]
    weigh, inverse = bm25s.scoring._select_tfc_scorer(tf_part), bm25s.scoring._select_idf_scorer(idf_part)
    opened = [(read_postings(path), papers) for path, papers in shards]
    vocabulary = {term: number for number, term in enumerate(sorted({term for part, _ in opened for term in part.terms}))}
    frequency = np.zeros(len(vocabulary), np.int64)
    lengths = np.zeros(sum(papers for _, papers in shards), np.float64)
    numbers, first = [], 0
    for part, papers in opened:
        own = np.fromiter((vocabulary[term] for term in part.terms), np.int64, len(part.terms))
        frequency[own] += np.diff(part.offsets)
        lengths[first : first + papers] = np.bincount(part.rows, _weighted(part, slice(None), parameters), papers)
        numbers.append(own)
        first += papers

    mean_length = (float(lengths.mean()) if len(lengths) else 0.0) or 1.0  # nothing but titles that count nothing
    known, back = np.unique(frequency, return_inverse=True)
    idf = np.array([inverse(count, N=len(lengths)) for count in known.tolist()])[back].reshape(-1)
    absent = np.zeros(len(vocabulary))
    if parameters.variant in ("bm25l", "bm25+"):
        settings = {"k1": parameters.k1, "b": parameters.b, "delta": parameters.delta}
        absent = idf * weigh(tf_array=0, l_d=mean_length, l_avg=mean_length, **settings)
    starts = np.zeros(len(vocabulary) + 1, np.int64)
    np.cumsum(frequency, out=starts[1:])

    directory.mkdir(parents=True)
    data = _new(directory / "data.csc.index.npy", np.float32, int(starts[-1]))
    indices = _new(directory / "indices.csc.index.npy", np.int32, int(starts[-1]))
    free, first = starts[:-1].copy(), 0  # where the next posting of each term goes
    for (part, papers), own in zip(opened, numbers, strict=True):
        for terms in _blocks(part):
            low, high = int(part.offsets[terms.start]), int(part.offsets[terms.stop])
            sizes = np.diff(part.offsets[terms.start : terms.stop + 1])
            term = np.repeat(own[terms], sizes)
            rows, counts = part.rows[low:high].astype(np.int64) + first, _weighted(part, slice(low, high), parameters)
            # a term that counts nothing weighs nothing, also where k1 is 0 and it would be 0 / 0
            weights = (
                (counts > 0)
                * idf[term]
                * weigh(np.maximum(counts, 1e-30), lengths[rows], mean_length, parameters.k1, parameters.b, parameters.delta)
            )
            inner = np.arange(high - low) - np.repeat(part.offsets[terms.start : terms.stop] - low, sizes)
            places = free[term] + inner
            data[places], indices[places] = weights - absent[term], rows
            free[own[terms]] += sizes
        first += papers
    data.flush()
    indices.flush()
    np.save(directory / "indptr.csc.index.npy", starts)
    _write_titles(directory, [(part, own, papers) for (part, papers), own in zip(opened, numbers, strict=True)], len(vocabulary))
    if absent.any():
        np.save(directory / "nonoccurrence_array.index.npy", absent.astype(np.float32))
    write_whole(directory / "vocab.index.json", json.dumps(vocabulary, ensure_ascii=False).encode())
    params = {"k1": parameters.k1, "b": parameters.b, "delta": parameters.delta, "method": tf_part, "idf_method": idf_part}
    params |= {"dtype": "float32", "int_dtype": "int32", "num_docs": len(lengths), "version": bm25s.__version__, "backend": "numpy"}
    write_json(directory / "params.index.json", params)
    for file in directory.iterdir():
        sync_file(file)


def _write_titles(directory: Path, parts: Sequence[tuple[Postings, npt.NDArray[np.int64], int]], vocabulary: int) -> None:
    """Which papers have a term in their title, by the term's number: `parts` has each shard's postings, numbers and papers."""
    terms, rows, first = [], [], 0
    for part, own, papers in parts:
        places = np.flatnonzero(part.titles)
        terms.append(own[np.searchsorted(part.offsets, places, side="right") - 1])
        rows.append(part.rows[places] + np.int32(first))
        first += papers
    term, row = np.concatenate([np.empty(0, np.int64), *terms]), np.concatenate([np.empty(0, np.int32), *rows])
    order = np.argsort(term, kind="stable")
    np.save(directory / TITLE_ROWS, row[order].astype(np.int32))
    starts = np.zeros(vocabulary + 1, np.int64)
    np.cumsum(np.bincount(term, minlength=vocabulary), out=starts[1:])
    np.save(directory / TITLE_STARTS, starts)


def _weighted(part: Postings, places: slice, parameters: Bm25Parameters) -> npt.NDArray[np.float64]:
    """How often terms stand in papers, those in titles counted by their weight."""
    return part.counts[places] + (parameters.title - 1.0) * part.titles[places]


def _new(path: Path, dtype: npt.DTypeLike, size: int) -> Any:
    # a file of no bytes cannot be mapped: an index without terms keeps one unused place
    return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(max(size, 1),))


def _blocks(part: Postings) -> list[slice]:
    """The terms of a shard in slices of about `BLOCK` postings."""
    blocks, start = [], 0
    while start < len(part.terms):
        stop = int(np.searchsorted(part.offsets, part.offsets[start] + BLOCK, side="right")) - 1
        stop = min(max(stop, start + 1), len(part.terms))
        blocks.append(slice(start, stop))
        start = stop
    return blocks


class Bm25:
    """A BM25 index opened for searching."""

    def __init__(self, directory: Path, papers: int) -> None:
        """Map the index in `directory`, which must cover `papers` papers. Raises CorruptData where it does not."""
        try:
            params = read_json(directory / "params.index.json")
            self._vocabulary: dict[str, int] = read_json(directory / "vocab.index.json")
            self._data = np.load(directory / "data.csc.index.npy", mmap_mode="r")
            self._indices = np.load(directory / "indices.csc.index.npy", mmap_mode="r")
            self._starts = np.load(directory / "indptr.csc.index.npy")
            absent = directory / "nonoccurrence_array.index.npy"
            self._absent = np.load(absent) if absent.exists() else None
            self._title_rows = np.load(directory / TITLE_ROWS, mmap_mode="r")
            self._title_starts = np.load(directory / TITLE_STARTS)
        except (OSError, ValueError) as error:
            raise CorruptData(f"the BM25 index {directory} cannot be read: {error}") from error
        postings = max(int(self._starts[-1]), 1) if len(self._starts) else 0
        whole = len(self._starts) == len(self._vocabulary) + 1 and len(self._data) == len(self._indices) == postings
        whole = whole and len(self._title_starts) == len(self._starts) and len(self._title_rows) == self._title_starts[-1]
        if not whole or params.get("num_docs") != papers:
            raise CorruptData(f"the BM25 index {directory} does not fit its manifest; rebuild the index with --overwrite")
        self._papers = papers

    def scores(self, terms: Mapping[str, float]) -> tuple[npt.NDArray[np.float32], Mask]:
        """Score every paper for weighted query terms: a float32 score a paper, and whether it has any of the terms."""
        scores, matched = np.zeros(self._papers, np.float32), np.zeros(self._papers, bool)
        for number, weight in sorted((self._vocabulary[term], weight) for term, weight in terms.items() if term in self._vocabulary):
            part = slice(self._starts[number], self._starts[number + 1])
            rows = self._indices[part]
            scores[rows] += np.float32(weight) * self._data[part]
            matched[rows] = True
            if self._absent is not None:
                scores += np.float32(weight) * self._absent[number]
        return scores, matched

    def title_shares(self, terms: Iterable[str], rows: Rows) -> npt.NDArray[np.float64]:
        """How much of papers' titles the terms say: the share of its terms' inverse document frequencies, (rows,)."""
        said = np.zeros(self._papers)
        for number in sorted({self._vocabulary[term] for term in terms if term in self._vocabulary}):
            said[self._title_rows[self._title_starts[number] : self._title_starts[number + 1]]] += self._rarity[number]
        return said[rows] / self._title_weights[rows]

    @once
    def _rarity(self) -> npt.NDArray[np.float64]:
        """Each term's inverse document frequency in Lucene's form, which is positive for every term."""
        frequency = np.diff(self._starts)
        rarity: npt.NDArray[np.float64] = np.log1p((self._papers - frequency + 0.5) / (frequency + 0.5))
        return rarity

    @once
    def _title_weights(self) -> npt.NDArray[np.float64]:
        """The sum of a title's terms' inverse document frequencies; for a paper without a title one that makes its share 0."""
        weights = np.zeros(self._papers)
        np.add.at(weights, self._title_rows, np.repeat(self._rarity, np.diff(self._title_starts)))
        weights[weights == 0] = np.inf
        return weights

    def known(self, terms: Iterable[str]) -> list[str]:
        """Those of the terms that any paper has."""
        return [term for term in terms if term in self._vocabulary]

    def beginning_with(self, start: str) -> list[str]:
        """The terms that papers have which begin so, rising."""
        low = bisect_left(self._terms, start)
        return list(takewhile(lambda term: term.startswith(start), islice(self._terms, low, None)))

    @once
    def _terms(self) -> list[str]:
        return list(self._vocabulary)  # rising, as `build` wrote them

    def rows_with(self, terms: Iterable[str]) -> npt.NDArray[np.int32]:
        """The papers that have all of the terms, by row, rising; none for no terms."""
        numbers = {self._vocabulary.get(term) for term in terms}
        if not numbers or None in numbers:
            return np.empty(0, np.int32)
        slices = [slice(self._starts[number], self._starts[number + 1]) for number in numbers if number is not None]
        found: npt.NDArray[np.int32] | None = None
        for part in sorted((self._indices[own] for own in slices), key=len):  # the rarest first: what is left only shrinks
            if found is None:
                found = np.asarray(part)
            elif len(found):
                places = np.minimum(np.searchsorted(part, found), len(part) - 1)
                found = found[part[places] == found]
        return np.empty(0, np.int32) if found is None else found

    def weights(self, terms: Mapping[str, float], row: int) -> dict[str, float]:
        """What each of the query's terms adds to one paper's score, of those that the paper has; the greatest first."""
        found = {}
        for term, weight in terms.items():
            number = self._vocabulary.get(term)
            if number is None:
                continue
            low, high = int(self._starts[number]), int(self._starts[number + 1])
            at = low + int(np.searchsorted(self._indices[low:high], row))
            if at < high and self._indices[at] == row:
                found[term] = weight * float(self._data[at])
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def weigh_terms(terms: Sequence[str]) -> dict[str, float]:
    """A query's terms with their weights: 1 for a term that stands there once, and for others less than how often they do.

    The weight is BM25's own for queries, (k3 + 1) n / (k3 + n) (Robertson et al., "Okapi at TREC-3", 1994); it matters
    where a whole paper is the query.
    """
    return {term: (K3 + 1) * count / (K3 + count) for term, count in Counter(terms).items()}
