"""Nodes and workers of a Ray cluster that die in mid-work: the index and the answers are those of one machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import Unavailable
from sciretrieve.lifecycle.distributed import RayWorkers
from sciretrieve.lifecycle.distributed.cluster_search import ClusterSearcher
from sciretrieve.progress import Silent
from sciretrieve.protocols import Advance
from tests.lifecycle.test_building import contents
from tests.lifecycle.test_parts import manifest
from tests.made_up import made_up_papers, write_jsonl

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


class Told(Silent):
    """Keeps of each stage how many papers it has and how many were done, and calls something when the first are in their shards."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.stages: list[tuple[str, int | None, int]] = []
        self._then = then

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        self.stages.append((unit, total, done))

    def advance(self, papers: int) -> None:
        unit, total, done = self.stages[-1]
        if not done and unit == "papers":
            self._then()
        self.stages[-1] = unit, total, done + papers


def a_node_in_mid_build(cluster: Any, workers: RayWorkers, folder: Path) -> None:
    corpus = write_jsonl(folder / "corpus.jsonl", made_up_papers(200))
    settings = sr.BuildSettings(shard_size=40, dense="IVF4,SQ8")
    here = sr.build(corpus, folder / "here", settings)
    doomed = cluster.add_node(num_cpus=1)
    deaths: list[str] = []

    def kill() -> None:
        if not deaths:
            cluster.remove_node(doomed, allow_graceful=False)
            deaths.append("in mid-build")

    told = Told(kill)
    index = sr.build(corpus, folder / "index", settings, workers=workers, progress=told)
    assert deaths
    assert told.stages == [("papers read", 200, 200), ("papers", 200, 200), ("papers", 200, 200)]  # read, filled, indexed
    assert contents(index) == contents(here)
    assert manifest(index) == manifest(here)


def a_node_in_mid_search(cluster: Any, workers: RayWorkers, folder: Path) -> None:
    index = sr.build(write_jsonl(folder / "corpus.jsonl", made_up_papers(200)), folder / "index", shard_size=50, dense="HNSW8,Flat")
    queries = ["graph networks", "attention in trials", "grahp netwroks"]
    expected = [(ranking.ids, ranking.scores.tolist()) for ranking in index.search(queries, 20)]
    doomed = cluster.add_node(num_cpus=1)
    with sr.open(index.path, workers=workers) as distributed:
        for number in range(4):
            if number == 1:
                assert isinstance(distributed.searcher, ClusterSearcher)
                assert len(distributed.searcher.groups._processes) == 3
                cluster.remove_node(doomed, allow_graceful=False)
            assert [(ranking.ids, ranking.scores.tolist()) for ranking in distributed.search(queries, 20)] == expected


def the_worker_of_a_task(_: Any, workers: RayWorkers, folder: Path) -> None:
    (folder / "pending.json").write_text("{}")

    def dies_once(advance: Advance) -> int:
        if not (folder / "died").exists():
            (folder / "died").touch()
            os._exit(1)
        advance(3)
        return os.getpid()

    papers: list[int] = []
    outcomes = list(workers.run(folder, [dies_once, lambda advance: advance(4)], papers.append))
    assert sorted(number for number, _ in outcomes) == [0, 1]
    assert dict(outcomes)[0] not in (None, os.getpid())
    assert sum(papers) == 7


def every_worker_of_a_task(_: Any, workers: RayWorkers, folder: Path) -> None:
    (folder / "pending.json").write_text("{}")

    def dies(_: Advance) -> None:
        os._exit(1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sciretrieve.lifecycle.distributed.workers.MOST_DEATHS", 2)
        with pytest.raises(Unavailable, match="2 workers died"):
            list(workers.run(folder, [dies], lambda _: None))


@pytest.mark.parametrize("death", [a_node_in_mid_build, a_node_in_mid_search, the_worker_of_a_task, every_worker_of_a_task])
def test_what_dies_costs_no_paper_and_no_answer(
    death: Callable[[Any, RayWorkers, Path], None], cluster: Any, workers: RayWorkers, tmp_path: Path
) -> None:
    death(cluster, workers, tmp_path)
