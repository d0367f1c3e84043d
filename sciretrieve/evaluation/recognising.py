"""Whose files a folder has: told by `Benchmark.files`, so that a wrong --data is named and not evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path

from ..base.errors import InvalidRequest, NotFound
from .benchmark_catalogue import BEIR_SETS, CATALOGUE, find_benchmark
from .benchmark_specs import Benchmark
from .readers.benchmark_files import COMPRESSED

MOST_PATHS = 10_000
"""Of a folder with more, so many are looked at."""
NAMED = 5
"""So many benchmarks are named, if a folder has the files of more."""
REMARK = re.compile(r"\s*\([^()]*\)")
CHOICE = re.compile(r"\{([^{}]*)\}")


def check_owner(folder: Path, spec: Benchmark) -> None:
    """Check that a folder is not another benchmark's.

    Raises:
        NotFound: it has all files of other benchmarks, and none of this one's.
        InvalidRequest: it has the name of another set of BEIR.
    """
    if spec.name == "trec-covid" and folder.resolve().name in BEIR_SETS:
        raise InvalidRequest(f"{folder} has the name of another set of BEIR; evaluate it as beir:{folder}")
    paths, own = _paths(folder), patterns(spec.files)
    if own and not any(_is_there(pattern, paths) for pattern in own) and (owners := _owners(folder, paths, spec)):
        raise NotFound(f"{spec.name} needs {spec.files}, and {folder} has none of these{_sentence(owners)}")


def whose(folder: Path, spec: Benchmark) -> str:
    """The end of a sentence that says whose files a folder has, if they are all of another benchmark's; else ""."""
    return _sentence(_owners(folder, _paths(folder), spec)) if folder.is_dir() else ""


def has_files(folder: Path, spec: Benchmark) -> bool:
    """Whether a folder has all files that a benchmark needs, as far as names tell."""
    paths, own = _paths(folder) if folder.is_dir() else [], patterns(spec.files)
    return bool(own) and all(_is_there(pattern, paths) for pattern in own)


def _sentence(owners: Sequence[str]) -> str:
    more = f" and {len(owners) - NAMED} more" if len(owners) > NAMED else ""
    return f"; these look like the files of {', '.join(owners[:NAMED])}{more}" if owners else ""


def _owners(folder: Path, paths: Sequence[str], spec: Benchmark) -> list[str]:
    """The other benchmarks all of whose files are there."""
    files: Mapping[str, str] = {
        **{name: row.files for name, row in CATALOGUE.items() if name != "trec-covid"},
        **{name: find_benchmark(name).files for name in (f"cite:{folder}", f"beir:{folder}")},
    }
    wanted = {name: patterns(text) for name, text in files.items() if name != spec.name}
    return [name for name, needed in wanted.items() if needed and all(_is_there(pattern, paths) for pattern in needed)]


def _paths(folder: Path) -> list[str]:
    """The files below a folder, each with the folder's own name before it, since the benchmark may name that folder."""
    top = folder.resolve()
    return [f"/{path.relative_to(top.parent).as_posix()}" for path in islice(top.rglob("*"), MOST_PATHS)]


def _is_there(pattern: str, paths: Sequence[str]) -> bool:
    return any(fnmatchcase(path, f"*/{pattern}{ending}") for path in paths for ending in COMPRESSED)


@cache
def patterns(files: str) -> tuple[str, ...]:
    """What `Benchmark.files` names, as patterns of paths; empty if it says in words what is needed."""
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
