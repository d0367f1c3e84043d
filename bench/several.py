"""Of several indexes that are searched as one, does the answer come from the one that a query is about?

    python bench/several.py QUERIES INDEX INDEX ... [--queries 100]

The queries, a file as `sciretrieve batch` reads it, are about papers of the first index. Printed is which share of the first ten hits are
that index's: searched as one, and with the rankings of all indexes merged, by their scores, and by these divided by the best of each.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.papers.corpora import read_queries

FIRST = 10


def merged(rankings: list[sr.Ranking], by_best: bool) -> list[int]:
    """The indexes, by their numbers, of the first hits of rankings that are merged by their scores, or by these beside the best hit's."""
    scores = np.concatenate([ranking.scores / (max(ranking.scores.max(initial=0.0), 1e-9) if by_best else 1.0) for ranking in rankings])
    owners = np.repeat(np.arange(len(rankings)), [len(ranking) for ranking in rankings])
    return list(map(int, owners[np.argsort(-scores, kind="stable")[:FIRST]]))


def main() -> None:
    """Measure, and print."""
    file, *places = [argument for argument in sys.argv[1:] if not argument.startswith("--") and not argument.isdigit()]
    sys.argv = [sys.argv[0], *(argument for argument in sys.argv[1:] if argument not in (file, *places))]
    chosen = arguments(__doc__, queries=100)
    queries = read_queries(file)[: chosen.queries]
    with sr.open_many(places) as indexes:
        run = indexes.search(queries, FIRST)
        apart = [member.search(queries, FIRST) for member in indexes.members]
        ways = {
            "searched as one": [[indexes.names.index(name) for name in ranking.indexes] for ranking in run],
            "merged by scores": [merged([each[number] for each in apart], False) for number in range(len(queries))],
            "merged by best hits": [merged([each[number] for each in apart], True) for number in range(len(queries))],
        }
    rows: list[dict[str, Any]] = [
        {
            "way": way,
            "mode": run.mode,
            "queries": len(queries),
            f"of the first {FIRST}, %": round(100 * sum(owner == 0 for owners in found for owner in owners) / sum(map(len, found)), 1),
        }
        for way, found in ways.items()
    ]
    report(rows, chosen.json)


if __name__ == "__main__":
    main()
