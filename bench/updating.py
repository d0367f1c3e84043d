"""What does it cost to change a large index, beside building it, and what does a search cost before and after?

The papers are copies of a corpus under other ids, with vectors made at random, so that nothing is encoded.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_papers import made_papers
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.demo import CORPUS


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), papers=1_000, added=100, queries=20, folder="")
    with tempfile.TemporaryDirectory(dir=chosen.folder or None) as scratch:
        folder = Path(scratch)
        large = made_papers(folder / "large", chosen.corpus, chosen.papers, "p", 0)
        small = made_papers(folder / "small", chosen.corpus, chosen.added, "new", 1)
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
