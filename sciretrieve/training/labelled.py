"""Sets of papers with labels, to classify, or with numbers, to predict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest
from ..evaluation.builders.cited_corpus import read_collection
from ..papers.corpora import FIELDS, Attribute
from .forms import Doc
from .training_papers import (
    CITATIONS,
    KEYWORDS,
    NUMBER,
    VENUE,
    YEAR,
    DrawnSet,
    Recipe,
    SetRequest,
    TrainingPapers,
    texts_in,
)
from .triplets import without_papers


def drawn_labels(attribute: Attribute, request: SetRequest, most: int | None = None) -> DrawnSet:
    """Papers with the labels in a column; `most` keeps only the most frequent labels, None keeps all."""
    library = _read(request, attribute)
    counts = Counter(label for row, value in _usable(library) for label in value)
    kept = set(sorted(counts, key=lambda label: (-counts[label], label))[:most])
    if len(kept) < 2:
        raise InvalidRequest(f"{library.column!r} has {len(kept)} labels in papers with a title and an abstract; two are needed")
    labels = {row: [label for label in value if label in kept] for row, value in _usable(library)}
    papers = request.some([row for row, names in labels.items() if names])
    request.progress.note(f"{len(papers):,} papers with {len(kept):,} of {len(counts):,} labels, read from {library.column!r}")
    rows = [(library.ids[row], label) for row in papers for label in labels[row]]
    several = attribute is not VENUE or any(len(labels[row]) > 1 for row in papers)
    return _drawn(library, rows, {"labels": len({name for _, name in rows}), "several": several})


def drawn_targets(attribute: Attribute, request: SetRequest) -> DrawnSet:
    """Papers with the numbers in a column; for citations without a column, with the counts in the corpus."""
    if attribute is NUMBER and request.column is None:
        raise InvalidRequest("name the column with the number to predict, with `column`")
    settings = request.settings
    if attribute is CITATIONS and request.column is None and (settings.citations is not None or settings.references is not None):
        library = _with_citation_counts(request)
    else:
        library = _read(request, attribute)
    numbers = {row: float(value) for row, value in _usable(library)}
    if attribute is CITATIONS:
        numbers = {row: math.log1p(number) for row, number in numbers.items() if number >= 1}
    numbers = {row: numbers[row] for row in request.some(list(numbers))}
    least, greatest = min(numbers.values(), default=0.0), max(numbers.values(), default=0.0)
    if least == greatest:
        raise InvalidRequest(f"{library.column!r} has no two different numbers in papers with a title and an abstract")
    request.progress.note(f"{len(numbers):,} papers with a number from {least:g} to {greatest:g}, read from {library.column!r}")
    if attribute is YEAR:
        numbers = {row: (number - least) / (greatest - least) for row, number in numbers.items()}
    return _drawn(library, [(library.ids[row], repr(number)) for row, number in numbers.items()], {"least": least, "greatest": greatest})


def _read(request: SetRequest, attribute: Attribute | None) -> TrainingPapers:
    library = request.library(attribute)
    request.report_left_out(library.left_out)
    return library


def _with_citation_counts(request: SetRequest) -> TrainingPapers:
    """The papers, with their numbers of citations in the corpus, without citations by tested papers."""
    settings = request.settings
    collection = read_collection(request.corpus, settings)
    request.progress.note(collection.notes[0])
    library = _read(request, None)
    counts = without_papers(collection.graph, library.is_tested).cited_counts
    return replace(library, values=counts.tolist(), column=settings.references or Path(settings.citations or "").name)


def _usable(library: TrainingPapers) -> list[tuple[int, Any]]:
    """The rows of usable papers that have a value in the column, with the value."""
    rows = zip(library.values, library.is_usable.tolist(), strict=True)
    return [(row, value) for row, (value, is_usable) in enumerate(rows) if is_usable and value not in (None, ())]


def _drawn(library: TrainingPapers, rows: Sequence[tuple[str, str]], facts: Mapping[str, object]) -> DrawnSet:
    papers = {id for id, _ in rows}
    made = {"column": library.column, "papers": len(papers), **facts}
    return DrawnSet(rows, map(Doc, papers), texts_in(library.corpus), made, library.left_out)


LABEL_RECIPES: Mapping[str, Recipe] = {
    "fields": Recipe("Singh et al. 2023, appendix A.3, fields of study", partial(drawn_labels, FIELDS)),
    "keywords": Recipe("Singh et al. 2023, appendix A.3, MeSH descriptors", partial(drawn_labels, KEYWORDS, most=30)),
    "venue": Recipe(
        "the 30 most frequent, as for MeSH descriptors in Singh et al. 2023, appendix A.3", partial(drawn_labels, VENUE, most=30)
    ),
}
TARGET_RECIPES: Mapping[str, Recipe] = {
    "citations": Recipe(
        "Singh et al. 2023, appendix A.4, citation count: papers that are cited, log(1 + n)", partial(drawn_targets, CITATIONS)
    ),
    "year": Recipe(
        "Singh et al. 2023, appendix A.4, year of publication: from 0, the first year, to 1, the last", partial(drawn_targets, YEAR)
    ),
    "number": Recipe("the column's numbers, unchanged", partial(drawn_targets, NUMBER)),
}
