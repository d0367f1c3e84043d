"""Summaries of an answer: the values of a column in its papers, and the groups that they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.errors import InvalidRequest
from ..base.types import Mask, Paper, Rows
from ..files.schema import concat, integers
from ..matching.lexical.name_terms import field_terms
from ..matching.lexical.written import commonest_forms
from ..matching.sharding import by_shard
from ..query.index import Index
from ..runs import WEAK, Ranking, Run
from .clustering import clusters
from .explaining import typed_words
from .faceting import Facet, counted_column, facets

CLUSTER_DEPTH = 200
"""How many of the first papers are grouped."""


@dataclass(frozen=True, slots=True)
class Group:
    """Papers of an answer that belong together, best ranked first, up to three words for what they are about, and the papers' places among
    those that were grouped."""

    label: tuple[str, ...]
    papers: tuple[Paper, ...]
    places: tuple[int, ...]


def matching(index: Index, run: Run) -> Rows:
    """The papers of the first query's answer that match it, in their order.

    A paper matches if, by inverse document frequency, it has more than half as much of the query's words as the paper that has the most,
    or if it is as near in meaning as an answer must be that is not weak, or if citations link it, or the query names it. All papers of a
    listing match, and where none of this can be told, those that share a word, or else all.
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
    """Which papers have enough of the query's words; nothing if no words were searched for, or no paper has any."""
    if index.snapshot.bm25 is None or "bm25" not in ranking.parts:
        return
    words = " ".join([ranking.query.words, *ranking.corrections.values()])
    terms = dict.fromkeys(index.snapshot.analyzer.terms(words), 1.0)
    covered = index.snapshot.bm25.covered_rarity(terms, ranking.rows, field_terms(index.snapshot.bm25, index.snapshot.analyzer, words))
    if covered.any():
        yield covered > covered.max() / 2


def facets_of(index: Index, run: Run, columns: Sequence[str]) -> list[Facet]:
    """Counts of values among the first query's answers that match it. Raises UnknownName, InvalidRequest."""
    return facets_at(index, matching(index, run), columns)


def facets_at(index: Index, rows: Rows, columns: Sequence[str]) -> list[Facet]:
    """Counts of values among the papers at some rows, see `faceting.facets`. Raises as it does."""
    names = [counted_column(name, index.snapshot.columns.names)[0] for name in columns]
    tables = []
    column_names = list(dict.fromkeys(["id", *names]))  # a table without columns would lose its number of rows
    for shard, _, shard_rows in by_shard(rows, index.snapshot.shards):
        tables.append(shard.columns(column_names).take(integers(shard_rows)))
    return facets(concat(tables), columns) if tables else facets(index.snapshot.columns.empty_table(), columns)


def clusters_of(index: Index, run: Run) -> list[Group]:
    """Groups among the first query's answers that match it, labelled by their words.

    Raises:
        InvalidRequest: the index has no vectors to group by, or no BM25 terms for labels.
    """
    return groups_at(index, matching(index, run), run.rankings[0].query.words)


def groups_at(index: Index, rows: Rows, words: str) -> list[Group]:
    """Groups of the papers at some rows, which are answers to these words. Raises as `clusters_of`."""
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
    # the query's words do not distinguish groups, and neither do numbers
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
