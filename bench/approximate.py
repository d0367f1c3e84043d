"""From how many papers a shard on is HNSW quicker than scanning, for the first 10 answers and for hybrid search's 1,000?

One query at a time, as a person asks them, over made-up vectors of 32 hidden dimensions, or over real ones (`--vectors`, a
.npy file of unit length; its last 50 rows are the queries).
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from reporting import arguments, report, taking_turns

from sciretrieve.dense import build_ann, exact
from sciretrieve.dense.ann import Ann
from sciretrieve.types import Vectors

QUERIES = 50


def main() -> None:
    """Measure, and print."""
    options = arguments(__doc__, papers=40_000, dim=384, rounds=3, vectors="")
    everything = np.load(options.vectors) if options.vectors else hidden(options.papers + QUERIES, options.dim)
    vectors, queries = np.ascontiguousarray(everything[:-QUERIES][: options.papers]), everything[-QUERIES:]
    norms = np.linalg.norm(vectors, axis=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dense.faiss"
        build_ann(path, vectors, "HNSW32,SQ8", "cosine")
        ann = Ann(path, *vectors.shape)
        rows = []
        for k, candidates in ((10, 40), (1000, 1256), (1000, 4000)):
            best = [set(exact.search(vectors, norms, query[None], k, "cosine", None)[0][0].tolist()) for query in queries]
            proposals = [approximate(ann, vectors, query, k, candidates) for query in queries]
            recalls = [len(best_rows & set(rows.tolist())) / len(best_rows) for best_rows, rows in zip(best, proposals, strict=True)]
            seconds = taking_turns(
                {
                    "scan": partial(scan_all, vectors, norms, queries, k),
                    "HNSW": partial(answer_all, ann, vectors, queries, k, candidates),
                },
                options.rounds,
            )
            times = {f"{name} ms": 1000 * value / len(queries) for name, value in seconds.items()}
            rows.append({"k": k, "candidates": candidates, **times, "HNSW's recall": float(np.mean(recalls))})
    report(rows, options.json)
    print(f"{len(vectors):,} vectors of {vectors.shape[1]} dimensions")


def hidden(count: int, dim: int) -> Vectors:
    """Unit vectors (count, dim) that vary in 32 directions, and a little in all."""
    chance = np.random.default_rng(0)
    vectors: Vectors = chance.standard_normal((count, 32), np.float32) @ chance.standard_normal((32, dim), np.float32)
    vectors += chance.standard_normal((count, dim), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def approximate(ann: Ann, vectors: Vectors, query: Vectors, k: int, candidates: int) -> Any:
    """The rows of the k best of the candidates."""
    rows = ann.candidates(query[None], candidates, "cosine", None)[0]
    return rows[np.argsort(-exact.score(query, vectors[rows], "cosine"))[:k]]


def scan_all(vectors: Vectors, norms: Vectors, queries: Vectors, k: int) -> None:
    """Scan for every query by itself."""
    for query in queries:
        exact.search(vectors, norms, query[None], k, "cosine", None)


def answer_all(ann: Ann, vectors: Vectors, queries: Vectors, k: int, candidates: int) -> None:
    """Answer every query by itself."""
    for query in queries:
        approximate(ann, vectors, query, k, candidates)


if __name__ == "__main__":
    main()
