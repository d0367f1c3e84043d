"""Making training sets of papers with labels, to classify, or with a number, to predict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..base.errors import InvalidRequest, UnknownName
from ..evaluation.builders.cited_corpus import read_collection
from ..evaluation.builders.folders import new_folder
from ..options import CiteSettings
from ..papers.corpora import FIELDS, Attribute, ColumnMap, Corpus, Sources
from ..progress import shown
from ..protocols import Progress
from .set_folder import Doc, write_facts, write_papers, write_table
from .training_papers import CITATIONS, KEYWORDS, NUMBER, VENUE, YEAR, SetRequest, TrainingPapers
from .triplets import without_papers


@dataclass(frozen=True, slots=True)
class LabelRecipe:
    """What labels are: after whom, the column with them, and how many are kept, the most frequent; None for all."""

    source: str
    attribute: Attribute
    most: int | None = None


LABEL_RECIPES: Mapping[str, LabelRecipe] = {
    "fields": LabelRecipe("Singh et al. 2023, appendix A.3, fields of study", FIELDS),
    "keywords": LabelRecipe("Singh et al. 2023, appendix A.3, MeSH descriptors", KEYWORDS, 30),
    "venue": LabelRecipe("the 30 most frequent, as Singh et al. 2023, appendix A.3, have of MeSH descriptors", VENUE, 30),
}
TARGET_RECIPES: Mapping[str, str] = {
    "citations": "Singh et al. 2023, appendix A.4, citation count: papers that are cited, log(1 + n)",
    "year": "Singh et al. 2023, appendix A.4, year of publication: from 0, the first year, to 1, the last",
    "number": "a column as it is",
}


def build_labels(
    corpus: Sources | Corpus,
    to: str | Path,
    recipe: str,
    settings: CiteSettings = CiteSettings(),
    *,
    column: str | None = None,
    without: Sequence[str] = (),
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
) -> None:
    """Make a training set of papers with labels, one or several each, in the folder `to`, which appears when all is written.

    It has labels.tsv, with the id of a paper and a label of it, a line for each; corpus.jsonl and training.json. Papers without a title
    or an abstract, or without a label, are not in it. The same corpus, recipe, settings and seed give the same files.

    Args:
        corpus, to, without, columns, progress: as for `build_triplets`.
        recipe: "fields", "keywords" or "venue", see `LABEL_RECIPES`.
        settings: how many papers there are at most, drawn by chance, and the seed. The others choose nothing here.
        column: the column with the labels; by default recognised by name.

    Raises:
        NotFound, InvalidRequest, UnknownName, IndexBusy: as for `build_triplets`; or there are fewer than two labels.
    """
    if recipe not in LABEL_RECIPES:
        raise UnknownName("recipe", recipe, LABEL_RECIPES)
    chosen = LABEL_RECIPES[recipe]
    with shown(progress) as progress, new_folder(Path(to)) as folder:
        request = SetRequest(corpus, settings, without, column, columns, progress)
        library = _read(request, chosen.attribute)
        counts = Counter(label for row, value in _usable(library) for label in value)
        by_count = sorted(counts, key=lambda label: (-counts[label], label))
        kept = set(by_count[: chosen.most])
        if len(kept) < 2:
            raise InvalidRequest(f"{library.column!r} has {len(kept)} labels in papers with a title and an abstract; two are needed")
        labels = {row: [label for label in value if label in kept] for row, value in _usable(library)}
        papers = request.some([row for row, names in labels.items() if names])
        progress.note(f"{len(papers):,} papers with {len(kept):,} of {len(counts):,} labels, read from {library.column!r}")
        rows = [(library.ids[row], label) for row in papers for label in labels[row]]
        _write(folder, "labels", request, library, rows, recipe, chosen.source, {"labels": len({name for _, name in rows})})


def build_targets(
    corpus: Sources | Corpus,
    to: str | Path,
    recipe: str,
    settings: CiteSettings = CiteSettings(),
    *,
    column: str | None = None,
    without: Sequence[str] = (),
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
) -> None:
    """Make a training set of papers with a number each, in the folder `to`, which appears when all is written.

    It has targets.tsv, with the id of a paper and the number to predict; corpus.jsonl and training.json. Papers without a title or an
    abstract, or without a number, are not in it. The same corpus, recipe, settings and seed give the same files.

    Args:
        corpus, to, without, columns, progress: as for `build_triplets`.
        recipe: "citations", log(1 + n) of papers that are cited n times, at least once; "year", scaled to 0 … 1; or "number", as it is.
        settings: how many papers there are at most, drawn by chance, and the seed; and for "citations", where they are counted if no
            column says their number: a column of references or a table of citations.
        column: the column with the number, needed for "number"; by default recognised by name.

    Raises:
        NotFound, InvalidRequest, UnknownName, IndexBusy: as for `build_triplets`; or all numbers are the same.
    """
    if recipe not in TARGET_RECIPES:
        raise UnknownName("recipe", recipe, TARGET_RECIPES)
    if recipe == "number" and column is None:
        raise InvalidRequest("name the column with the number to predict, with `column`")
    with shown(progress) as progress, new_folder(Path(to)) as folder:
        request = SetRequest(corpus, settings, without, column, columns, progress)
        has_citations = settings.citations is not None or settings.references is not None
        if recipe == "citations" and column is None and has_citations:
            library = _counted(request)
        else:
            library = _read(request, {"citations": CITATIONS, "year": YEAR}.get(recipe, NUMBER))
        numbers = {row: float(value) for row, value in _usable(library)}
        if recipe == "citations":
            numbers = {row: math.log1p(number) for row, number in numbers.items() if number >= 1}
        numbers = {row: numbers[row] for row in request.some(list(numbers))}
        least, greatest = min(numbers.values(), default=0.0), max(numbers.values(), default=0.0)
        if least == greatest:
            raise InvalidRequest(f"{library.column!r} has no two different numbers in papers with a title and an abstract")
        progress.note(f"{len(numbers):,} papers with a number from {least:g} to {greatest:g}, read from {library.column!r}")
        if recipe == "year":
            numbers = {row: (number - least) / (greatest - least) for row, number in numbers.items()}
        rows = [(library.ids[row], repr(number)) for row, number in numbers.items()]
        _write(folder, "targets", request, library, rows, recipe, TARGET_RECIPES[recipe], {"least": least, "greatest": greatest})


def _read(request: SetRequest, attribute: Attribute | None) -> TrainingPapers:
    library = request.library(attribute)
    if request.without:
        request.progress.note(f"{library.left_out:,} papers of the corpus are test queries, and are left out")
    return library


def _counted(request: SetRequest) -> TrainingPapers:
    """The papers, with how many papers of the corpus cite each, not counting those that are tested."""
    settings = request.settings
    collection = read_collection(request.corpus, settings)
    request.progress.note(collection.notes[0])
    library = _read(request, None)
    counts = without_papers(collection.graph, library.is_tested).cited_counts
    return replace(library, values=counts.tolist(), column=settings.references or Path(settings.citations or "").name)


def _usable(library: TrainingPapers) -> list[tuple[int, Any]]:
    """Rows of usable papers of which the column says something, with that."""
    rows = zip(library.values, library.is_usable.tolist(), strict=True)
    return [(row, value) for row, (value, is_usable) in enumerate(rows) if is_usable and value not in (None, ())]


def _write(
    folder: Path,
    task: Literal["labels", "targets"],
    request: SetRequest,
    library: TrainingPapers,
    rows: Sequence[tuple[str, str]],
    recipe: str,
    source: str,
    facts: Mapping[str, object],
) -> None:
    papers = {id for id, _ in rows}
    write_table(folder, task, rows)
    write_papers(folder, map(Doc, papers), (paper[1:] for paper in library.texts()))
    made = {"column": library.column, "papers": len(papers), **facts}
    write_facts(folder, task, request.facts(recipe, source, made, library.left_out))
