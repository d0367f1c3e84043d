"""Reads judgements and runs strictly: an error names the file and the line, and nothing is guessed."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from ..base.errors import InvalidRequest, NotFound
from ..base.wording import shortened
from ..files.streams import beginning, lines, read_text
from ..files.strict_json import RepeatedKey, parsed
from .trec import ids_of

Qrels: TypeAlias = dict[str, dict[str, int]]
"""Query id -> document id -> grade."""
RunScores: TypeAlias = dict[str, dict[str, float]]
"""Query id -> document id -> score, greater is better."""
Rows = TypeVar("Rows", Qrels, RunScores)
LARGEST_GRADE = 1_000_000
"""The largest grade: pytrec_eval takes memory for each grade up to the largest, and crashes without it."""


def read_qrels(path: Path) -> Qrels:
    """Read judgements: TREC's four columns, BEIR's three with a header, or JSON `{query: {document: grade}}`.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: a line is not a judgement, or is repeated.
    """
    _check(path, "judgements")
    if is_json(path):
        qrels = {query: {id: grade_of(path, 0, grade) for id, grade in row.items()} for query, row in objects_by_id(path).items()}
        return _filled(qrels, path, "judgements")
    qrels = {}
    for number, fields in _rows(path):
        if len(fields) == 3:
            query, id, grade = fields
            if number == 1 and not _is_number(grade):
                continue  # BEIR's header
        elif len(fields) == 4:
            (query, id), grade = ids_of(*fields[:3]), fields[3]
        else:
            raise InvalidRequest(f"{path}, line {number}: expected 3 columns (query, document, grade) or TREC's 4, found {len(fields)}")
        if id in qrels.setdefault(query, {}):
            raise InvalidRequest(f"{path}, line {number}: query {query!r} and document {id!r} were judged above already")
        qrels[query][id] = grade_of(path, number, grade)
    return _filled(qrels, path, "judgements")


def read_scores(path: Path) -> RunScores:
    """Read a run: TREC's six columns (the rank is ignored), or JSON `{query: {document: score}}`.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: a line is not a row of a run, a score is not a number, or a document is listed twice for a query.
    """
    _check(path, "run")
    if is_json(path):
        scores = {query: {id: _score(path, query, score) for id, score in row.items()} for query, row in objects_by_id(path).items()}
        return _filled(scores, path, "run")
    scores = {}
    for number, fields in _rows(path):
        if len(fields) != 6:
            raise InvalidRequest(f"{path}, line {number}: a TREC run has 6 columns, this line {len(fields)}; ids may hold no white space")
        (query, id), score = ids_of(*fields[:3]), fields[4]
        if id in scores.setdefault(query, {}):
            raise InvalidRequest(f"{path}, line {number}: document {id!r} is listed twice for query {query!r}")
        scores[query][id] = _score(path, number, score)
    return _filled(scores, path, "run")


def check_judgements(given: Any) -> Qrels:
    """Judgements from user code, {query: {paper: grade}}. Raises InvalidRequest for others."""
    if not isinstance(given, Mapping) or not all(isinstance(query, str) and isinstance(row, Mapping) for query, row in given.items()):
        raise InvalidRequest(f"judgements are {{query: {{paper: grade}}}}, by ids, not {shortened(given)}")
    for query, id, grade in ((query, id, grade) for query, row in given.items() for id, grade in row.items()):
        if not isinstance(id, str) or not isinstance(grade, Integral) or abs(int(grade)) > LARGEST_GRADE:
            raise InvalidRequest(f"the grade of {id!r} for {query!r} is a whole number up to {LARGEST_GRADE:,}, not {shortened(grade)}")
    return {query: {id: int(grade) for id, grade in row.items()} for query, row in given.items()}


def read_runs(paths: Sequence[Path]) -> dict[str, RunScores]:
    """Runs by their names: files (TREC or JSON), or folders of `evaluate -o`. Raises NotFound, InvalidRequest."""
    runs = {}
    for path in paths:
        name, file = run_file(path)
        while name in runs:
            name += "'"
        runs[name] = read_scores(file)
    return runs


def run_file(path: Path) -> tuple[str, Path]:
    """The name and the file of a run, which may be given by a folder of `evaluate -o`. Raises NotFound."""
    file = next((place for name in ("run.json", "run.trec") if (place := path / name).is_file()), path)
    if path.is_dir() and file == path:
        raise NotFound(f"there is no run in {path}; name a file, or a folder of `evaluate -o` for a benchmark of one task")
    return path.name if path.is_dir() else path.parent.name if path.stem == "run" else path.stem, file


def read_pair_scores(path: Path) -> dict[str, float]:
    """Read MDCR's scores, JSON `{"query_candidate": score}`. Raises NotFound, InvalidRequest."""
    _check(path, "scores")
    return {key: _score(path, key, score) for key, score in json_of(path).items()}


def check_ids(answers: Mapping[str, Iterable[str]], source: object, qrels: Qrels, judge: object) -> None:
    """Raise InvalidRequest if none of the answered queries, or none of the papers, is judged: then they belong to two collections.

    Args:
        answers: by query, the ids of papers.
        source: the origin of the answers, for the message.
        qrels: the judgements.
        judge: the origin of the judgements, for the message.
    """
    judged = dict.fromkeys(id for row in qrels.values() for id in row)
    rows = list({id(row): row for row in answers.values()}.values())  # a whole corpus is shared by all queries
    if not qrels.keys() & answers.keys():
        what, one, other = "queries", next(iter(answers), None), next(iter(qrels), None)
    elif judged and any(rows) and all(judged.keys().isdisjoint(row) for row in rows):
        what, one, other = "papers", next(id for row in rows for id in row), next(iter(judged))
    else:
        return
    raise InvalidRequest(f"{source} has none of the {what} judged in {judge}: {one!r} here, {other!r} there; do the collections match?")


def json_of(path: Path) -> dict[str, Any]:
    """A file's JSON object. Raises InvalidRequest with the line of an early end, and for a repeated key."""
    try:
        value = parsed(read_text(path))
    except RepeatedKey as error:
        raise InvalidRequest(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} is not valid JSON: {error}; it may be truncated") from error
    if not isinstance(value, dict):
        raise InvalidRequest(f"{path} holds no JSON object; is it from another release?")
    return value


def is_json(path: Path) -> bool:
    """Whether a file holds a JSON object, by its name or its first character."""
    return ".json" in path.suffixes or beginning(path).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def objects_by_id(path: Path) -> dict[str, Mapping[str, Any]]:
    """A JSON file of objects by id. Raises InvalidRequest."""
    value = json_of(path)
    if (bad_key := next((key for key, row in value.items() if not isinstance(row, dict)), None)) is not None:
        raise InvalidRequest(f"{path}: {bad_key!r} holds no object; expected an object for each id, so the file may be of another release")
    return dict(value)


def _filled(rows: Rows, path: Path, what: str) -> Rows:
    if not any(rows.values()):
        raise InvalidRequest(f"{path} holds no {what}")
    return rows


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines(path), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidRequest(f"{path}, line {number}: broken UTF-8 at byte {error.start}") from error
        if text.strip():
            try:
                # a line with tabs is a table row, whose ids may have spaces and quotes, as in BEIR's own reader
                yield number, next(csv.reader([text], delimiter="\t")) if "\t" in text else text.split()
            except csv.Error as error:
                raise InvalidRequest(f"{path}, line {number}: {error}") from error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def grade_of(path: Path, line: int, value: Any) -> int:
    """A grade as a whole number. Raises InvalidRequest for anything else, and beyond `LARGEST_GRADE`."""
    try:
        number = float(value)
        if number != int(number):
            raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRequest(f"{path}, line {line}: the grade {value!r} is not a whole number") from error
    if abs(number) > LARGEST_GRADE:
        raise InvalidRequest(f"{path}, line {line}: the grade {value!r} is too large; the largest is {LARGEST_GRADE:,}")
    return int(number)


def _score(path: Path, where: int | str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"{path}, line {where}: the score {value!r} is not a number") from error
    if math.isnan(number):
        raise InvalidRequest(f"{path}, line {where}: the score is NaN; a system must give every document a number")
    return number


def _check(path: Path, what: str) -> None:
    if not path.is_file():
        raise NotFound(f"there is no {what} at {path}")
