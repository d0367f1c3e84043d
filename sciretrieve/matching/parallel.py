"""Parallel work in threads that end with it, matrix products among it.

NumPy's OpenBLAS has threads that wait for the next product actively, on cores that the encoder needs: a batch then takes up to twice as
long. `import sciretrieve` makes these threads sleep. If NumPy was imported before, products have threads of their own, a tenth slower.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from ..base.system import threads
from ..base.types import Vectors

Value = TypeVar("Value")
LARGE = 50_000_000
"""Multiplications for which another thread is worth its start: about a millisecond."""


def spans_of(count: int, length: int) -> list[range]:
    """Spans of this length that cover `range(count)`; the last one may be shorter."""
    return [range(start, min(start + length, count)) for start in range(0, count, length)]


def in_threads(work: Callable[[range], Value], spans: Sequence[range]) -> list[Value]:
    """Results of some work for each span, in order. Python makes threads wait for each other, so most of the work should be outside it, and
    other threads should have little to do.
    """
    if len(spans) <= 1 or threads() == 1:
        return [work(span) for span in spans]
    others = min(threads(), len(spans)) - 1
    pending, results = iter(spans), dict[range, Value]()

    def take() -> None:
        for span in pending:
            results[span] = work(span)

    with ThreadPoolExecutor(others) as pool:
        running = [pool.submit(copy_context().run, take) for _ in range(others)]
        take()  # in this thread, too, so that fewer have to be woken
        for one in running:
            one.result()
    return [results[span] for span in spans]


def product(left: Vectors, right: Vectors) -> Vectors:
    """`left @ right.T`, (m, n), of float32 matrices (m, dim) and (n, dim). The last bits depend on the number of threads."""
    if "OPENBLAS_THREAD_TIMEOUT" in os.environ:
        plain: Vectors = left @ right.T
        return plain
    products = np.empty((len(left), len(right)), np.float32)

    def fill(span: range) -> None:
        np.matmul(left, right[span.start : span.stop].T, out=products[:, span.start : span.stop])

    parts = max(min(threads(), left.size * len(right) // LARGE), 1)
    with one_thread_a_product():
        in_threads(fill, spans_of(len(right), max(-(-len(right) // parts), 1)))
    return products


@contextmanager
def one_thread_a_product() -> Iterator[None]:
    """Compute matrix products in the calling threads alone.

    The limit holds for the whole process, so only one thread at a time sets it: of two, the last would restore the limit of the first.
    """
    if not _LIMITED.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _LIMITED.release()


_LIMITED = Lock()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
