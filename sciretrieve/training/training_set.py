"""Reads training sets: folders of `sciretrieve train build` or of SciNCL, and files in the format of SciRepEval's training data.

Such a file has triplets, queries with candidates, or papers with labels or a number: one JSON list (.json), one object per line (.jsonl),
or Parquet, as on the hub. Its first object shows its form.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import InvalidRequest, NotFound
from ..base.types import Paper
from ..evaluation.readers.benchmark_files import found, paper_of, rows, text_of
from ..files.streams import bare_name, read_text
from .forms import CORPUS, FACTS, HEADERS, MAKE, QUERIES, TrainingSet, number_of
from .scincl_files import read_scincl, scincl_files

ROLES = ("query", "pos", "neg")
IDS = ("corpus_id", "doc_id", "sha", "paper_id")
LABELS = ("labels_text", "descriptor", "label", "labels")
TARGETS = ("log_citations", "scaled_year")
"""Fields with labels, and with numbers to predict, best first: those of `labels_field` in the authors' configuration of tasks."""
MOST_TRIPLETS = 5
"""The most triplets of a query with candidates, as in the authors' code, `training/mtl_datasets.py`."""


def read_training_set(path: str | Path) -> TrainingSet:
    """Read a training set.

    Raises:
        NotFound: there is nothing at `path`, or the folder lacks a file.
        InvalidRequest: a file has another format, names a missing paper, or has no examples.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound(f"there is no training set at {path}; {MAKE}")
    if path.is_dir() and (files := scincl_files(path)):
        return read_scincl(*files)
    return _of_folder(path) if path.is_dir() else _of_file(path)


def _of_folder(folder: Path) -> TrainingSet:
    task = next((task for task in HEADERS if (folder / f"{task}.tsv").is_file()), None)
    if not (folder / CORPUS).is_file() or task is None:
        missing = " or ".join(f"{name}.tsv" for name in HEADERS) if (folder / CORPUS).is_file() else CORPUS
        raise NotFound(f"{folder} is not a training set, since it has no {missing}; {MAKE}")
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
    named = {id: tuple(names) for id, names in labels.items()}
    return TrainingSet(task, papers, triplets, queries, named, targets, rankings, several=_may_have_several(folder, named))


def _may_have_several(folder: Path, labels: Mapping[str, Sequence[str]]) -> bool:
    """Whether papers may have several labels: as training.json says; without a word there, whether one has."""
    try:
        facts = json.loads(read_text(folder / FACTS)) if (folder / FACTS).is_file() else {}
    except ValueError as error:
        raise InvalidRequest(f"{folder / FACTS} is not JSON: {error}; {MAKE}") from error
    if not isinstance(facts, dict):
        raise InvalidRequest(f"{folder / FACTS} is not a JSON object; {MAKE}")
    return bool(facts.get("several", any(len(names) > 1 for names in labels.values())))


def _paper(row: Mapping[str, Any], id: str) -> Paper:
    paper, metadata = paper_of(row, id, abstract="text"), row.get("metadata")
    return replace(paper, extra=metadata) if isinstance(metadata, Mapping) else paper


def _by_id(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, row in rows(path):
        yield text_of(path, number, row, "_id"), row


def _table(path: Path, header: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table after its header, with their numbers. Raises InvalidRequest for other columns."""
    table = csv.reader(io.StringIO(read_text(path), newline=""), delimiter="\t")
    if tuple(next(table, ())) != header:
        raise InvalidRequest(f"{path} does not begin with the columns {', '.join(header)}")
    for number, values in enumerate(table, 2):
        if len(values) != len(header):
            raise InvalidRequest(f"{path}, line {number}: {len(values)} columns where {len(header)} are expected")
        yield number, values


def _of_file(path: Path) -> TrainingSet:
    """Read a file of SciRepEval's training data.

    A query with candidates gives one triplet for each candidate without a score, five at most: the last candidate first, each with the next
    scored candidate in turn. The triplets are "pairs" if queries are texts, and "triplets" if they are papers. Queries are left out if all
    their candidates have a score, or none has.

    Raises:
        InvalidRequest: the file has another format.
    """
    numbered = _rows(path)
    first = next(numbered, None)
    if first is None:
        raise InvalidRequest(f"{path} is empty; expected SciRepEval's triplets, queries with candidates, or papers with labels")
    row = first[1]
    read = _papers if "query" not in row and not {"pos", "neg"} & row.keys() else _candidates if "candidates" in row else _triplets
    return read(path, chain([first], numbered))


def _triplets(path: Path, numbered: Iterator[tuple[int, Mapping[str, Any]]]) -> TrainingSet:
    papers: dict[str, Paper] = {}
    triplets: list[tuple[str, str, str]] = []
    for number, row in numbered:
        ids = [_add_paper(papers, path, f"triplet {number}", role, row.get(role)) for role in ROLES]
        triplets.append((ids[0], ids[1], ids[2]))
    return TrainingSet("triplets", papers, triplets)


def _candidates(path: Path, numbered: Iterator[tuple[int, Mapping[str, Any]]]) -> TrainingSet:
    papers: dict[str, Paper] = {}
    queries: dict[str, str] = {}
    triplets: list[tuple[str, str, str]] = []
    for search in _searches(path, numbered, papers):
        queries |= {} if search.text is None else {search.id: search.text}
        others = search.others[::-1][:MOST_TRIPLETS]
        pairs = zip(islice(cycle(search.scored), len(others)), others, strict=False)
        triplets += [(search.id, positive, negative) for positive, negative in pairs]
    if not triplets:
        raise InvalidRequest(f"{path} has no query that has a candidate with a score and one without")
    return TrainingSet("pairs" if queries else "triplets", papers, triplets, queries)


class SearchLists(NamedTuple):
    """A query's id, its text (None for a paper), and the ids of its candidates with and without a score."""

    id: str
    text: str | None
    scored: list[str]
    others: list[str]


def read_searches(path: Path) -> tuple[list[SearchLists], Mapping[str, Paper]]:
    """The queries with candidates in a file, and all its papers by id. Raises InvalidRequest for other formats."""
    papers: dict[str, Paper] = {}
    searches = list(_searches(path, _rows(path), papers))
    return searches, papers


def _searches(path: Path, numbered: Iterator[tuple[int, Mapping[str, Any]]], papers: dict[str, Paper]) -> Iterator[SearchLists]:
    """Yields the queries with candidates, and adds all their papers to `papers`."""
    for number, row in numbered:
        query, candidates = row.get("query"), row.get("candidates")
        if not isinstance(candidates, list):
            raise InvalidRequest(f"{path}, query {number}: 'candidates' is not a list of papers")
        text = query if isinstance(query, str) else None
        id = _add_paper(papers, path, f"query {number}", "query", query) if text is None else str(row.get("doc_id") or f"query {number}")
        scored: dict[str, None] = {}
        others: dict[str, None] = {}
        for candidate in candidates:
            other = _add_paper(papers, path, f"query {number}", "candidates", candidate)
            (scored if candidate.get("score") else others)[other] = None
        yield SearchLists(id, text, list(scored), [other for other in others if other not in scored])


def _papers(path: Path, numbered: Iterator[tuple[int, Mapping[str, Any]]]) -> TrainingSet:
    papers: dict[str, Paper] = {}
    labels: dict[str, tuple[str, ...]] = {}
    targets: dict[str, float] = {}
    name, several = "", False
    for number, row in numbered:
        if not name:
            name = next((name for name in (*LABELS, *TARGETS) if row.get(name) is not None), "")
        where = f"{path}, paper {number}"
        if not name or row.get(name) is None:
            raise InvalidRequest(f"{where}: no {name or ' or '.join((*LABELS, *TARGETS))}; found {found(row)}")
        id = _add_paper(papers, path, f"paper {number}", "it", row)
        if name in TARGETS:
            targets[id] = number_of(row[name], where)
        else:
            several = several or isinstance(row[name], list)
            names = row[name] if isinstance(row[name], list) else [row[name]]
            labels[id] = tuple(dict.fromkeys((*labels.get(id, ()), *map(str, names))))
    return TrainingSet("targets" if targets else "labels", papers, [], {}, labels, targets, several=several)


def _add_paper(papers: dict[str, Paper], path: Path, where: str, role: str, value: Any) -> str:
    """Adds a paper to `papers` and returns its id. Raises InvalidRequest if the value is not a paper."""
    if not isinstance(value, Mapping) or not any(value.get(name) for name in IDS):
        raise InvalidRequest(f"{path}, {where}: {role!r} is not a paper with a title and one of {', '.join(IDS)}")
    id = next(str(value[name]) for name in IDS if value.get(name))
    papers.setdefault(id, paper_of(value, id))
    return id


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The file's objects, numbered from 1: of one JSON list, or one per line."""
    if Path(bare_name(path)).suffix != ".json":
        yield from rows(path)
        return
    try:
        values = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} is not JSON: {error}") from error
    if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
        raise InvalidRequest(f"{path} is not a list of triplets; files with one object per line end with .jsonl")
    yield from enumerate(values, 1)
