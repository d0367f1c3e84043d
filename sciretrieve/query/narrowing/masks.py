"""Masks of the papers that may answer a query: papers that pass its filters and meet its demands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from ...base.choices import Filter, conditions
from ...base.errors import UnknownName
from ...base.once import once
from ...base.types import Mask, Rows
from ...files.schema import booleans, is_text
from ...matching.lexical import Bm25, greek
from ...matching.lexical.words import STOPWORDS
from ...matching.scope import NO_ROWS, Scope, union
from ...matching.sharding import by_shard
from ...storage.fulltext import FULLTEXT
from ...storage.shards import Shard
from ..opened import Opened
from . import filters
from .combining import Combination, leaves
from .comparing import numbers_among
from .demands import Demand, Expression, Leaf, Near, Words, wanted
from .nested import Elements, dotted_names, place_of, within
from .operators import TEXT_COLUMNS
from .phrases import Either, Phrase, Sought, exactly, having, sought
from .typed_names import NAMED, is_initial, named, typed_names

PHRASES_REMEMBERED = 64
"""Most phrases without terms whose matching rows an open index remembers."""
IN_FULL_TEXTS = {FULLTEXT: "abstract", "section": "section"}
"""Fields of full texts, and the columns of passages that have them."""
READ_TOGETHER = 32
"""Phrases searched in one pass over the texts. Their compiled form must fit into the memory that Arrow allows for it."""


@dataclass(frozen=True)
class Narrower:
    """Computes which papers of an index may answer."""

    index: Opened

    def passing(self, filter: Filter) -> Scope:
        """Papers that pass a filter, or all of several filters. Raises InvalidRequest if one cannot be parsed."""
        parts = tuple(map(filters.parse, conditions(filter)))
        return self.index.scope.passing(*self.judge(Combination("AND", parts))) if parts else self.index.scope

    def meeting(self, demands: Iterable[Expression], among: Scope) -> Scope:
        """Papers in a scope that meet all demands."""
        for demand in sorted(demands, key=self._reads_texts):
            met = self._meet_undecided(demand, among)
            among = among if met is None else met
        return among

    def _meet_undecided(self, demand: Expression, among: Scope) -> Scope | None:
        """As `_meet`. Papers that may or may not be in the scope stay undecided if they may meet the demand."""
        unsure = among.undecided
        met = self._meet(demand, Scope(among.rows, among.mask).with_rows(unsure))
        if met is None or not len(unsure):
            return met
        return Scope(among.rows, among.flags & met.flags, union(met.kept(unsure), met.undecided))

    def with_terms(self, text: str, among: Scope) -> Scope | None:
        """Papers in a scope that contain every word of a text that is a term of the index. None without BM25, and if no word is a term, as
        with stop words and single characters. Reads no paper."""
        words = self.index.analyzer.spellings(text) if self.index.bm25 is not None else ()
        if not words:
            return None
        return self._or_in_full_texts(self._with_spellings(words, among), among, lambda inner, scope: inner.with_terms(text, scope))

    def count_with_terms(self, text: str, among: Scope) -> int | None:
        """Number of papers `with_terms`, without a mask of all papers where full texts need none."""
        if (bm25 := self.index.bm25) is None or self.index.fulltext is not None:
            met = self.with_terms(text, among)
            return None if met is None else len(met)
        rows: Rows | None = None
        for ways in _looked_up(self.index.analyzer.spellings(text)):
            if rows is not None and not len(rows):
                break
            rows = reduce(union, [bm25.rows_with(way, among=rows) for way in ways])
        return None if rows is None else int(np.count_nonzero(among.has(rows)))

    def _meet(self, demand: Expression, among: Scope) -> Scope | None:
        """Papers in a scope that meet a demand. None for stop words alone, which are not indexed, so that such a demand is void."""
        if isinstance(demand, Combination):
            return self._meet_combination(demand, among)
        if not isinstance(demand, Words) and demand.column == FULLTEXT and self.index.fulltext is None:
            demand = replace(demand, column="abstract")  # of a passage
        if isinstance(demand, Words):
            met = self._with_words(demand.text, among)
            return self._or_in_full_texts(met, among, lambda inner, scope: inner._with_words(demand.text, scope))
        if demand.column in IN_FULL_TEXTS and self.index.fulltext is not None and demand.column not in self.index.columns.names:
            there = replace(demand, column=IN_FULL_TEXTS[demand.column], absent=False)
            met = self._or_in_full_texts(None, among, lambda inner, scope: inner._meet(there, scope))
            return _others(among, met) if demand.absent else met
        if isinstance(demand, Near) or demand.column in (None, *TEXT_COLUMNS):
            met = self._with_text(demand, among)
            if demand.column is None:
                met = self._or_in_full_texts(met, among, lambda inner, scope: inner._with_text(demand, scope))
            return _others(among, met) if demand.absent else met
        if demand.column in NAMED and (typed := typed_names(demand.text)) != [[]]:
            met = self._with_name(demand.column, typed, among)
            return _others(among, met) if demand.absent else met
        are_numbers = filters.names_numbers(demand.text) and self._is_of_numbers(demand.column)
        wanted = filters.TypedCondition(demand.column, demand.text, are_numbers)
        passes, undecided = self.judge(Combination("NOT", (wanted,)) if demand.absent else wanted)
        return among.passing(passes, among.kept(undecided))

    def _meet_combination(self, combination: Combination[Leaf], among: Scope) -> Scope | None:
        """Papers that meet a combination. Each part is checked only for papers that it can still decide, and parts that read texts come
        last. An OR of many phrases reads the texts once."""
        parts = sorted(combination.parts, key=self._reads_texts)
        if combination.operator == "NOT":
            return _others(among, self._meet(parts[0], among))
        together: dict[tuple[str, ...], list[Phrase]] = {}
        if combination.operator == "OR":
            together, parts = self._read_together(parts)
        said = False
        remaining, undecided = among, NO_ROWS
        for part in parts:
            met = self._meet_undecided(part, remaining) if combination.operator == "AND" else self._meet(part, remaining)
            if met is not None:
                said = True
                undecided = union(undecided, met.undecided)
                remaining = met if combination.operator == "AND" else remaining.passing(~met.flags)
        for columns, phrases in together.items():
            for first in range(0, len(phrases), READ_TOGETHER):
                said = True
                either = Either(tuple(phrases[first : first + READ_TOGETHER]))
                met = self._with_sought(either, columns, remaining)
                if columns == TEXT_COLUMNS:
                    met = self._or_in_full_texts(met, remaining, partial(_with_either, either)) or met
                remaining = remaining.passing(~met.flags)
        if not said:
            return None
        if combination.operator == "AND":
            return remaining
        passes = ~remaining.flags
        return among.passing(passes, undecided[~passes[undecided]])

    def _or_in_full_texts(self, met: Scope | None, among: Scope, meet: Callable[[Narrower, Scope], Scope | None]) -> Scope | None:
        """Papers that meet a demand by themselves, and those of a scope with a passage that meets it."""
        full_text = self.index.fulltext
        passages = None if full_text is None else meet(Narrower(full_text.halves), full_text.scope(among))
        if full_text is None or passages is None:
            return met
        by_passages = among.among(full_text.owners[passages.places])
        return by_passages if met is None else by_passages.with_rows(met.places)

    def meeting_passages(self, demands: Iterable[Expression], among: Scope) -> list[Rows]:
        """For each text that papers should have, the rows of the passages that have it, of the papers in a scope."""
        full_text = self.index.fulltext
        if full_text is None:
            return []
        inner, scope = Narrower(full_text.halves), full_text.scope(among)
        rows = []
        for leaf in (leaf for demand in demands for leaf in wanted(demand)):
            if not isinstance(leaf, Words) and leaf.column in IN_FULL_TEXTS:
                leaf = replace(leaf, column=IN_FULL_TEXTS[leaf.column])
            if isinstance(leaf, Words) or leaf.column in (None, *IN_FULL_TEXTS.values()):
                met = inner._meet(leaf, scope)
                rows += [] if met is None else [met.places]
        return rows

    def _read_together(self, parts: Sequence[Expression]) -> tuple[dict[tuple[str, ...], list[Phrase]], list[Expression]]:
        """Split parts into phrases that need all texts to be read, such as child*, by their columns, and other parts."""
        together: dict[tuple[str, ...], list[Phrase]] = {}
        others: list[Expression] = []
        for part in parts:
            is_text = isinstance(part, Demand) and part.column in (None, *TEXT_COLUMNS) and not part.absent
            looked_for = sought(part) if is_text and isinstance(part, Demand) else None
            if isinstance(part, Demand) and isinstance(looked_for, Phrase) and (self.index.bm25 is None or not self._terms_of(looked_for)):
                together.setdefault(TEXT_COLUMNS if part.column is None else (part.column,), []).append(looked_for)
            else:
                others.append(part)
        return together, others

    def _reads_texts(self, demand: Expression) -> bool:
        """Whether a demand can only be decided by reading texts."""
        if isinstance(demand, Combination):
            return any(map(self._reads_texts, demand.parts))
        if isinstance(demand, Demand) and demand.column not in (None, *TEXT_COLUMNS):
            return False
        if self.index.bm25 is None or isinstance(demand, Near):
            return True
        if isinstance(demand, Words):
            return bool(self._without_terms(demand.text))
        return sought(demand) is not None

    def is_without_terms(self, leaf: Leaf) -> bool:
        """Whether a paper may meet a demand on title and abstract without containing any of its terms, as with C++, 2-2 and child*."""
        if isinstance(leaf, Words):
            return bool(self._without_terms(leaf.text))
        looked_for = sought(leaf) if isinstance(leaf, Near) or leaf.column in (None, *TEXT_COLUMNS) else None
        return looked_for is not None and not self._terms_of(looked_for)

    def _terms_of(self, looked_for: Sought) -> set[str]:
        """Terms that every matching paper contains."""
        analyzer = self.index.analyzer
        return {term for word in looked_for.words(analyzer.form) for term in analyzer.terms(word)}

    def judge(self, expression: filters.Expression) -> tuple[Mask, Rows]:
        """Rows that pass a filter, (rows,), and rows for which it is undefined. Deleted papers are ignored.

        Raises:
            UnknownName: the filter names a column that the papers lack.
            InvalidRequest: the filter's comparison fits none of a column's values.
        """
        names = self.index.columns.names
        kinds = {name: self._kinds(name) for name in filters.columns(expression)}
        for name in sorted(kinds):
            place = place_of(names, name)
            if place is None or (place[1] and not kinds[name]):
                raise UnknownName("column in the filter", name, [*names, *dotted_names(self.index.columns)])
        schema = {name: [kind for kind in of_shards if not pa.types.is_null(kind)] for name, of_shards in kinds.items()}
        for leaf in leaves(expression):
            leaf.check(schema)
        for condition in filters.comparisons(expression):
            if condition.quotes_numbers and self._is_of_numbers(condition.column):
                raise condition.incomparable(pa.float64())
        verdicts = [self._verdicts(expression, shard) for shard in self.index.shards]
        passes = np.concatenate([np.empty(0, bool), *(passes for passes, _ in verdicts)])
        undecided = np.flatnonzero(np.concatenate([np.empty(0, bool), *(undecided for _, undecided in verdicts)]))
        if len(undecided):
            for condition in filters.comparisons(expression):
                self._check_compares(condition)
        return passes, undecided

    def _verdicts(self, expression: filters.Expression, shard: Shard) -> tuple[Mask, Mask]:
        """Papers of a shard that pass a filter, and undeleted papers for which it is undefined."""
        if not len(shard.scope):
            return np.zeros(shard.papers, bool), np.zeros(shard.papers, bool)
        passes, undecided = filters.decide(filters.evaluate(expression, self._values(shard, filters.columns(expression))))
        return passes, undecided & shard.scope.flags

    def _check_compares(self, condition: filters.Condition) -> None:
        """Raise InvalidRequest if a condition compares with no value of any paper."""
        missing = filters.Condition(condition.column, "is null", ())
        for shard in self.index.shards:
            _, undecided = self._verdicts(condition, shard)
            is_missing, _ = self._verdicts(missing, shard)
            if (~undecided & ~is_missing & shard.scope.flags).any():
                return
        raise condition.incomparable(self._kinds(condition.column)[0])

    def _values(self, shard: Shard, names: Collection[str]) -> dict[str, Any]:
        """Columns of a shard's papers, or fields within them, in the shard's types; nulls for a column that the shard lacks."""
        places = {name: place for name in names if (place := place_of(shard.schema.names, name)) is not None}
        table = shard.columns(sorted({column for column, _ in places.values()}))
        values = {name: within(table[column], fields) for name, (column, fields) in places.items()}
        return {name: pa.nulls(shard.papers) if values.get(name) is None else values[name] for name in names}

    def _kinds(self, name: str) -> list[pa.DataType]:
        """Types of a column, or of a field within it, in the shards, the type of most papers first; null if it has no values."""
        kinds: Counter[pa.DataType] = Counter()
        for shard in self.index.shards:
            place = place_of(shard.schema.names, name) if len(shard.scope) else None
            if place is not None:
                kind = shard.schema.field(place[0]).type
                # JSON texts must be read to know their fields
                found = shard.columns(place[:1])[place[0]] if place[1] and is_text(kind) else pa.chunked_array([], kind)
                if (values := within(found, place[1])) is not None:
                    kinds[values.type] += len(shard.scope)
        return [kind for kind, _ in kinds.most_common()]

    def _is_of_numbers(self, column: str) -> bool:
        """Whether a column contains texts, and yet most of its values are numbers or numeric texts."""
        if not any(map(is_text, self._kinds(column))):
            return False
        numbers = values = 0
        for shard in self.index.shards:
            array = self._values(shard, [column])[column]
            array = array.values if isinstance(array, Elements) else array.filter(booleans(shard.scope.flags))
            numbers += numbers_among(array)
            values += len(array) - array.null_count
        return 2 * numbers > values

    def _with_words(self, text: str, among: Scope) -> Scope | None:
        """Papers in a scope that contain all words of a text in title and abstract; None for stop words alone."""
        words, others = self.index.analyzer.spellings(text), self._without_terms(text)
        if not words and not others:
            return None
        among = self._with_spellings(words, among)
        for word in others:
            among = self._with_sought(word, TEXT_COLUMNS, among)
        return among

    def _with_spellings(self, words: Sequence[Sequence[set[str]]], among: Scope) -> Scope:
        """Papers in a scope that contain each word in at least one of its spellings."""
        for ways in _looked_up(words):
            among = self._with_any_way(ways, among)
        return among

    def _without_terms(self, text: str) -> list[Sought]:
        """Words of a text that are neither terms nor stop words, such as C++ and 7. They are searched for literally."""
        analyzer = self.index.analyzer
        words = [word for word in text.split() if not analyzer.spellings(word) and not STOPWORDS.issuperset(analyzer.words(word))]
        in_names = greek.parts_apart(text) if words and analyzer.form > 3 else ()  # the 1 of IL 1 β
        texts = (exactly(word) for word in words if analyzer.fold(word) not in in_names)
        return [one for one in texts if one is not None]

    def _with_any_way(self, ways: Sequence[set[str]], among: Scope, column: str | None = None) -> Scope:
        """Papers in a scope that contain all terms of one of a word's spellings, in a column, or if None in title and abstract."""
        if (bm25 := self.index.bm25) is not None:
            return among.among(np.concatenate([bm25.rows_with(terms, column) for terms in ways]))
        analyzer, columns = self.index.analyzer, TEXT_COLUMNS if column is None else (column,)
        rows: list[int] = []
        for table_rows, table in self._texts(among.places, columns):
            texts = zip(*(table[name].to_pylist() for name in columns), strict=True)
            terms_of = (set(analyzer.terms("\n".join(parts))) for parts in texts)
            rows += [row for row, terms in zip(table_rows.tolist(), terms_of, strict=True) if any(map(terms.issuperset, ways))]
        return among.among(np.array(rows, np.int64))

    def _with_name(self, column: str, typed: Sequence[Sequence[str]], among: Scope) -> Scope:
        """Papers in a scope that have an author or a venue of this name, in any reading of the name."""
        bm25 = self.index.bm25
        if bm25 is None or (column == "authors" and all(map(is_initial, typed[0]))):
            rows = among.places
        else:
            rows = np.unique(np.concatenate([_rows_named(bm25, column, words) for words in typed]))
            if column == "venue" or all(len(words) == 1 and not is_initial(words[0]) for words in typed):
                return among.among(rows)
            rows = among.kept(rows)
        parts = [np.empty(0, np.int64)]
        for shard, _, shard_rows in by_shard(rows, self.index.shards):
            for paper_rows, table in shard.read_at(shard_rows, [column]):
                parts.append(paper_rows[named(column, table[column], typed)] + shard.first)
        return among.among(np.concatenate(parts))

    def _with_text(self, demand: Demand | Near, among: Scope) -> Scope | None:
        """Papers in a scope that contain a demand's text; None for a stop word, and if nothing in the text can be searched for."""
        looked_for = sought(demand)
        if looked_for is not None:
            return self._with_sought(looked_for, TEXT_COLUMNS if demand.column is None else (demand.column,), among)
        terms = set(self.index.analyzer.terms(demand.text))
        return self._with_any_way([terms], among, demand.column) if terms else None

    def _with_sought(self, looked_for: Sought, columns: Sequence[str], among: Scope) -> Scope:
        """Papers in a scope that contain a text in one of the columns. Only papers that contain all of its terms are read."""
        bm25, terms = self.index.bm25, self._terms_of(looked_for)
        if not terms and isinstance(looked_for, Phrase):
            key = ("".join(piece[0] for piece in looked_for.pieces), *columns)
            if key in self._remembered or 2 * len(among) > len(self.index.scope):
                return among.among(self._with_phrase(looked_for, columns, key))
        rows = among.places
        if bm25 is not None and terms:
            rows = among.kept(bm25.rows_with(terms, None if len(columns) > 1 else columns[0]))
        return among.among(self._rows_having(looked_for, columns, rows))

    def _with_phrase(self, phrase: Phrase, columns: Sequence[str], key: tuple[str, ...]) -> Rows:
        """Rows of all papers that contain a phrase without terms, such as a single character. The result is remembered."""
        rows = self._remembered.pop(key, None)
        if rows is None:
            rows = self._rows_having(phrase, columns, self.index.scope.places)
        self._remembered[key] = rows
        for oldest in list(self._remembered)[:-PHRASES_REMEMBERED]:
            self._remembered.pop(oldest, None)
        return rows

    @once
    def _remembered(self) -> dict[tuple[str, ...], Rows]:
        return {}

    def _rows_having(self, looked_for: Sought, columns: Sequence[str], rows: Rows) -> Rows:
        """The given rows whose papers contain a text in one of the columns."""
        parts = [NO_ROWS]
        for table_rows, table in self._texts(rows, columns):
            parts.append(table_rows[np.any([having(looked_for, table[name]) for name in columns], axis=0)])
        return np.concatenate(parts)

    def _texts(self, rows: Rows, columns: Sequence[str]) -> Iterable[tuple[Rows, pa.Table]]:
        """Columns of the papers at the given rows, ascending, part by part, with the rows of each part."""
        for shard, _, shard_rows in by_shard(rows, self.index.shards):
            for paper_rows, table in shard.read_at(shard_rows, columns):
                yield paper_rows + shard.first, table


def _looked_up(words: Sequence[Sequence[set[str]]]) -> Iterator[Sequence[set[str]]]:
    """Alternative sets of terms, one for each lookup of words with their spellings. Words with a single spelling are looked up together."""
    if certain := set().union(*(ways[0] for ways in words if len(ways) == 1)):
        yield [certain]
    yield from (ways for ways in words if len(ways) > 1)


def _rows_named(bm25: Bm25, column: str, words: Sequence[str]) -> Rows:
    """Candidate rows for an author, or matching rows for a venue, with these words, ascending."""
    if column == "venue":
        return bm25.rows_with(words, column)
    whole = [word for word in words if not is_initial(word)]
    same = {word: bm25.rows_with([word], column) for word in whole}
    rows = np.unique(np.concatenate([*same.values()]))
    for word in whole:
        short = bm25.rows_with([word[0]], column) if is_initial(word[0]) else NO_ROWS
        rows = rows[np.isin(rows, same[word]) | np.isin(rows, short)]
    return rows


def _with_either(either: Either, narrower: Narrower, among: Scope) -> Scope:
    return narrower._with_sought(either, TEXT_COLUMNS, among)


def _others(among: Scope, met: Scope | None) -> Scope | None:
    """Papers in a scope that certainly do not meet the demand."""
    return None if met is None else among.passing(~met.flags, met.undecided).without(met.undecided)
