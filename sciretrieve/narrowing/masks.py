"""Which papers may answer a query: those that pass its filter and meet its demands, as one truth value per paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..lexical import Analyzer, Bm25
from ..schema import conform, integers
from ..shards import Shard
from ..types import Mask, Rows
from . import filters
from .operators import TEXT_COLUMNS, Demand


@dataclass(frozen=True)
class Narrower:
    """What narrowing needs of an index: shards, their common columns, and its text analysis; each read when first needed."""

    shards: Sequence[Shard]
    columns: Callable[[], pa.Schema]
    analyzer: Callable[[], Analyzer]
    bm25: Callable[[], Bm25 | None]

    def mask(self, filter: str | None) -> Mask | None:
        """Which papers pass a filter, by row; None for all of them. Raises InvalidRequest if it cannot be parsed."""
        return None if filter is None else self.passing_mask(filters.parse(filter))

    def meeting_mask(self, demands: Iterable[Demand], among: Mask | None = None) -> Mask:
        """Which papers (of those in `among`) meet all of the demands, by row."""
        mask = np.ones(sum(map(len, self.shards)), bool) if among is None else among
        for demand in demands:
            mask = mask & self._meeting(demand)
        return mask

    def _meeting(self, demand: Demand) -> Mask:
        if demand.column is None or demand.column in TEXT_COLUMNS:
            has_terms = bool(self.analyzer().terms(demand.text))  # stop words are not indexed, so they cannot be excluded either
            mask = self._with_phrase(demand.text, TEXT_COLUMNS if demand.column is None else (demand.column,))
            return mask ^ (demand.absent and has_terms)
        return self.passing_mask(filters.matching(demand.column, demand.text, self.columns().field(demand.column).type)) ^ demand.absent

    def passing_mask(self, expression: filters.Expression) -> Mask:
        """Which papers pass a filter, by row."""
        columns = self.columns()
        schema = pa.schema([columns.field(name) for name in sorted(expression.columns() & set(columns.names))])
        tables = (conform(shard.columns(schema.names), schema) for shard in self.shards)
        masks = [filters.mask(expression, dict(zip(schema.names, table.columns, strict=True)), columns.names) for table in tables]
        return np.concatenate(masks)

    def _with_phrase(self, text: str, columns: Sequence[str]) -> Mask:
        """Which papers have the terms of a text in sequence in one of the columns."""
        terms = self.analyzer().terms(text)
        mask = np.ones(sum(map(len, self.shards)), bool)
        if not terms:  # only stop words: nothing to search for
            return mask
        bm25 = self.bm25()
        rows = np.flatnonzero(mask) if bm25 is None else bm25.rows_with(terms).astype(np.int64)
        mask[:] = False
        if len(terms) == 1 and bm25 is not None and columns == TEXT_COLUMNS:
            mask[rows] = True
        else:
            mask[[row for row, texts in self._texts(rows, columns) if any(self._has(paper_text, terms) for paper_text in texts)]] = True
        return mask

    def _has(self, text: str, terms: Sequence[str]) -> bool:
        text_terms = self.analyzer().terms(text)
        return any(text_terms[start : start + len(terms)] == terms for start in range(len(text_terms) - len(terms) + 1))

    def _texts(self, rows: Rows, columns: Sequence[str]) -> Iterable[tuple[int, tuple[str, ...]]]:
        for shard in self.shards:
            shard_rows = rows[(rows >= shard.first) & (rows < shard.first + len(shard))]
            if len(shard_rows):
                table = shard.columns(columns).take(integers(shard_rows - shard.first))
                yield from zip(shard_rows.tolist(), zip(*(table[name].to_pylist() for name in columns), strict=True), strict=True)
