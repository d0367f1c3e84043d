"""What does each option of a search cost, beside plain hybrid search of the same index?

    python bench/options.py --index indexes/NAME

Warm: the encoder and the index are open. Queries are titles of the index's own papers, each asked once a round; the ratio is
that to plain hybrid search, taken in turns in the same run. `rerank, again` meets texts whose vectors are remembered.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from reporting import arguments, report, taking_turns

import sciretrieve as sr
from sciretrieve.answers import overview
from sciretrieve.answers.explaining import explain, why_not


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="indexes/demo", queries=10, rounds=5)
    index = sr.open(chosen.index)
    rows = np.array(random.Random(0).sample(range(len(index)), min(chosen.queries, len(index))))
    papers = index.papers_at(rows)
    titles = [paper.title.replace('"', " ").replace(":", " ") for paper in papers if paper.title.strip()]
    columns = [name for name in ("year", "venue") if name in index.snapshot.columns.names]
    reranker = sr.open_reranker("minilm")

    def asking(**settings: Any) -> Callable[[], Any]:
        return lambda: [index.search(title, 10, **settings).hits for title in titles]

    def each(work: Callable[[str], Any]) -> Callable[[], Any]:
        return lambda: [work(title) for title in titles]

    contenders: dict[str, Callable[[], Any]] = {
        "hybrid": asking(),
        "dense": asking(mode="dense"),
        "bm25": asking(mode="bm25"),
        "without late interaction": asking(late=False),
        "--set fusion=rrf": asking(fusion="rrf"),
        "--set fusion=convex": asking(fusion="convex"),
        "--filter": asking(filter="year >= 2000"),
        '"a phrase"': each(lambda title: index.search(f'"{" ".join(title.split()[:2])}" {title}', 10).hits),
        "grouped": asking(group=True),
        "--diversify": asking(diversify=True),
        "--rerank minilm, again": asking(reranker=reranker, rerank_depth=100),
        "--explain": each(lambda title: explain(index, title, index.search(title, 10).rankings[0].ids)),
        "--facets": each(lambda title: overview.facets_of(index, index.search(title, 1000), columns)),
        "--cluster": each(lambda title: overview.clusters_of(index, index.search(title, 200))),
        "similar": lambda: [index.similar([paper.id], 10).hits for paper in papers],
        "why-not": each(lambda title: why_not(index, papers[0].id, title)),
    }
    seconds = taking_turns(contenders, chosen.rounds)
    base = seconds["hybrid"]
    report(
        [
            {"option": name, "ms a query": round(1000 * time / len(titles), 1), "ratio to hybrid": round(time / base, 2)}
            for name, time in seconds.items()
        ],
        chosen.json,
    )


if __name__ == "__main__":
    main()
