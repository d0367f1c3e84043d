"""What does a Ray cluster cost, and what is lost when a node dies, in building a large index and in searching it?

    pip install 'sciretrieve[ray]'
    python bench/cluster.py --corpus acm/corpus.parquet --papers 1000000

Two nodes that share this machine's cores stand beside the machine without Ray, so the ratio is what Ray costs; what more machines gain
cannot be seen on one. In the column after, one of three nodes is killed in the middle of the work. Papers are made from a corpus, see
`made_papers`.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_papers import made_papers, take_queries
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.demo import CORPUS
from sciretrieve.options import BuildSettings
from sciretrieve.progress import Silent

SINGLE = 20
"""Queries that are asked one by one."""


class Killing(Silent):
    """Kills something once a tenth of the papers are in their shards."""

    def __init__(self, papers: int, kill: Callable[[], None]) -> None:
        self._left: float = papers / 10
        self._kill = kill
        self._unit = ""

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """See `protocols.Progress`."""
        del total, done
        self._unit = unit

    def advance(self, papers: int) -> None:
        """See `protocols.Progress`."""
        if self._unit == "papers" and self._left > 0:
            self._left -= papers
            if self._left <= 0:
                self._kill()


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), vectors="", papers=2000, shard_size=0, queries=500)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    warnings.simplefilter("ignore")  # Ray leaves sockets and processes to be collected
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory() as scratch:
        papers = made_papers(Path(scratch) / "papers", chosen.corpus, chosen.papers, "p", 0, chosen.vectors)
        queries = take_queries(papers, chosen.queries)
        settings = BuildSettings(encoder=f"vectors:{papers.with_suffix('.npy')}", shard_size=chosen.shard_size or chosen.papers // 10)

        def build(name: str, **how: Any) -> tuple[sr.Index, float]:
            start = time.perf_counter()
            index = sr.build(papers.with_suffix(".parquet"), Path(scratch) / name, settings, **how)
            return index, time.perf_counter() - start

        here, seconds = build("here")
        rows: list[dict[str, Any]] = [{"work": "building, s", "one machine": seconds}]
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            nodes.add_node(num_cpus=1)
            with sr.RayWorkers(nodes.address) as workers:
                scattered, rows[0]["two nodes"] = build("scattered", workers=workers)
                doomed = nodes.add_node(num_cpus=1)
                kill = Killing(chosen.papers, lambda: nodes.remove_node(doomed, allow_graceful=False))
                survived, rows[0]["one of three dies"] = build("survived", workers=workers, progress=kill)
                same = [other.snapshot.manifest.shards == here.snapshot.manifest.shards for other in (scattered, survived)]
                rows += _searched(here.path, queries, nodes, workers)
        finally:
            nodes.shutdown()
        report([{**row, "two to one": row["two nodes"] / row["one machine"]} for row in rows], chosen.json)
        print(
            f"{len(here):,} papers in {len(here.snapshot.manifest.shards)} shards, {here.snapshot.manifest.dense}; the same files: {same}"
        )


def _searched(path: Path, queries: Path, nodes: Any, workers: sr.RayWorkers) -> list[dict[str, Any]]:
    lines = queries.with_suffix(".tsv").read_text("utf-8").splitlines()
    asked = [sr.Query(id, text) for id, _, text in (line.partition("\t") for line in lines)]
    encoder = sr.load_encoder(f"vectors:{queries}")
    columns: dict[str, dict[str, float]] = {}
    answers = {}
    for column in ("one machine", "two nodes", "one of three dies"):
        doomed = nodes.add_node(num_cpus=1) if column == "one of three dies" else None
        start = time.perf_counter()
        index = sr.open(path, encoder=encoder) if column == "one machine" else sr.open(path, workers=workers, encoder=encoder)
        index.search(asked[0], 10)
        columns[column] = {"opening and a first search, s": time.perf_counter() - start}
        for mode in index.modes:
            index.search(asked[:SINGLE], 10, mode=mode)
            if doomed is not None and mode == "hybrid":
                threading.Timer(0.2, lambda node=doomed: nodes.remove_node(node, allow_graceful=False)).start()
            start = time.perf_counter()
            run = index.search(asked, 100, mode=mode)
            columns[column][f"{mode}, {len(asked):,} queries at once, s"] = time.perf_counter() - start
            answers[column, mode] = [(list(ranking.ids), list(ranking.scores)) for ranking in run]
            times = []
            for query in asked[:SINGLE]:
                start = time.perf_counter()
                index.search(query, 10, mode=mode)
                times.append(time.perf_counter() - start)
            columns[column][f"{mode}, one query, ms"] = 1000 * statistics.median(times)
        index.close()
    assert all(answers[column, mode] == answers["one machine", mode] for column, mode in answers), "answers differ"
    return [{"work": work, **{column: facts[work] for column, facts in columns.items()}} for work in columns["one machine"]]


if __name__ == "__main__":
    main()
