"""One opened index asked by several threads at once: each gets what it would get alone, to the last bit."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.types import Query

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
    assert together.reader.query_encoder.encoder.ran_in == alone.reader.query_encoder.encoder.ran_in


def test_what_is_searched_is_mapped_and_so_is_one_copy_for_all_processes(built: Callable[..., sr.Index]) -> None:
    index = built(shard_size=128)
    list(index.search("graph networks", 3).hits)
    maps = Path("/proc/self/maps")
    if not maps.is_file():
        pytest.skip("only Linux says what is mapped")
    mapped = {line.split()[-1]: line.split()[1] for line in maps.read_text().splitlines() if str(index.path) in line}
    names = {Path(path).name for path in mapped}
    assert names >= {"vectors.npy", "postings.arrow", "lengths.arrow", "ids.arrow"}
    assert not any("w" in allowed for allowed in mapped.values())  # nobody writes there, so nobody has a copy


def test_an_open_index_is_not_sent_to_a_process(index: sr.Index) -> None:
    with pytest.raises(sr.InvalidRequest, match="give others its folder"):
        pickle.dumps(index)


@pytest.mark.parametrize(
    ("first", "given", "used"),
    [
        ("os", {}, "4"),
        ("os", {"OPENBLAS_THREAD_TIMEOUT": "20"}, "20"),
        ("numpy", {}, "None"),
        ("numpy", {"OPENBLAS_THREAD_TIMEOUT": "20"}, "20"),
    ],
    ids=["unset", "set", "after NumPy", "set, after NumPy"],
)
def test_threads_of_matrix_products_sleep_unless_the_user_says_otherwise(first: str, given: dict[str, str], used: str) -> None:
    """It has to be set before NumPy is imported, which is not before `sciretrieve` is unless the user does."""
    code = f"import {first}, os, sys, sciretrieve; print('numpy' in sys.modules, os.environ.get('OPENBLAS_THREAD_TIMEOUT'))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"} | given
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
    assert printed.split() == [str(first == "numpy"), used]


SERVICE = """
import multiprocessing, pickle, sys
from concurrent.futures import ProcessPoolExecutor
import sciretrieve as sr

QUERIES = ["graph networks", "title:graph -molecules edges", "galaxy spectrum"]

def begin(path):
    global index
    index = sr.open(path)

def ask(query):
    (ranking,) = index.search(query, 8)
    return ranking.ids, ranking.scores.tobytes(), [hit.paper.title for hit in index.search(query, 8).hits]

if __name__ == "__main__":
    for method, count in (("fork", 2), ("spawn", 1)):
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(count, mp_context=context, initializer=begin, initargs=(sys.argv[1],)) as processes:
            sys.stdout.buffer.write(pickle.dumps(list(processes.map(ask, QUERIES))))
    begin(sys.argv[1])
    sys.stdout.buffer.write(pickle.dumps(list(map(ask, QUERIES))))
"""


def test_a_pool_of_processes_gets_what_one_would_get(built: Callable[..., sr.Index], tmp_path: Path) -> None:
    """Each opens the index by its path: processes that were forked before anything was searched, and others that were started."""
    script = tmp_path / "service.py"
    script.write_text(SERVICE)
    command = [sys.executable, str(script), str(built(encoder=None).path)]
    printed = io.BytesIO(subprocess.run(command, capture_output=True, check=True, timeout=300).stdout)
    forked, started, alone = (pickle.load(printed) for _ in range(3))
    assert forked == started == alone
    assert len(alone[0][0]) == 8
