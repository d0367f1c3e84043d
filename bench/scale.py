"""How do time, memory and disk grow with the number of papers, in building and in searching?

Papers are copies of a corpus with vectors made at random, see `made_papers`. Each size is built and searched in processes of its own, so
that their peaks are known; the last rows say how each figure grows: by which power of the number of papers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from made_papers import made_papers
from reporting import arguments, report

from sciretrieve.demo import CORPUS

BUILD = """
import json, resource, sys, time
import sciretrieve as sr
corpus, vectors, index, dense, shard_size = sys.argv[1:]
start = time.perf_counter()
built = sr.build(corpus, index, encoder=f"vectors:{vectors}", dense=dense, shard_size=int(shard_size))
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
print(json.dumps({"build s": seconds, "build peak MB": peak, "bytes a paper": built.manifest.bytes / len(built)}))
"""
SEARCH = """
import json, statistics, sys, time
start = time.perf_counter()
import sciretrieve as sr
index, vectors, queries = sys.argv[1:]
opened = sr.open(index, encoder=sr.load_encoder(f"vectors:{vectors}"))
facts = {"open s": time.perf_counter() - start}
papers = opened.papers([f"p{row}" for row in range(1, int(queries) + 1)])
asked = [sr.Query(paper.id, paper.title) for paper in papers]
opened.encode(asked)
start = time.perf_counter()
opened.search(asked[0], 10)
facts["first search s"] = time.perf_counter() - start
for mode in reversed(opened.modes):
    opened.search(asked[:3], 10, mode=mode)
    times = []
    for query in asked:
        start = time.perf_counter()
        opened.search(query, 10, mode=mode)
        times.append(time.perf_counter() - start)
    facts[f"{mode} ms"] = 1000 * statistics.median(times)
fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
facts["resident MB"] = int(fields["VmRSS"].split()[0]) / 1000
facts["of which files MB"] = int(fields["RssFile"].split()[0]) / 1000
print(json.dumps(facts))
"""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), sizes="500,1000", dense="auto", shard_size=100_000, queries=20, folder="")
    sizes = [int(size) for size in chosen.sizes.split(",")]
    with tempfile.TemporaryDirectory(dir=chosen.folder or None) as scratch:
        figures = [_measured(Path(scratch), size, chosen) for size in sizes]
    rows = [{"figure": name, **{f"{size:,}": facts[name] for size, facts in zip(sizes, figures, strict=True)}} for name in figures[0]]
    if len(sizes) > 1:
        rows = [{**row, "grows as n^": _power(sizes, [facts[str(row["figure"])] for facts in figures])} for row in rows]
    report(rows, chosen.json)


def _measured(scratch: Path, size: int, chosen: Any) -> dict[str, float]:
    papers, index = made_papers(scratch / f"papers{size}", chosen.corpus, size, "p", 0), scratch / f"index{size}"
    corpus, vectors = papers.with_suffix(".parquet"), papers.with_suffix(".npy")
    facts = _run(BUILD, corpus, vectors, index, chosen.dense, chosen.shard_size)
    return facts | _run(SEARCH, index, vectors, chosen.queries)


def _run(program: str, *arguments: object) -> dict[str, float]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    facts: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return facts


def _power(sizes: list[int], values: list[float]) -> float:
    """The power of the size that fits best, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


if __name__ == "__main__":
    main()
