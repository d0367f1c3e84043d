"""How do time, memory and disk grow with the number of papers, in building and in searching?

Papers are made from a corpus, and vectors from those of `--vectors`, or at random; see `made_papers`. Each size is built and searched in
processes of its own, so that their peaks are known; the last column says how each figure grows: by which power of the number of papers.
What stands in `--folder` is not made again, so that a large index, built once, can be searched when the machine is quiet. `--characters`
cuts abstracts, for sizes that the disk would not hold.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from made_papers import made_papers, queries_of, take_queries
from reporting import arguments, report

from sciretrieve.demo import CORPUS

BUILD = """
import json, os, sys, threading, time
import sciretrieve as sr
corpus, vectors, index, dense, shard_size = sys.argv[1:]
def resident(kind, process="self"):
    try:
        return int(dict(line.split(":", 1) for line in open(f"/proc/{process}/status"))[kind].split()[0]) / 1000
    except (OSError, KeyError):  # it has just ended
        return 0.0
peak, done = 0.0, threading.Event()
def watch():
    global peak
    while not done.wait(0.05):
        others = open(f"/proc/self/task/{os.getpid()}/children").read().split()
        peak = max(peak, sum(resident("RssAnon", process) for process in ("self", *others)))
threading.Thread(target=watch).start()
start = time.perf_counter()
try:
    built = sr.build(corpus, index, encoder=f"vectors:{vectors}", dense=dense, shard_size=int(shard_size))
finally:
    done.set()
seconds = time.perf_counter() - start
# files that are mapped count in the second, as far as nothing else needs their memory
facts = {"build s": seconds, "build peak MB": peak, "build, with mapped files MB": resident("VmHWM")}
print(json.dumps(facts | {"bytes a paper": built.snapshot.manifest.bytes / len(built)}))
"""
ADD = """
import json, sys, time
import sciretrieve as sr
corpus, vectors, index = sys.argv[1:]
generation = sr.open(index).snapshot.manifest.generation
start = time.perf_counter()
sr.add(corpus, index, encoder=sr.load_encoder(f"vectors:{vectors}"), progress=False)
facts = {"100 papers added s": time.perf_counter() - start}
sr.restore(index, generation)
print(json.dumps(facts))
"""
SEARCH = r"""
import json, statistics, subprocess, sys, time
import numpy as np
import sciretrieve as sr
index, queries = sys.argv[1:]
def median(work, items):
    times = []
    for item in items:
        start = time.perf_counter()
        work(item)
        times.append(time.perf_counter() - start)
    return statistics.median(times)
start = time.perf_counter()
opened = sr.open(index, encoder=sr.load_encoder(f"vectors:{queries}"))
facts = {"open s": time.perf_counter() - start}
asked = [sr.Query(*line.rstrip().split("\t")) for line in open(queries.replace(".npy", ".tsv"), encoding="utf-8")]
start = time.perf_counter()
opened.search(asked[0], 10)
facts["first search s"] = time.perf_counter() - start
for mode in reversed(opened.modes):
    search = lambda query: opened.search(query, 10, mode=mode)
    median(search, asked[:3])
    facts[f"{mode} ms"] = 1000 * median(search, asked)
    facts[f"{mode} again ms"] = 1000 * median(search, asked)
titles = [paper.title for paper in opened.papers_at(np.linspace(1, len(opened) - 2, len(asked)).astype(np.int64))]
facts["title looked up ms"] = 1000 * median(lambda title: opened.snapshot.lookup.meant(title, opened.snapshot.scope), titles)
facts["recall of dense"] = opened.snapshot.manifest.trial.chosen.recall if opened.snapshot.manifest.trial else 1.0
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
facts["memory MB"] = int(status["RssAnon"].split()[0]) / 1000
facts["with mapped files MB"] = int(status["VmRSS"].split()[0]) / 1000
command = [sys.executable, "-m", "sciretrieve", "search", asked[0].text, "-i", index, "--mode", "bm25", "-q"]
facts["cold bm25 s"] = median(lambda _: subprocess.run(command, check=True, capture_output=True), range(3))
print(json.dumps(facts))
"""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(
        __doc__,
        corpus=str(CORPUS),
        vectors="",
        sizes="500,1000",
        dense="auto",
        shard_size=100_000,
        queries=20,
        folder="",
        build_only=0,
        characters=10_000,
    )
    sizes = [int(size) for size in chosen.sizes.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(chosen.folder or scratch)
        folder.mkdir(exist_ok=True)
        figures = [_measured(folder, size, chosen) for size in sizes]
    rows = [{"figure": name, **{f"{size:,}": facts[name] for size, facts in zip(sizes, figures, strict=True)}} for name in figures[0]]
    if len(sizes) > 1:
        rows = [{**row, "grows as n^": _power(sizes, [facts[str(row["figure"])] for facts in figures])} for row in rows]
    report(rows, chosen.json)


def _measured(folder: Path, size: int, chosen: Any) -> dict[str, float]:
    papers, index, built = folder / f"papers{size}", folder / f"index{size}", folder / f"built{size}.json"
    if not built.exists():
        made_papers(papers, chosen.corpus, size, "p", 0, chosen.vectors, chosen.characters)
        take_queries(papers, chosen.queries)
        corpus, vectors = papers.with_suffix(".parquet"), papers.with_suffix(".npy")
        built.write_text(json.dumps(_run(BUILD, corpus, vectors, index, chosen.dense, chosen.shard_size)))
        corpus.unlink()
        vectors.unlink()
    facts: dict[str, float] = json.loads(built.read_text())
    if chosen.build_only:
        return facts
    few = made_papers(folder / "few", chosen.corpus, 100, "new", 1, chosen.vectors, chosen.characters)
    added = _run(ADD, few.with_suffix(".parquet"), few.with_suffix(".npy"), index)
    return facts | _run(SEARCH, index, queries_of(papers)) | added


def _run(program: str, *arguments: object) -> dict[str, float]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    facts: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return facts


def _power(sizes: list[int], values: list[float]) -> float:
    """The power of the size that fits best, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


if __name__ == "__main__":
    main()
