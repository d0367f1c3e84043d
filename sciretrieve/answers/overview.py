"""Summaries of an answer: the values of a column in its papers, and the groups that they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dense.vectors import vectors_at
from ..errors import InvalidRequest, UnknownName
from ..index import Index
from ..runs import WEAK, Run
from ..schema import concat, integers
from ..sharding import by_shard
from ..types import Paper, Rows
from .clustering import clusters
from .explaining import typed_words
from .faceting import Facet, facets

FACET_DEPTH = 1000
"""How many of the first papers facets count."""
CLUSTER_DEPTH = 200
"""How many of the first papers are grouped."""


@dataclass(frozen=True, slots=True)
class Group:
    """Papers of an answer that belong together, best ranked first, and up to three words for what they are about."""

    label: tuple[str, ...]
    papers: tuple[Paper, ...]


def matching(index: Index, run: Run) -> Rows:
    """The papers of the first query's answer that match it, in their order: those with a word of the query, if words were
    searched and any paper has one; else those near it, if the index can tell; else the whole answer."""
    ranking = run.rankings[0]
    shares_word = np.isfinite(ranking.parts["bm25"]) if "bm25" in ranking.parts else np.zeros(len(ranking), bool)
    if shares_word.any() or ranking.listing:
        return ranking.rows[shares_word | ranking.listing]
    scale = index.scale
    if scale is None or "dense" not in ranking.parts:
        return ranking.rows
    return ranking.rows[[scale.strength(score) >= WEAK for score in ranking.parts["dense"].tolist()]]


def facets_of(index: Index, run: Run, columns: Sequence[str]) -> list[Facet]:
    """Counts of values among the first query's answers that match it. Raises UnknownName, InvalidRequest."""
    for name in columns:
        if name not in index.columns.names:
            raise UnknownName("column in --facets", name, index.columns.names)
    rows = matching(index, run)
    tables = []
    column_names = list(dict.fromkeys(["id", *columns]))  # a table without columns would lose its number of rows
    for shard, _, shard_rows in by_shard(rows, index.shards):
        tables.append(shard.columns(column_names).take(integers(shard_rows)))
    return facets(concat(tables), columns) if tables else facets(index.columns.empty_table(), columns)


def clusters_of(index: Index, run: Run) -> list[Group]:
    """Groups among the first query's answers that match it, labelled by their words.

    Raises:
        InvalidRequest: the index has no vectors to group by, or no BM25 terms for labels.
    """
    if not index.vectors or index.bm25 is None:
        raise InvalidRequest(f"{index.path} needs vectors and BM25 to group papers; build it without --dense none and --no-lexical")
    rows = matching(index, run)
    papers = index.papers_at(rows)
    forms: dict[str, Counter[str]] = {}
    terms = []
    for paper in papers:
        words = typed_words(index.analyzer, f"{paper.title} {paper.abstract}")
        terms.append(set(words))
        for term, word in words.items():
            forms.setdefault(term, Counter())[word] += 1
    query_terms = set(index.analyzer.terms(run.rankings[0].query.words))
    # the query's words do not distinguish groups, and neither do numbers
    word_of_term = {
        term: min(forms[term], key=lambda word: (-forms[term][word], len(word), word))
        for term in forms
        if term not in query_terms and not any(char.isdigit() for char in term) and len(term) > 2
    }
    parts = clusters(vectors_at(index.vectors, rows), terms, word_of_term)
    return [Group(part.label, tuple(papers[place] for place in part.members)) for part in parts]
