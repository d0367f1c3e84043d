"""Pairs of papers and labels, after SciMult (Zhang et al. 2023, section 3.4 and appendix A.1).

A hard negative comes from a near paper: one that the paper cites, that shares an author with it, or that is of its venue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from ..errors import InvalidRequest
from ..evaluation.builders.cited_corpus import read_collection
from ..evaluation.builders.negatives import shuffled
from ..papers.corpora import Corpus
from ..query.citations import Graph, reference_columns
from ..types import Rows
from .forms import LABEL
from .pair_recipes import PAIR_RECIPES, Drawn, Pair, PairRecipe, PairRequest
from .set_folder import Doc
from .training_papers import LABELS, read_library

MOST_PAIRS = 100
"""Pairs that a label is in at most, so that general labels do not overwhelm (Zhang et al. 2023, appendix A.1)."""
DRAWS = 1000
"""Near papers of a kind that are looked at, at most, in search of one with another label."""
CITED, AUTHOR, VENUE = "cited", "same author", "same venue"
"""How a negative's paper is near; which of them is tried first is drawn by chance, since a venue has the most papers by far."""


@dataclass(frozen=True)
class Neighbours:
    """Who is near whom, by row: who cites whom, and rows by author and by venue."""

    graph: Graph | None
    authors: Sequence[Sequence[str]]
    venues: Sequence[str]
    by_author: Mapping[str, Sequence[int]]
    by_venue: Mapping[str, Rows]

    def papers(self, row: int, chance: Random) -> Iterator[tuple[int, str]]:
        """Near papers in an order of chance, kind by kind, with how they are near."""
        sources: dict[str, Rows] = {}
        if self.graph is not None:
            sources[CITED] = self.graph.cites(row)
        others = {other for author in self.authors[row] for other in self.by_author[author]}
        sources[AUTHOR] = np.array(sorted(others), np.int64)
        if self.venues[row]:
            sources[VENUE] = self.by_venue[self.venues[row]]
        for kind in chance.sample(sorted(sources), len(sources)):
            yield from ((other, kind) for other in islice(shuffled(sources[kind], chance), DRAWS) if other != row)


def _read_near(corpus: Corpus, request: PairRequest) -> Neighbours:
    authors: list[tuple[str, ...]] = []
    venues: list[str] = []
    is_asked = request.settings.references is not None or request.settings.citations is not None
    has_references = is_asked
    for batch in corpus.batches():
        authors += [tuple(dict.fromkeys(name.lower() for name in names or () if name)) for names in batch.papers["authors"].to_pylist()]
        venues += [(venue or "").lower() for venue in batch.papers["venue"].to_pylist()]
        has_references = has_references or bool(reference_columns(batch.papers.schema))
    graph: Graph | None = None
    try:
        if has_references:
            collection = read_collection(corpus, request.settings)
            request.progress.note(collection.notes[0])
            graph = collection.graph
    except InvalidRequest as error:  # a column of references may name other papers alone
        if is_asked:
            raise
        request.progress.note(f"no paper is near for being cited: {error}")
    by_author: dict[str, list[int]] = {}
    by_venue: dict[str, list[int]] = {}
    for row, (names, venue) in enumerate(zip(authors, venues, strict=True)):
        for name in names:
            by_author.setdefault(name, []).append(row)
        by_venue.setdefault(venue, []).append(row)
    arrays = {venue: np.array(rows, np.int64) for venue, rows in by_venue.items()}
    return Neighbours(graph, authors, venues, by_author, arrays)


def _draw(request: PairRequest, *, to_labels: bool) -> Drawn:
    """Pairs of a paper and a label of it, either of them the query. The negative is a label that a near paper has and the paper has not;
    or a near paper that has labels, but not this one."""
    corpus, seed = request.corpus(), request.settings.seed
    library = read_library(corpus, request.held_out, LABELS, request.column)
    request.progress.note(f"labels are read from {library.column!r}")
    near = _read_near(corpus, request)
    labels: dict[int, tuple[str, ...]] = {
        row: value
        for row, (value, is_usable) in enumerate(zip(library.values, library.is_usable.tolist(), strict=True))
        if is_usable and value
    }
    rows_of: dict[str, list[int]] = {}
    chosen = request.some([library.ids[row] for row in labels])
    row_of = {library.ids[row]: row for row in labels}
    tested = {label for value in labels.values() for label in value if request.held_out.has_text(label)}
    for id in chosen:
        for label in labels[row_of[id]]:
            if label not in tested:
                rows_of.setdefault(label, []).append(row_of[id])
    kept = {label: Random(f"{seed} {label}").sample(rows, min(MOST_PAIRS, len(rows))) for label, rows in sorted(rows_of.items())}
    pairs: list[Pair] = []
    for row, label in sorted((row, label) for label, rows in kept.items() for row in rows):
        chance = Random(f"{seed} {library.ids[row]} {label}")
        paper, name = library.ids[row], f"{LABEL}{label}"
        near_papers = ((other, kind) for other, kind in near.papers(row, chance) if other in labels)
        if to_labels:
            others = ((sorted({*labels[other]} - {*labels[row]} - tested), kind) for other, kind in near_papers)
            found: Any = next(((chance.choice(names), kind) for names, kind in others if names), None)
            pairs.append(Pair(paper, Doc(name), Doc(f"{LABEL}{found[0]}"), found[1]) if found else Pair(paper, Doc(name)))
        else:
            found = next(((other, kind) for other, kind in near_papers if label not in labels[other]), None)
            pairs.append(Pair(name, Doc(paper), Doc(library.ids[found[0]]), found[1]) if found else Pair(name, Doc(paper)))
    named = {doc.id for pair in pairs for doc in (pair.positive, pair.negative) if doc} | {pair.query for pair in pairs}
    all_labels = {f"{LABEL}{label}": label for label in sorted({*kept, *(name for value in labels.values() for name in value)})}
    used = {id: label for id, label in all_labels.items() if id in named}
    relevant: dict[str, set[str]] = {}
    for row, value in labels.items():
        for label in value:
            relevant.setdefault(f"{LABEL}{label}", set()).add(library.ids[row])
    return Drawn(
        pairs,
        {} if to_labels else used,
        lambda: (paper[1:] for paper in library.texts()),
        corpus,
        library.left_out + len(tested),
        {library.ids[row] for row in labels},
        relevant,
        used if to_labels else {},
    )


def _recipe(*, to_labels: bool) -> Callable[[PairRequest], Drawn]:
    def draw(request: PairRequest) -> Drawn:
        return _draw(request, to_labels=to_labels)

    return draw


SCIMULT = "Zhang et al. 2023, section 3.4 and appendix A.1"
RECIPES: Mapping[str, PairRecipe] = {
    **PAIR_RECIPES,
    "scimult-labels": PairRecipe("a paper, and a label of it", SCIMULT, _recipe(to_labels=True)),
    "label-papers": PairRecipe("a label, and a paper of it", SCIMULT, _recipe(to_labels=False)),
}
"""All recipes of pairs."""
