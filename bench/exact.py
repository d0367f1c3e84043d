"""How far is exact search from the bare matrix product that it needs, from faiss.knn, and from usearch's exact search, all on all cores?"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import faiss
import numpy as np
from peers import vector_libraries
from reporting import arguments, report, taking_turns

from sciretrieve.matching.dense import exact

COUNTS = (1, 32, 256)


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, papers=100_000, dim=384, rounds=5)
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((chosen.papers, chosen.dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    norms = exact.unknown_norms(len(vectors))
    queries = rng.standard_normal((max(COUNTS), chosen.dim)).astype(np.float32)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "papers.npy", vectors)
        np.save(Path(folder) / "queries.npy", queries)
        usearch = vector_libraries(Path(folder))
        for count in COUNTS:
            some = queries[:count]
            for k in (10, 1000):
                seconds = taking_turns(
                    {
                        "product": partial(np.matmul, some, vectors.T),
                        "sciretrieve": partial(exact.search, vectors, norms, some, k, "cosine", None),
                        "faiss.knn": partial(faiss.knn, some, vectors, k, faiss.METRIC_INNER_PRODUCT),
                        "usearch": partial(usearch.ask, f"exact\t{count}\t{k}"),
                    },
                    chosen.rounds,
                )
                times = {f"{name} ms": 1000 * value for name, value in seconds.items()}
                rows.append({"queries": count, "k": k, **times, "ours / product": seconds["sciretrieve"] / seconds["product"]})
    report(rows, chosen.json)
    print(f"{chosen.papers:,} vectors of {chosen.dim} dimensions; FAISS {faiss.__version__}, {usearch.greeting}")


if __name__ == "__main__":
    main()
