"""Ten figures of speed in two minutes: did a change make anything slower?

    python bench/figures.py --json before.json        # then change something
    python bench/figures.py --json after.json --before before.json

Papers are made of the demo's, so nothing else is needed; indexes of them are kept in bench/.figures, where the first run builds them.
Each figure is a median, and a machine's own: compare two files of one machine only, made when it did nothing else.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from made_papers import made_papers
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.types import Query
from sciretrieve.demo import CORPUS
from sciretrieve.matching.lexical import Analyzer

HERE = Path(__file__).parent / ".figures"
ENCODED, COUNTED = 2_000, 20_000
"""Papers of the index that an encoder fills, and of the one of words alone."""
QUERIES = 64
K = 10
NAMES = ("id", "title", "authors", "year", "venue", "doi")
SEARCH = "graph neural networks"
LOWER_IS_BETTER = ("s", "ms", "ratio")
NOISE = 0.1
"""What a figure may differ by without saying anything."""
NO_ROWS = np.empty(0, np.int64)


def main() -> None:
    """Measure, print, and compare."""
    chosen = arguments(__doc__, rounds=5, before="")
    before = json.loads(Path(chosen.before).read_text(encoding="utf-8")) if chosen.before else {"rows": [], "machine": None}
    encoded, counted = built("encoded", ENCODED), built("words", COUNTED, encoder=None)
    earlier = {row["figure"]: row["value"] for row in before["rows"]}
    rows = []
    for name, unit, value in figures(encoded, counted, chosen.rounds):
        row: dict[str, Any] = {"figure": name, "value": value, "unit": unit}
        if name in earlier:
            ratio = value / earlier[name]
            row |= {"before": earlier[name], "now / before": ratio}
            row[""] = "worse" if (ratio > 1 + NOISE if unit in LOWER_IS_BETTER else ratio < 1 - NOISE) else ""
        rows.append(row)
    report([{name: row.get(name, "") for name in max(rows, key=len)} for row in rows], None)
    facts = {"machine": machine(), "commit": commit(), "date": time.strftime("%Y-%m-%d")}
    if before["machine"] not in (None, facts["machine"]):
        print(f"the other figures are of another machine: {before['machine']}")
    if chosen.json:
        chosen.json.write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def figures(encoded: sr.Index, counted: sr.Index, rounds: int) -> Iterator[tuple[str, str, float]]:
    """Each figure's name, unit and value."""
    for mode in ("hybrid", "bm25"):
        command = [sys.executable, "-m", "sciretrieve", "search", SEARCH, "-i", str(encoded.path), "--mode", mode, "-q"]
        yield f"cold search, {mode}", "s", median(partial(subprocess.run, command, check=True, capture_output=True), rounds)

    queries = titles(encoded)
    vectors = encoded.reader.query_encoder.encode([Query(text=query) for query in queries])
    depth = encoded.snapshot.fusion.depth  # each half proposes so many
    parts: Mapping[str, Callable[[], Any]] = {
        "hybrid": each(queries, partial(encoded.search, k=K)),
        "encoder": each(queries, lambda query: encoded.reader.query_encoder.encode([Query(text=query)])),
        "dense": each(list(vectors), lambda vector: encoded.searcher.near(vector[None], depth, encoded.snapshot.scope)),
        "bm25": each(queries, lambda query: encoded.searcher.bm25.best(weights(encoded, query), depth, encoded.snapshot.scope, NO_ROWS)),  # type: ignore[union-attr]
    }
    seconds = {name: median(run, rounds) / len(queries) for name, run in parts.items()}
    yield "warm search, hybrid", "ms", 1000 * seconds["hybrid"]
    yield (
        "the same, of encoding, vectors and words as deep",
        "ratio",
        seconds["hybrid"] / (seconds["encoder"] + seconds["dense"] + seconds["bm25"]),
    )

    rows = np.linspace(0, len(encoded) - 1, 20).astype(np.int64)
    yield "what 20 papers are called", "ms", 1000 * median(lambda: encoded.snapshot.papers_at(rows, NAMES), 10 * rounds)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(partial(encoded.search, k=K), queries[:4]))
        together = median(lambda: list(threads.map(partial(encoded.search, k=K), queries)), rounds)
    yield "two threads, hybrid, of one", "times", seconds["hybrid"] * len(queries) / together

    short = [" ".join(query.split()[:3]) for query in titles(counted)]
    papers = [f"{paper.title} {paper.abstract}" for paper in counted.papers_at(np.arange(QUERIES, dtype=np.int64))]
    for name, texts in (("three words", short), ("whole papers", papers)):
        terms = [weights(counted, text) for text in texts]
        search = each(terms, lambda term_weights: counted.searcher.bm25.best(term_weights, K, counted.snapshot.scope, NO_ROWS))  # type: ignore[union-attr]
        yield f"BM25 over {COUNTED:,} papers, {name}", "a second", QUERIES / median(search, rounds)

    source = made("words", COUNTED)
    yield "building, vectors given", "papers a second", COUNTED / median(partial(building, source), 2)
    some = encoded.papers_at(np.arange(128, dtype=np.int64))
    yield "encoding", "papers a second", len(some) / median(lambda: encoded.reader.query_encoder.encoder.encode_papers(some), rounds)


def made(name: str, count: int) -> Path:
    """So many made papers, and their vectors beside them."""
    HERE.mkdir(exist_ok=True)
    path = HERE / f"{name}-{count}"
    if not path.with_suffix(".ids.txt").exists():
        made_papers(path, str(CORPUS), count, "p", 0)
    return path


def built(name: str, count: int, **settings: Any) -> sr.Index:
    """An index of them, which is built where it is not there, or is an older version's."""
    folder = HERE / f"index-{name}"
    return sr.build(made(name, count).with_suffix(".parquet"), folder, overwrite=not is_current(folder), **settings)


def is_current(folder: Path) -> bool:
    """Whether an index is as this version builds it; one that is not there is as good."""
    if not folder.is_dir():
        return True
    try:
        with sr.open(folder) as index:
            manifest = index.snapshot.manifest
    except (sr.NotFound, sr.CorruptData):  # it is not finished, or of a form that is no longer read
        return False
    return manifest.analyzer in (None, Analyzer()) and all("names.arrow" in shard.files for shard in manifest.shards)


def building(source: Path) -> None:
    """Build an index with vectors that are there."""
    with tempfile.TemporaryDirectory() as folder:
        encoder = f"vectors:{source.with_suffix('.npy')}"
        sr.build(source.with_suffix(".parquet"), Path(folder) / "index", encoder=encoder, progress=False).close()


def titles(index: sr.Index) -> list[str]:
    """Queries: the first words of titles of papers from all over an index."""
    rows = np.linspace(0, len(index) - 1, QUERIES).astype(np.int64)
    return [" ".join(word for word in paper.title.split()[:6] if word.isalnum()) or "paper" for paper in index.papers_at(rows)]


def weights(index: sr.Index, text: str) -> dict[str, float]:
    """A text as BM25 is asked for it."""
    return index.reader.terms(text, "bm25")


def each(items: Sequence[Any], run: Callable[[Any], Any]) -> Callable[[], None]:
    """Runs over all items."""

    def all_of_them() -> None:
        for item in items:
            run(item)

    return all_of_them


def median(run: Callable[[], Any], rounds: int) -> float:
    """The median seconds of a run, after one to warm up."""
    run()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def machine() -> str:
    """The processor, and how many of it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def commit() -> str:
    """The commit that is measured, with a plus where files are changed."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
