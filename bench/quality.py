"""How good are the answers? Every way to search, over every set of queries in BEIR's layout that a folder has.

    python bench/quality.py DIR [--cache indexes/quality] [--queries 1000]

A set is a folder with qrels/SPLIT.tsv, queries.jsonl (or queries-SPLIT.jsonl) and corpus.jsonl (or .parquet). Each is encoded
once, with the embedded encoder, and its index kept in --cache. Of a larger set so many queries are drawn with a fixed seed.
Markers of citations ("[12]", "(Author, 2000)") are taken out of queries: they are no words. Nothing here chooses a parameter.

The table has nDCG@10 and R@100 x 100 with the default's 95 % bootstrap interval, and p-values of paired randomisation tests of
the default against BM25 and dense search, corrected by Holm's method over all sets.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.choices import FusionMethod, Mode
from sciretrieve.corpora import PaperCorpus
from sciretrieve.errors import IndexExists
from sciretrieve.evaluation.material import Task
from sciretrieve.evaluation.measures import Evaluator, parse_measure
from sciretrieve.evaluation.readers import beir
from sciretrieve.evaluation.statistics import compare, holm, interval
from sciretrieve.types import Query

WAYS: dict[str, tuple[Mode, FusionMethod | None]] = {
    "BM25": ("bm25", None),
    "dense": ("dense", None),
    "rrf": ("hybrid", "rrf"),
    "convex": ("hybrid", "convex"),
    "blend": ("hybrid", "blend"),
}
MARKERS = re.compile(r"\[[\d,;\s–-]+\]|\([^()]*\b(?:19|20)\d\d[a-z]?[^()]*\)")
MEASURES = ("nDCG@10", "R@100")


def sets(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """The sets in a folder: name, directory, split."""
    for qrels in sorted(folder.glob("*/qrels/*.tsv")):
        yield f"{qrels.parent.parent.name} {qrels.stem}", qrels.parent.parent, qrels.stem


def indexed(corpus: PaperCorpus, place: Path) -> sr.Index:
    """The index of a corpus, built anew only if the corpus, or how one is built, has changed."""
    try:
        return sr.build(corpus, place, dense="flat")
    except IndexExists:
        return sr.build(corpus, place, dense="flat", overwrite=True)


def drawn(task: Task, most: int) -> list[Query]:
    """The queries to ask: all, or `most` of them, without markers of citations."""
    queries = list(task.queries.values())
    if len(queries) > most:
        queries = random.Random(0).sample(queries, most)
    cleaned = [replace(query, text=" ".join(MARKERS.sub(" ", query.text).split())) for query in queries]
    return [query for query in cleaned if query.words.strip()]


def scores(
    index: sr.Index, queries: list[Query], evaluator: Evaluator, mode: Mode, fusion: FusionMethod | None
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Every measure's value for each query."""
    found = {}
    # a query that is a paper of the corpus finds itself first, which nobody asked for
    for ranking in index.search(queries, 101, mode=mode, fusion=fusion, group=False):
        ids = [id for id in ranking.ids if id != ranking.query.id][:100]
        found[ranking.query.id] = {id: float(-rank) for rank, id in enumerate(ids)}
    scored = evaluator.per_query(found)
    return {measure: np.array([scored.get(query.id, {}).get(measure, 0.0) for query in queries]) for measure in MEASURES}


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name a folder with sets in BEIR's layout: python bench/quality.py DIR")
    folder = Path(sys.argv.pop(1))
    chosen = arguments(__doc__, cache="indexes/quality", queries=1000)
    wanted = [parse_measure(name) for name in MEASURES]
    rows: list[dict[str, Any]] = []
    tests: list[float] = []
    gains: list[float] = []
    for name, directory, split in sets(folder):
        material = beir.load(directory, split, directory.name)
        corpus = PaperCorpus.of(material.name, material.fingerprint, material.pool)
        index = indexed(corpus, Path(chosen.cache) / directory.name)
        task = material.tasks[0]
        queries = drawn(task, chosen.queries)
        evaluator = Evaluator({query.id: task.qrels[query.id] for query in queries}, wanted)
        values: dict[str, dict[str, np.ndarray[Any, np.dtype[np.float64]]]] = {}
        for way, (mode, fusion) in WAYS.items():
            values[way] = scores(index, queries, evaluator, mode, fusion)
        main_values = {way: measured["nDCG@10"] for way, measured in values.items()}
        low, high = interval(main_values["blend"])
        best = max(main_values["BM25"].mean(), main_values["dense"].mean())
        gains.append(100 * (main_values["blend"].mean() - best))
        tests += [compare(main_values[half], main_values["blend"]).p_randomisation for half in ("BM25", "dense")]
        rows.append(
            {"set": name, "queries": len(queries), "papers": len(index)}
            | {way: f"{100 * measured['nDCG@10'].mean():.1f} / {100 * measured['R@100'].mean():.1f}" for way, measured in values.items()}
            | {"interval": f"[{100 * low:.1f}, {100 * high:.1f}]", "gain": f"{gains[-1]:+.1f}"}
        )
        print(rows[-1], file=sys.stderr, flush=True)
    corrected = holm(tests)
    for at, row in enumerate(rows):
        row["p BM25"], row["p dense"] = (f"{p:.4f}" for p in corrected[2 * at : 2 * at + 2])
    report(rows, chosen.json)
    print(f"\nmean gain of the default over the better half: {np.mean(gains):+.2f}; least: {min(gains):+.2f}")


if __name__ == "__main__":
    main()
