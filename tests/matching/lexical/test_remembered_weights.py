"""The cache of weights gives what was computed, within its memory, whatever is asked in whatever order."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.matching.lexical import remembered_weights
from sciretrieve.matching.lexical.remembered_weights import LIST, Places, RememberedWeights, TermWeights, Weights

BLOCK, MOST = 40, 160
LENGTHS = np.random.default_rng(0).integers(0, 60, 50)
"""Postings of each term: some exceed a block."""


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Blocks so small that they are soon full."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remembered_weights, "BLOCK", BLOCK)
        patch.setattr(remembered_weights, "REMEMBERED", MOST)
        yield


def computed(number: int) -> tuple[Places, Weights]:
    """What a term's rows and weights are."""
    rows = np.arange(LENGTHS[number], dtype=np.int32)
    return rows, (rows + number).astype(np.float32)


def check(number: int, remembered: TermWeights) -> None:
    """Compare what the cache gave, and what compiled code would find at its addresses."""
    rows, weights = computed(number)
    assert (remembered.rows == rows).all()
    assert (remembered.weights == weights).all()
    (packed,) = np.frombuffer(remembered.packed, LIST)
    assert packed["length"] == len(rows)
    assert packed["most"] == remembered.most == weights.max(initial=0)
    assert (packed["rows"], packed["weights"]) == (remembered.rows.ctypes.data, remembered.weights.ctypes.data)


@given(st.lists(st.lists(st.integers(0, len(LENGTHS) - 1), min_size=1, max_size=8), max_size=40))
def test_what_is_remembered_is_what_was_computed(asked: list[list[int]]) -> None:
    cache, held = RememberedWeights(), list[tuple[int, TermWeights]]()
    for numbers in asked:
        held += zip(numbers, cache.each(0, numbers, computed), strict=True)
        assert sum(block.size for block in cache._blocks) <= MOST + LENGTHS.max()
        assert {key for block in cache._blocks for key in block.keys} == cache._weights.keys()
    for number, remembered in held:  # also those that the cache dropped since
        check(number, remembered)


def test_terms_in_use_outlast_others() -> None:
    cache, asked = RememberedWeights(), list[int]()

    def compute(number: int) -> tuple[Places, Weights]:
        asked.append(number)
        return np.zeros(4, np.int32), np.zeros(4, np.float32)

    for number in range(1, 500):
        cache.get(0, 0, compute)
        cache.get(0, number, compute)
    assert asked.count(0) == 1


def test_threads_share_it() -> None:
    cache, chance = RememberedWeights(), np.random.default_rng(1)
    lists = [chance.integers(0, len(LENGTHS), 5).tolist() for _ in range(400)]
    with ThreadPoolExecutor(4) as pool:
        for numbers, remembered in zip(lists, pool.map(lambda numbers: cache.each(0, numbers, computed), lists), strict=True):
            for number, one in zip(numbers, remembered, strict=True):
                check(number, one)
