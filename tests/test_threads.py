"""One opened index asked by several threads at once: each gets what it would get alone, to the last bit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.types import Query

THREADS = 6
Request = Callable[[sr.Index], Any]


def searched(query: str | Query, **options: Any) -> Request:
    return lambda index: index.search(query, 8, **options)


REQUESTS: list[Request] = [
    searched("graph networks"),
    searched("vaccine trial dose", mode="dense"),
    searched("galaxy spectrum", mode="bm25"),
    searched("marke"),
    searched("orbit planet", filter="year >= 2010 and venue == 'ACL'"),
    searched("auction demand", filter="citations > 50", mode="dense"),
    searched('"message passing" nodes'),
    searched("title:graph -molecules edges"),
    searched(Query("paper", paper=sr.Paper("x", "immune response", "antibody of a virus"))),
    searched("telescope dust", diversify=True, group=True),
    lambda index: index.similar(["p0001", "p0007"], 5, negatives=["p0002"]),
    lambda index: index.search("graph networks", 5, like=["p0001"], unlike=["p0002"]),
    lambda index: index.similar(text="Stars. Radiation of a galaxy", k=5, mode="dense"),
    lambda index: index.papers(["p0299", "p0000", "p0140"]),
    lambda index: index.corrections("grahp nueral"),
]


def plain(answer: Any) -> Any:
    """What is compared of an answer: for a run every id, row and score, as bytes."""
    if not isinstance(answer, sr.Run):
        return answer
    return [
        (ranking.ids, ranking.rows.tobytes(), ranking.scores.tobytes(), {name: part.tobytes() for name, part in ranking.parts.items()})
        for ranking in answer
    ]


@pytest.mark.parametrize("dense", ["flat", "HNSW16"])
def test_threads_get_what_each_would_get_alone(built: Callable[..., sr.Index], dense: str) -> None:
    path: Path = built(shard_size=128, dense=dense).path
    alone = sr.open(path)
    expected = [plain(request(alone)) for request in REQUESTS]
    together, start = sr.open(path), threading.Barrier(THREADS)

    def ask(thread: int) -> list[tuple[int, Any]]:
        start.wait(60)
        order = np.random.default_rng(thread).permutation(len(REQUESTS)).tolist()
        return [(number, plain(REQUESTS[number](together))) for number in order]

    with ThreadPoolExecutor(THREADS) as pool:
        for answers in pool.map(ask, range(THREADS)):
            for number, answer in answers:
                assert answer == expected[number], number
    assert together.encoder.ran_in == alone.encoder.ran_in
