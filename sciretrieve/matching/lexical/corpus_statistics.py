"""Corpus statistics for BM25: the number of papers, their lengths, and the number of papers with each term.

The statistics are sums of integers over shards, so scores do not depend on the sharding, to the last bit. Deleted papers are not counted:
an index scores as if they had never been there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...base.types import Rows
from ...files.schema import integers
from .lists import numbers_of
from .postings import Postings

TERMS_AT_ONCE = 2_000_000
"""Terms of all shards counted at a time, in some 100 MB."""

Frequencies = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over the papers of all shards: papers, terms, and terms in titles."""

    papers: int
    terms: int
    title_terms: int


def statistics(shards: Sequence[tuple[Postings, Rows | None]]) -> Statistics:
    """Sums over shards. Each shard comes with the rows of its undeleted papers, ascending; None for all."""
    papers = terms = title_terms = 0
    for postings, live in shards:
        rows: Rows | slice = slice(None) if live is None else live
        papers += postings.papers if live is None else len(live)
        terms += int(postings.lengths[rows].sum(dtype=np.int64))
        title_terms += int(postings.title_lengths[rows].sum(dtype=np.int64))
    return Statistics(papers, terms, title_terms)


def frequencies(shards: Sequence[tuple[Postings, Rows | None]]) -> list[Frequencies]:
    """Number of papers in all shards with each term of a shard, (terms,) int32, for each shard. Shards as in `statistics`.

    Terms are processed in ranges, so memory does not grow with the number of shards.
    """
    counts = [postings.frequencies(live) for postings, live in shards]
    if len(shards) == 1:
        return counts
    terms = [postings.terms for postings, _ in shards]
    most = max(terms, key=len, default=pa.array([], pa.string()))
    step = max(1, TERMS_AT_ONCE // max(len(shards), 1))
    bounds = [[0] * len(shards)]
    bounds += [[postings.vocabulary.place(most[place].as_py()) for postings, _ in shards] for place in range(step, len(most), step)]
    bounds.append([len(part) for part in terms])
    totals = [np.empty(len(part), np.int32) for part in counts]
    for lows, highs in pairwise(bounds):
        spans = [slice(low, high) for low, high in zip(lows, highs, strict=True)]
        joined = pa.concat_arrays([part.slice(span.start, span.stop - span.start) for part, span in zip(terms, spans, strict=True)])
        numbers = joined.dictionary_encode().indices.to_numpy()
        range_counts = np.concatenate([part[span] for part, span in zip(counts, spans, strict=True)])
        sums = np.bincount(numbers, range_counts)[numbers].astype(np.int32)
        start = 0
        for part, span in zip(totals, spans, strict=True):
            part[span] = sums[start : start + span.stop - span.start]
            start += span.stop - span.start
    return totals


def updated(
    kept: Sequence[tuple[pa.StringArray, Frequencies]],
    gone: Sequence[tuple[Postings, Rows | None, Frequencies]],
    added: Sequence[tuple[Postings, Rows | None]],
) -> tuple[list[Frequencies], list[Frequencies]]:
    """The result of `frequencies` for the kept and the added shards, computed from its former result.

    Each term of the index is visited once, so the time is little more than that of reading the terms, however few papers change.

    Args:
        kept: shards that stay, each with its terms and their former frequencies.
        gone: shards that are removed, likewise. A shard in which papers were deleted is removed and added.
        added: shards that are added.
    """
    parts = [*(postings for postings, _, _ in gone), *(postings for postings, _ in added)]
    if not parts:
        return [known for _, known in kept], []
    terms = pa.concat_arrays([postings.terms for postings in parts])
    distinct = terms.unique()
    numbers = numbers_of(pc.index_in(terms, value_set=distinct), np.int32)
    places = np.split(numbers, np.cumsum([len(postings.terms) for postings in parts])[:-1])
    before, change = np.zeros(len(distinct), np.int32), np.zeros(len(distinct), np.int32)
    for place, (postings, live, known) in zip(places, gone, strict=False):
        before[place] = known  # the same in all shards that have the term
        change[place] -= postings.frequencies(live)
    for place, (postings, live) in zip(places[len(gone) :], added, strict=True):
        change[place] += postings.frequencies(live)
    totals = []
    for shard_terms, known in kept:
        shared_places = pc.index_in(shard_terms, value_set=distinct)
        is_shared = np.flatnonzero(pc.is_valid(shared_places).to_numpy(zero_copy_only=False))
        shared = np.asarray(shared_places.take(integers(is_shared)), np.int32)
        before[shared] = known[is_shared]
        total = np.array(known)
        total[is_shared] += change[shared]
        totals.append(total)
    return totals, [(before + change)[place] for place in places[len(gone) :]]


def summed(indexes: Sequence[Sequence[tuple[pa.StringArray, Frequencies]]]) -> list[list[Frequencies]]:
    """Number of papers in all indexes with each term of each shard. Each shard comes with its terms and their frequencies in its own index,
    (terms,)."""
    shards = [part for parts in indexes for part in parts]
    if not shards:
        return [[] for _ in indexes]
    numbers = numbers_of(pa.concat_arrays([terms for terms, _ in shards]).dictionary_encode().indices, np.int32)
    total = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    ends = np.cumsum([len(terms) for terms, _ in shards]).tolist()
    spans = iter([numbers[end - len(terms) : end] for end, (terms, _) in zip(ends, shards, strict=True)])
    numbered = [[(next(spans), counts) for _, counts in parts] for parts in indexes]
    for parts in numbered:
        of_index = np.zeros(len(total), np.int64)
        for places, counts in parts:
            of_index[places] = counts  # the same in all shards of the index that have the term
        total += of_index
    return [[total[places].astype(np.int32) for places, _ in parts] for parts in numbered]
