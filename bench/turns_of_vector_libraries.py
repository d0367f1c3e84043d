"""The other side of bench/dense.py and bench/exact.py: hnswlib, usearch and Scalable Vector Search over papers.npy in a folder, asked by
queries.npy, one query at a time.

A line is a call, its words divided by tabs: `build NAME`, which answers with the seconds and bytes; `ask NAME EF K`; `exact N K`, by which
usearch compares the first N queries with all papers at once, on all cores; or `save`, which writes to rows.npy what the last `ask` found.
Graphs have 32 links a paper, as ours have, and are built with each library's own default effort, in one thread.
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
import svs
from usearch.index import Index, MetricKind, search

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


class Svs:
    """A Vamana graph of Scalable Vector Search, over vectors as they are or quantised with 8 bits a dimension."""

    def __init__(self, quantised: bool) -> None:
        data: Any = papers
        if quantised:
            svs.write_vecs(papers, str(folder / "papers.fvecs"))
            loader = svs.VectorDataLoader(str(folder / "papers.fvecs"), svs.DataType.float32, dims=papers.shape[1])
            data = svs.LVQLoader(loader, primary=8)
        parameters = svs.VamanaBuildParameters(graph_max_degree=LINKS)
        self.index = svs.Vamana.build(parameters, data, svs.DistanceType.MIP, num_threads=1)

    def save(self, path: str) -> None:
        """Write it."""
        Path(path).mkdir(exist_ok=True)
        self.index.save(*(f"{path}/{part}" for part in ("settings", "graph", "vectors")))

    def ask(self, ef: int, k: int) -> list[Any]:
        """The rows of the k best for each query."""
        self.index.search_window_size = ef
        return [self.index.search(query[None], k)[0][0] for query in queries]


def size(path: Path) -> int:
    """The bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size


makers: dict[str, Callable[[], Any]] = {
    "hnswlib": Hnswlib,
    "usearch f32": lambda: Usearch("f32"),
    "usearch i8": lambda: Usearch("i8"),
    "SVS f32": lambda: Svs(False),
    "SVS LVQ8": lambda: Svs(True),
}
built: dict[str, Any] = {}
rows: list[Any] = []
print(f"hnswlib {version('hnswlib')}, usearch {version('usearch')}, scalable-vs {version('scalable-vs')}", flush=True)
for line in sys.stdin:
    call, *arguments = line.strip().split("\t")
    if call == "build":
        (name,) = arguments
        start = time.perf_counter()
        built[name] = makers[name]()
        seconds = time.perf_counter() - start
        built[name].save(str(folder / name))
        print(seconds, size(folder / name), flush=True)
    elif call == "ask":
        name, ef, k = arguments
        rows = built[name].ask(int(ef), int(k))
        print("done", flush=True)
    elif call == "exact":
        count, k = map(int, arguments)
        search(papers, queries[:count], k, MetricKind.IP, exact=True)
        print("done", flush=True)
    else:
        np.save(folder / "rows.npy", np.array(rows).astype(np.int64))
        print("done", flush=True)
