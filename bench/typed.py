"""Are queries that are typed answered as well as the same queries in a batch? Every way to type them, over every set that a folder has.

    python bench/typed.py DIR [--encoder granite] [--cache indexes/quality] [--queries 1000]

A set is one in BEIR's layout, see quality.py, whose indexes are used. Each query is asked in a batch, typed, pasted with line breaks,
within quotation marks, and with two of its words in these; errors and empty answers are counted. The table has nDCG@10 x 100.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from quality import drawn, indexed, sets
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Query
from sciretrieve.evaluation.readers import beir
from sciretrieve.metrics.measures import Evaluator
from sciretrieve.metrics.naming import parse_measure
from sciretrieve.papers.corpora import PaperCorpus

LINE = 9
"""Words of a line."""


def broken(text: str) -> str:
    """A text with line breaks."""
    words = text.split()
    return "\n".join(" ".join(words[start : start + LINE]) for start in range(0, len(words), LINE))


def quoted(text: str) -> str:
    """A text within quotation marks."""
    return '"' + text.replace('"', "'") + '"'


def partly_quoted(text: str) -> str:
    """A text with two words in the middle of it in quotation marks; too short a one as it is."""
    words = text.replace('"', "'").split()
    if len(words) < 5:
        return text
    middle = len(words) // 2
    return " ".join([*words[: middle - 1], f'"{words[middle - 1]} {words[middle]}"', *words[middle + 1 :]])


WAYS: dict[str, Callable[[str], str]] = {"typed": str, "line breaks": broken, "quoted": quoted, "two words quoted": partly_quoted}


def asked(index: sr.Index, query: str | Query) -> list[str]:
    """The ids that answer a query; none for one that is refused."""
    try:
        return list(index.search(query, 11, group=False)[0].ids)
    except InvalidRequest:
        return ["(refused)"]


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name a folder with sets in BEIR's layout: python bench/typed.py DIR")
    folder = Path(sys.argv.pop(1))
    chosen = arguments(__doc__, encoder="granite", cache="indexes/quality", queries=1000)
    rows: list[dict[str, Any]] = []
    for name, directory, split in sets(folder):
        material = beir.load(directory, split, directory.name)
        corpus = PaperCorpus.of(material.name, material.fingerprint, material.pool)
        index = indexed(corpus, Path(chosen.cache) / f"{directory.name}-{chosen.encoder}", chosen.encoder)
        queries = drawn(material.tasks[0], chosen.queries)
        evaluator = Evaluator({query.id: material.tasks[0].qrels[query.id] for query in queries}, [parse_measure("nDCG@10")])
        rows.append({"set": name, "queries": len(queries)})
        for way, change in {"batch": None, **WAYS}.items():
            answers = {query.id: asked(index, query if change is None else change(query.words)) for query in queries}
            scored = evaluator.per_query({id: {found: -rank for rank, found in enumerate(ids)} for id, ids in answers.items()})
            values = [scored.get(query.id, {}).get("nDCG@10", 0.0) for query in queries]
            failed = sum(ids in ([], ["(refused)"]) for ids in answers.values())
            rows[-1][way] = f"{100 * np.mean(values):.2f}" + f" ({failed} without an answer)" * bool(failed)
        print(rows[-1], file=sys.stderr, flush=True)
    report(rows, chosen.json)


if __name__ == "__main__":
    main()
