"""What does each type of dense index find and cost, beside raw FAISS, hnswlib, usearch and SVS: recall, milliseconds a query, bytes?

One query at a time, in one thread, all sides in turns, for the best 10 or more (`--depth`). Over real vectors (`--vectors`, a .npy file),
or over made-up ones of 32 hidden dimensions. Queries are vectors that are held out of the indexes. Ours score what FAISS proposes again,
from vectors on disk: `vectors on disk` says what these take besides. Raw FAISS has the very indexes that ours ask, and flat ones.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy and FAISS are loaded

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from peers import vector_libraries
from reporting import arguments, report, taking_turns

from sciretrieve.base.types import Rows, Vectors
from sciretrieve.matching.dense import VectorShard, build_ann, factory_string
from sciretrieve.matching.dense.ann import NAMED
from sciretrieve.matching.dense.measuring import EFS, Questions, efforts, held_out, spread
from sciretrieve.matching.dense.vectors import score_rows
from sciretrieve.matching.effort import EXACT, Effort, Knob, knob
from sciretrieve.matching.scope import Scope
from sciretrieve.studies.dense_types import Bench, TypeMeasured

PEERS = ("hnswlib", "usearch f32", "usearch i8", "SVS f32", "SVS LVQ8")
FLAT_FACTORIES = ("Flat", "HNSW32,Flat")


@dataclass(frozen=True)
class Contender:
    """One index with one effort.

    Attributes:
        name, knob, value: as in `TypeMeasured`.
        turn: asks it all queries.
        found: what it then found: for each query the rows of the best, and their scores.
        bytes: of the index.
        on_disk: of the vectors that it reads besides.
        seconds: that it took to build.
    """

    name: str
    knob: Knob | None
    value: int | None
    turn: Callable[[], Any]
    found: Callable[[], list[Any]]
    bytes: int
    on_disk: int
    seconds: float


def main() -> None:
    """Measure, and print."""
    options = arguments(__doc__, papers=100_000, dim=384, rounds=3, vectors="", types=" ".join(NAMED), depth=10, plot="")
    faiss.omp_set_num_threads(1)
    everything = np.load(options.vectors, mmap_mode="r") if options.vectors else hidden(options.papers, options.dim)
    vectors = np.array(everything[spread(len(everything), options.papers)])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    is_query = held_out(len(vectors))
    with tempfile.TemporaryDirectory() as folder:
        sides = Sides(Path(folder), vectors[~is_query], vectors[is_query], options.depth)
        contenders = [*sides.ours(options.types.split()), *sides.raw_faiss(options.types.split()), *sides.peers()]
        turns = {str(number): contender.turn for number, contender in enumerate(contenders)}
        seconds = list(taking_turns(turns, options.rounds).values())
        rows = [sides.row(contender, turn) for contender, turn in zip(contenders, seconds, strict=True)]
    bench = Bench(len(vectors), len(sides.papers), len(sides.queries), options.depth, vectors.shape[1], "cosine", tuple(rows))
    front = bench.front
    report(
        [
            {
                "index": row.dense,
                "effort": f"{row.knob} {row.value}" if row.knob else "",
                f"recall@{options.depth}": row.recall,
                "ms": row.milliseconds,
                "nothing better": "*" if row in front else "",
                "bytes a paper": row.bytes,
                "vectors on disk": contender.on_disk / len(sides.papers),
                "built in s": row.seconds,
            }
            for row, contender in zip(rows, contenders, strict=True)
        ],
        options.json,
    )
    print(f"{bench.measured:,} vectors of {bench.dim} dimensions, {bench.queries} queries")
    print(f"FAISS {faiss.__version__}, {sides.peer.greeting}")
    if options.plot:
        bench.plot(options.plot)


class Sides:
    """What all contenders share: papers, queries, and what an exact search finds."""

    def __init__(self, folder: Path, papers: Vectors, queries: Vectors, depth: int) -> None:
        self.folder, self.papers, self.queries, self.depth = folder, papers, queries, depth
        np.save(folder / "papers.npy", papers)
        np.save(folder / "queries.npy", queries)
        self.flat = VectorShard(folder / "papers.npy", len(papers), papers.shape[1], "cosine", 0)
        self.questions = Questions([self.flat], Scope(len(papers)), queries, k=depth)
        self.efs = sorted({max(ef, depth) for ef in EFS[::2]})
        self.built: dict[str, tuple[Path, float]] = {}
        self.peer = vector_libraries(folder)

    def ours(self, types: Iterable[str]) -> Iterable[Contender]:
        """Our types of dense index."""
        for dense in types:
            if dense == "flat":
                yield self._ours(dense, None, self.flat, EXACT, self.papers.nbytes, 0, 0.0)
                continue
            path, seconds = self._built(factory_string(dense, len(self.papers)))
            shard = replace(self.flat, ann_path=path)
            for value, effort in self._efforts(dense, shard).items():
                yield self._ours(dense, value, shard, effort, path.stat().st_size, self.papers.nbytes, seconds)

    def _efforts(self, dense: str, shard: VectorShard) -> dict[int | None, Effort]:
        """Those of our own trials, of HNSW's every other one; the index is asked however few its papers."""
        name = knob(dense)
        values = [Effort.at("ef", value) for value in self.efs] if name == "ef" else efforts([shard], name, self.depth).values()
        return {effort.ef or effort.nprobe: replace(effort, always=True) for effort in values}

    def _ours(
        self, dense: str, value: int | None, shard: VectorShard, effort: Effort, size: int, on_disk: int, seconds: float
    ) -> Contender:
        turn = partial(self.questions.ask, [shard], effort)
        return Contender(f"sciretrieve {dense}", knob(dense), value, turn, lambda: turn()[1], size, on_disk, seconds)

    def raw_faiss(self, types: Iterable[str]) -> Iterable[Contender]:
        """The FAISS indexes of our types, and flat ones, asked by FAISS alone."""
        factories = [factory_string(dense, len(self.papers)) for dense in types if dense != "flat"]
        for factory in (*FLAT_FACTORIES, *factories):
            path, seconds = self._built(factory)
            index = faiss.read_index(str(path))
            for value, effort in self._efforts(factory, replace(self.flat, ann_path=path)).items():
                turn = partial(self._ask_faiss, index, effort)
                found = partial(self._scored, turn)
                yield Contender(f"FAISS {factory}", knob(factory), value, turn, found, path.stat().st_size, 0, seconds)

    def _ask_faiss(self, index: Any, effort: Effort) -> list[Rows]:
        if effort.ef is not None:
            faiss.downcast_index(index).hnsw.efSearch = effort.ef
        elif effort.nprobe is not None:
            faiss.extract_index_ivf(index).nprobe = effort.nprobe
        return [index.search(query[None], self.depth)[1][0] for query in self.queries]

    def peers(self) -> Iterable[Contender]:
        """The libraries in an environment of their own."""
        for name in PEERS:
            seconds, size = self.peer.ask(f"build\t{name}").split()
            for ef in self.efs:
                turn = partial(self.peer.ask, f"ask\t{name}\t{ef}\t{self.depth}")
                yield Contender(name, "ef", ef, turn, partial(self._found_by_peer, turn), int(size), 0, float(seconds))

    def _found_by_peer(self, turn: Callable[[], str]) -> list[Any]:
        turn()
        self.peer.ask("save")
        return self._scored(lambda: list(np.load(self.folder / "rows.npy")))

    def _scored(self, turn: Callable[[], list[Rows]]) -> list[Any]:
        """Rows with their exact scores."""
        found = [rows[rows >= 0] for rows in turn()]
        return [(rows, score_rows([self.flat], query, rows)) for rows, query in zip(found, self.queries, strict=True)]

    def _built(self, factory: str) -> tuple[Path, float]:
        """The file of a FAISS index, and the seconds it took; each is built once."""
        if factory not in self.built:
            path, start = self.folder / f"{len(self.built)}.faiss", time.perf_counter()
            if not build_ann(path, self.papers, factory, "cosine"):
                raise SystemExit(f"{len(self.papers):,} papers are too few to train {factory}")
            self.built[factory] = path, time.perf_counter() - start
        return self.built[factory]

    def row(self, contender: Contender, seconds: float) -> TypeMeasured:
        """What a contender gave whose turn took so long."""
        recall = self.questions.recall(contender.found())
        milliseconds = 1000 * seconds / len(self.queries)
        size = contender.bytes / len(self.papers)
        return TypeMeasured(contender.name, contender.knob, contender.value, recall, milliseconds, size, contender.seconds)


def hidden(count: int, dim: int) -> Vectors:
    """Vectors (count, dim) that vary in 32 directions, and a little in all."""
    chance = np.random.default_rng(0)
    vectors: Vectors = chance.standard_normal((count, 32), np.float32) @ chance.standard_normal((32, dim), np.float32)
    vectors += chance.standard_normal((count, dim), np.float32)
    return vectors


if __name__ == "__main__":
    main()
