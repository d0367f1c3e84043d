"""Reading a training set: a folder that `sciretrieve train build` made, or a file in the format of SciRepEval's training data."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest, NotFound
from ..base.types import Paper
from ..evaluation.readers.benchmark_files import paper_of, rows, text_of
from ..files.streams import read_text
from .forms import CORPUS, HEADERS, MAKE, QUERIES, TrainingSet, number_of
from .scirepeval_files import read_scirepeval

__all__ = ["TrainingSet", "read_training_set"]


def read_training_set(path: str | Path) -> TrainingSet:
    """Read a training set.

    Raises:
        NotFound: there is nothing at `path`, or the folder lacks a file.
        InvalidRequest: a file is no such thing, names a paper that is not there, or holds nothing to learn from.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound(f"there is no training set at {path}; {MAKE}")
    return _of_folder(path) if path.is_dir() else read_scirepeval(path)


def _of_folder(folder: Path) -> TrainingSet:
    task = next((task for task in HEADERS if (folder / f"{task}.tsv").is_file()), None)
    if not (folder / CORPUS).is_file() or task is None:
        missing = " or ".join(f"{name}.tsv" for name in HEADERS) if (folder / CORPUS).is_file() else CORPUS
        raise NotFound(f"{folder} is no training set, for it has no {missing}; {MAKE}")
    papers = {id: _paper(row, id) for id, row in _by_id(folder / CORPUS)}
    queries = {}
    if task in ("pairs", "rankings") and (folder / QUERIES).is_file():
        queries = {id: str(row.get("text") or "") for id, row in _by_id(folder / QUERIES)}
    table = folder / f"{task}.tsv"
    triplets: list[tuple[str, str, str]] = []
    labels: dict[str, dict[str, None]] = {}
    targets: dict[str, float] = {}
    rankings: dict[str, dict[str, float]] = {}
    for number, values in _table(table, HEADERS[task]):
        if task in ("triplets", "pairs"):
            triplets.append((values[0], values[1], values[2]))
            ids = [id for id in values[:3] if id or task == "triplets"]
            ids = ids[1:] if values[0] in queries else ids
        elif task == "rankings":
            ids = values[1:2] if values[0] in queries else values[:2]
            rankings.setdefault(values[0], {})[values[1]] = number_of(values[2], f"{table}, line {number}")
        else:
            ids = values[:1]
            if task == "labels":
                labels.setdefault(values[0], {})[values[1]] = None
            else:
                targets[values[0]] = number_of(values[1], f"{table}, line {number}")
        for id in ids:
            if id not in papers:
                raise InvalidRequest(f"{table}, line {number}, names the paper {id!r}, which is not in {CORPUS}")
    if not (triplets or labels or targets or rankings):
        raise InvalidRequest(f"{table} holds nothing but its header; {MAKE}")
    return TrainingSet(task, papers, triplets, queries, {id: tuple(names) for id, names in labels.items()}, targets, rankings)


def _paper(row: Mapping[str, Any], id: str) -> Paper:
    paper, metadata = paper_of(row, id, abstract="text"), row.get("metadata")
    return replace(paper, extra=metadata) if isinstance(metadata, Mapping) else paper


def _by_id(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, row in rows(path):
        yield text_of(path, number, row, "_id"), row


def _table(path: Path, header: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table after its header, with their numbers. Raises InvalidRequest if it has other columns."""
    table = csv.reader(io.StringIO(read_text(path), newline=""), delimiter="\t")
    if tuple(next(table, ())) != header:
        raise InvalidRequest(f"{path} does not begin with the columns {', '.join(header)}")
    for number, values in enumerate(table, 2):
        if len(values) != len(header):
            raise InvalidRequest(f"{path}, line {number}: {len(values)} columns where {len(header)} are expected")
        yield number, values
