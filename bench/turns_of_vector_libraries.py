"""The other side of bench/dense.py: hnswlib and usearch over papers.npy in a folder, asked by queries.npy, one query at a time.

A line is a call, its words divided by tabs: `build NAME`, which answers with the seconds and bytes; `ask NAME EF K`; or `save`, which
writes to rows.npy what the last `ask` found. Graphs have 32 links a paper, as ours have, and are built with each library's own default
effort, in one thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import hnswlib
import numpy as np
from usearch.index import Index

folder = Path(sys.argv[1])
papers, queries = np.load(folder / "papers.npy"), np.load(folder / "queries.npy")
LINKS = 32


class Hnswlib:
    """An index of hnswlib."""

    def __init__(self) -> None:
        self.index = hnswlib.Index("ip", papers.shape[1])
        self.index.init_index(len(papers), M=LINKS)
        self.index.add_items(papers, num_threads=1)

    def save(self, path: str) -> None:
        """Write it."""
        self.index.save_index(path)

    def ask(self, ef: int, k: int) -> list[Any]:
        """The rows of the k best for each query."""
        self.index.set_ef(ef)
        return [self.index.knn_query(query, k, num_threads=1)[0][0] for query in queries]


class Usearch:
    """An index of usearch, which keeps vectors in some type of number."""

    def __init__(self, dtype: str) -> None:
        self.index: Any = Index(ndim=papers.shape[1], metric="cos", dtype=dtype, connectivity=LINKS)
        self.index.add(np.arange(len(papers)), papers, threads=1)

    def save(self, path: str) -> None:
        """Write it."""
        self.index.save(path)

    def ask(self, ef: int, k: int) -> list[Any]:
        """The rows of the k best for each query."""
        self.index.expansion_search = ef
        return [self.index.search(query, k, threads=1).keys for query in queries]


makers: dict[str, Callable[[], Any]] = {"hnswlib": Hnswlib, "usearch f32": lambda: Usearch("f32"), "usearch i8": lambda: Usearch("i8")}
built: dict[str, Any] = {}
rows: list[Any] = []
print(f"hnswlib {version('hnswlib')}, usearch {version('usearch')}", flush=True)
for line in sys.stdin:
    call, *arguments = line.strip().split("\t")
    if call == "build":
        (name,) = arguments
        start = time.perf_counter()
        built[name] = makers[name]()
        seconds = time.perf_counter() - start
        built[name].save(str(folder / "index"))
        print(seconds, (folder / "index").stat().st_size, flush=True)
    elif call == "ask":
        name, ef, k = arguments
        rows = built[name].ask(int(ef), int(k))
        print("done", flush=True)
    else:
        np.save(folder / "rows.npy", np.array(rows).astype(np.int64))
        print("done", flush=True)
