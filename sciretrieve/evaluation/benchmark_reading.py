"""Reading a benchmark from its folder: all of its sets, or those with one task; and its queries, as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..base.errors import InvalidRequest, NotFound
from ..base.types import Paper
from ..encoders.specs import FIELD_SEPARATOR
from .benchmark_catalogue import find_benchmark
from .benchmark_specs import Benchmark
from .evaluation_options import EvaluationRequest
from .material import Material
from .recognising import check_owner, whose


def read_for(request: EvaluationRequest) -> tuple[Benchmark, list[Material]]:
    """The benchmark of a request, and what of it the request asks for. Raises UnknownName, and as `read`."""
    spec = find_benchmark(request.benchmark)
    return spec, read(spec, request.data, request.split or spec.splits[0], request.task)


def read(spec: Benchmark, data: str | Path | None, split: str, task: str | None = None) -> list[Material]:
    """Read a benchmark's sets, or those with one task.

    Raises:
        NotFound: files are missing; the message says so if those of another benchmark are there.
        InvalidRequest: a file is invalid, or there is no such task.
    """
    if data is None and not spec.name.startswith(("beir:", "cite:")):
        raise InvalidRequest(f"{spec.name} needs its files: name their folder with `data`; see `sciretrieve benchmarks show {spec.name}`")
    folder = Path(spec.name.partition(":")[2] or data or ".")
    if data is not None and not folder.exists():
        raise NotFound(f"there is no {folder}; see `sciretrieve benchmarks show {spec.name}`")
    check_owner(folder, spec)
    try:
        return read_sets(spec, folder, split, task)
    except NotFound as error:
        raise NotFound(f"{error}{whose(folder, spec)}") from error


def read_sets(spec: Benchmark, folder: Path, split: str, task: str | None = None) -> list[Material]:
    """The same, from a folder that is not looked at as a whole. Raises NotFound, InvalidRequest."""
    materials = list(spec.load(folder, split))
    if task is None:
        return materials
    names = [item.name for material in materials for item in material.tasks]
    names += [item.name for material in materials for item in material.predictions]
    if any(task in material.missing for material in materials):
        raise NotFound(f"{folder} has no files of {spec.name}'s task {task}; see `sciretrieve benchmarks show {spec.name}`")
    if task not in names:
        raise InvalidRequest(f"{spec.name} has no task {task!r}; there are: {', '.join(names)}")
    with_task = [
        replace(
            material,
            tasks=tuple(item for item in material.tasks if item.name == task),
            predictions=tuple(item for item in material.predictions if item.name == task),
            missing=(),
        )
        for material in materials
    ]
    return [material for material in with_task if material.tasks or material.predictions]


def texts(materials: Sequence[Material]) -> Iterator[tuple[str, str]]:
    """Query ids and their texts, for people."""
    for material in materials:
        for task in material.tasks:
            for id, query in task.queries.items():
                paper: Paper | None = query.paper
                yield id, paper.title or paper.abstract if paper is not None else query.text.replace(FIELD_SEPARATOR, "[SEP]")
