"""Is a paper found by a single letter or digit and its neighbour, as in `vitamin d`, `type 2` and `t cell`?

    python bench/single_characters.py INDEX ... [--queries 100]

Of titles with a single character, queries are drawn with a fixed seed, as many from each index: the character with its neighbour, and the
title's rarest other word, in lower case. Printed is for how many queries the paper is the first of the answer by words, and for how many
the first has the character with its neighbour at all.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.matching.lexical import single_characters
from sciretrieve.papers.folding import fold


def drawn(index: sr.Index, count: int) -> list[tuple[str, str, str]]:
    """Ids, the character with its neighbour, and queries."""
    papers = list(index.papers_at(np.arange(len(index))))
    random.Random(0).shuffle(papers)
    queries: list[tuple[str, str, str]] = []
    assert index.snapshot.bm25 is not None
    for paper in papers:
        forms = [" ".join(pair) for pair in single_characters.joined(paper.title, fold(paper.title)) if pair[1]]
        if not forms:
            continue
        words = {word: term for word in re.findall(r"\w{4,}", fold(paper.title)) if (term := index.snapshot.analyzer.term(word))}
        others = [word for word in words if word not in forms[0].split()]
        if others:
            rarest = max(others, key=lambda word: index.snapshot.bm25.rarity(words[word]) if index.snapshot.bm25 else 0.0)
            queries.append((paper.id, forms[0], f"{forms[0]} {rarest}"))
        if len(queries) == count:
            break
    return queries


def main() -> None:
    """Measure, and print."""
    places: list[str] = []
    while len(sys.argv) > 1 and not sys.argv[1].startswith("--"):
        places.append(sys.argv.pop(1))
    chosen = arguments(__doc__, queries=100)
    rows: list[dict[str, Any]] = []
    for place in places:
        index = sr.open(Path(place))
        queries = drawn(index, chosen.queries // len(places))
        run = index.search([sr.Query(id, text) for id, _, text in queries], 1, mode="bm25", group=False)
        right = having = 0
        for ranking, (id, form, _) in zip(run, queries, strict=True):
            paper = index.papers(ranking.ids[0])[0]
            right += ranking.ids[0] == id
            pair = r"\W+".join(map(re.escape, form.split()))
            having += bool(re.search(rf"\b{pair}\b", fold(f"{paper.title} {paper.abstract}")))
        rows.append({"index": Path(place).name, "queries": len(queries), "first": right, "first has the pair": having})
    report(rows, chosen.json)


if __name__ == "__main__":
    main()
