"""Reads a benchmark from its folder: checks whose files it has, reads its sets or one task, and reports what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path

from ..base.errors import InvalidRequest, NotFound
from ..base.types import Paper
from ..encoders.specs import FIELD_SEPARATOR
from .benchmark_catalogue import BEIR_SETS, CATALOGUE, find_benchmark
from .benchmark_specs import Benchmark
from .evaluation_options import EvaluationRequest
from .material import Material, Prediction
from .readers.benchmark_files import COMPRESSED
from .readers.scirepeval import first_matches, places

MOST_PATHS = 10_000
"""The most files of a folder that are examined."""
NAMED = 5
"""The most benchmarks to name whose files a folder has."""
REMARK = re.compile(r"\s*\([^()]*\)")
CHOICE = re.compile(r"\{([^{}]*)\}")
SLACK = 0.99
"""The share of the published size from which a benchmark is whole: papers and their authors' files differ by a few queries."""
PREDICTED_SLACK = 0.8
"""The same for labelled papers, some of which only serve to choose a model."""
PART = re.compile(r"-(\d{5})-of-(\d{5})\.")


def read_for(request: EvaluationRequest) -> tuple[Benchmark, list[Material]]:
    """The benchmark of a request, and its sets or the requested task. Raises UnknownName, and as `read`."""
    spec = find_benchmark(request.benchmark)
    return spec, read(spec, request.data, request.split or spec.splits[0], request.task)


def read(spec: Benchmark, data: str | Path | None, split: str, task: str | None = None) -> list[Material]:
    """Read a benchmark's sets, or those with one task.

    Raises:
        NotFound: files are missing; the message names another benchmark whose files are there.
        InvalidRequest: a file is invalid, or there is no such task.
    """
    if spec.name.startswith("irds:"):
        return read_sets(spec, Path(), split, task)
    if data is None and not spec.name.startswith(("beir:", "cite:")):
        raise InvalidRequest(f"{spec.name} needs its files: name their folder with `data`; see `sciretrieve benchmarks show {spec.name}`")
    folder = Path(data or spec.name.partition(":")[2] or ".")
    if data is not None and not folder.exists():
        raise NotFound(f"there is no {folder}; see `sciretrieve benchmarks show {spec.name}`")
    check_owner(folder, spec)
    try:
        return read_sets(spec, folder, split, task)
    except NotFound as error:
        raise NotFound(f"{error}{whose(folder, spec)}") from error


def read_sets(spec: Benchmark, folder: Path, split: str, task: str | None = None) -> list[Material]:
    """The same, without a check of the whole folder. Raises NotFound, InvalidRequest."""
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
    """Query ids with their texts, for display."""
    for material in materials:
        for task in material.tasks:
            for id, query in task.queries.items():
                paper: Paper | None = query.paper
                yield id, paper.title or paper.abstract if paper is not None else query.text.replace(FIELD_SEPARATOR, "[SEP]")


def check_owner(folder: Path, spec: Benchmark) -> None:
    """Raise an error if a folder is another benchmark's.

    Raises:
        NotFound: it has all files of other benchmarks, and none of this one's.
        InvalidRequest: it has the name of another set of BEIR.
    """
    if spec.name == "trec-covid" and folder.resolve().name in BEIR_SETS:
        raise InvalidRequest(f"{folder} has the name of another set of BEIR; evaluate it as beir:{folder}")
    paths, own = _paths(folder), patterns(spec.files)
    if own and not any(_is_among(pattern, paths) for pattern in own) and (owners := _owners(folder, paths, spec)):
        raise NotFound(f"{spec.name} needs {spec.files}, and {folder} has none of these{_sentence(owners)}")


def whose(folder: Path, spec: Benchmark) -> str:
    """The end of a sentence that names the other benchmarks whose files a folder has; "" for none."""
    return _sentence(_owners(folder, _paths(folder), spec)) if folder.is_dir() else ""


def has_files(folder: Path, spec: Benchmark) -> bool:
    """Whether a folder has all files that a benchmark needs, by their names."""
    paths, own = _paths(folder) if folder.is_dir() else [], patterns(spec.files)
    return bool(own) and all(_is_among(pattern, paths) for pattern in own)


def _sentence(owners: Sequence[str]) -> str:
    more = f" and {len(owners) - NAMED} more" if len(owners) > NAMED else ""
    return f"; these look like the files of {', '.join(owners[:NAMED])}{more}" if owners else ""


def _owners(folder: Path, paths: Sequence[str], spec: Benchmark) -> list[str]:
    """The other benchmarks whose files are all there."""
    files: Mapping[str, str] = {
        **{name: row.files for name, row in CATALOGUE.items() if name != "trec-covid"},
        **{name: find_benchmark(name).files for name in (f"cite:{folder}", f"beir:{folder}")},
    }
    wanted = {name: patterns(text) for name, text in files.items() if name != spec.name}
    return [name for name, needed in wanted.items() if needed and all(_is_among(pattern, paths) for pattern in needed)]


def _paths(folder: Path) -> list[str]:
    """The files below a folder, with the folder's own name before each, since the benchmark may name that folder."""
    top = folder.resolve()
    return [f"/{path.relative_to(top.parent).as_posix()}" for path in islice(top.rglob("*"), MOST_PATHS)]


def _is_among(pattern: str, paths: Sequence[str]) -> bool:
    return any(fnmatchcase(path, f"*/{pattern}{ending}") for path in paths for ending in COMPRESSED)


@cache
def patterns(files: str) -> tuple[str, ...]:
    """The patterns of paths in `Benchmark.files`; empty if it is prose."""
    parts = re.split(r",\s+", REMARK.sub("", files))
    if any(" " in part for part in parts):
        return ()
    return tuple(re.sub("SPLIT|DATASET", "*", one) for part in parts for one in _choices(part))


def _choices(pattern: str) -> list[str]:
    """`{cite,cocite}/x` -> `cite/x`, `cocite/x`."""
    match = CHOICE.search(pattern)
    if match is None:
        return [pattern]
    return [one for choice in match[1].split(",") for one in _choices(pattern[: match.start()] + choice + pattern[match.end() :])]


def lacking(spec: Benchmark, split: str, folder: str | Path | None, materials: Sequence[Material]) -> list[str]:
    """The missing parts, such as "30 of 142,009 candidates"; empty if none are known. Only the first split's sizes are published, and tasks
    that are left out or chosen are not checked.
    """
    whole = spec.published_sizes
    lacks = list(_parts(spec, Path(folder or ".")))
    if split != spec.splits[0]:
        return lacks
    for material in materials:
        papers: int | None = None
        for task in material.tasks:
            published = whole.get(task.name) or whole.get("", {})
            if task.candidates is None:
                papers = sum(1 for _ in material.pool()) if papers is None else papers
                there = papers if task.among is None else task.among
            else:
                there = sum(map(len, task.candidates.values()))
            name = f"{task.name}: " if len(whole) > 1 else ""
            counts = {"queries": len(task.qrels), "pairs": there, "candidates": there}
            lacks += [f"{name}{have}" for unit, of in published.items() if (have := _shortfall(counts.get(unit, of), of, unit, SLACK))]
        for prediction in material.predictions:
            published = whole.get(prediction.name) or whole.get("", {})
            if isinstance(prediction, Prediction) and "papers" in published:
                papers_there = len({*prediction.train.ids, *prediction.test.ids})
                lacks += filter(None, [_shortfall(papers_there, published["papers"], "papers", PREDICTED_SLACK)])
    return list(dict.fromkeys(lacks))


def _shortfall(there: int, published: int, unit: str, slack: float) -> str:
    return f"{there:,} of {published:,} {unit}" if there < slack * published else ""


def _parts(spec: Benchmark, folder: Path) -> Iterator[str]:
    """Incomplete files of several parts."""
    for files in spec.hub:
        paths = first_matches(places(folder, files.folder), (f"{files.prefix}*-of-*",))
        for start in dict.fromkeys(path.name[: match.start()] for path in paths if (match := PART.search(path.name))):
            parts = [match for path in paths if path.name.startswith(f"{start}-") and (match := PART.search(path.name))]
            if len(parts) < (of := int(parts[0][2])):
                yield f"{len(parts)} of {of} files of {files.folder}/{start}"
