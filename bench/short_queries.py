"""How well are papers found again by little of their title, misspelt or not typed to its end?

MRR x 100 of papers drawn from an index, sought by parts of their title: `python bench/short_queries.py --index INDEX`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.types import Query
from sciretrieve.query.index import Index

FEWEST_WORDS = 4
DEPTH = 100


def drawn(index: Index, count: int) -> list[sr.Paper]:
    """Papers with a title of some words, which no other of them has."""
    rows = np.array(sorted(random.Random(0).sample(range(len(index)), min(len(index), 2 * count))))
    papers = {paper.title.lower(): paper for paper in index.papers_at(rows) if len(paper.title.split()) >= FEWEST_WORDS}
    return list(papers.values())[:count]


def without_a_letter(text: str, chance: random.Random) -> str:
    """A text that lacks a letter of its longest word, not the first or the last."""
    longest = max(re.findall(r"\w+", text), key=len)
    place = chance.randrange(1, max(len(longest) - 1, 2))
    return text.replace(longest, longest[:place] + longest[place + 1 :], 1)


def kinds(index: Index) -> dict[str, Callable[[str], str]]:
    """The kinds of queries: each makes one of a title."""
    chance = random.Random(1)

    def rarest(title: str, count: int) -> str:
        assert index.snapshot.bm25 is not None
        words = {
            word: len(index.snapshot.bm25.rows_with([term]))
            for word in re.findall(r"\w+", title.lower())
            if (term := index.snapshot.analyzer.term(word))
        }
        chosen = sorted(words, key=lambda word: words[word])[:count]
        return " ".join(word for word in words if word in chosen)

    def half(title: str) -> str:
        words = title.split()
        return " ".join(words[: (len(words) + 1) // 2])

    return {
        "title": str,
        "title, a letter less": lambda title: without_a_letter(title, chance),
        "first half": half,
        "first half, a letter less": lambda title: without_a_letter(half(title), chance),
        "three rarest words": lambda title: rarest(title, 3),
        "three rarest words, a letter less": lambda title: without_a_letter(rarest(title, 3), chance),
        "two rarest words": lambda title: rarest(title, 2),
        "two rarest words, the last cut": lambda title: cut(rarest(title, 2)),
    }


def cut(words: str) -> str:
    """Words of which the last lacks its last third."""
    *others, last = words.split()
    return " ".join([*others, last[: len(last) - len(last) // 3]])


def mean_reciprocal_rank(index: Index, queries: list[Query], ids: list[str], **options: Any) -> float:
    """Of the sought papers, x 100; 0 beyond the first `DEPTH`."""
    values = []
    for ranking, id in zip(index.search(queries, DEPTH, group=False, **options), ids, strict=True):
        values.append(1 / (list(ranking.ids).index(id) + 1) if id in ranking.ids else 0.0)
    return 100 * float(np.mean(values))


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="indexes/papers", papers=300)
    index = sr.open(Path(chosen.index))
    papers = drawn(index, chosen.papers)
    rows = []
    for name, make in kinds(index).items():
        queries = [Query(paper.id, make(paper.title)) for paper in papers]
        ids = [paper.id for paper in papers]
        row: dict[str, Any] = {"query": name}
        ways: dict[str, dict[str, Any]] = {
            "BM25": {"mode": "bm25"},
            "dense": {"mode": "dense"},
            "convex": {"fusion": "convex"},
            "no tokens": {"late": False},
            "default": {},
        }
        for way, options in ways.items():
            row[way] = f"{mean_reciprocal_rank(index, queries, ids, **options):.1f}"
        rows.append(row)
    report(rows, chosen.json)
    print(f"{len(papers)} papers of {len(index):,}")


if __name__ == "__main__":
    main()
