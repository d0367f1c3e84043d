"""Reading a training set: a folder that `build_triplets` made, or a file in the format of SciRepEval's and SPECTER's triplets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidRequest, NotFound
from ..evaluation.readers.benchmark_files import paper_of, rows, text_of
from ..files.streams import bare_name, read_text
from ..types import Paper

CORPUS, TRIPLETS, FACTS = "corpus.jsonl", "triplets.tsv", "training.json"
HEADER = ("query-id", "positive-id", "negative-id", "kind")
ROLES = ("query", "pos", "neg")
IDS = ("corpus_id", "doc_id", "sha", "paper_id")


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Triplets and the texts of their papers.

    Attributes:
        papers: by id.
        triplets: ids of a query, a positive and a negative paper.
    """

    papers: Mapping[str, Paper]
    triplets: list[tuple[str, str, str]]


def read_training_set(path: str | Path) -> TrainingSet:
    """Read a training set.

    Raises:
        NotFound: there is nothing at `path`, or the folder lacks a file.
        InvalidRequest: a file is no such thing, or a triplet names a paper that is not there.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound(f"there is no training set at {path}; make one with `sciretrieve benchmarks build triplets`")
    return _of_folder(path) if path.is_dir() else _of_file(path)


def _of_folder(folder: Path) -> TrainingSet:
    for name in (CORPUS, TRIPLETS):
        if not (folder / name).is_file():
            raise NotFound(f"{folder} is no training set, for it has no {name}; make one with `sciretrieve benchmarks build triplets`")
    papers = {}
    for number, row in rows(folder / CORPUS):
        id = text_of(folder / CORPUS, number, row, "_id")
        papers[id] = paper_of(row, id, abstract="text")
    table = csv.reader(io.StringIO(read_text(folder / TRIPLETS), newline=""), delimiter="\t")
    if tuple(next(table, ())) != HEADER:
        raise InvalidRequest(f"{folder / TRIPLETS} does not begin with the columns {', '.join(HEADER)}")
    triplets: list[tuple[str, str, str]] = []
    for number, values in enumerate(table, 2):
        if len(values) != len(HEADER):
            raise InvalidRequest(f"{folder / TRIPLETS}, line {number}: {len(values)} columns where {len(HEADER)} are expected")
        for id in values[:3]:
            if id not in papers:
                raise InvalidRequest(f"{folder / TRIPLETS}, line {number}, names the paper {id!r}, which is not in {CORPUS}")
        triplets.append((values[0], values[1], values[2]))
    return TrainingSet(papers, triplets)


def _of_file(path: Path) -> TrainingSet:
    papers: dict[str, Paper] = {}
    triplets: list[tuple[str, str, str]] = []
    for number, row in _rows(path):
        ids = []
        for role in ROLES:
            value = row.get(role)
            if not isinstance(value, Mapping) or not any(value.get(name) for name in IDS):
                raise InvalidRequest(f"{path}, triplet {number}: {role!r} is no paper with a title and one of {', '.join(IDS)}")
            id = text_of(path, number, value, *IDS)
            papers.setdefault(id, paper_of(value, id))
            ids.append(id)
        triplets.append((ids[0], ids[1], ids[2]))
    return TrainingSet(papers, triplets)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Its objects, numbered from 1: one list of JSON, or an object a line."""
    if Path(bare_name(path)).suffix != ".json":
        yield from rows(path)
        return
    try:
        values = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} is not JSON: {error}") from error
    if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
        raise InvalidRequest(f"{path} is no list of triplets; an object a line has the ending .jsonl")
    yield from enumerate(values, 1)
