"""Building the BM25 index of all shards from their postings, in bm25s's own format.

The statistics (papers, their mean length, document frequencies) are those of the whole corpus, so scores do not depend
on its shards. `bm25s.BM25.load` reads the directory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..files import sync_file, write_json, write_whole
from ..options import Bm25Parameters
from .postings import Postings, read_postings
from .variants import VARIANTS, Floats, frequency_weights, term_rarities

BLOCK = 1 << 21
"""Postings weighted at a time, which bounds the memory."""

DATA, ROWS, STARTS = "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy"
"""A sparse matrix by term: the weights in papers, the papers' rows, and the start of each term's part."""
ABSENT = "nonoccurrence_array.index.npy"
"""What each term adds to the papers that do not have it, if that is not 0."""
VOCABULARY, PARAMETERS = "vocab.index.json", "params.index.json"
TITLE_ROWS, TITLE_STARTS = "titles.indices.npy", "titles.indptr.npy"
"""Beside bm25s's files: the papers with a term in their title, and the start of each term's part."""

BM25S = "0.3.16"
"""The bm25s release whose format is written."""


def build(directory: Path, shards: Sequence[tuple[Path, int]], parameters: Bm25Parameters) -> None:
    """Write the BM25 index of shards given as (postings file, number of papers), in row order.

    Memory holds the vocabulary, one length per paper, and a block of postings; the rest is in mapped files.
    """
    shard_postings = [(read_postings(path), papers) for path, papers in shards]
    vocabulary = {term: number for number, term in enumerate(sorted({term for postings, _ in shard_postings for term in postings.terms}))}
    frequencies = np.zeros(len(vocabulary), np.int64)
    lengths = np.zeros(sum(papers for _, papers in shards), np.float64)
    numbers, first = [], 0
    for postings, papers in shard_postings:
        shard_numbers = np.fromiter((vocabulary[term] for term in postings.terms), np.int64, len(postings.terms))
        frequencies[shard_numbers] += np.diff(postings.offsets)
        lengths[first : first + papers] = np.bincount(postings.rows, _weighted(postings, slice(None), parameters), papers)
        numbers.append(shard_numbers)
        first += papers
    lengths /= (float(lengths.mean()) if len(lengths) else 0.0) or 1.0  # 0 if all words are in titles of weight 0
    rarities = term_rarities(parameters, frequencies.astype(np.float64), len(lengths))
    absent = rarities * frequency_weights(parameters, np.zeros(1), np.ones(1))
    starts = np.zeros(len(vocabulary) + 1, np.int64)
    np.cumsum(frequencies, out=starts[1:])

    directory.mkdir(parents=True)
    data, indices = _new(directory / DATA, np.float32, int(starts[-1])), _new(directory / ROWS, np.int32, int(starts[-1]))
    next_places, first = starts[:-1].copy(), 0  # where the next posting of each term goes
    for (postings, papers), shard_numbers in zip(shard_postings, numbers, strict=True):
        for block in _blocks(postings):
            low, high = int(postings.offsets[block.start]), int(postings.offsets[block.stop])
            sizes = np.diff(postings.offsets[block.start : block.stop + 1])
            terms = np.repeat(shard_numbers[block], sizes)
            rows, counts = postings.rows[low:high].astype(np.int64) + first, _weighted(postings, slice(low, high), parameters)
            offsets_in_term = np.arange(high - low) - np.repeat(postings.offsets[block.start : block.stop] - low, sizes)
            places = next_places[terms] + offsets_in_term
            data[places] = rarities[terms] * frequency_weights(parameters, counts, lengths[rows]) - absent[terms]
            indices[places] = rows
            next_places[shard_numbers[block]] += sizes
        first += papers
    data.flush()
    indices.flush()
    np.save(directory / STARTS, starts)
    _write_titles(
        directory,
        [(postings, shard_numbers, papers) for (postings, papers), shard_numbers in zip(shard_postings, numbers, strict=True)],
        len(vocabulary),
    )
    if absent.any():
        np.save(directory / ABSENT, absent.astype(np.float32))
    write_whole(directory / VOCABULARY, json.dumps(vocabulary, ensure_ascii=False).encode())
    variant = VARIANTS[parameters.variant]
    params = {"k1": parameters.k1, "b": parameters.b, "delta": parameters.delta, "method": variant.frequency, "idf_method": variant.rarity}
    params |= {"dtype": "float32", "int_dtype": "int32", "num_docs": len(lengths), "version": BM25S, "backend": "numpy"}
    write_json(directory / PARAMETERS, params)
    for file in directory.iterdir():
        sync_file(file)


def _write_titles(directory: Path, shards: Sequence[tuple[Postings, npt.NDArray[np.int64], int]], terms: int) -> None:
    """Which papers have a term in their title, by the term's number. `shards` has each one's postings, term numbers and papers."""
    numbers, rows, first = [], [], 0
    for postings, shard_numbers, papers in shards:
        places = np.flatnonzero(postings.titles)
        numbers.append(shard_numbers[np.searchsorted(postings.offsets, places, side="right") - 1])
        rows.append(postings.rows[places] + np.int32(first))
        first += papers
    all_numbers, all_rows = np.concatenate([np.empty(0, np.int64), *numbers]), np.concatenate([np.empty(0, np.int32), *rows])
    np.save(directory / TITLE_ROWS, all_rows[np.argsort(all_numbers, kind="stable")].astype(np.int32))
    starts = np.zeros(terms + 1, np.int64)
    np.cumsum(np.bincount(all_numbers, minlength=terms), out=starts[1:])
    np.save(directory / TITLE_STARTS, starts)


def _weighted(postings: Postings, places: slice, parameters: Bm25Parameters) -> Floats:
    """Terms' frequencies in papers, with those in titles multiplied by their weight."""
    return postings.counts[places] + (parameters.title - 1.0) * postings.titles[places]


def _new(path: Path, dtype: npt.DTypeLike, size: int) -> Any:
    # an empty file cannot be mapped: an index without terms keeps one unused place
    return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(max(size, 1),))


def _blocks(postings: Postings) -> list[slice]:
    """The terms of a shard in slices of about `BLOCK` postings."""
    blocks, start = [], 0
    while start < len(postings.terms):
        stop = int(np.searchsorted(postings.offsets, postings.offsets[start] + BLOCK, side="right")) - 1
        stop = min(max(stop, start + 1), len(postings.terms))
        blocks.append(slice(start, stop))
        start = stop
    return blocks
