"""SciDocs in its original form, and Multi-SciDocs in the same form: judged candidates for each query, classes, and paper metadata."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from ...errors import InvalidRequest
from ...files.streams import read_text
from ...metrics.judgements import objects_by_id, read_qrels
from ...types import Paper, Query
from ..material import Labelled, Material, Prediction, Task
from .benchmark_files import as_classes, find, fingerprint, paper_of, present

TASKS = {"coview": "co-view", "coread": "co-read", "cite": "cite", "cocite": "co-cite"}
"""Folder -> the name that the authors print."""
METADATA = "paper_metadata_view_cite_read.json"
MULTI_METADATA = ("paper_metadata.json", "data_final.json")
CLASSES_METADATA = "paper_metadata_mag_mesh.json"
CLASSES = {"mag": "MAG", "mesh": "MeSH"}
"""Folder -> task."""


def load(
    folder: Path, split: str, benchmark: str, tasks: tuple[str, ...] = tuple(TASKS), metadata_names: tuple[str, ...] = (METADATA,)
) -> Material:
    """The tasks in TASK/SPLIT.qrel, each query with its own candidates. Raises NotFound, InvalidRequest."""
    metadata = find(folder, *metadata_names, benchmark=benchmark)
    if any((metadata.parent / task).is_dir() for task in tasks):
        folder = metadata.parent  # a folder above may hold SciDocs and Multi-SciDocs, whose judgements have the same names
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
        loaded_tasks.append(Task(TASKS[task], queries, qrels, {id: tuple(row) for id, row in qrels.items()}))

    def pool() -> Iterator[Paper]:
        yield from papers.values()

    missing_tasks = tuple(TASKS[task] for task in missing)
    return Material(pool, tuple(loaded_tasks), benchmark, fingerprint([metadata]), notes, missing=missing_tasks)


def load_classes(folder: Path, split: str, benchmark: str) -> Material:
    """MAG's fields and MeSH's diseases: classes in mag/ and mesh/, train.csv to learn from and SPLIT.csv to predict.

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

    def pool() -> Iterator[Paper]:
        yield from papers.values()

    missing_tasks = tuple(CLASSES[task] for task in missing)
    return Material(pool, (), benchmark, fingerprint([metadata]), predictions=tuple(predictions), missing=missing_tasks)


def _labelled(path: Path) -> Labelled:
    """Papers and their classes: after a line of names, an id and a class in each."""
    ids, labels = [], []
    for number, row in enumerate(csv.reader(io.StringIO(read_text(path))), 1):
        if number > 1 and row:
            if len(row) != 2:
                raise InvalidRequest(f"{path}, line {number}: expected an id and a class, found {len(row)} columns")
            ids.append(row[0])
            labels.append(row[1])
    if not ids:
        raise InvalidRequest(f"{path} has no labelled papers")
    return Labelled(tuple(ids), as_classes(labels))


def _papers(path: Path) -> dict[str, Paper]:
    return {str(id): paper_of(row, str(id)) for id, row in objects_by_id(path).items()}
