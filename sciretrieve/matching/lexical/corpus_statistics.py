"""What BM25 needs to know of the whole corpus: how many papers there are, how long they are, and how many have a term.

These are sums over shards of whole numbers, so scores do not depend on the sharding, to the last bit. Deleted papers are not
counted: an index scores as if they had never been there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...files.schema import integers
from ...types import Rows
from .lists import numbers_of
from .postings import Postings

TERMS_AT_ONCE = 2_000_000
"""Terms of all shards that are counted at a time: some 100 MB."""

Frequencies = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over the papers of all shards: how many, their terms, and how many of these are in titles."""

    papers: int
    terms: int
    title_terms: int


def statistics(shards: Sequence[tuple[Postings, Rows | None]]) -> Statistics:
    """The sums over shards, each with the rows of its papers that are not deleted, ascending; None for all."""
    papers = terms = title_terms = 0
    for postings, live in shards:
        rows: Rows | slice = slice(None) if live is None else live
        papers += postings.papers if live is None else len(live)
        terms += int(postings.lengths[rows].sum(dtype=np.int64))
        title_terms += int(postings.title_lengths[rows].sum(dtype=np.int64))
    return Statistics(papers, terms, title_terms)


def frequencies(shards: Sequence[tuple[Postings, Rows | None]]) -> list[Frequencies]:
    """For each shard, as in `statistics`, how many papers of all shards have each of its terms: (terms,) int32.

    The terms are taken in ranges, so memory does not grow with the number of shards.
    """
    counts = [postings.frequencies(live) for postings, live in shards]
    if len(shards) == 1:
        return counts
    terms = [postings.terms for postings, _ in shards]
    most = max(terms, key=len, default=pa.array([], pa.string()))
    step = max(1, TERMS_AT_ONCE // max(len(shards), 1))
    bounds = [[0] * len(shards)]
    bounds += [[postings.place(most[place].as_py()) for postings, _ in shards] for place in range(step, len(most), step)]
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


def extended(old: Sequence[tuple[pa.StringArray, Frequencies]], added: Sequence[tuple[Postings, Rows | None]]) -> list[Frequencies]:
    """What `frequencies` gives for the shards of an index, of each of which its terms and their frequencies are known, with others behind
    them: it looks at each term of the index once, and so takes little longer than reading them, however few are added."""
    counts = frequencies(added)
    terms = pa.concat_arrays([postings.terms for postings, _ in added])
    distinct = terms.unique()
    added_counts, old_counts = np.zeros(len(distinct), np.int32), np.zeros(len(distinct), np.int32)
    numbers = numbers_of(pc.index_in(terms, value_set=distinct), np.int32)
    added_counts[numbers] = np.concatenate(counts)  # the same in all of the shards that have the term
    totals = []
    for shard_terms, frequency in old:
        places = pc.index_in(shard_terms, value_set=distinct)
        is_shared = np.flatnonzero(pc.is_valid(places).to_numpy(zero_copy_only=False))
        shared = np.asarray(places.take(integers(is_shared)), np.int32)
        old_counts[shared] = frequency[is_shared]
        total = np.array(frequency)
        total[is_shared] += added_counts[shared]
        totals.append(total)
    ends = np.cumsum([len(part) for part in counts])
    return totals + [part + old_counts[numbers[end - len(part) : end]] for end, part in zip(ends.tolist(), counts, strict=True)]


def summed(indexes: Sequence[Sequence[tuple[pa.StringArray, Frequencies]]]) -> list[list[Frequencies]]:
    """For the shards of several indexes, each with its terms, and with how many papers of its own index have each, (terms,): how many
    papers of all indexes have each."""
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
            of_index[places] = counts  # the same in all of its shards that have the term
        total += of_index
    return [[total[places].astype(np.int32) for places, _ in parts] for parts in numbered]
