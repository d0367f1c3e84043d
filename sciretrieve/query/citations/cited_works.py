"""Name lookup: papers by ids, DOIs, arXiv numbers and other identifiers, in any form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...base.types import Mask, Rows
from ...files.schema import letters
from ...papers.references import FIELDS, IDENTIFIER, OBJECTS, References, name_columns, named

Keys = npt.NDArray[np.int64]
"""One number per name, (n,); see `keys_of`."""


def identifying_columns(schema: pa.Schema) -> list[str]:
    """Columns that hold names of papers, or objects that contain names."""
    return [field.name for field in schema if _is_objects(field) or (letters(field.name) in FIELDS and not pa.types.is_nested(field.type))]


def _is_objects(field: pa.Field) -> bool:
    return letters(field.name) in OBJECTS and pa.types.is_struct(field.type)


class WorkNames:
    """Finds a paper's row by any of its names. A name that several papers share finds the paper with the smallest id."""

    def __init__(self, tables: Iterable[tuple[Rows, pa.Table]]) -> None:
        """`tables` yields papers' rows, (n,), and their columns: `id` and others of `identifying_columns`."""
        ids: list[pa.Array] = []
        rows: list[Rows] = [np.empty(0, np.int64)]
        named_rows, keys = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for table_rows, table in tables:
            rows.append(table_rows)
            ids += table["id"].chunks
            for names in _names(table):
                is_named = are_named(names)
                named_rows.append(table_rows[is_named])
                keys.append(keys_of(names)[is_named])
        all_rows, all_named_rows, all_keys = map(np.concatenate, (rows, named_rows, keys))
        by_id = pc.sort_indices(pa.chunked_array(ids, pa.string())).to_numpy()
        rank = np.empty(int(all_rows.max(initial=-1)) + 1, np.int64)
        rank[all_rows[by_id]] = np.arange(len(all_rows))
        order = np.lexsort((rank[all_named_rows], all_keys))
        self._keys, first = np.unique(all_keys[order], return_index=True)
        self._rows = all_named_rows[order][first]

    def rows(self, keys: Keys) -> Rows:
        """Row of the paper with each name, (n,); -1 if no paper has it."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._rows[places], -1)

    def row(self, names: Sequence[str]) -> int | None:
        """Row of the paper with the first of these names that any paper has; None if no paper has one."""
        rows = self.rows(np.array([hash(name) for name in names], np.int64))
        return next((row for row in rows.tolist() if row >= 0), None)

    def resolved(self, references: References) -> tuple[Rows, Keys, Mask]:
        """For each reference, the row of its paper or -1 if the index lacks it, the key of its first name, and whether it has a name."""
        count = len(references.citing)
        rows, keys, is_named = np.full(count, -1), np.zeros(count, np.int64), np.zeros(count, bool)
        for column in references.names:
            column_keys, has = keys_of(column), are_named(column)
            keys = np.where(is_named, keys, column_keys)
            rows = np.where((rows < 0) & has, self.rows(column_keys), rows)
            is_named |= has
        return rows, keys, is_named


def _names(table: pa.Table) -> Iterator[pa.DictionaryArray]:
    """Name columns of a table."""
    for name in identifying_columns(table.schema):
        column = table[name].combine_chunks()
        if _is_objects(table.schema.field(name)):
            yield from name_columns(column)
        elif not pa.types.is_null(column.type):
            yield named(letters(name), column)


def keys_of(names: pa.DictionaryArray) -> Keys:
    """A number for each name, (n,): equal names get equal numbers within this process, a missing name gets 0.

    Numbers keep millions of outside works' names in 8 bytes each, and sort fast. Two of ten million names share a number in one of 400,000
    such libraries.
    """
    hashes = np.fromiter(map(hash, names.dictionary.to_pylist()), np.int64, len(names.dictionary))
    keys: Keys = np.append(hashes, 0)[_places(names)]
    return keys


def are_named(names: pa.DictionaryArray) -> Mask:
    """Whether each name is present, (n,)."""
    is_name: Mask = np.append(names.dictionary.is_valid().to_numpy(zero_copy_only=False), False)[_places(names)]
    return is_name


def identified(references: References) -> Mask:
    """Whether each reference has a globally unique name, such as a DOI, (n,)."""
    is_identified = np.zeros(len(references.citing), bool)
    for names in references.names:
        texts = names.dictionary
        known = pc.if_else(pc.match_substring_regex(texts, IDENTIFIER), texts, None)
        is_identified |= are_named(pa.DictionaryArray.from_arrays(names.indices, known))
    return is_identified


def _places(names: pa.DictionaryArray) -> Rows:
    """Position of each name in the dictionary, (n,); beyond its end if there is none."""
    places: Rows = pc.fill_null(names.indices, len(names.dictionary)).to_numpy(zero_copy_only=False)
    return places
