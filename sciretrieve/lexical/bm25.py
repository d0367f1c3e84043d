"""BM25 over all shards: one index in bm25s's own format, built from the shards' postings, memory-mapped to search.

The statistics (papers, their mean length, document frequencies) are the whole corpus's, so scores do not depend on
how it was sharded. `bm25s.BM25.load` reads the directory, but searching needs only NumPy: importing bm25s, which
brings numba, would cost every cold search more than the search itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CorruptData, UnknownName
from ..files import read_json, sync_file, write_json, write_whole
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

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """How BM25 weighs terms: `k1` saturates term frequency, `b` normalises length, `delta` is for bm25l and bm25+."""

    variant: str = "lucene"
    k1: float = 1.2
    b: float = 0.75
    delta: float = 0.5

    def __post_init__(self) -> None:
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
        lengths[first : first + papers] = np.bincount(part.rows, part.counts, papers)
        numbers.append(own)
        first += papers

    mean_length = float(lengths.mean()) if len(lengths) else 0.0
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
            rows, counts = part.rows[low:high].astype(np.int64) + first, part.counts[low:high].astype(np.float64)
            weights = idf[term] * weigh(counts, lengths[rows], mean_length, parameters.k1, parameters.b, parameters.delta)
            inner = np.arange(high - low) - np.repeat(part.offsets[terms.start : terms.stop] - low, sizes)
            places = free[term] + inner
            data[places], indices[places] = weights - absent[term], rows
            free[own[terms]] += sizes
        first += papers
    data.flush()
    indices.flush()
    np.save(directory / "indptr.csc.index.npy", starts)
    if absent.any():
        np.save(directory / "nonoccurrence_array.index.npy", absent.astype(np.float32))
    write_whole(directory / "vocab.index.json", json.dumps(vocabulary, ensure_ascii=False).encode())
    params = {"k1": parameters.k1, "b": parameters.b, "delta": parameters.delta, "method": tf_part, "idf_method": idf_part}
    params |= {"dtype": "float32", "int_dtype": "int32", "num_docs": len(lengths), "version": bm25s.__version__, "backend": "numpy"}
    write_json(directory / "params.index.json", params)
    for file in directory.iterdir():
        sync_file(file)


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
        except (OSError, ValueError) as error:
            raise CorruptData(f"the BM25 index {directory} cannot be read: {error}") from error
        postings = max(int(self._starts[-1]), 1) if len(self._starts) else 0
        whole = len(self._starts) == len(self._vocabulary) + 1 and len(self._data) == len(self._indices) == postings
        if not whole or params.get("num_docs") != papers:
            raise CorruptData(f"the BM25 index {directory} does not fit its manifest; rebuild the index with --overwrite")
        self._papers = papers

    def scores(self, terms: Mapping[str, float]) -> tuple[Scores, npt.NDArray[np.bool_]]:
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


def weigh_terms(terms: Sequence[str]) -> dict[str, float]:
    """A query's terms with how often each occurs: BM25 adds a repeated term's score that many times."""
    return {term: float(count) for term, count in Counter(terms).items()}
