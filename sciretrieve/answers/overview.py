"""Summaries of an answer: facets, which count the values of columns, and groups of papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.errors import InvalidRequest, UnknownName
from ..base.forms import AsJson
from ..base.types import Mask, Paper, Rows, TotalIs
from ..files.schema import concat, in_one_form, integers, is_list, is_text, owners_of
from ..matching.lexical.written import commonest_forms
from ..matching.sharding import by_shard
from ..query.index import Index
from ..runs import WEAK, Ranking, Run
from .clustering import clusters
from .explaining import typed_words

FACET_DEPTH = 1000
"""First papers of a ranking that facets examine when they count matches."""
USUAL = 10
"""Default number of values in a facet."""
DIGITS = 9
"""Most digits in a requested number of values."""
IN_ORDER = "year"
"""The column whose values are sorted by value."""
CLUSTER_DEPTH = 200
"""First papers that are grouped."""


@dataclass(frozen=True, slots=True)
class Facet(AsJson):
    """The most frequent values of a column with their numbers of papers; years are sorted by year.

    `others` is the number of further distinct values, `missing` the number of papers without a value, `papers` the number of papers
    counted. `papers_are` says which papers these are: all that an answer's total counts, by its `total_is`, or the first papers of a
    ranking that "match".
    """

    column: str
    values: tuple[tuple[str | int | float | bool, int], ...]
    others: int
    missing: int
    papers: int
    papers_are: TotalIs | Literal["match"] = "match"


@dataclass(frozen=True, slots=True)
class Group(AsJson):
    """A group of papers, best ranked first, with up to three words as a label and the papers' positions among the grouped papers."""

    label: tuple[str, ...]
    papers: tuple[Paper, ...]
    places: tuple[int, ...]


def matching(index: Index, run: Run) -> Rows:
    """Rows of the first query's papers that match it, in order.

    A paper matches in any of these cases: its share of the query's words, by inverse document frequency, is more than half of the greatest
    share; its vector is close enough for an answer that is not weak; citations link it; or the query names it. In a listing all papers
    match. If none of this is available, the papers that share a word match, or else all.
    """
    ranking = run.rankings[0]
    masks = [*_by_words(index, ranking)]
    if "dense" in ranking.parts and (scale := index.snapshot.scale) is not None:
        masks.append(scale.strength(ranking.parts["dense"]) >= WEAK)
    if "citations" in ranking.parts:
        masks.append(np.isfinite(ranking.parts["citations"]))
    if masks and not ranking.listing:
        is_named = np.array([id in ranking.known for id in ranking.ids], bool)
        return ranking.rows[np.any([*masks, is_named], axis=0)]
    shares_word = np.isfinite(ranking.parts["bm25"]) if "bm25" in ranking.parts else np.zeros(len(ranking), bool)
    return ranking.rows[shares_word] if shares_word.any() and not ranking.listing else ranking.rows


def _by_words(index: Index, ranking: Ranking) -> Iterator[Mask]:
    """Which papers share enough of the query's words; nothing if the query has no words, or no paper has any."""
    if index.snapshot.bm25 is None or "bm25" not in ranking.parts:
        return
    words = " ".join([ranking.query.words, *ranking.corrections.values()])
    terms = dict.fromkeys(index.snapshot.analyzer.terms(words), 1.0)
    covered = index.snapshot.bm25.covered_rarity(terms, ranking.rows, index.reader.names.in_fields(words))
    if covered.any():
        yield covered > covered.max() / 2


def facets_of(index: Index, run: Run, columns: Sequence[str]) -> list[Facet]:
    """Facets over the papers of the first query's answer that match it. Raises UnknownName, InvalidRequest."""
    return facets_at(index, matching(index, run), columns)


def facets_at(index: Index, rows: Rows, columns: Sequence[str]) -> list[Facet]:
    """Facets over the papers at the given rows. Raises as `facets`."""
    names = [counted_column(name, index.snapshot.columns.names)[0] for name in columns]
    column_names = list(dict.fromkeys(["id", *names]))  # a table without columns would lose its number of rows
    tables = [shard.columns(column_names).take(integers(at)) for shard, _, at in by_shard(rows, index.snapshot.shards)]
    return facets(concat(tables) if tables else index.snapshot.columns.empty_table(), columns)


def clusters_of(index: Index, run: Run) -> list[Group]:
    """Groups of the papers of the first query's answer that match it, with labels.

    Raises:
        InvalidRequest: the index has no vectors for grouping, or no BM25 terms for labels.
    """
    return groups_at(index, matching(index, run), run.rankings[0].query.words)


def groups_at(index: Index, rows: Rows, words: str) -> list[Group]:
    """Groups of the papers at the given rows, which are an answer to these words. Raises as `clusters_of`."""
    if not index.snapshot.vectors or index.snapshot.bm25 is None:
        raise InvalidRequest(f"{index.path} needs vectors and BM25 to group papers; build it with both")
    papers = index.snapshot.papers_at(rows)
    forms: dict[str, Counter[str]] = {}
    terms = []
    for paper in papers:
        typed = typed_words(index.snapshot.analyzer, f"{paper.title} {paper.abstract}")
        terms.append(set(typed))
        for term, word in typed.items():
            forms.setdefault(term, Counter())[word] += 1
    query_terms = set(index.snapshot.analyzer.terms(words))
    # query words and numbers do not distinguish groups
    word_of_term = {
        term: min(forms[term], key=lambda word: (-forms[term][word], len(word), word))
        for term in forms
        if term not in query_terms and not any(char.isdigit() for char in term) and len(term) > 2
    }
    groups = []
    for part in clusters(index.snapshot.vectors_at(rows), terms, word_of_term):
        inside = [papers[place] for place in part.members]
        written = commonest_forms(index.snapshot.analyzer, (f"{paper.title} {paper.abstract}" for paper in inside), part.label)
        groups.append(Group(tuple(written[word] for word in part.label), tuple(inside), part.members))
    return groups


def facets(papers: pa.Table, names: Sequence[str], most: int = USUAL) -> list[Facet]:
    """Count the values of columns in a table of papers. Keeps up to `most` values per column, or as many as a name such as "year:50" says.

    The greatest count comes first, ties by number or alphabet. The most frequent years are kept, too, but sorted by year. Each value in a
    list counts once per paper. Null, NaN and a list without other values are missing. Dates, times and decimals count as text.

    Raises UnknownName for a missing column, and InvalidRequest for a column of structs, maps, binary data, durations or lists of lists, and
    for zero values.
    """
    asked = [counted_column(name, papers.column_names, most) for name in names]
    return [_facet(column, papers[column], count) for column, count in asked]


def counted_column(name: str, columns: Collection[str], most: int = USUAL) -> tuple[str, int]:
    """Split a facet's name, as in year or year:50, into the column and the number of values to keep. Raises as `facets`."""
    column, colon, count = name.rpartition(":")
    if name in columns or not colon or not count.isdecimal():
        column, kept = name, most
    elif not (kept := int(count[:DIGITS])):
        raise InvalidRequest(f"a facet shows one value or more, so {name!r} shows none; write {column}:{USUAL}")
    if column not in columns:
        raise UnknownName("column in `facets`", column, columns)
    return column, kept


def _facet(name: str, column: pa.ChunkedArray, most: int) -> Facet:
    if is_list(column.type):
        owners, values = pa.chunked_array([integers(owners_of(column))]), pc.list_flatten(column)
    else:
        owners, values = None, column
    kind = _counted_as(values.type)
    if kind is None:
        raise InvalidRequest(
            f"the column {name!r} holds {column.type}; `facets` counts texts, numbers, dates, true or false, and lists of these"
        )
    try:
        values = values.cast(kind)
    except pa.ArrowInvalid:  # times in a zone unknown to Arrow are counted in UTC, as stored
        values = values.cast(pa.timestamp(values.type.unit, "UTC")).cast(kind)
    values = in_one_form(values) if is_text(kind) else values
    present = pc.invert(pc.is_null(values, nan_is_null=True))
    values = values.filter(present)
    papers_with_value = len(values)
    if owners is not None:
        values, papers_with_value = _once_a_paper(owners.filter(present), values)

    counts = pa.Table.from_struct_array(values.value_counts()).rename_columns(["value", "papers"])
    # only unstable for equal rows, and values are distinct
    commonest_counts = counts.take(pc.select_k_unstable(counts, k=most, sort_keys=[("papers", "descending"), ("value", "ascending")]))
    commonest = tuple(zip(commonest_counts["value"].to_pylist(), commonest_counts["papers"].to_pylist(), strict=True))
    if name == IN_ORDER:
        commonest = tuple(sorted(commonest))
    return Facet(name, commonest, len(counts) - len(commonest_counts), len(column) - papers_with_value, len(column))


def _once_a_paper(owners: pa.ChunkedArray, values: pa.ChunkedArray) -> tuple[pa.Array, int]:
    """`values` without repetitions within a paper, and the number of papers with a value."""
    # one number per paper and value; group_by, pa.scalar and to_numpy would import pandas, which takes 0.2 s
    dictionary_values = values.dictionary_encode().combine_chunks()
    size = max(1, len(dictionary_values.dictionary))
    pairs = _rows(owners.combine_chunks()) * size + _rows(dictionary_values.indices)
    return dictionary_values.dictionary.take(integers(_rows(pc.unique(integers(pairs))) % size)), len(pc.unique(owners))


def _rows(numbers: pa.Array) -> Rows:
    rows: Rows = np.from_dlpack(numbers).astype(np.int64, copy=False)
    return rows


def _counted_as(kind: pa.DataType) -> pa.DataType | None:
    """The type in which values of `kind` are counted and shown; None if they cannot be counted."""
    types = pa.types
    if types.is_dictionary(kind):
        return _counted_as(kind.value_type)
    if types.is_boolean(kind) or types.is_integer(kind):
        return kind
    if types.is_floating(kind):
        return pa.float64()
    # Arrow cannot count string views and all-null columns, so they are counted as text
    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)
    if texts or types.is_decimal(kind) or (types.is_temporal(kind) and not types.is_duration(kind)):
        return pa.string()
    return None
