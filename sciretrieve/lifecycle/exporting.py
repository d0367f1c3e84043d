"""Exporting papers and vectors from an index: Parquet with both, a bibliography, a .npy file with the vectors, or a FAISS index of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InvalidRequest
from ..files.schema import booleans, conform, papers_of
from ..files.writing import replaced, write_lines, write_vectors, write_whole
from ..matching.dense import build_ann, factory_string
from ..matching.dense.ann import check_factory
from ..matching.dense.vectors import Gathered
from ..papers.bibliographies import bibtex_entries, csl_items, ris_records
from ..query.index import Index
from ..types import Paper
from ..wording import without_controls

BLOCK = 65_536
SUFFIXES = (".parquet", ".npy", ".faiss")
BIBLIOGRAPHIES: Mapping[str, Callable[[Sequence[Paper]], str]] = {
    ".bib": bibtex_entries.text,
    ".ris": ris_records.text,
    ".json": csl_items.text,
}
"""The text of a bibliography, by suffix."""


def export(index: Index, target: Path, dense: str = "flat") -> list[Path]:
    """Write an index's contents to `target` and return the files written.

    `.parquet`: all columns of the papers, and their vectors as `vector` (a fixed-size list of float32) if there are
    any. `.bib`, `.ris` and `.json` (CSL-JSON): all papers as a bibliography, those read from one of that format unchanged.
    `.npy`: the vectors, shape (papers, dim) float32, and beside them a `.ids.txt` with the ids in the same order.
    `.faiss`: one FAISS index of all vectors, of the type `dense` ("flat", "hnsw", "ivf", "rabitq" or a factory string), and the ids as with
    `.npy`: FAISS's number n is line n + 1. For the metric `cosine` its vectors have length 1, as queries must. It is made in memory.

    Raises:
        InvalidRequest: another suffix, a directory that does not exist, vectors that the index does not have, too few of them for
            such a FAISS index, or a `dense` for another suffix.
    """
    if not target.parent.is_dir():
        raise InvalidRequest(f"there is no directory {target.parent} to write {target.name} to")
    if target.suffix not in (*SUFFIXES, *BIBLIOGRAPHIES):
        raise InvalidRequest(
            f"cannot export to {target.name}: name a .parquet file (papers and vectors), a .bib, .ris or .json file (a bibliography), "
            "or a .npy or .faiss file (vectors)"
        )
    if dense != "flat" and target.suffix != ".faiss":
        raise InvalidRequest(f"`dense={dense!r}` is for FAISS; name a .faiss file instead of {target.name}")
    if target.suffix == ".parquet":
        return [_parquet(index, target)]
    if target.suffix in BIBLIOGRAPHIES:
        papers = [paper for table in index.tables(index.columns.names) for paper in papers_of(table)]
        write_whole(target, without_controls(BIBLIOGRAPHIES[target.suffix](papers)).encode())
        return [target]
    if not index.vectors:
        raise InvalidRequest(f"{index.path} has no vectors to export; export to .parquet")
    if target.suffix == ".npy":
        blocks = (
            shard.vectors[first : first + BLOCK][index.scope.part(shard.first, shard.papers).flags[first : first + BLOCK]]
            for shard in index.vectors
            for first in range(0, shard.papers, BLOCK)
        )
        write_vectors(target, blocks, (len(index), index.vectors[0].dim))
    else:
        _faiss(index, target, dense)
    return [target, write_lines(target.with_suffix(".ids.txt"), index.live_ids())]


def _faiss(index: Index, target: Path, dense: str) -> None:
    metric = index.manifest.metric
    assert metric is not None
    factory = "Flat" if dense == "flat" else factory_string(dense, len(index))
    check_factory(factory, index.vectors[0].dim, metric)
    if not build_ann(target, Gathered(index.vectors, index.scope.places), factory, metric):
        raise InvalidRequest(f"{len(index):,} papers are too few to train a FAISS index of the type {factory}; use `dense='flat'` or hnsw")


def _parquet(index: Index, target: Path) -> Path:
    schema = index.columns
    if index.vectors:
        schema = schema.append(pa.field("vector", pa.list_(pa.float32(), index.vectors[0].dim)))
    with replaced(target) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for number, shard in enumerate(index.shards):
            for first, table in shard.tables():
                live = shard.scope.part(first, len(table)).flags
                out = conform(table.filter(booleans(live)), index.columns)
                if index.vectors:
                    vectors = index.vectors[number].vectors[first : first + len(table)][live]
                    out = out.append_column(
                        schema.field("vector"), pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
                    )
                writer.write_table(out)
    return target
