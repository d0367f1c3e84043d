"""What does it cost to change a large index, beside building it, and what does a search cost before and after?

The papers are copies of a corpus under other ids, with vectors made at random, so that nothing is encoded.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.demo import CORPUS

DIM = 384


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), papers=1_000, added=100, queries=20, folder="")
    with tempfile.TemporaryDirectory(dir=chosen.folder or None) as scratch:
        folder = Path(scratch)
        large = _papers(folder / "large", chosen.corpus, chosen.papers, "p", 0)
        small = _papers(folder / "small", chosen.corpus, chosen.added, "new", 1)
        index = folder / "index"
        rows: list[dict[str, Any]] = []

        def timed(name: str, work: Callable[[], Any]) -> None:
            start = time.perf_counter()
            work()
            rows.append({"step": name, "seconds": time.perf_counter() - start})

        timed(f"build, {chosen.papers:,} papers", lambda: sr.build(large.with_suffix(".parquet"), index, encoder=f"vectors:{large}.npy"))
        _search(index, large, chosen.queries, rows, "before")
        vectors = sr.load_encoder(f"vectors:{small}.npy")
        timed(f"add, {chosen.added:,} papers", lambda: sr.add(small.with_suffix(".parquet"), index, encoder=vectors))
        timed("the same again", lambda: sr.add(small.with_suffix(".parquet"), index, encoder=vectors))
        _search(index, large, chosen.queries, rows, "after")
        step = max(chosen.papers // (2 * chosen.added), 1)
        deleted_ids = [f"p{row}" for row in range(chosen.papers // 2, chosen.papers, step)][: chosen.added]
        timed(f"delete, {chosen.added:,} papers", lambda: sr.delete(index, deleted_ids))
        _search(index, large, chosen.queries, rows, "with deleted papers")
        timed("verify", lambda: sr.verify(index))
        timed("merge", lambda: sr.merge(index))
        report(rows, chosen.json)


def _papers(path: Path, corpus: str, count: int, prefix: str, seed: int) -> Path:
    """Write so many papers and their vectors to PATH.parquet, .npy and .ids.txt."""
    source = pa.concat_tables([batch.papers.select(["title", "abstract", "year", "venue"]) for batch in sr.open_corpus(corpus).batches()])
    ids = [f"{prefix}{row}" for row in range(count)]
    with pq.ParquetWriter(path.with_suffix(".parquet"), source.schema.insert(0, pa.field("id", pa.string()))) as writer:
        for first in range(0, count, len(source)):
            part = source.slice(0, min(len(source), count - first))
            writer.write_table(part.add_column(0, "id", pa.array(ids[first : first + len(part)])))
    chance = np.random.default_rng(seed)
    vectors = np.lib.format.open_memmap(path.with_suffix(".npy"), "w+", np.float32, (count, DIM))
    for first in range(0, count, 65_536):
        block = chance.standard_normal((min(65_536, count - first), DIM), np.float32)
        vectors[first : first + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    vectors.flush()
    path.with_suffix(".ids.txt").write_text("".join(f"{id}\n" for id in ids))
    return path


def _search(index: Path, vectors: Path, queries: int, rows: list[dict[str, Any]], when: str) -> None:
    """Time warm searches in each mode, by titles whose vectors are those of their papers."""
    with sr.open(index, encoder=sr.load_encoder(f"vectors:{vectors}.npy")) as opened:
        papers = opened.papers([f"p{row}" for row in range(1, queries + 1)])
        asked = [sr.Query(paper.id, paper.title) for paper in papers]
        for mode in opened.modes:
            opened.search(asked[:3], 10, mode=mode)
            start = time.perf_counter()
            for query in asked:
                opened.search(query, 10, mode=mode)
            rows.append({"step": f"{mode} search, {when}", "seconds": (time.perf_counter() - start) / len(asked)})


if __name__ == "__main__":
    main()
