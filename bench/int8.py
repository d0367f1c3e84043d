"""What does int8 cost in answers, and what does it gain in speed, over sets of queries in BEIR's layout?

    python bench/int8.py DIR [--sets scifact,cranfield]

Each corpus is indexed twice, the second time in int8, quantised with its own papers; dense search over both answers the queries, which are
never encoded in int8. The seconds are those that both took to encode the papers, one after the other; `receipt` is what the index says.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from quality import MEASURES, drawn, scores, sets
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.choices import BuildPrecision
from sciretrieve.evaluation.readers import beir
from sciretrieve.matching.fusion import Fusion
from sciretrieve.metrics.measures import Evaluator, parse_measure
from sciretrieve.papers.corpora import PaperCorpus

PRECISIONS: tuple[BuildPrecision, ...] = ("auto", "int8")


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name a folder with sets in BEIR's layout: python bench/int8.py DIR")
    folder = Path(sys.argv.pop(1))
    chosen = arguments(__doc__, sets="scifact,cranfield", encoder="minilm", queries=1000, limit=1_000_000)
    wanted = [parse_measure(name) for name in MEASURES]
    rows: list[dict[str, Any]] = []
    indexes: dict[str, dict[str, sr.Index]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, directory, split in sets(folder):
            if directory.name not in chosen.sets.split(","):
                continue
            material = beir.load(directory, split, directory.name)
            if directory.name not in indexes:
                corpus = PaperCorpus.of(material.name, material.fingerprint, material.pool)
                indexes[directory.name] = {
                    precision: _built(corpus, Path(scratch) / f"{directory.name}-{precision}", chosen, precision)
                    for precision in PRECISIONS
                }
            both, task = indexes[directory.name], material.tasks[0]
            queries = drawn(task, chosen.queries)
            evaluator = Evaluator({query.id: task.qrels[query.id] for query in queries}, wanted)
            before, after = (scores(index, index.probes(queries, "dense", None), evaluator, "dense", Fusion()) for index in both.values())
            row: dict[str, Any] = {"set": name, "papers": len(both["auto"]), "queries": len(queries)}
            for measure in MEASURES:
                change = 100 * (after[measure] - before[measure])
                row |= {measure: 100 * float(before[measure].mean()), f"{measure} in int8": f"{change.mean():+.2f}"}
            encoder = both["int8"].manifest.encoder
            assert encoder is not None
            row |= {"receipt": f"{-encoder['receipt']['ndcg_loss']:+.2f} {-encoder['receipt']['recall_loss']:+.2f}"}
            rows.append(row | {"least cosine": encoder["receipt"]["cosine"]})
    report(rows, chosen.json)


def _built(corpus: PaperCorpus, place: Path, chosen: Any, precision: BuildPrecision) -> sr.Index:
    start = time.perf_counter()
    index = sr.build(corpus, place, encoder=chosen.encoder, precision=precision, dense="flat", limit=chosen.limit)
    print(f"{place.name}: {len(index):,} papers in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return index


if __name__ == "__main__":
    main()
