"""Columns of lists in Arrow files, one list per term or paper: writing them, and reading them as flat arrays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...base.errors import CorruptData
from ...base.once import once
from ...files.schema import mapped_columns
from ...files.writing import created
from .vocabulary import Vocabulary

Ints = npt.NDArray[np.integer]


def by_term(terms: pa.StringArray, numbers: Ints) -> tuple[pa.StringArray, Ints, Ints]:
    """Sort postings by term.

    Args:
        terms: distinct terms in any order.
        numbers: each posting's position in `terms`, (n,).

    Returns:
        The terms that have postings, in code-point order; the start of each term's postings and the end of the last, (terms + 1,) int32;
        and the order of the postings, stable within a term, (n,).
    """
    used = np.bincount(numbers, minlength=len(terms)) > 0
    order_of_terms = np.asarray(pc.sort_indices(terms), np.int64)
    order_of_terms = order_of_terms[used[order_of_terms]]
    place = np.empty(len(terms), np.int32)  # number -> position in code-point order
    place[order_of_terms] = np.arange(len(order_of_terms), dtype=np.int32)
    places = place[numbers]
    order = np.argsort(places, kind="stable")
    offsets = np.zeros(len(order_of_terms) + 1, np.int32)
    np.cumsum(np.bincount(places, minlength=len(order_of_terms)), out=offsets[1:])
    return terms.take(pa.array(order_of_terms)), offsets, order


def lists(offsets: Ints, values: Ints) -> pa.ListArray:
    """A column of lists. Row i is `values[offsets[i]:offsets[i + 1]]`."""
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


def write_columns(path: Path, columns: dict[str, pa.Array]) -> None:
    """Write columns as an Arrow IPC file that can be memory-mapped."""
    table = pa.table(columns)
    with created(path) as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def offsets_of(path: Path, *columns: Any) -> Ints:
    """The common offsets of the list columns. Raises CorruptData if they differ or are invalid."""
    arrays = [numbers_of(column.offsets, np.int32) if len(column) else np.zeros(1, np.int32) for column in columns]
    offsets: Ints = arrays[0]
    fits = all(np.array_equal(offsets, other) for other in arrays[1:]) and offsets[0] == 0 and not (np.diff(offsets) < 0).any()
    if not fits or any(int(offsets[-1]) != len(column.values) for column in columns):
        raise CorruptData(f"{path} is damaged; `sciretrieve verify --repair` rebuilds it")
    return offsets


def values_of(column: pa.ListArray, kind: Any) -> Any:
    """Elements of a column of lists, concatenated."""
    return numbers_of(column.values, kind) if len(column) else np.empty(0, kind)


def numbers_of(array: pa.Array, kind: Any) -> Any:
    """An Arrow array without missing values as a NumPy array. `to_numpy` would import pandas if installed."""
    buffer = array.buffers()[1]
    return np.frombuffer(buffer, kind, len(array), array.offset * np.dtype(kind).itemsize) if len(array) else np.empty(0, kind)


@dataclass(frozen=True)
class TermLists:
    """A shard's terms and their papers, opened as flat arrays. The postings of term i are at `offsets[i]:offsets[i + 1]`."""

    folder: Path
    papers: int
    file: ClassVar[str]
    """The file's name."""
    columns: ClassVar[Mapping[str, pa.DataType]]
    """Its columns: the terms, and lists per term, the first of which holds the papers' rows."""

    @once
    def _table(self) -> dict[str, pa.Array]:
        return mapped_columns(self.folder / self.file, self.columns)

    def _values(self, name: str) -> Any:
        """A column of lists as one flat array."""
        return values_of(self._table[name], self.columns[name].value_type.to_pandas_dtype())

    @property
    def terms(self) -> pa.StringArray:
        """The terms, ascending."""
        return self._table[next(iter(self.columns))]

    @once
    def vocabulary(self) -> Vocabulary:
        """The terms, for lookup."""
        return Vocabulary(self.terms)

    @once
    def offsets(self) -> Ints:
        """Start of each term's postings, and end of the last, (terms + 1,) int32."""
        return offsets_of(self.folder / self.file, *list(self._table.values())[1:])

    @once
    def rows(self) -> npt.NDArray[np.int32]:
        """Papers of the postings, (postings,)."""
        rows: npt.NDArray[np.int32] = self._values("rows")
        return rows

    def of(self, number: int) -> slice:
        """Postings of a term, by its number. Raises CorruptData if they refer to papers that the shard does not have."""
        places = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        self.check(self.rows[places])
        return places

    def check(self, rows: npt.NDArray[np.int32]) -> None:
        """Raise CorruptData for rows outside the shard."""
        # as unsigned, a negative row is large
        if len(rows) and rows.view(np.uint32).max() >= self.papers:
            path = self.folder / self.file
            raise CorruptData(f"{path} names papers that the shard does not have; `sciretrieve verify --repair` rebuilds it")
