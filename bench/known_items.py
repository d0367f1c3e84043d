"""How often does what names a paper lead to it first, and how often is a query taken for a name that is none?

    python bench/known_items.py --index INDEX                        of papers drawn from an index, and per cent of them
    python bench/known_items.py --index INDEX --queries FILE.jsonl   of queries that name nothing

`first`: the paper is the first of a search; `search alone`: it would be without looking names up; `another`: another one was taken to be
named. Papers that share their title and year with another are not drawn. `ms`: the median time of looking up, a text.
"""

from __future__ import annotations

import random
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reporting import arguments, report
from short_queries import drawn, without_a_letter

import sciretrieve as sr
from sciretrieve.base.types import Query
from sciretrieve.papers.bibliographies.author_names import family, in_order
from sciretrieve.papers.corpora import read_queries
from sciretrieve.query.index import Index

Make = Callable[[sr.Paper], str | None]
WORDS_OF_A_PIECE = 25


def kinds() -> dict[str, Make]:
    """The kinds of texts: each makes one of a paper, or None where that lacks what it takes."""
    chance = random.Random(2)

    def half(title: str) -> str | None:
        words = title.split()
        return " ".join(words[: (len(words) + 1) // 2]) if len(words) > 7 else None

    def swapped(text: str) -> str:
        places = [place for place in range(1, len(text) - 1) if text[place : place + 2].isalpha()]
        place = chance.choice(places)
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]

    def piece(abstract: str) -> str | None:
        words = abstract.split()
        start = chance.randrange(max(len(words) - WORDS_OF_A_PIECE, 1))
        return " ".join(words[start : start + WORDS_OF_A_PIECE]) if len(words) > WORDS_OF_A_PIECE else None

    def apa(paper: sr.Paper) -> str | None:
        names = ", ".join(f"{family(name)}, {in_order(name)[:1]}." for name in paper.authors[:3])
        return f"{names} ({paper.year}). {paper.title}. {paper.venue or ''}." if names and paper.year else None

    def ieee(paper: sr.Paper) -> str | None:
        names = " and ".join(f"{in_order(name)[:1]}. {family(name)}" for name in paper.authors[:2])
        return f"[7] {names} et al., “{paper.title},” {paper.venue or ''}, {paper.year}." if names and paper.year else None

    def name_and_year(paper: sr.Paper) -> str | None:
        return f"{family(paper.authors[0])} {paper.year}" if paper.authors and paper.year else None

    return {
        "id": lambda paper: paper.id,
        "title": lambda paper: paper.title,
        "title in small letters, without marks": lambda paper: re.sub(r"[^\w\s]", " ", paper.title.lower()),
        "title, a letter less": lambda paper: without_a_letter(paper.title, chance),
        "title, a letter less, two swapped": lambda paper: swapped(without_a_letter(paper.title, chance)),
        "first half": lambda paper: half(paper.title),
        "first half, a letter less": lambda paper: without_a_letter(words, chance) if (words := half(paper.title)) else None,
        "reference, APA": apa,
        "reference, IEEE": ieee,
        "abstract": lambda paper: paper.abstract or None,
        f"{WORDS_OF_A_PIECE} words of the abstract": lambda paper: piece(paper.abstract),
        "first author": lambda paper: in_order(paper.authors[0]) if paper.authors else None,
        "first author and year": name_and_year,
    }


def found_again(index: Index, make: Make, papers: list[sr.Paper]) -> dict[str, Any]:
    """How often papers are first in the answers to texts made of them, in per cent."""
    pairs = [(paper, text) for paper in papers if (text := make(paper)) and text.strip()]
    named = [index.search(text, 5, group=False)[0] for _, text in pairs]
    alone = [index.search(Query("1", text), 5, group=False)[0] for _, text in pairs]
    seconds = []
    for _, text in pairs:
        start = time.perf_counter()
        if not len(index.snapshot.lookup.identified(text)):
            index.snapshot.lookup.meant(text, index.snapshot.scope)
        seconds.append(time.perf_counter() - start)

    def share(flags: list[bool]) -> str:
        return f"{100 * float(np.mean(flags)):.1f}"

    rankings = list(zip(pairs, named, alone, strict=True))
    return {
        "n": len(pairs),
        "taken": share([bool(ranking.known) for _, ranking, _ in rankings]),
        "first": share([ranking.ids[:1] == [paper.id] for (paper, _), ranking, _ in rankings]),
        "search alone": share([ranking.ids[:1] == [paper.id] for (paper, _), _, ranking in rankings]),
        "another": share([bool(ranking.known) and paper.id not in ranking.known for (paper, _), ranking, _ in rankings]),
        "ms": f"{1000 * statistics.median(seconds):.1f}",
    }


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="indexes/papers", papers=300, queries="")
    index = sr.open(Path(chosen.index))
    if chosen.queries:
        queries = [query.text for query in read_queries(chosen.queries)]
        taken = [(text, match) for text in queries if len(match := index.snapshot.lookup.meant(text, index.snapshot.scope))]
        for text, match in taken:
            titles = "; ".join(paper.title for paper in index.papers_at(match.rows[:2]))
            print(f"{match.by} ({len(match)}): {text[:100]} → {titles[:120]}")
        report([{"queries": len(queries), "taken": len(taken), "per cent": f"{100 * len(taken) / len(queries):.2f}"}], chosen.json)
        return
    papers = drawn(index, chosen.papers)
    report([{"text": name, **found_again(index, make, papers)} for name, make in kinds().items()], chosen.json)
    print(f"{len(papers)} papers of {len(index):,}")


if __name__ == "__main__":
    main()
