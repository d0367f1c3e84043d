"""How good are the answers? Every encoder and way to search, over every set of queries in BEIR's layout that a folder has.

    python bench/quality.py DIR [--encoders minilm,granite] [--cache indexes/quality] [--queries 1000]

A set is a folder with qrels/SPLIT.tsv, queries.jsonl (or queries-SPLIT.jsonl) and corpus.jsonl (or .parquet). Each is encoded
once with each encoder, and the index kept in --cache. Of a larger set so many queries are drawn with a fixed seed.
Markers of citations ("[12]", "(Author, 2000)") are taken out of queries: they are no words. Nothing here chooses a parameter.

The table has nDCG@10 and R@100 x 100 with the default's 95 % bootstrap interval, the default without each of its parts, and p-values
of paired randomisation tests of the default against BM25, dense search and itself without late interaction, corrected by Holm's method
over all sets.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import IndexExists
from sciretrieve.base.types import Query
from sciretrieve.evaluation.material import Task
from sciretrieve.evaluation.readers import beir
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.search import Probe
from sciretrieve.metrics.measures import Evaluator
from sciretrieve.metrics.naming import parse_measure
from sciretrieve.metrics.significance import compare, holm, interval
from sciretrieve.papers.corpora import PaperCorpus

WAYS: dict[str, tuple[Mode, Fusion]] = {
    "BM25": ("bm25", Fusion()),
    "dense": ("dense", Fusion()),
    "rrf": ("hybrid", Fusion("rrf")),
    **{f"dense {alpha}": ("hybrid", Fusion(alpha=alpha, tokens=0)) for alpha in (0.4, 0.5, 0.6, 0.7)},
    "default": ("hybrid", Fusion()),
    # what late interaction is worth
    "no tokens": ("hybrid", Fusion(tokens=0)),
}
AGAINST = ("BM25", "dense", "no tokens")
MARKERS = re.compile(r"\[[\d,;\s–-]+\]|\([^()]*\b(?:19|20)\d\d[a-z]?[^()]*\)")
MEASURES = ("nDCG@10", "R@100")


def sets(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """The sets in a folder: name, directory, split."""
    for qrels in sorted(folder.glob("*/qrels/*.tsv")):
        yield f"{qrels.parent.parent.name} {qrels.stem}", qrels.parent.parent, qrels.stem


def indexed(corpus: PaperCorpus | Sequence[Mapping[str, str]], place: Path, encoder: str) -> sr.Index:
    """The index of a corpus, built anew only if the corpus, or how one is built, has changed."""
    try:
        return sr.build(corpus, place, dense="flat", encoder=encoder)
    except IndexExists:
        return sr.build(corpus, place, dense="flat", encoder=encoder, overwrite=True)


def drawn(task: Task, most: int) -> list[Query]:
    """The queries to ask: all, or `most` of them, without markers of citations."""
    queries = list(task.queries.values())
    if len(queries) > most:
        queries = random.Random(0).sample(queries, most)
    cleaned = [replace(query, text=" ".join(MARKERS.sub(" ", query.text).split())) for query in queries]
    return [query for query in cleaned if query.words.strip()]


def scores(
    index: sr.Index, probes: Sequence[Probe], evaluator: Evaluator, mode: Mode, fusion: Fusion
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Every measure's value for each query."""
    rankings = {}
    # a query that is a paper of the corpus finds itself first, which nobody asked for
    for ranking in replace(index.searcher, fusion=fusion).search([replace(probe, mode=mode) for probe in probes], 101):
        others = [id for id in ranking.ids if id != ranking.query.id][:100]
        rankings[ranking.query.id] = {id: float(-rank) for rank, id in enumerate(others)}
    scored = evaluator.per_query(rankings)
    ids = [probe.query.id for probe in probes]
    return {measure: np.array([scored.get(id, {}).get(measure, 0.0) for id in ids]) for measure in MEASURES}


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name a folder with sets in BEIR's layout: python bench/quality.py DIR")
    folder = Path(sys.argv.pop(1))
    chosen = arguments(__doc__, encoders="minilm,granite", cache="indexes/quality", queries=1000)
    wanted = [parse_measure(name) for name in MEASURES]
    rows: list[dict[str, Any]] = []
    tests: list[float] = []
    gains: dict[str, list[float]] = {encoder: [] for encoder in chosen.encoders.split(",")}
    for (name, directory, split), encoder in product(sets(folder), gains):
        material = beir.load(directory, split, directory.name)
        corpus = PaperCorpus.of(material.name, material.fingerprint, material.pool)
        index = indexed(corpus, Path(chosen.cache) / f"{directory.name}-{encoder}", encoder)
        task = material.tasks[0]
        queries = drawn(task, chosen.queries)
        evaluator = Evaluator({query.id: task.qrels[query.id] for query in queries}, wanted)
        values: dict[str, dict[str, np.ndarray[Any, np.dtype[np.float64]]]] = {}
        probes = index.reader.probes(queries, "hybrid", None)
        for way, (mode, fusion) in WAYS.items():
            values[way] = scores(index, probes, evaluator, mode, fusion)
        main_values = {way: measured["nDCG@10"] for way, measured in values.items()}
        low, high = interval(main_values["default"])
        best = max(main_values["BM25"].mean(), main_values["dense"].mean())
        gains[encoder].append(100 * (main_values["default"].mean() - best))
        tests += [compare(main_values[half], main_values["default"]).p_randomisation for half in AGAINST]
        rows.append(
            {"set": name, "encoder": encoder, "queries": len(queries), "papers": len(index)}
            | {way: f"{100 * measured['nDCG@10'].mean():.1f} / {100 * measured['R@100'].mean():.1f}" for way, measured in values.items()}
            | {"interval": f"[{100 * low:.1f}, {100 * high:.1f}]", "gain": f"{gains[encoder][-1]:+.1f}"}
        )
        print(rows[-1], file=sys.stderr, flush=True)
    corrected = holm(tests)
    for at, row in enumerate(rows):
        for half, p in zip(AGAINST, corrected[len(AGAINST) * at :], strict=False):
            row[f"p {half}"] = f"{p:.4f}"
    report(rows, chosen.json)
    for encoder, differences in gains.items():
        print(f"\n{encoder}: mean gain of the default over the better half {np.mean(differences):+.2f}; least {min(differences):+.2f}")


if __name__ == "__main__":
    main()
