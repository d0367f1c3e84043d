"""SciDocs in its original form, and Multi-SciDocs in the same form: candidates with judgements, classes, clicks, and metadata."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...base.types import Paper, Query
from ...files.streams import read_text
from ...metrics.judgements import json_of, objects_by_id, read_qrels
from ..material import Click, Clicks, LabelledPapers, LinkedPaper, Material, Prediction, Task
from .benchmark_files import as_classes, find, fingerprint, paper_of, present

TASKS = {"coview": "co-view", "coread": "co-read", "cite": "cite", "cocite": "co-cite"}
"""By folder: the name that the authors print."""
METADATA = "paper_metadata_view_cite_read.json"
CLASSES_METADATA = "paper_metadata_mag_mesh.json"
CLICKS_METADATA = "paper_metadata_recomm.json"
CLASSES = {"mag": "MAG", "mesh": "MeSH"}
"""By folder: the task."""


def load(
    folder: Path, split: str, benchmark: str, *, tasks: Sequence[str] = tuple(TASKS), metadata_names: Sequence[str] = (METADATA,)
) -> Material:
    """The tasks in TASK/SPLIT.qrel, each query with its own candidates. Raises NotFound, InvalidRequest."""
    metadata = find(folder, *metadata_names, benchmark=benchmark)
    if any((metadata.parent / task).is_dir() for task in tasks):
        folder = metadata.parent  # a folder above may hold both SciDocs and Multi-SciDocs, whose judgements have the same names
    papers = _papers(metadata)
    loaded_tasks, notes = [], []
    files, missing = present(tasks, lambda task: (task, find(folder, f"{task}/{split}.qrel", benchmark=benchmark)))
    for task, qrels_file in files:
        qrels = read_qrels(qrels_file)
        if missing_queries := [id for id in qrels if id not in papers]:
            notes.append(
                f"{TASKS[task]}: {len(missing_queries)} queries have no metadata; "
                f"only vectors made elsewhere answer them: {missing_queries[0]} …"
            )
        missing_candidates = {id for row in qrels.values() for id in row if id not in papers}
        if missing_candidates:
            notes.append(
                f"{TASKS[task]}: {len(missing_candidates)} candidates have no metadata; without a vector they count only in the judgements"
            )
        queries = {id: Query(id, paper=papers.get(id)) for id in qrels}
        loaded_tasks.append(Task.reranked(TASKS[task], queries, qrels))

    missing_tasks = tuple(TASKS[task] for task in missing)
    return Material(papers.values, tuple(loaded_tasks), benchmark, fingerprint([metadata]), notes, missing=missing_tasks)


def load_classes(folder: Path, split: str, benchmark: str) -> Material:
    """MAG's fields and MeSH's diseases: classes in mag/ and mesh/, train.csv for training and SPLIT.csv for the test.

    Raises:
        NotFound: the metadata is missing, or the files of both tasks are.
        InvalidRequest: a line does not have an id and a class.
    """
    metadata = find(folder, CLASSES_METADATA, benchmark=benchmark)
    papers = _papers(metadata)

    def prediction(task: str) -> Prediction:
        train, test = (_labelled(find(folder, f"{task}/{part}.csv", benchmark=benchmark)) for part in ("train", split))
        return Prediction(CLASSES[task], "class", "macro-F1", train, test, solver="scidocs")

    predictions, missing = present(tuple(CLASSES), prediction)

    missing_tasks = tuple(CLASSES[task] for task in missing)
    return Material(papers.values, (), benchmark, fingerprint([metadata]), predictions=tuple(predictions), missing=missing_tasks)


def load_clicks(folder: Path, split: str, benchmark: str) -> Material:
    """The clicks of users on papers similar to one. For `val`, no clicks remain to choose the best epoch by, as in the authors' code.

    Raises:
        NotFound: a file is missing.
        InvalidRequest: a line lacks a query, the clicked paper, or the shown papers with the clicked one; or there are more places than
            propensities.
    """
    metadata = find(folder, CLICKS_METADATA, benchmark=benchmark)
    scores_file = find(folder, "recomm/propensity_scores.json", benchmark=benchmark)
    scores = json_of(scores_file).get("scores")
    if not isinstance(scores, list) or not scores or not all(isinstance(score, int | float) and score > 0 for score in scores):
        raise InvalidRequest(f"{scores_file} has no list 'scores' of numbers above 0")
    train, val, test = (_clicks(find(folder, f"recomm/{part}.csv", benchmark=benchmark), len(scores)) for part in ("train", "val", "test"))
    objects = objects_by_id(metadata)
    papers = {str(id): _linked(row) for id, row in objects.items()}
    texts = {str(id): paper_of(row, str(id)) for id, row in objects.items()}

    parts = (train, val, test) if split == "test" else (train, (), val)
    clicks = Clicks("recomm", *parts, tuple(map(float, scores)), papers)
    return Material(texts.values, (), benchmark, fingerprint([metadata]), predictions=(clicks,))


def _clicks(path: Path, places: int) -> tuple[Click, ...]:
    """The clicks of a file: after a header, a query, the clicked paper, and all shown papers separated by commas."""
    clicks = []
    for number, row in _rows(path):
        shown = tuple(row[2].strip().split(",")) if len(row) == 3 else ()
        if len(row) != 3 or row[1] not in shown:
            raise InvalidRequest(f"{path}, line {number}: expected a query, the clicked paper, and the shown papers with it among them")
        if shown.index(row[1]) >= places:
            raise InvalidRequest(f"{path}, line {number}: place {shown.index(row[1]) + 1} was clicked, and there are {places} propensities")
        clicks.append(Click(row[0], row[1], shown))
    if not clicks:
        raise InvalidRequest(f"{path} has no clicks")
    return tuple(clicks)


def _linked(row: Mapping[str, Any]) -> LinkedPaper:
    authors, cited_by, references = (frozenset(map(str, row.get(name) or ())) for name in ("authors", "cited_by", "references"))
    try:
        year = float(row["year"])
    except (KeyError, TypeError, ValueError):
        year = None
    return LinkedPaper(str(row.get("title") or ""), authors, cited_by, references, year)


def _labelled(path: Path) -> LabelledPapers:
    """Papers and their classes: after a header, an id and a class per line."""
    ids, labels = [], []
    for number, row in _rows(path):
        if len(row) != 2:
            raise InvalidRequest(f"{path}, line {number}: expected an id and a class, found {len(row)} columns")
        ids.append(row[0])
        labels.append(row[1])
    if not ids:
        raise InvalidRequest(f"{path} has no labelled papers")
    return LabelledPapers(tuple(ids), as_classes(labels))


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The numbered lines of a table after its header, without empty ones."""
    return [(number, row) for number, row in enumerate(csv.reader(io.StringIO(read_text(path))), 1) if number > 1 and row]


def _papers(path: Path) -> dict[str, Paper]:
    return {str(id): paper_of(row, str(id)) for id, row in objects_by_id(path).items()}
