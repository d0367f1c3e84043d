"""Parquet, streamed a batch at a time whatever the size of its row groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ...base.errors import InvalidRequest
from ...files.streams import STDIN, as_file, is_compressed
from .raw import BATCH_ROWS, RawBatch, batch_of_table


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the rows of a Parquet file in batches; rows whose text is broken UTF-8 are rejected.
    Raises InvalidRequest: the file is not Parquet, or is damaged.
    """
    row = 0
    try:
        with as_file(path) as plain, pq.ParquetFile(plain, memory_map=True) as file:
            for batch in file.iter_batches(batch_size=BATCH_ROWS):
                yield batch_of_table(str(path), pa.Table.from_batches([batch]), range(row + 1, row + 1 + batch.num_rows))
                row += batch.num_rows
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidRequest(f"{path} cannot be read as Parquet after row {row}: {reason}") from error


def count(path: Path) -> int | None:
    """The number of rows that the file's footer states; None for one that is compressed. Raises InvalidRequest where there is no such
    footer."""
    if path == STDIN or is_compressed(path):
        return None
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidRequest(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
