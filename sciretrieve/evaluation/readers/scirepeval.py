"""SciRepEval's two forms, in Parquet or JSON Lines: re-ranking, with rows of a query and its candidates, and judgements; and classification
and regression, with papers, training labels and test labels.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InvalidRequest, NotFound
from ...base.types import Paper, Query
from ...encoders.specs import FIELD_SEPARATOR
from ...files.streams import read_text
from ...metrics.judgements import Qrels, grade_of
from ..material import FewShot, Label, LabelledPapers, Material, Prediction, Task
from .benchmark_files import as_classes, find, fingerprint, found, paper_of, present, rows, text_of

SCIDOCS_TEXTS = "scidocs_view_cite_read"
SCIDOCS_TASKS = {"co-view": "scidocs_view", "co-read": "scidocs_read", "cite": "scidocs_cite", "co-cite": "scidocs_cocite"}
"""By task of SciDocs, named as by the reader of its own files: the configuration on the hub."""
TEXTS = ("evaluation-*.parquet", "evaluation.parquet", "evaluation.jsonl", "test.jsonl")
JUDGEMENTS = ("test_qrel.jsonl", "test-*.parquet", "test.parquet")


def load(folder: Path, split: str, benchmark: str, *, configuration: str, extra: Sequence[str] = ()) -> Material:
    """One of the sets; `extra` are fields appended to the abstract (Search: venue, year).

    Texts are in `evaluation*.parquet` or `.jsonl`, judgements in `test_qrel.jsonl` or `test*.parquet`, in the folder or a subfolder named
    by the configuration. Without judgements, the candidates' own scores are used.

    Raises:
        NotFound: a file is missing.
        InvalidRequest: a row does not have that form.
    """
    texts = needed(folder, configuration, TEXTS, benchmark)
    papers: dict[str, Paper] = {}
    queries: dict[str, Query] = {}
    candidate_scores: Qrels = {}
    for path in texts:
        for number, row in rows(path):
            _add_row(path, number, row, papers, queries, candidate_scores, extra)
    qrels_files = [path for path in first_matches(places(folder, configuration), JUDGEMENTS) if path not in texts]
    qrels = _judgements(qrels_files) if qrels_files else candidate_scores
    notes = [] if qrels_files else ["no file of judgements: the candidates' own scores are used"]
    # the authors keep one vector per id, so a judged paper whose text is among the queries is also a candidate, and vice versa
    query_papers = {id: query.paper for id, query in queries.items() if query.paper is not None}
    papers |= {other: query_papers[other] for row in qrels.values() for other in row if other in query_papers and other not in papers}
    if textless_queries := [id for id in qrels if id not in queries and id not in papers]:
        notes.append(
            f"{len(textless_queries)} judged queries have no text; only vectors made elsewhere answer them: {textless_queries[0]} …"
        )
    queries_by_id = {id: queries.get(id) or Query(id, paper=papers.get(id)) for id in qrels}
    task = Task.reranked("test", queries_by_id, qrels, single=True)

    return Material(
        papers.values, (task,), benchmark, fingerprint([*texts, *qrels_files], *((tuple(extra), FIELD_SEPARATOR) if extra else ())), notes
    )


def load_reviewers(folder: Path, split: str, benchmark: str) -> Material:
    """Paper-reviewer matching: two tasks, hard and soft judgements over the same reviewers."""
    texts = first_matches([*places(folder, "paper_reviewer_matching"), folder / "reviewers"], TEXTS)
    if not texts:
        raise NotFound(f"{benchmark} needs {' or '.join(TEXTS)} under {folder}; see `sciretrieve benchmarks show {benchmark}`")
    papers = read_papers(texts)
    names = ("reviewer_metadata.jsonl", "metadata-00000-of-00001.parquet", "metadata.parquet")
    reviewers = find(folder, *names, benchmark=benchmark)
    groups = {}
    for number, row in rows(reviewers):
        groups[text_of(reviewers, number, row, "r_id")] = tuple(str(id) for id in row.get("papers") or [])
    tasks = []
    hard_qrels: Qrels = {}
    for kind in ("hard", "soft"):
        path = find(folder, f"test_{kind}_qrel.jsonl", f"test_{kind}-00000-of-00001.parquet", benchmark=benchmark)
        qrels = _judgements([path])
        hard_qrels = hard_qrels or qrels
        # the authors build the run from the hard judgements and also use it for the soft ones
        candidates = {id: tuple(reviewer for reviewer in row if reviewer in groups) for id, row in hard_qrels.items()}
        if (textless_id := next((id for id in hard_qrels if id not in papers), None)) is not None:
            raise InvalidRequest(f"{path}: query {textless_id!r} has no text in {texts[0]}")
        tasks.append(Task(kind, {id: Query(id, paper=papers[id]) for id in hard_qrels}, qrels, candidates, groups))
    for reviewer in sorted({reviewer for row in hard_qrels.values() for reviewer in row if reviewer in groups}):
        if not groups[reviewer]:
            raise InvalidRequest(f"{reviewers}: reviewer {reviewer!r} is judged but has no papers")
        if (textless_id := next((id for id in groups[reviewer] if id not in papers), None)) is not None:
            raise InvalidRequest(f"{reviewers}: paper {textless_id!r} of reviewer {reviewer!r} has no text in {texts[0]}")

    return Material(papers.values, tuple(tasks), benchmark, fingerprint(texts))


def load_scidocs(folder: Path, split: str, benchmark: str) -> Material:
    """SciDocs's four ranking tasks, on one set of papers, some of which are the queries. Raises as `load`."""
    texts = needed(folder, SCIDOCS_TEXTS, TEXTS, benchmark)
    papers = read_papers(texts)
    tasks = []
    files, missing = present(
        tuple(SCIDOCS_TASKS), lambda name: (name, needed(folder, SCIDOCS_TASKS[name], JUDGEMENTS, benchmark, alone=False))
    )
    for name, qrels_files in files:
        qrels = _judgements(qrels_files)
        queries = {id: Query(id, paper=papers.get(id)) for id in qrels}
        tasks.append(Task.reranked(name, queries, qrels, single=True))

    return Material(papers.values, tuple(tasks), SCIDOCS_TEXTS, fingerprint(texts), missing=missing)


def load_labels(
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
    """One of the tasks, and its few-shot forms, each with the number of papers of a sample and the number of samples.

    Papers are in `evaluation*.parquet` or `.jsonl` in the folder `texts`; labels are in `train*.parquet` and `test*.parquet` of the hub's
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


def places(folder: Path, configuration: str) -> list[Path]:
    """The possible folders of a configuration's files: its own, also below clones of the two data sets, or the given folder itself."""
    return [folder / configuration, folder / "scirepeval_test" / configuration, folder / "scirepeval" / configuration, folder]


def needed(folder: Path, configuration: str, patterns: tuple[str, ...], benchmark: str, *, alone: bool = True) -> list[Path]:
    """The files of a configuration that match the first pattern with any.

    Args:
        folder: the benchmark's folder.
        configuration: its name on the hub.
        patterns: of file names.
        benchmark: its name, for the error.
        alone: whether they may also lie in `folder` itself, because no other configuration has such files.

    Raises:
        NotFound: there are none.
    """
    where = places(folder, configuration)
    files = first_matches(where if alone else where[:-1], patterns)
    if not files:
        either = f"{folder} or {where[0]}" if alone else str(where[0])
        raise NotFound(f"{benchmark} needs {' or '.join(patterns)} in {either}; see `sciretrieve benchmarks show {benchmark}`")
    return files


def read_papers(paths: list[Path]) -> dict[str, Paper]:
    """Papers by id, from rows of one paper each; the first of repeated ids counts."""
    papers: dict[str, Paper] = {}
    for path in paths:
        for number, row in rows(path):
            id = text_of(path, number, row, "doc_id", "paper_id", "corpus_id")
            papers.setdefault(id, paper_of(row, id))
    return papers


def first_matches(folders: list[Path], patterns: tuple[str, ...]) -> list[Path]:
    """The files of the first folder and pattern with any."""
    for folder in folders:
        for pattern in patterns:
            if paths := sorted(folder.glob(pattern)):
                return paths
    return []


def _add_row(
    path: Path,
    number: int,
    row: Mapping[str, Any],
    papers: dict[str, Paper],
    queries: dict[str, Query],
    candidate_scores: Qrels,
    extra: Sequence[str],
) -> None:
    query, candidates = row.get("query"), row.get("candidates")
    if query is None or not isinstance(candidates, list):
        raise InvalidRequest(f"{path}, line {number}: expected a query and a list of candidates; found {found(row)}")
    if isinstance(query, Mapping):
        id = text_of(path, number, query, "doc_id", "corpus_id", "paper_id")
        queries.setdefault(id, Query(id, paper=_paper(query, id, extra)))
    else:
        id = text_of(path, number, row, "doc_id", "query_id", "session_id")
        queries.setdefault(id, Query(id, str(query)))
    for candidate in candidates:
        other = text_of(path, number, candidate, "doc_id", "corpus_id", "paper_id")
        papers.setdefault(other, _paper(candidate, other, extra))
        if candidate.get("score") is not None:
            candidate_scores.setdefault(id, {}).setdefault(other, grade_of(path, number, candidate["score"]))


def _paper(row: Mapping[str, Any], id: str, extra: Sequence[str]) -> Paper:
    paper = paper_of(row, id)
    # empty, null and 0 fields are skipped; the others are joined, as by the authors, by the tokenizer's separator
    further_fields = [str(row[name]) for name in extra if row.get(name)]
    return replace(paper, abstract=f" {FIELD_SEPARATOR} ".join(filter(None, (paper.abstract, *further_fields))))


def _judgements(paths: list[Path]) -> Qrels:
    qrels: Qrels = {}
    for path in paths:
        for number, row in rows(path):
            query, other = text_of(path, number, row, "query_id"), text_of(path, number, row, "cand_id", "candidate_id")
            grade = grade_of(path, number, row.get("score"))
            qrels.setdefault(query, {}).setdefault(other, grade)  # the first of repeated rows counts
    return qrels


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
    """A label as plain Python: a number; a list of 0 and 1, as many as `classes`; or a class. Raises InvalidRequest."""
    if label == "number":
        try:
            as_number = float(value)
        except (TypeError, ValueError):
            as_number = math.nan
        if not math.isfinite(as_number):
            raise InvalidRequest(f"{path}, line {number}: the label {value!r} is not a number")
        return as_number
    if label == "classes":
        if not isinstance(value, list) or not value or any(flag not in (0, 1) for flag in value) or classes not in (None, len(value)):
            expected = f"{classes} numbers" if classes else "a list of numbers"
            raise InvalidRequest(f"{path}, line {number}: the label must be {expected}, 0 or 1 for each class, not {str(value)[:40]}")
        return [int(flag) for flag in value]
    if isinstance(value, (list, dict)):
        raise InvalidRequest(f"{path}, line {number}: the label must be one class, not {str(value)[:40]}")
    return value
