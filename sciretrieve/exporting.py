"""Exporting papers and vectors from an index as streams: Parquet with both, or a .npy file with the vectors."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import InvalidRequest
from .files import replaced, write_lines, write_vectors
from .index import Index
from .schema import booleans, conform

BLOCK = 65_536


def export(index: Index, target: Path) -> list[Path]:
    """Write an index's contents to `target` and return the files written.

    `.parquet`: all columns of the papers, and their vectors as `vector` (a fixed-size list of float32) if there are
    any. `.npy`: the vectors, shape (papers, dim) float32, and beside them a `.ids.txt` with the ids in the same order.

    Raises:
        InvalidRequest: another suffix, a directory that does not exist, or vectors that the index does not have.
    """
    if not target.parent.is_dir():
        raise InvalidRequest(f"there is no directory {target.parent} to write {target.name} to")
    if target.suffix == ".parquet":
        return [_parquet(index, target)]
    if target.suffix == ".npy":
        if not index.vectors:
            raise InvalidRequest(f"{index.path} has no vectors to export (it was built with --dense none); export to .parquet")
        blocks = (
            shard.vectors[first : first + BLOCK][index.scope.part(shard.first, shard.papers).flags[first : first + BLOCK]]
            for shard in index.vectors
            for first in range(0, shard.papers, BLOCK)
        )
        return [
            write_vectors(target, blocks, (len(index), index.vectors[0].dim)),
            write_lines(target.with_suffix(".ids.txt"), index.live_ids()),
        ]
    raise InvalidRequest(f"cannot export to {target.name}: name a .parquet file (papers and vectors) or a .npy file (vectors)")


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
