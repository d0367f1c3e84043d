"""Which papers may answer a query: those that pass its filters and meet its demands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..choices import Filter
from ..lexical import Analyzer, Bm25
from ..schema import conform
from ..scope import Scope
from ..sharding import by_shard
from ..shards import Shard
from ..types import Mask, Rows
from . import filters
from .operators import TEXT_COLUMNS, Demand


@dataclass(frozen=True)
class Narrower:
    """What narrowing needs of an index: its shards, the scope of all its papers, their common columns, and its text analysis;
    each read when first needed."""

    shards: Sequence[Shard]
    scope: Callable[[], Scope]
    columns: Callable[[], pa.Schema]
    analyzer: Callable[[], Analyzer]
    bm25: Callable[[], Bm25 | None]

    def passing(self, filter: Filter) -> Scope:
        """The papers that pass a filter, or all of several. Raises InvalidRequest if one cannot be parsed."""
        scope = self.scope()
        for condition in [filter] if isinstance(filter, str) else filter or ():
            scope = scope.passing(self.passing_mask(filters.parse(condition)))
        return scope

    def meeting(self, demands: Iterable[Demand], among: Scope) -> Scope:
        """The papers of a scope that meet all of the demands."""
        for demand in demands:
            among = among.passing(self._meeting(demand))
        return among

    def _meeting(self, demand: Demand) -> Mask:
        if demand.column is None or demand.column in TEXT_COLUMNS:
            has_terms = bool(self.analyzer().terms(demand.text))  # stop words are not indexed, so they cannot be excluded either
            mask = self._with_phrase(demand.text, TEXT_COLUMNS if demand.column is None else (demand.column,))
            return mask ^ (demand.absent and has_terms)
        return self.passing_mask(filters.matching(demand.column, demand.text, self.columns().field(demand.column).type)) ^ demand.absent

    def passing_mask(self, expression: filters.Expression) -> Mask:
        """Which rows pass a filter, those of deleted papers among them."""
        columns = self.columns()
        schema = pa.schema([columns.field(name) for name in sorted(expression.columns() & set(columns.names))])
        tables = (conform(shard.columns(schema.names), schema) for shard in self.shards)
        masks = [filters.mask(expression, dict(zip(schema.names, table.columns, strict=True)), columns.names) for table in tables]
        return np.concatenate([np.empty(0, bool), *masks])

    def _with_phrase(self, text: str, columns: Sequence[str]) -> Mask:
        """Which papers have the terms of a text in sequence in one of the columns."""
        terms = self.analyzer().terms(text)
        scope = self.scope()
        if not terms:  # only stop words: nothing to search for
            return scope.flags
        bm25 = self.bm25()
        rows = scope.places if bm25 is None else bm25.rows_with(terms)
        mask = np.zeros(scope.rows, bool)
        if len(terms) == 1 and bm25 is not None and columns == TEXT_COLUMNS:
            mask[rows] = True
        else:
            mask[[row for row, texts in self._texts(rows, columns) if any(self._has(paper_text, terms) for paper_text in texts)]] = True
        return mask

    def _has(self, text: str, terms: Sequence[str]) -> bool:
        text_terms = self.analyzer().terms(text)
        return any(text_terms[start : start + len(terms)] == terms for start in range(len(text_terms) - len(terms) + 1))

    def _texts(self, rows: Rows, columns: Sequence[str]) -> Iterable[tuple[int, tuple[str, ...]]]:
        for shard, _, shard_rows in by_shard(rows, self.shards):
            for paper_rows, table in shard.read_at(shard_rows, columns):
                texts = zip(*(table[name].to_pylist() for name in columns), strict=True)
                yield from zip((paper_rows + shard.first).tolist(), texts, strict=True)
