"""How far is full-corpus evaluation from the bare matrix products that it needs, at the size of SciDocs?

SciDocs' full corpus is 90,000 queries against 142,009 papers of 768 dimensions. Here some of the queries (`--queries`) are
run against all of the papers, random unit vectors mapped from disk, and the rest extrapolated: time grows with their number.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from reporting import arguments, report, taking_turns

from sciretrieve.matching.dense import full_corpus

PAPERS, DIM, QUERIES = 142_009, 768, 90_000


def main() -> None:
    """Measure, and print."""
    options = arguments(__doc__, queries=4096, k=100, rounds=3)
    chance = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(PAPERS, DIM))
        for start in range(0, PAPERS, 8192):
            block = chance.standard_normal((min(8192, PAPERS - start), DIM), np.float32)
            out[start : start + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
        out.flush()
        papers: Any = np.load(path, mmap_mode="r")
        queries = chance.standard_normal((options.queries, DIM), np.float32)
        buffer = np.empty((full_corpus.QUERIES, full_corpus.PAPERS), np.float32)

        def bare() -> None:
            for first_query in range(0, len(queries), full_corpus.QUERIES):
                batch = queries[first_query : first_query + full_corpus.QUERIES]
                for start in range(0, PAPERS, full_corpus.PAPERS):
                    block = papers[start : start + full_corpus.PAPERS]
                    np.matmul(batch, block.T, out=buffer[: len(batch), : len(block)])

        contenders = {
            "bare products": bare,
            f"top {options.k}, ip": lambda: sum(1 for _ in full_corpus.top(queries, [papers], options.k, "ip")),
            f"top {options.k}, l2": lambda: sum(1 for _ in full_corpus.top(queries, [papers], options.k, "l2")),
        }
        seconds = taking_turns(contenders, options.rounds)
    rows = [
        {
            "search": name,
            "s": spent,
            "ratio": spent / seconds["bare products"],
            "TFLOP/s": 2e-12 * len(queries) * PAPERS * DIM / spent,
            f"{QUERIES:,} queries, min": spent * QUERIES / len(queries) / 60,
        }
        for name, spent in seconds.items()
    ]
    report(rows, options.json)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{options.queries:,} queries × {PAPERS:,} papers × {DIM}; peak memory {peak:.2f} GB, with 0.44 GB of papers mapped from disk")


if __name__ == "__main__":
    main()
