"""What papers are called, and when and where they appeared, memory-mapped: looking a paper up, grouping and lists need no more of it.

In papers.parquet, where these columns stand, too, a row group of every column has to be decompressed for one paper.
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
    """Write the file of a shard with these papers."""
    table = conform(papers, NAMES).combine_chunks()
    with created(folder / NAMES_FILE) as file, pa.ipc.new_file(file, NAMES) as writer:
        writer.write_table(table)


def read_names(path: Path, papers: int) -> pa.Table:
    """The file's columns, mapped into memory, of so many papers.

    Arrow trusts what a file says of its columns, so where each value lies is checked first. That texts are text is left to those who take
    some of them, for reading all of them would take as long as what the file saves.

    Raises CorruptData: the file does not have them.
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
    """Raise ValueError where a value of an array lies outside of it, between its ends, which Arrow has checked."""
    if pa.types.is_integer(array.type):
        return
    if array.offset:
        raise ValueError("a column that begins within another")
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1)
    if (offsets[1:] < offsets[:-1]).any():  # not by their differences, which may be too large for their type
        raise ValueError("values outside of a column")
    if pa.types.is_list(array.type):
        _check(array.values)
