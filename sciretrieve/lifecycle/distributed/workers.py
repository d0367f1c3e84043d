"""Running tasks on the nodes of a Ray cluster. Another node repeats the task of a node that dies."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...base.errors import Unavailable
from ...protocols import Advance, Result, Task
from ...query.snapshot import Snapshot
from ...storage.manifest import MANIFEST, PENDING
from .cluster import Node, RayCluster, cause_of
from .cluster_search import ClusterSearcher, NodeGroups

logger = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between progress reports of a worker, and between looks for new nodes."""
LONG = 30.0
"""Seconds after which a message says that no worker has started."""
MOST_DEATHS = 3
"""Give up on a task after this many workers died on it."""


class RayWorkers:
    """A Ray cluster as `protocols.Workers`: one worker per GPU; without GPUs, one per node with all its CPUs.

    Nodes that join later are used at once. As a context manager, it leaves the cluster at the end.

    >>> with sr.RayWorkers("auto") as workers:
    ...     index = sr.build("papers.jsonl", into="indexes/papers", workers=workers)
    """

    def __init__(self, address: str | None = None) -> None:
        """Connect to the cluster at `address` ("auto" for the one on this machine). By default, connect to the one that `RAY_ADDRESS`
        names, or start one on this machine.

        Raises:
            MissingExtra: Ray is not installed.
            Unavailable: there is no cluster at that address, or it has another version of Ray or Python.
        """
        self.cluster = RayCluster(address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster."""
        self.cluster.close()

    def searcher(self, snapshot: Snapshot) -> ClusterSearcher:
        """A searcher that runs on the nodes. Raises Unavailable if a node lacks this version of sciretrieve or does not see the index."""
        return ClusterSearcher.of(snapshot, groups=NodeGroups(self.cluster, snapshot))

    def run(self, directory: Path, tasks: Iterable[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:
        """See `protocols.Workers`.

        Raises:
            Unavailable: a node lacks this version of sciretrieve or does not see the directory, no node is left, or a task's workers died
                repeatedly.
        """
        crew, every_task = _Crew(self.cluster, directory, advance), list(tasks)
        waiting = deque(range(len(every_task)))
        deaths: Counter[int] = Counter()
        try:
            while waiting or crew.busy:
                crew.recruit()
                for worker in crew.idle:
                    if waiting:
                        number = waiting.popleft()
                        crew.set_to_work(worker, number, every_task[number])
                for number, outcome in crew.outcomes():
                    if outcome is not None:
                        yield number, outcome[0]
                        continue
                    deaths[number] += 1
                    if deaths[number] == MOST_DEATHS:
                        raise Unavailable(
                            f"{MOST_DEATHS} workers died of the same work, of too little memory perhaps; what is finished is kept, and the "
                            "same command resumes it"
                        )
                    waiting.appendleft(number)
        finally:
            crew.dismiss()


class _Process:
    """The process on a node. It runs tasks one after another and reports progress."""

    def __init__(self, folder: str) -> None:
        with suppress(OSError):
            os.chdir(folder)  # names of models and of vectors may be relative to it
        self._papers = 0

    def do(self, task: Callable[[Advance], Any]) -> Any:
        self._papers = 0
        return task(self._advance)

    def _advance(self, papers: int) -> None:
        self._papers += papers

    def papers(self) -> int:
        return self._papers


@dataclass(eq=False)
class _Worker:
    """A process on a node: its task, its pending answers, and the number of papers done."""

    node: Node
    actor: Any
    greeting: Any
    is_ready: bool = False
    number: int | None = None
    outcome: Any = None
    count: Any = None
    papers: int = 0


@dataclass
class _Crew:
    """The living workers and their tasks."""

    cluster: RayCluster
    directory: Path
    advance: Advance
    workers: list[_Worker] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    settled: int = 0
    told: int = 0
    looked: float = -INTERVAL
    began: float = field(default_factory=time.monotonic)
    has_waited: bool = False

    @property
    def seen(self) -> Path:
        """A file that proves that a node sees the index as this machine does: the mark of unfinished work, or the manifest."""
        pending = self.directory / PENDING
        return pending if pending.exists() else self.directory / MANIFEST

    @property
    def busy(self) -> list[_Worker]:
        """Workers with a task."""
        return [worker for worker in self.workers if worker.number is not None]

    @property
    def idle(self) -> list[_Worker]:
        """Workers without a task."""
        return [worker for worker in self.workers if worker.is_ready and worker.number is None]

    def recruit(self) -> None:
        """Start workers on new nodes. Raises Unavailable if there is neither a worker nor a node for one."""
        if time.monotonic() - self.looked < INTERVAL:
            return
        self.looked = time.monotonic()
        nodes, is_first = self.cluster.nodes(), not self.known
        has_gpus = any(node.gpus for node in nodes)
        for node in nodes:
            if node.id not in self.known and (node.gpus or not has_gpus):
                self.known.add(node.id)
                if self._is_fit(node, is_first):
                    self.workers += [self._started(node) for _ in range(max(int(node.gpus), 1))]
        if not self.has_waited and time.monotonic() - self.began > LONG and not any(worker.is_ready for worker in self.workers):
            self.has_waited = True
            logger.warning("waiting for processors of the Ray cluster: others have them; `ray status` shows who")
        if not self.workers:
            raise Unavailable("the Ray cluster has no node left to work; what is finished is kept, and the same command resumes it")

    def _is_fit(self, node: Node, is_first: bool) -> bool:
        """Whether a node can work. An unfit node is left out if it joins later, and is an error if it is one of the first."""
        try:
            return self.cluster.check(node, self.seen)
        except Unavailable as error:
            if is_first:
                raise
            logger.warning("%s; it is left out", error)
            return False

    def _started(self, node: Node) -> _Worker:
        actor = self.cluster.started(_Process, node, str(Path.cwd()), reserves=True, gpus=min(node.gpus, 1.0))
        return _Worker(node, actor, actor.papers.remote())

    def set_to_work(self, worker: _Worker, number: int, task: Task[Any]) -> None:
        """Give a worker a task."""
        worker.number, worker.outcome, worker.papers = number, worker.actor.do.remote(task), 0

    def outcomes(self) -> list[tuple[int, tuple[Any] | None]]:
        """Tasks that ended within a moment: with their results, or with None if the worker died."""
        ray = self.cluster.ray
        for worker in self.busy:
            worker.count = worker.count or worker.actor.papers.remote()
        awaited = [worker.outcome or worker.greeting for worker in self.workers if worker.outcome or not worker.is_ready]
        if awaited:
            ray.wait(awaited, num_returns=1, timeout=INTERVAL)
        else:
            time.sleep(INTERVAL)  # before the next look for nodes
        ended: list[tuple[int, tuple[Any] | None]] = []
        for worker in list(self.workers):
            try:
                self._hear(worker, ended)
            except ray.exceptions.RayActorError as error:
                logger.warning("a worker on node %s was lost: %s", worker.node.name, " ".join(str(error).split())[:200])
                self._lose(worker, ended)
        total = self.settled + sum(worker.papers for worker in self.busy)
        if total > self.told:
            self.advance(total - self.told)
            self.told = total
        return ended

    def _hear(self, worker: _Worker, ended: list[tuple[int, tuple[Any] | None]]) -> None:
        ray = self.cluster.ray
        if not worker.is_ready and _is_there(ray, worker.greeting):
            ray.get(worker.greeting)
            worker.is_ready = True
        if worker.count is not None and _is_there(ray, worker.count):
            worker.papers, worker.count = ray.get(worker.count), None
        if worker.outcome is not None and _is_there(ray, worker.outcome):
            assert worker.number is not None
            result = _result(ray, worker)
            self.settled += ray.get(worker.actor.papers.remote())
            ended.append((worker.number, (result,)))
            worker.number = worker.outcome = worker.count = None

    def _lose(self, worker: _Worker, ended: list[tuple[int, tuple[Any] | None]]) -> None:
        """Drop a worker. Another is started if its node lives."""
        with suppress(Exception):
            self.cluster.ray.kill(worker.actor)
        self.workers.remove(worker)
        if worker.number is not None:
            ended.append((worker.number, None))
        if any(node.id == worker.node.id for node in self.cluster.nodes()):
            self.workers.append(self._started(worker.node))

    def dismiss(self) -> None:
        """End all workers."""
        for worker in self.workers:
            with suppress(Exception):
                self.cluster.ray.kill(worker.actor)


def _is_there(ray: Any, answer: Any) -> bool:
    return bool(ray.wait([answer], timeout=0)[0])


def _result(ray: Any, worker: _Worker) -> Any:
    """A task's result. Raises what the task raised."""
    try:
        return ray.get(worker.outcome)
    except ray.exceptions.RayTaskError as error:
        logger.warning("the worker on node %s failed", worker.node.name)
        raise cause_of(error) from None
