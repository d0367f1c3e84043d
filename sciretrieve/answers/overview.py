"""An answer seen from above: what its papers have in a column, and what groups they fall into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..dense.vectors import at
from ..errors import InvalidRequest, UnknownName
from ..index import Index
from ..runs import Run
from ..schema import concat, integers
from .clustering import Cluster, clusters
from .explaining import typed_words
from .faceting import Facet, facets

FACETED = 1000
"""How many of the first papers facets count."""
CLUSTERED = 200
"""How many of the first papers are grouped."""


def facets_of(index: Index, run: Run, columns: Sequence[str]) -> list[Facet]:
    """Counts of values among the papers of the first query's answer. Raises UnknownName, InvalidRequest."""
    for name in columns:
        if name not in index.columns.names:
            raise UnknownName("column in --facets", name, index.columns.names)
    rows = run.rankings[0].rows
    tables = []
    read = list(dict.fromkeys(["id", *columns]))  # a table without columns would forget how many rows are taken of it
    for shard in index.shards:
        own = rows[(rows >= shard.first) & (rows < shard.first + len(shard))]
        tables.append(shard.columns(read).take(integers(own - shard.first)))
    return facets(concat(tables), columns)


def clusters_of(index: Index, run: Run) -> list[Cluster]:
    """Groups among the papers of the first query's answer, labelled by their words; members are positions in the ranking.

    Raises:
        InvalidRequest: the index has no vectors to group by, or no BM25 whose terms could label.
    """
    if not index.vectors or index.bm25 is None:
        raise InvalidRequest(f"{index.path} needs vectors and BM25 to group papers; build it without --dense none and --no-lexical")
    ranking = run.rankings[0]
    found = index.papers_at(ranking.rows)
    forms: dict[str, Counter[str]] = {}
    terms = []
    for paper in found:
        words = typed_words(index.analyzer, f"{paper.title} {paper.abstract}")
        terms.append(set(words))
        for term, word in words.items():
            forms.setdefault(term, Counter())[word] += 1
    asked = set(index.analyzer.terms(ranking.query.words))
    # what was asked for tells no group from another; neither does a number
    shown = {
        term: min(forms[term], key=lambda word: (-forms[term][word], len(word), word))
        for term in forms
        if term not in asked and not any(char.isdigit() for char in term) and len(term) > 2
    }
    return clusters(at(index.vectors, np.asarray(ranking.rows)), terms, shown)
