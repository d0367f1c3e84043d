"""What each type of dense index finds and costs: how many of the true best, milliseconds a query, bytes a paper, seconds to build.

One query at a time, as a person asks them, for the first 10 answers and for hybrid search's 1,000, over several shards; with as much
effort as finds 98 % of the best 10. Over made-up vectors of 32 hidden dimensions, or over real ones (`--vectors`, a .npy file of unit
length; its last 50 rows are the queries). With `--always 1` the indexes are asked
even where a scan is thought to be quicker.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from reporting import arguments, report, taking_turns

from sciretrieve.dense import VectorShard, build_ann, factory_string, search
from sciretrieve.dense import vectors as dense_vectors
from sciretrieve.dense.measuring import try_out
from sciretrieve.effort import EXACT, USUAL, Effort, knob
from sciretrieve.scope import Scope
from sciretrieve.types import Vectors

QUERIES = 50
DEPTHS = (10, 100, 1000)
TYPES = "flat hnsw ivf rabitq"


def main() -> None:
    """Measure, and print."""
    options = arguments(__doc__, papers=100_000, dim=384, shard=100_000, rounds=3, vectors="", types=TYPES, always=0)
    if options.always:  # the index is asked even where a scan is thought to be quicker
        dense_vectors.SCANS_PER_CANDIDATE = 0
    everything = np.load(options.vectors, mmap_mode="r") if options.vectors else hidden(options.papers + QUERIES, options.dim)
    vectors, queries = everything[:-QUERIES][: options.papers], np.array(everything[-QUERIES:])
    scope = Scope(len(vectors))
    with tempfile.TemporaryDirectory() as folder:
        indexes: dict[str, tuple[list[VectorShard], Effort]] = {}
        facts: dict[str, tuple[float, float]] = {}
        for number, dense in enumerate(options.types.split()):
            start = time.perf_counter()
            shards, size = built(Path(folder) / str(number), vectors, options.shard, dense)
            facts[dense] = time.perf_counter() - start, size / len(vectors)
            trial = None if dense == "flat" else try_out(shards, scope, knob(dense), 0.98, size)
            indexes[dense] = shards, USUAL if trial is None else trial.effort
            print(f"{dense}: built in {facts[dense][0]:.0f} s; {trial or 'all vectors are scored'}", flush=True)
            for step in trial.steps if trial else ():
                print(f"  {step}")
        rows = []
        for depth in DEPTHS:
            first_shards = next(iter(indexes.values()))[0]
            best = [set(found.tolist()) for found, _ in search(first_shards, queries, depth, scope, EXACT)]
            seconds = taking_turns(
                {dense: partial(answer_all, shards, queries, depth, scope, effort) for dense, (shards, effort) in indexes.items()},
                options.rounds,
            )
            for dense, (shards, effort) in indexes.items():
                answers = answer_all(shards, queries, depth, scope, effort)
                recall = np.mean([len(best_rows & answer) / len(best_rows) for best_rows, answer in zip(best, answers, strict=True)])
                rows.append(
                    {
                        "type": dense,
                        "depth": depth,
                        "recall": float(recall),
                        "ms": 1000 * seconds[dense] / len(queries),
                        "bytes a paper": facts[dense][1],
                        "built in s": facts[dense][0],
                    }
                )
    report(rows, options.json)
    print(f"{len(vectors):,} vectors of {vectors.shape[1]} dimensions in shards of {options.shard:,}")


def built(folder: Path, vectors: Vectors, shard_size: int, dense: str) -> tuple[list[VectorShard], int]:
    """Shards of the vectors with their indexes, and the bytes of what a search reads."""
    folder.mkdir()
    shards, size = [], 0
    for first in range(0, len(vectors), shard_size):
        part = np.ascontiguousarray(vectors[first : first + shard_size])
        path, ann = folder / f"{first}.npy", folder / f"{first}.faiss"
        np.save(path, part)
        indexed = dense != "flat" and build_ann(ann, part, factory_string(dense, len(part)), "cosine")
        size += ann.stat().st_size if indexed else part.nbytes
        shards.append(VectorShard(path, len(part), part.shape[1], "cosine", first, ann if indexed else None))
    return shards, size


def hidden(count: int, dim: int) -> Vectors:
    """Unit vectors (count, dim) that vary in 32 directions, and a little in all."""
    chance = np.random.default_rng(0)
    vectors: Vectors = chance.standard_normal((count, 32), np.float32) @ chance.standard_normal((32, dim), np.float32)
    vectors += chance.standard_normal((count, dim), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def answer_all(shards: Sequence[VectorShard], queries: Vectors, k: int, scope: Scope, effort: Effort) -> list[set[int]]:
    """Answer every query by itself: the rows of the k best."""
    answers = []
    for query in queries:
        ((rows, scores),) = search(shards, query[None], k, scope, effort)
        answers.append(set(rows[np.argsort(-scores)[:k]].tolist()))
    return answers


if __name__ == "__main__":
    main()
