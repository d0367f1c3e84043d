"""Finds a benchmark's files in a folder, and reads JSON Lines strictly: a bad line is an error with its number."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ...base.errors import InvalidRequest, NotFound
from ...base.types import Paper
from ...files.streams import json_lines

COMPRESSED = ("", ".gz", ".zst")
Part = TypeVar("Part")


def find(folder: Path, *names: str, benchmark: str) -> Path:
    """The first of `names` that is in `folder`, or in a folder below it.

    Raises:
        NotFound: there is none; the message names the needed files and their source.
        InvalidRequest: there are several.
    """
    for name in names:
        for ending in COMPRESSED:
            if (folder / (name + ending)).is_file():
                return folder / (name + ending)
    if folder.is_dir():
        for name in names:
            paths = sorted(path for ending in COMPRESSED for path in folder.rglob(name + ending) if path.is_file())
            if len(paths) > 1:
                raise InvalidRequest(f"{folder} has {name} more than once ({paths[0]}, {paths[1]}); name the benchmark's own folder")
            if paths:
                return paths[0]
    file_names = " or ".join(names)
    problem = "the folder is missing" if not folder.is_dir() else f"there is no {file_names} in it"
    raise NotFound(f"{benchmark} needs {file_names} under {folder}, and {problem}; see `sciretrieve benchmarks show {benchmark}`")


def present(names: Sequence[str], load: Callable[[str], Part]) -> tuple[list[Part], tuple[str, ...]]:
    """The results of `load` for each name, and the names without files. Raises NotFound if all are missing."""
    parts, errors = [], {}
    for name in names:
        try:
            parts.append(load(name))
        except NotFound as error:
            errors[name] = error
    if not parts:
        raise errors[names[0]]
    return parts, tuple(errors)


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file, or the rows of a Parquet file, numbered from 1.

    Raises:
        InvalidRequest: a line is not an object.
    """
    if path.suffix == ".parquet":
        try:
            number = 0
            for batch in pq.ParquetFile(path).iter_batches(1024):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
        except (pa.ArrowInvalid, OSError) as error:
            raise InvalidRequest(f"{path} cannot be read as Parquet ({error})") from error
        return
    for number, row in json_lines(path):
        if isinstance(row, str):
            raise InvalidRequest(f"{path}, line {number}: {row}; expected an object a line, so the file is cut short or of another release")
        yield number, row


def text_of(path: Path, number: int, row: Mapping[str, Any], *names: str) -> str:
    """The first field that a row has among `names`, as text. Raises InvalidRequest if it has none."""
    for name in names:
        if row.get(name) is not None:
            return str(row[name])
    raise InvalidRequest(f"{path}, line {number}: no {' or '.join(names)}; found {found(row)}")


def found(row: Mapping[str, Any]) -> str:
    """The names of a row's fields, for the end of a message about a missing one."""
    return ", ".join(sorted(row)) or "nothing"


def paper_of(row: Mapping[str, Any], id: str, *, abstract: str = "abstract") -> Paper:
    """A paper from a row, whose abstract may have another name; missing or null texts are empty."""
    return Paper(id, str(row.get("title") or ""), str(row.get(abstract if abstract in row else "abstract") or ""))


def corpus_of(path: Path, *id_names: str, abstract: str = "abstract") -> Callable[[], Iterator[Paper]]:
    """A function that reads a file's papers anew at each call, since memory may not hold them all."""

    def pool() -> Iterator[Paper]:
        for number, row in rows(path):
            yield paper_of(row, text_of(path, number, row, *id_names), abstract=abstract)

    return pool


def fingerprint(paths: Iterable[Path], *facts: object) -> str:
    """A value that changes when a file's path, size or time does, or one of the facts."""
    digest = hashlib.sha256(repr(facts).encode())
    for path in paths:
        status = path.stat()
        digest.update(repr((str(path.resolve()), status.st_size, status.st_mtime_ns)).encode())
    return digest.hexdigest()


def as_classes(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Classes as whole numbers if all are, else as text."""
    try:
        numbers = [int(label) for label in labels]
        if all(float(label) == number for label, number in zip(labels, numbers, strict=True)):
            return np.array(numbers)
    except (ValueError, OverflowError):
        pass
    return np.array([str(label) for label in labels])
