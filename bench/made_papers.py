"""Large corpora for benchmarks, made from a real one: papers with the halves of two papers' titles and abstracts, and vectors.

A real corpus meets new words for as long as it is read, so every third paper gets a word of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sciretrieve as sr
from sciretrieve.base.types import Vectors

DIM = 384
BLOCK = 65_536
NEIGHBOURS = 16


def made_papers(path: Path, corpus: str, count: int, prefix: str, seed: int, vectors: str = "", characters: int = 10_000) -> Path:
    """Write so many papers and their vectors to PATH.parquet, .npy and .ids.txt.

    The vectors are random, or lie between neighbours among those of the .npy file `vectors`. Abstracts are cut after so
    many characters.
    """
    source = pa.concat_tables([batch.papers.select(["title", "abstract", "year", "venue"]) for batch in sr.open_corpus(corpus).batches()])
    halves = {name: _halves([text[:characters] for text in source[name].to_pylist()]) for name in ("title", "abstract")}
    chance = np.random.default_rng(seed)
    blocks = [np.arange(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK)]
    with pq.ParquetWriter(path.with_suffix(".parquet"), source.schema.insert(0, pa.field("id", pa.string()))) as writer:
        for rows in blocks:
            first, second = chance.integers(len(source), size=(2, len(rows)))
            part = source.take(first)
            for name, (beginnings, ends) in halves.items():
                texts = pc.binary_join_element_wise(beginnings.take(first), ends.take(second), " ")
                if name == "abstract":
                    words = pa.array([f"w{prefix}{row}x" if row % 3 == 0 else "" for row in rows])
                    texts = pc.binary_join_element_wise(texts, words, " ")
                part = part.set_column(part.column_names.index(name), name, pc.utf8_trim_whitespace(texts))
            writer.write_table(part.add_column(0, "id", pa.array([f"{prefix}{row}" for row in rows])).cast(writer.schema))
    target = np.lib.format.open_memmap(path.with_suffix(".npy"), "w+", np.float16, (count, DIM))
    between = Between(np.load(vectors)) if vectors else None
    for rows in blocks:
        block = between.draw(len(rows), chance) if between else chance.standard_normal((len(rows), DIM), np.float32)
        target[rows[0] : rows[-1] + 1] = block / np.linalg.norm(block, axis=1, keepdims=True)
    target.flush()
    path.with_suffix(".ids.txt").write_text("".join(f"{prefix}{row}\n" for row in range(count)))
    return path


def take_queries(papers: Path, count: int) -> Path:
    """Write five words of papers from all over, and their vectors, as queries; so searching needs neither corpus nor vectors.

    The papers' ids have the prefix "p".
    """
    file = pq.ParquetFile(papers.with_suffix(".parquet"))
    vectors = np.load(papers.with_suffix(".npy"), mmap_mode="r")
    rows = np.linspace(0, len(vectors) - 1, count).astype(int)
    groups = np.searchsorted(np.cumsum([file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]), rows, "right")
    texts: dict[str, str] = {}
    for group in np.unique(groups).tolist():
        table = file.read_row_group(group, columns=["id", "title"]).to_pydict()
        texts.update(zip(table["id"], table["title"], strict=True))
    path = queries_of(papers)
    np.save(path, np.array(vectors[rows], np.float32))
    path.with_suffix(".ids.txt").write_text("".join(f"p{row}\n" for row in rows))
    words = {id: " ".join(re.findall(r"\w+", title)[:5]) for id, title in texts.items()}
    path.with_suffix(".tsv").write_text("".join(f"p{row}\t{words[f'p{row}']}\n" for row in rows), encoding="utf-8")
    return path


def queries_of(papers: Path) -> Path:
    """The file with the vectors of the queries that `take_queries` writes; their words are beside it, in a .tsv."""
    return papers.with_name(f"{papers.name}-queries.npy")


def _halves(texts: list[str]) -> tuple[pa.Array, pa.Array]:
    words = [text.split() for text in texts]
    return pa.array([" ".join(text[: len(text) // 2]) for text in words]), pa.array([" ".join(text[len(text) // 2 :]) for text in words])


class Between:
    """Vectors drawn between a real one and two of its neighbours, a little beside the plane that these span."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        blocks = (vectors[first : first + 1024] @ vectors.T for first in range(0, len(vectors), 1024))
        self.neighbours = np.concatenate([np.argpartition(-block, NEIGHBOURS, axis=1)[:, :NEIGHBOURS].copy() for block in blocks])

    def draw(self, count: int, chance: np.random.Generator) -> Vectors:
        """So many vectors, shape (count, DIM) float32."""
        rows = chance.integers(len(self.vectors), size=count)
        weights = chance.dirichlet(np.ones(3), count).astype(np.float32)
        drawn: Vectors = weights[:, :1] * self.vectors[rows]
        for corner in (1, 2):
            others = self.neighbours[rows, chance.integers(NEIGHBOURS, size=count)]
            drawn += weights[:, corner : corner + 1] * self.vectors[others]
        drawn += 0.2 / DIM**0.5 * chance.standard_normal((count, DIM), np.float32)
        return drawn
