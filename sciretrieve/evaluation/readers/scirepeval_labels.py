"""SciRepEval's tasks of classification and regression: papers, and labels of those to learn from and of those to predict."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InvalidRequest
from ...files.streams import read_text
from ..material import FewShot, Label, LabelledPapers, Material, Prediction
from .benchmark_files import as_classes, fingerprint, found, rows, text_of
from .scirepeval import TEXTS, needed, read_papers


def load(
    folder: Path,
    split: str,
    benchmark: str,
    *,
    texts: str,
    configuration: str,
    label: Label,
    measure: str,
    few_shot: Sequence[tuple[int, int]] = (),
) -> Material:
    """One of the tasks, and its few-shot forms: of each how many papers a sample has, and how many samples there are.

    Papers are in `evaluation*.parquet` or `.jsonl` in the folder `texts`; labels in `train*.parquet` and `test*.parquet` of the hub's
    `scirepeval_test`, or in `train.csv` and `test.csv`, in the folder `configuration`: rows of `paper_id` and `label`.

    Raises:
        NotFound: a file is missing.
        InvalidRequest: a row has no id, or a label of another form.
    """
    text_files = needed(folder, texts, TEXTS, benchmark)
    papers = read_papers(text_files)
    train, test = (
        _labelled(needed(folder, configuration, (f"{part}-*.parquet", f"{part}.parquet", f"{part}.csv"), benchmark), label, measure)
        for part in ("train", "test")
    )
    if label == "classes" and train.labels.shape[1] != test.labels.shape[1]:
        raise InvalidRequest(
            f"{benchmark}: papers to learn from have {train.labels.shape[1]} classes, those to predict {test.labels.shape[1]}"
        )
    notes = []
    if textless := [id for id in dict.fromkeys((*train.ids, *test.ids)) if id not in papers]:
        notes.append(f"{len(textless):,} labelled papers have no text; only vectors made elsewhere can stand for them: {textless[0]} …")
    shapes = {"full": None, **{f"{size}-shot": FewShot(size, runs) for size, runs in few_shot}}
    predictions = tuple(Prediction(name, label, measure, train, test, form) for name, form in shapes.items())

    return Material(papers.values, (), texts, fingerprint(text_files), notes, predictions=predictions)


def _labelled(paths: Sequence[Path], label: Label, measure: str) -> LabelledPapers:
    ids: list[str] = []
    labels: list[Any] = []
    for path in paths:
        for number, row in _table(path):
            ids.append(text_of(path, number, row, "paper_id"))
            if row.get("label") is None:
                raise InvalidRequest(f"{path}, line {number}: no label; found {found(row)}")
            labels.append(_label(path, number, row["label"], label, len(labels[0]) if label == "classes" and labels else None))
    if not ids:
        raise InvalidRequest(f"{paths[0]} has no labelled papers")
    array = np.array(labels) if label != "class" else as_classes(labels)
    if measure == "F1" and not set(array.tolist()) <= {0, 1}:
        raise InvalidRequest(f"{paths[0]}: the classes must be 0 and 1, and {sorted(set(map(str, array)))[-1]!r} is among them")
    return LabelledPapers(tuple(ids), array)


def _table(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.suffix != ".csv":
        yield from rows(path)
        return
    for number, row in enumerate(csv.DictReader(io.StringIO(read_text(path))), 2):
        yield number, {key: value for key, value in row.items() if key is not None}


def _label(path: Path, number: int, value: Any, label: Label, classes: int | None) -> Any:
    """A label as plain Python: a number; a list of 0 and 1, as many as `classes`; or a class as it is. Raises InvalidRequest."""
    if label == "number":
        try:
            as_number = float(value)
        except (TypeError, ValueError):
            as_number = math.nan
        if not math.isfinite(as_number):
            raise InvalidRequest(f"{path}, line {number}: the label {value!r} is no number")
        return as_number
    if label == "classes":
        if not isinstance(value, list) or not value or any(flag not in (0, 1) for flag in value) or classes not in (None, len(value)):
            expected = f"{classes} numbers" if classes else "a list of numbers"
            raise InvalidRequest(f"{path}, line {number}: the label must be {expected}, 0 or 1 for each class, not {str(value)[:40]}")
        return [int(flag) for flag in value]
    if isinstance(value, (list, dict)):
        raise InvalidRequest(f"{path}, line {number}: the label must be one class, not {str(value)[:40]}")
    return value
