"""Exporting papers and vectors from an index: as Parquet, CSV, a bibliography, a .npy file or a FAISS index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..base.arguments import checked
from ..base.errors import InvalidRequest
from ..base.types import Paper, Rows, rows_in
from ..base.wording import cell, plain, without_controls
from ..files.csv_files import csv_rows
from ..files.schema import booleans, common_schema, conform
from ..files.writing import check_parent, replaced, write_lines, write_vectors, write_whole
from ..matching.dense import build_ann, factory_string
from ..matching.dense.ann import check_factory
from ..matching.dense.vectors import Gathered, vectors_at
from ..matching.scope import Scope
from ..matching.sharding import by_shard
from ..papers.bibliographies import bibtex_entries, csl_items, endnote_records, ris_records
from ..query.index import Index
from ..query.opening import AnyIndex, opened

BLOCK = 65_536
NAME = pa.field("index", pa.string())
"""Column with the name of a paper's index, if several are exported."""
SUFFIXES = (".parquet", ".csv", ".npy", ".faiss")
BIBLIOGRAPHIES: Mapping[str, Callable[[Sequence[Paper]], str]] = {
    ".bib": bibtex_entries.text,
    ".ris": ris_records.text,
    ".json": csl_items.text,
    ".xml": endnote_records.text,
}
"""Writers of bibliographies, by suffix."""
ORIGINALS = {bibtex_entries.ENTRY, bibtex_entries.PARENTS, ris_records.RECORD, csl_items.ITEM}
"""Columns with papers' original records, which repeat other columns in another form."""


@checked
def export(index: AnyIndex, target: str | Path, dense: str = "flat", rows: Rows | None = None) -> list[Path]:
    """Write an index's papers and vectors to a file. Returns the files written.

    All undeleted papers are written, or those at `rows`, for example from `Index.matching`; always in the index's order. For several
    indexes, tables have the column `index`, and lists of ids contain INDEX:ID.

    `.parquet`: all columns of the papers, and their vectors, if any, as `vector` (a fixed-size list of float32). `.csv`: all columns except
    original records, in UTF-8, with lists joined by semicolons; spreadsheets read no cell as a formula. `.bib`, `.ris`, `.json` (CSL-JSON)
    and `.xml` (EndNote): a bibliography; records read from a file of the first three are unchanged. `.npy`: the vectors, shape
    (papers, dim) float32, and beside them a `.ids.txt` with the ids in the same order. `.faiss`: one FAISS index of all vectors, of the
    type `dense` ("flat", "hnsw", "ivf", "rabitq" or a factory string), with a `.ids.txt`, in which FAISS's number n is line n + 1. For the
    metric `cosine` its vectors have length 1, as queries must. It is built in memory.

    Raises:
        InvalidRequest: the suffix is unknown, the directory does not exist, the index lacks vectors or has vectors by several encoders,
            there are too few for the FAISS index, or `dense` is given for another suffix.

    >>> [path.name for path in sr.export("indexes/papers", "papers.bib")]
    ['papers.bib']
    """
    path = Path(target)
    check_parent(path)
    with opened(index) as library:
        return _export(library, path, dense, None if rows is None else rows_in(rows, library.snapshot.rows_beyond))


def _export(index: Index, target: Path, dense: str, rows: Rows | None) -> list[Path]:
    if target.suffix not in (*SUFFIXES, *BIBLIOGRAPHIES):
        raise InvalidRequest(
            f"cannot export to {target.name}: name a .parquet file (papers and vectors), a .csv file (papers), a .bib, .ris, .json or .xml "
            "file (a bibliography), or a .npy or .faiss file (vectors)"
        )
    if dense != "flat" and target.suffix != ".faiss":
        raise InvalidRequest(f"`dense={dense!r}` is for FAISS; name a .faiss file instead of {target.name}")
    if target.suffix in (".parquet", ".npy", ".faiss"):
        index.snapshot.check_comparable()
    scope = index.snapshot.scope if rows is None else index.snapshot.scope.among(rows)
    if target.suffix == ".parquet":
        return [_parquet(index, scope, target)]
    if target.suffix == ".csv":
        return [_csv(index, scope, target)]
    if target.suffix in BIBLIOGRAPHIES:
        papers = index.snapshot.papers_at(scope.places)
        write_whole(target, without_controls(BIBLIOGRAPHIES[target.suffix](papers)).encode())
        return [target]
    if not index.snapshot.vectors:
        raise InvalidRequest(f"{index.path} has no vectors to export; export to .parquet")
    if target.suffix == ".npy":
        blocks = (
            shard.vectors[first : first + BLOCK][scope.part(shard.first, shard.papers).flags[first : first + BLOCK]]
            for shard in index.snapshot.vectors
            for first in range(0, shard.papers, BLOCK)
        )
        write_vectors(target, blocks, (len(scope), index.snapshot.vectors[0].dim))
    else:
        _faiss(index, scope, target, dense)
    return [target, write_lines(target.with_suffix(".ids.txt"), index.snapshot.whole_names(scope.places))]


def _faiss(index: Index, scope: Scope, target: Path, dense: str) -> None:
    metric = index.snapshot.metric
    assert metric is not None
    factory = "Flat" if dense == "flat" else factory_string(dense, len(scope))
    check_factory(factory, index.snapshot.vectors[0].dim, metric)
    if not build_ann(target, Gathered(index.snapshot.vectors, scope.places), factory, metric):
        raise InvalidRequest(f"{len(scope):,} papers are too few to train a FAISS index of the type {factory}; use `dense='flat'` or hnsw")


def _tables(index: Index, scope: Scope, schema: pa.Schema) -> Iterator[tuple[Rows, pa.Table]]:
    """Papers of a scope, a few thousand at a time, with a schema's columns: rows and table."""
    columns = schema.remove(1) if _has_names(index) else schema
    for shard, _, shard_rows in by_shard(scope.places, index.snapshot.shards):
        for rows, table in shard.read_at(shard_rows):
            whole = conform(table, columns)
            if _has_names(index):
                whole = whole.add_column(1, NAME, pa.array(index.snapshot.names_at(rows + shard.first), pa.string()))
            yield rows + shard.first, whole


def _schema(index: Index) -> pa.Schema:
    """Columns of exported tables, in types that hold the values of all papers. For several indexes, with each paper's index."""
    shards = [shard for shard in index.snapshot.shards if len(shard.scope)]

    def values(name: str) -> Iterator[pa.ChunkedArray]:
        for shard in shards:
            if name in shard.schema.names:
                yield shard.columns([name])[name].filter(booleans(shard.scope.flags))

    columns = common_schema(((shard.schema, len(shard.scope)) for shard in shards), values)
    return columns.insert(1, NAME) if _has_names(index) else columns


def _has_names(index: Index) -> bool:
    """Whether tables get the column `index`: for several indexes, unless a corpus has a column of this name."""
    return len(index.names) > 1 and NAME.name not in index.snapshot.columns.names


def _csv(index: Index, scope: Scope, target: Path) -> Path:
    schema = _schema(index)
    names = [name for name in schema.names if name not in ORIGINALS]
    with replaced(target) as file:
        file.write(csv_rows([names]).encode())
        for _, table in _tables(index, scope, schema):
            rows = ([_cell(value) for value in row.values()] for row in table.select(names).to_pylist())
            file.write(csv_rows(rows).encode())
    return target


def _cell(value: Any) -> Any:
    shown = cell(plain(value))
    return without_controls(shown) if isinstance(shown, str) else shown


def _parquet(index: Index, scope: Scope, target: Path) -> Path:
    schema = papers_schema = _schema(index)
    if index.snapshot.vectors:
        schema = schema.append(pa.field("vector", pa.list_(pa.float32(), index.snapshot.vectors[0].dim)))
    with replaced(target) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows, table in _tables(index, scope, papers_schema):
            if index.snapshot.vectors:
                vectors = vectors_at(index.snapshot.vectors, rows)
                column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
                table = table.append_column(schema.field("vector"), column)
            writer.write_table(table)
    return target
