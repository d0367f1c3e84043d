"""One side of bench/databases.py: one engine over papers.npy in a folder, asked by queries.npy, one query at a time.

A line is a call: `build`, which answers with the seconds and the bytes on disk; `ask EFFORT`; `save`, which writes to ENGINE.npy what the
last `ask` found; or `memory`, which answers with the megabytes that are the process's own, and those with mapped files. An engine takes as
many threads as it does by itself.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

folder, name = Path(sys.argv[1]), sys.argv[2]
papers, queries = np.load(folder / "papers.npy", mmap_mode="r"), np.load(folder / "queries.npy")
place = folder / name.replace(" ", "-")
K, BLOCK = 10, 10_000


def blocks() -> Iterator[tuple[int, Any]]:
    """The first row of some papers, and their vectors."""
    for first in range(0, len(papers), BLOCK):
        yield first, np.array(papers[first : first + BLOCK])


class Ours:
    """An index of this project, without words, of the type that stands behind its name."""

    version = "sciretrieve"

    def build(self) -> None:
        """Build it, with papers that have a title alone, and open it."""
        import pyarrow as pa

        import sciretrieve as sr

        ids = [str(row) for row in range(len(papers))]
        (folder / "papers.ids.txt").write_text("\n".join(ids) + "\n")
        table = pa.table({"id": ids, "title": [f"paper {id}" for id in ids]})
        vectors = f"vectors:{folder / 'papers.npy'}"
        sr.build(table, place, encoder=vectors, dense=name.split()[1], metric="cosine", lexical=None, progress=False).close()
        self.query, self.index = sr.Query, sr.open(place)

    def ask(self, effort: int) -> list[Any]:
        """The rows of the best for each query."""
        knob: Any = {"ef" if "hnsw" in name else "nprobe": effort}
        return [self._asked(query, knob) for query in queries]

    def _asked(self, query: Any, knob: Any) -> list[int]:
        run = self.index.search(self.query(vector=query), K, mode="dense", **knob)
        return [int(id) for id in run.rankings[0].ids]


class Usearch:
    """usearch, with vectors in half precision or 8 bits."""

    def build(self) -> None:
        """Build it, write it, and map it."""
        from usearch.index import Index

        index: Any = Index(ndim=papers.shape[1], metric="cos", dtype=name.split()[1])
        for first, vectors in blocks():
            index.add(np.arange(first, first + len(vectors)), vectors)
        place.mkdir()
        index.save(str(place / "index"))
        self.index: Any = Index.restore(str(place / "index"), view=True)

    def ask(self, effort: int) -> list[Any]:
        """The rows of the best for each query."""
        self.index.expansion_search = effort
        return [self.index.search(query, K).keys for query in queries]


class LanceDb:
    """LanceDB, with its IVF index over HNSW graphs of 8 bits a dimension, and over product quantisers; scored again from vectors."""

    def build(self) -> None:
        """Build it, and open it."""
        import lancedb
        import pyarrow as pa

        vector = pa.list_(pa.float32(), papers.shape[1])
        schema = pa.schema([("row", pa.int64()), ("vector", vector)])

        def batches() -> Iterator[Any]:
            for first, vectors in blocks():
                column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), papers.shape[1])
                yield pa.record_batch([pa.array(np.arange(first, first + len(vectors))), column], schema=schema)

        table: Any = lancedb.connect(str(place)).create_table("papers", pa.RecordBatchReader.from_batches(schema, batches()), schema=schema)
        table.create_index(metric="cosine", index_type=name.split()[1])
        self.table = lancedb.connect(str(place)).open_table("papers")

    def ask(self, effort: int) -> list[Any]:
        """The rows of the best for each query."""
        return [self._asked(query, effort) for query in queries]

    def _asked(self, query: Any, effort: int) -> Any:
        search = self.table.search(query).distance_type("cosine").nprobes(effort).refine_factor(4).limit(K).select(["row", "_distance"])
        return search.to_arrow()["row"].to_numpy()


class Qdrant:
    """Qdrant Edge: Qdrant's engine without its server; vectors on disk, and of 8 bits a dimension in memory."""

    def build(self) -> None:
        """Build it, and have it make its graphs."""
        import qdrant_edge as qe

        self.qe: Any = qe
        place.mkdir()
        quantisation = qe.ScalarQuantizationConfig(type=qe.ScalarType.Int8, always_ram=True)
        vectors = qe.EdgeVectorParams(size=papers.shape[1], distance=qe.Distance.Cosine, on_disk=True, quantization_config=quantisation)
        self.shard: Any = qe.EdgeShard.create(str(place), qe.EdgeConfig(vectors=vectors))
        for first, rows in blocks():
            points = [qe.Point(id=first + number, vector=row) for number, row in enumerate(rows.tolist())]
            self.shard.update(qe.UpdateOperation.upsert_points(points))
        self.shard.flush()
        self.shard.optimize()

    def ask(self, effort: int) -> list[Any]:
        """The rows of the best for each query."""
        qe = self.qe
        quantisation = qe.QuantizationSearchParams(rescore=True, oversampling=2.0)
        parameters = qe.SearchParams(hnsw_ef=effort, quantization=quantisation)
        requests = (qe.QueryRequest(limit=K, query=qe.Query.Nearest(query.tolist()), params=parameters) for query in queries)
        return [[point.id for point in self.shard.query(request)] for request in requests]


ENGINES: dict[str, tuple[Any, str]] = {
    "sciretrieve": (Ours, "sciretrieve"),
    "usearch": (Usearch, "usearch"),
    "LanceDB": (LanceDb, "lancedb"),
    "Qdrant": (Qdrant, "qdrant-edge-py"),
}
kind, package = ENGINES[name.split()[0]]
engine: Any = kind()
found: list[Any] = []
print(f"{package} {version(package)}", flush=True)
for line in sys.stdin:
    call, *arguments = line.split()
    answer = "done"
    if call == "build":
        start = time.perf_counter()
        engine.build()
        seconds = time.perf_counter() - start
        answer = f"{seconds} {sum(file.stat().st_size for file in place.rglob('*') if file.is_file())}"
    elif call == "ask":
        found = engine.ask(int(arguments[0]))
    elif call == "save":
        np.save(folder / f"{name}.npy", np.array([list(rows) + [-1] * (K - len(rows)) for rows in found], np.int64))
    else:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        answer = " ".join(str(int(status[kind].split()[0]) / 1000) for kind in ("RssAnon", "VmRSS"))
    print(answer, flush=True)
