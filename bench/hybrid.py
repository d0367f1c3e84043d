"""Where does the time of a warm hybrid search go, beside the matrix product and the postings that it cannot do without?

    python bench/hybrid.py --index indexes/NAME

Each row is the whole of the work up to that point, taken in turns with the others in the same run; queries are titles of the index's own
papers, whose vectors are encoded before. Time is the processor's for the thread that searches, which a busy machine blurs less; encoding's
other threads are not in it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from reporting import arguments, report, taking_turns

import sciretrieve as sr
from sciretrieve.matching.dense.vectors import vectors_at
from sciretrieve.matching.search import Probe


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="indexes/demo", queries=10, rounds=5)
    index = sr.open(chosen.index)
    rows = np.array(random.Random(0).sample(range(len(index)), min(chosen.queries, len(index))))
    titles = [paper.title.replace('"', " ").replace(":", " ") for paper in index.papers_at(rows)]
    vectors = vectors_at(index.snapshot.vectors, rows)
    fusion, searcher, bm25 = index.snapshot.fusion, index.searcher, index.snapshot.bm25
    assert bm25 is not None
    terms_of = {title: index.reader.speller.terms(title, ()) for title in titles}
    probes = [
        Probe(sr.Query(str(number), title), index.snapshot.scope, vector, terms_of[title], terms_of[title])
        for number, (title, vector) in enumerate(zip(titles, vectors, strict=True))
    ]
    encode, queries = index.reader.query_encoder.encode, [probe.query for probe in probes]
    given = [(title, vector[None]) for title, vector in zip(titles, vectors, strict=True)]

    def each(work: Callable[[Probe], Any]) -> Callable[[], Any]:
        return lambda: [work(probe) for probe in probes]

    seconds = taking_turns(
        {
            "the bare product": lambda: [shard.vectors @ vector for vector in vectors for shard in index.snapshot.vectors],
            "dense, the first 10": each(lambda probe: searcher.search([replace(probe, mode="dense")], 10)),
            "dense, the first 1,000": each(lambda probe: searcher.search([replace(probe, mode="dense")], fusion.depth)),
            "BM25, the first 10": each(lambda probe: searcher.search([replace(probe, mode="bm25")], 10)),
            "BM25, the first 1,000": each(lambda probe: searcher.search([replace(probe, mode="bm25")], fusion.depth)),
            "both halves, scored by both": each(lambda probe: list(searcher.candidates([probe], fusion.depth))),
            "and fused": each(lambda probe: searcher.search([probe], 10)),
            "and the query read and encoded": lambda: [index.search(title, 10, group=False) for title in titles],
            "and near-duplicates grouped": lambda: [index.search(title, 10) for title in titles],
            "and the papers read": lambda: [index.search(title, 10).hits for title in titles],
            "encoded alone": lambda: [encode([query]) for query in queries],
            "the whole without encoding": lambda: [index.search(title, 10, vectors=vector) for title, vector in given],
            "the two of them in turns": lambda: [
                (encode([query]), index.search(title, 10, vectors=vector)) for query, (title, vector) in zip(queries, given, strict=True)
            ],
        },
        chosen.rounds,
        time.thread_time,
    )
    base = seconds["the bare product"]
    report(
        [{"work": name, "ms a query": 1000 * taken / len(titles), "ratio to the product": taken / base} for name, taken in seconds.items()],
        chosen.json,
    )
    print(f"{len(index):,} papers, {vectors.shape[1]} dimensions, {index.snapshot.manifest.dense}")


if __name__ == "__main__":
    main()
