"""How far is exact search from the bare matrix product that it needs, and from faiss.knn?"""

from __future__ import annotations

from functools import partial

import faiss
import numpy as np
from reporting import arguments, report, taking_turns

from sciretrieve.matching.dense import exact


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, papers=100_000, dim=384, rounds=5)
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((chosen.papers, chosen.dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    norms = exact.unknown_norms(len(vectors))
    rows = []
    for count in (1, 32, 256):
        queries = rng.standard_normal((count, chosen.dim)).astype(np.float32)
        for k in (10, 1000):
            seconds = taking_turns(
                {
                    "product": partial(np.matmul, queries, vectors.T),
                    "sciretrieve": partial(exact.search, vectors, norms, queries, k, "cosine", None),
                    "faiss.knn": partial(faiss.knn, queries, vectors, k, faiss.METRIC_INNER_PRODUCT),
                },
                chosen.rounds,
            )
            times = {f"{name} ms": 1000 * value for name, value in seconds.items()}
            rows.append({"queries": count, "k": k, **times, "ours / product": seconds["sciretrieve"] / seconds["product"]})
    report(rows, chosen.json)
    print(f"{chosen.papers:,} vectors of {chosen.dim} dimensions")


if __name__ == "__main__":
    main()
