"""Large corpora for benchmarks: the papers of a real one again and again, under other ids, with vectors made at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sciretrieve as sr

DIM = 384


def made_papers(path: Path, corpus: str, count: int, prefix: str, seed: int) -> Path:
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
