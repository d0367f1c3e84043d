"""How does dense search compare with vector databases on the same vectors: Qdrant, LanceDB and usearch?

    python bench/databases.py --vectors scifact.npy --papers 1000000

Each engine is a process of its own, with its files on disk, and is asked one query at a time with the least effort that finds the share
`--recall` of the best 10; all take turns. Vectors are made from those of `--vectors` (see `made_papers`), or at random; queries likewise.
`own MB` is the memory of the process after its queries; with mapped files it is as much as nothing else needs.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from made_papers import DIM, Between
from peers import Peer
from reporting import arguments, report, taking_turns

from sciretrieve.base.types import Vectors
from sciretrieve.matching.dense import full_corpus

K = 10
BLOCK = 65_536
REQUIRED = ("lancedb>=0.30", "qdrant-edge-py>=0.9", "usearch>=2.16", f"numpy=={np.__version__}")
HNSW = (32, 64, 128, 256, 512)
LISTS = (8, 16, 32, 64, 128, 256, 512)
ENGINES = {
    "sciretrieve ivf": LISTS,
    "sciretrieve hnsw": HNSW,
    "usearch f16": HNSW,
    "usearch i8": HNSW,
    "LanceDB IVF_HNSW_SQ": LISTS,
    "LanceDB IVF_PQ": LISTS,
    "Qdrant int8": HNSW,
}


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, vectors="", papers=20_000, queries=200, recall=0.98, rounds=3, engines=",".join(ENGINES))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        queries = write_vectors(folder, chosen.vectors, chosen.papers, chosen.queries)
        papers: Vectors = np.load(folder / "papers.npy", mmap_mode="r")
        best = [rows[:K].tolist() for rows, _ in full_corpus.top(queries, [papers], K, "ip")]
        sides, rows = {}, []
        for name in chosen.engines.split(","):
            side = Peer("" if name.startswith("sciretrieve") else "databases", REQUIRED, "turns_of_databases.py", folder, name)
            print(f"building {name}, {side.greeting} …", flush=True)
            seconds, size = map(float, side.ask("build").split())
            effort, recall = least_effort(side, folder / f"{name}.npy", ENGINES[name], best, chosen.recall)
            sides[name] = partial(side.ask, f"ask {effort}")
            rows.append(
                {
                    "engine": name,
                    "effort": effort,
                    "recall@10": recall,
                    "built s": seconds,
                    "bytes a paper": size / chosen.papers,
                    "side": side,
                }
            )
        times = taking_turns(sides, chosen.rounds)
        for row in rows:
            own, mapped = map(float, row.pop("side").ask("memory").split())
            row |= {"ms a query": 1000 * times[row["engine"]] / len(queries), "own MB": own, "with mapped files MB": mapped}
        report(rows, chosen.json)
        print(f"{chosen.papers:,} vectors of {DIM} dimensions, {len(queries)} queries")


def write_vectors(folder: Path, source: str, count: int, queries: int) -> Vectors:
    """Write papers.npy and queries.npy, of unit length. Returns the latter."""
    chance = np.random.default_rng(0)
    draw = Between(np.load(source)).draw if source else lambda count, chance: chance.standard_normal((count, DIM), np.float32)
    target = np.lib.format.open_memmap(folder / "papers.npy", "w+", np.float32, (count, DIM))
    for first in range(0, count, BLOCK):
        block = draw(min(BLOCK, count - first), chance)
        target[first : first + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    target.flush()
    drawn: Vectors = draw(queries, chance)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    np.save(folder / "queries.npy", drawn)
    return drawn


def least_effort(side: Peer, found: Path, efforts: tuple[int, ...], best: list[list[int]], target: float) -> tuple[int, float]:
    """The least effort that reaches the target, else the greatest, and its recall."""
    recall = 0.0
    for effort in efforts:
        side.ask(f"ask {effort}")
        side.ask("save")
        recall = float(np.mean([len({*one} & {*other}) / K for one, other in zip(np.load(found).tolist(), best, strict=True)]))
        if recall >= target:
            break
    return effort, recall


if __name__ == "__main__":
    main()
