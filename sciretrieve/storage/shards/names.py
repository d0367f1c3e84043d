"""Names of papers (titles, authors, years, venues, DOIs), memory-mapped. Lookup, grouping and lists read only these.

papers.parquet has these columns, too, but there a row group of every column must be decompressed for one paper.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from ...base.errors import CorruptData
from ...files.schema import PAPER_FIELDS, conform
from ...files.writing import created

NAMES_FILE = "names.arrow"
NAMES = pa.schema([field for field in PAPER_FIELDS if field.name in ("title", "year", "venue", "authors", "doi")])
"""The columns of the file."""


def write_names(folder: Path, papers: pa.Table) -> None:
    """Write the names of a shard's papers."""
    table = conform(papers, NAMES).combine_chunks()
    with created(folder / NAMES_FILE) as file, pa.ipc.new_file(file, NAMES) as writer:
        writer.write_table(table)


def read_names(path: Path, papers: int) -> pa.Table:
    """The columns of names, memory-mapped, for this many papers.

    Arrow trusts a file's offsets, so these are checked first. The encoding of texts is checked by callers, since reading all texts would
    cost as much time as the file saves.

    Raises CorruptData if the file does not have these columns.
    """
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        table.validate()
        if table.schema != NAMES or len(table) != papers or any(column.num_chunks > 1 for column in table.columns):
            raise ValueError(f"{len(table)} papers of {table.schema.names}")
        for column in table.columns:
            for chunk in column.chunks:
                _check(chunk)
    except FileNotFoundError as error:
        raise CorruptData(f"{path} is missing; try `sciretrieve verify --repair`") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CorruptData(f"{path} cannot be read ({reason}); try `sciretrieve verify --repair`") from error
    return table


def _check(array: pa.Array) -> None:
    """Raise ValueError if an offset of an array's value lies outside its data. Arrow has checked the first and the last."""
    if pa.types.is_integer(array.type):
        return
    if array.offset:
        raise ValueError("a column that begins within another")
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1)
    if (offsets[1:] < offsets[:-1]).any():  # differences may overflow the type
        raise ValueError("values outside of a column")
    if pa.types.is_list(array.type):
        _check(array.values)
