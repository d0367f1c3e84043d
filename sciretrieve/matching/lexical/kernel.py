"""BM25 for several queries, compiled by numba. `scoring` defines the scores: same additions in the same order, without fused
or reordered operations, so they are equal to the last bit.

A shard is scored in windows whose scores fit the processor's cache. Later windows skip lists as `scoring.Scoring` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from numba import carray, from_dtype, njit, types
from numba.extending import intrinsic

from .lexical_shard import LIST

Numbers: TypeAlias = npt.NDArray[Any]
Code = TypeVar("Code", bound=Callable[..., Any])

GROUP = 128
"""Papers of which one comparison tells whether any is good enough."""
GROUPS = 1_024
"""Least number of groups whose best scores bound the k-th score from below."""
LOOKED_UP = 16
"""Postings that are added in the time that one paper is looked up."""
TINY = 1e-38
"""Less than the score of any paper with a term."""


def _compiled(function: Code) -> Code:
    """Compile a function that others here call."""
    code: Code = njit(nogil=True)(function)
    return code


def _at(kind: Any) -> Callable[[int, int], Numbers]:
    """A compiled function from an address and a length to the array there."""

    def pointer(_typing: Any, _address: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), code

    pointed = intrinsic(pointer)

    @_compiled
    def array(address: int, length: int) -> Numbers:
        numbers: Numbers = carray(pointed(address), length)
        return numbers

    return array


_rows_at, _weights_at, _flags_at = _at(types.int32), _at(types.float32), _at(types.boolean)


@_compiled
def _postings(one: Any) -> tuple[Numbers, Numbers]:
    """Rows and weights of a list."""
    return _rows_at(one.rows, one.length), _weights_at(one.weights, one.length)


@_compiled
def _first(rows: Numbers, start: int, row: int) -> int:
    """First position from `start` on of a row that is at least `row`."""
    stop = len(rows)
    if start >= stop or rows[start] >= row:
        return start
    step = 1
    while start + step < stop and rows[start + step] < row:
        start += step
        step <<= 1
    top = min(start + step, stop)
    while start + 1 < top:
        middle = (start + top) >> 1
        if rows[middle] < row:
            start = middle
        else:
            top = middle
    return start + 1


@_compiled
def _add(scores: Numbers, first: int, rows: Numbers, weights: Numbers, factor: float) -> None:
    """Add postings to the scores of a window that begins at row `first`."""
    size = np.uint32(len(scores))
    for place in range(len(rows)):
        paper = np.uint32(rows[place]) - np.uint32(first)
        if paper < size:  # always, unless the file is damaged
            scores[paper] += factor * weights[place]


@_compiled
def _look_up(
    scores: Numbers, first: int, papers: Numbers, least: np.float32, rows: Numbers, weights: Numbers, factor: float, place: int
) -> tuple[int, int]:
    """Add postings to the scores of the papers of a window that have at least a score. Returns how many papers these are, which come first
    in `papers` then, and where in the list to go on."""
    kept = 0
    for paper in papers:
        if scores[paper] >= least:
            papers[kept] = paper
            kept += 1
            place = _first(rows, place, first + paper)
            if place < len(rows) and rows[place] == first + paper:
                scores[paper] += factor * weights[place]
    return kept, place


@_compiled
def _count(scores: Numbers, least: np.float32) -> int:
    """Number of scores that are at least `least`."""
    count = 0
    for place in range(len(scores)):
        count += scores[place] >= least
    return count


@_compiled
def _reaching(scores: Numbers, least: np.float32, papers: Numbers) -> int:
    """Write the positions of the scores that are at least `least` to `papers`. Returns their number."""
    count = 0
    for start in range(0, len(scores), GROUP):
        group = scores[start : start + GROUP]
        if _count(group, least):
            for place in range(len(group)):
                papers[count] = start + place
                count += group[place] >= least
    return count


@_compiled
def _replace_least(heap: Numbers, score: float) -> None:
    """Put a score in place of the least of a heap."""
    place, child = 0, 1
    while child < len(heap):
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= score:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = score


@_compiled
def _bound(scores: Numbers, heap: Numbers, bests: Numbers, trial: Numbers) -> float:
    """Lower bound of the k-th best score of the heap's papers and a window's: of these, each group's best is the score of one paper."""
    bests[:] = 0
    for start in range(0, len(scores), len(bests)):
        part = scores[start : start + len(bests)]
        for place in range(len(part)):
            bests[place] = max(bests[place], part[place])
    trial[:] = heap
    for best in bests:
        if best > trial[0]:
            _replace_least(trial, best)
    bound: float = trial[0]
    return bound


@_compiled
def _score_others(others: Numbers, first: int, papers: int, lists: Numbers, factors: Numbers, scores: Numbers) -> None:
    """Set the scores of further rows, where they are of a shard of so many papers from row `first`; -inf without any of the terms."""
    for other in range(len(others)):
        if 0 <= others[other] - first < papers:
            scores[other] = 0
    for number in range(len(lists)):
        rows, weights = _postings(lists[number])
        place = 0
        for other in range(len(others)):
            row = others[other] - first
            if 0 <= row < papers:
                place = _first(rows, 0 if place and rows[place - 1] >= row else place, row)
                if place < len(rows) and rows[place] == row:
                    scores[other] += factors[number] * weights[place]
    for other in range(len(others)):
        if scores[other] <= 0:
            scores[other] = -np.inf


@_compiled
def _still_good(rows: Numbers, scores: Numbers, start: int, stop: int, least: np.float32) -> int:
    """Move papers with at least a score to the front of a span. Returns its end."""
    end = start
    for place in range(start, stop):
        if scores[place] >= least:
            rows[end], scores[end] = rows[place], scores[place]
            end += 1
    return end


@_compiled
def _longer(numbers: Numbers, needed: int) -> Numbers:
    """A copy with room for more."""
    longer = np.empty(2 * needed, numbers.dtype)
    longer[: len(numbers)] = numbers
    return longer


@_compiled
def _scored(scores: Numbers, first: int, lists: Numbers, factors: Numbers, rests: Numbers, places: Numbers, within: float) -> int:
    """Add lists to the scores of a window until the others are faster looked up for the papers that can still reach the k-th score.
    Returns how many were added."""
    stop = first + len(scores)
    added = 0
    for number in range(len(lists)):
        if rests[number] < within and added > len(scores) // LOOKED_UP:
            papers = _count(scores, np.float32(within - rests[number]))
            if papers * LOOKED_UP * (len(lists) - number) < added:
                return number
        rows, weights = _postings(lists[number])
        start = _first(rows, places[number], first)
        end = _first(rows, start, stop)
        _add(scores, first, rows[start:end], weights[start:end], factors[number])
        places[number] = end
        added += end - start
    return len(lists)


_SIGNATURE = types.Tuple((types.int64[::1], types.float32[::1], types.int64[::1]))(
    types.Array(from_dtype(LIST), 1, "C", readonly=True),
    types.float32[::1],
    types.int64[::1],
    types.int64[::1],
    types.int64[::1],
    types.int64[::1],
    types.int64,
    types.float32[:, ::1],
    types.int64[::1],
    types.int64[::1],
    types.float32[::1],
)


def _best(
    lists: Numbers,
    factors: Numbers,
    ends: Numbers,
    papers: Numbers,
    firsts: Numbers,
    flags_at: Numbers,
    window: int,
    heaps: Numbers,
    others: Numbers,
    other_ends: Numbers,
    other_scores: Numbers,
) -> tuple[Numbers, Numbers, Numbers]:
    """Each query's k best papers, and all ties with the k-th.

    Args:
        lists: the lists of postings of each query in each shard, in the order of additions, (lists,) of `lexical_shard.LIST`.
        factors: their terms' weights in the query, (lists,) float32.
        ends: where the lists of each query in each shard begin, and the end of the last, (queries * shards + 1,).
        papers: number of papers in each shard, (shards,).
        firsts: row of each shard's first paper, (shards,).
        flags_at: for each shard the address of a boolean per paper, which says whether it may be among the best; 0 if all may.
        window: about how many papers to score at a time: a shard is cut into equal parts.
        heaps: a heap of the k best scores for each query, (queries, k), -inf at first.
        others: rows whose scores are wanted, (others,).
        other_ends: where each query's others begin, and the end of the last, (queries + 1,).
        other_scores: their scores, (others,) float32, -inf at first.

    Returns:
        Rows, their scores, and where each query's begin, (queries + 1,).
    """
    queries, k = heaps.shape
    windows = -(-papers // np.maximum(1, (papers + window // 2) // window))
    buffer = np.empty(windows.max(), np.float32)
    reaching = np.empty(len(buffer) + 1, np.int64)
    bests, trial = np.empty(max(GROUPS, 4 * k), np.float32), np.empty(k, np.float32)
    found_rows, found_scores, found_ends = np.empty(k, np.int64), np.empty(k, np.float32), np.zeros(queries + 1, np.int64)
    found = 0
    for part in range(len(ends) - 1):
        query, shard = part // len(papers), part % len(papers)
        own, own_factors, heap = lists[ends[part] : ends[part + 1]], factors[ends[part] : ends[part + 1]], heaps[query]
        size, flags = papers[shard], _flags_at(flags_at[shard], papers[shard])
        rests = np.zeros(len(own) + 1)
        for number in range(len(own) - 1, -1, -1):
            rests[number] = rests[number + 1] + own[number].most * own_factors[number]
        places = np.zeros(len(own), np.int64)
        first, needed = 0, len(own)
        while first < size:
            within = 0.9999 * heap[0]  # leaves room for rounding errors, which are relative to scores
            while needed and rests[needed - 1] < within:
                needed -= 1  # papers that are in no list before cannot reach the edge
            following = size
            for number in range(needed):
                if places[number] < own[number].length:
                    following = min(following, max(first, int(_rows_at(own[number].rows, own[number].length)[places[number]])))
            first = following
            scores = buffer[: min(size - first, windows[shard])]
            scores[:] = 0
            added = _scored(scores, first, own, own_factors, rests, places, within)
            if flags_at[shard]:
                for paper in range(len(scores)):
                    scores[paper] = scores[paper] if flags[first + paper] else np.float32(0)
            within = 0.9999 * _bound(scores, heap, bests, trial)
            count = _reaching(scores, np.float32(max(within - rests[added], TINY)), reaching)
            for number in range(added, len(own)):
                rows, weights = _postings(own[number])
                count, places[number] = _look_up(
                    scores, first, reaching[:count], np.float32(within - rests[number]), rows, weights, own_factors[number], places[number]
                )
            if found + count > len(found_rows):
                found_rows, found_scores = _longer(found_rows, found + count), _longer(found_scores, found + count)
            for paper in reaching[:count]:
                if scores[paper] >= heap[0]:
                    found_rows[found], found_scores[found] = firsts[shard] + first + paper, scores[paper]
                    found += 1
                    if scores[paper] > heap[0]:
                        _replace_least(heap, scores[paper])
            first += len(scores)
        span = slice(other_ends[query], other_ends[query + 1])
        _score_others(others[span], firsts[shard], size, own, own_factors, other_scores[span])
        if shard == len(papers) - 1:
            found = _still_good(found_rows, found_scores, found_ends[query], found, heap[0])
            found_ends[query + 1] = found
    return found_rows[:found], found_scores[:found], found_ends


best: Callable[..., tuple[Numbers, Numbers, Numbers]] = njit(_SIGNATURE, nogil=True, cache=True)(_best)
