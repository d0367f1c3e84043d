"""How many searches a second do threads and processes bring on this machine, and what does an open index take of memory?

    python bench/threads.py --index indexes/NAME

Each row is so many processes that have the index open, each asked by so many threads; "one core" is with OMP_NUM_THREADS=1, so that no
library uses more than one core for one search. All rows answer the same queries, titles of the index's own papers, and take turns. Memory
is a process's own, and what it shares with others that have the index open: files that are mapped, of which the system keeps one copy.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from reporting import arguments, report, taking_turns

import sciretrieve as sr

ASKED = ((1, 1), (1, 2), (1, 4), (2, 1))
"""Processes, and threads in each."""
CORES = {"all cores": None, "one core": "1"}
"""What libraries may use for one search -> OMP_NUM_THREADS."""
MODES = ("hybrid", "dense", "bm25")

held: dict[str, Any] = {}
"""In a process that is asked: the index that it has open."""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="indexes/demo", queries=64, rounds=3)
    with sr.open(chosen.index) as index:
        rows = random.Random(0).sample(range(len(index)), min(chosen.queries, len(index)))
        titles = [paper.title.replace('"', " ").replace(":", " ") for paper in index.papers_at(index.snapshot.scope.places[rows])]
        print(f"{len(index):,} papers, {index.snapshot.manifest.dense}, {os.cpu_count()} cores, {len(titles)} queries")
        modes = [mode for mode in MODES if mode in index.modes]
    with ExitStack() as stack:
        groups = {
            (name, count): [stack.enter_context(started(chosen.index, limit)) for _ in range(count)]
            for name, limit in CORES.items()
            for count in sorted({processes for processes, _ in ASKED})
        }
        contenders: dict[tuple[str, int, int, str], Callable[[], Any]] = {
            (mode, processes, threads, name): asking(groups[name, processes], titles, threads, mode)
            for mode in modes
            for name in CORES
            for processes, threads in ASKED
        }
        labels = {str(key): key for key in contenders}
        seconds = taking_turns({label: contenders[key] for label, key in labels.items()}, chosen.rounds)
        memory = {key: [process.submit(resident).result() for process in group] for key, group in groups.items()}
    rates = {labels[label]: len(titles) / time for label, time in seconds.items()}
    report(
        [
            {
                "mode": mode,
                "processes": processes,
                "threads": threads,
                "libraries": name,
                "searches a second": rate,
                "ratio": rate / rates[mode, 1, 1, "all cores"],
                "own MB": sum(own for own, _ in memory[name, processes]) / processes,
                "shared MB": sum(shared for _, shared in memory[name, processes]) / processes,
            }
            for (mode, processes, threads, name), rate in rates.items()
        ],
        chosen.json,
    )


@contextmanager
def started(path: str, limit: str | None) -> Iterator[ProcessPoolExecutor]:
    """A process that has the index open."""
    before = os.environ.get("OMP_NUM_THREADS")
    if limit is not None:
        os.environ["OMP_NUM_THREADS"] = limit
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begin, initargs=(path,)) as process:
        process.submit(resident).result()
        if limit is not None:
            del os.environ["OMP_NUM_THREADS"]
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before
        yield process


def begin(path: str) -> None:
    """In a process: open the index, and all that a search needs of it."""
    held["index"] = sr.open(path)
    held["index"].search("networks", 10)


def asking(group: list[ProcessPoolExecutor], titles: list[str], threads: int, mode: str) -> Callable[[], Any]:
    """Has each process of a group answer its share of the queries, all at once."""

    def ask() -> None:
        shares = [process.submit(answer, titles[number :: len(group)], threads, mode) for number, process in enumerate(group)]
        for share in shares:
            share.result()

    return ask


def answer(titles: list[str], threads: int, mode: str) -> None:
    """In a process: search for each title, by so many threads."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda title: held["index"].search(title, 10, mode=mode).hits, titles))


def resident() -> tuple[float, float]:
    """In a process: the MB of memory that are its own, and those that it may share with others. On Linux alone; else nothing."""
    path = Path("/proc/self/smaps_rollup")
    facts = dict(line.split()[:2] for line in path.read_text().splitlines()[1:]) if path.is_file() else {}
    anonymous = int(facts.get("Anonymous:", 0)) / 1000
    return anonymous, int(facts.get("Rss:", 0)) / 1000 - anonymous


if __name__ == "__main__":
    main()
