"""A run's output folder: its log, its papers as CSV and RIS, and the removed duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest, SciretrieveError
from ..files.csv_files import csv_rows
from ..files.writing import make_folder, remove, write_json, write_whole
from ..papers.bibliographies import ris_records
from ..papers.bibliographies.author_names import all_authors
from .logs import read_log
from .running import Duplicate, StrategyResult
from .strategy import Strategy

LOG = "log.json"
FILES = (LOG, "papers.csv", "papers.ris", "duplicates.csv")
PAPERS = ("id", "index", "title", "authors", "year", "venue", "doi", "abstract", "lines")
SAME = ("strategy", "lines", "indexes", "result")
"""Parts of a log that are equal for repeated runs."""


def write(result: StrategyResult, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write `log.json`, `papers.csv`, `papers.ris` and `duplicates.csv` into a folder, creating it, and return their paths. Each file is
    written atomically, the log last, so that a log's presence means that all files belong to its run.

    Without `overwrite`, raises InvalidRequest if the folder has the log of another strategy or of other counts, or has one of these files
    but no log.
    """
    folder = Path(folder)
    log = folder / LOG
    _check(folder, {key: result.log[key] for key in SAME}, overwrite=overwrite)
    make_folder(folder)
    remove(log)
    papers = (
        (one.id, one.index, paper.title, all_authors(paper), paper.year, paper.venue, paper.doi, paper.abstract, " ".join(one.lines))
        for one in result.papers
        for paper in [one.paper]
    )
    duplicates = [[field.name for field in fields(Duplicate)], *map(astuple, result.duplicates)]
    write_whole(folder / "papers.csv", csv_rows([PAPERS, *papers]).encode("utf-8", "surrogatepass"))
    write_whole(folder / "papers.ris", ris_records.text([found.paper for found in result.papers]).encode())
    write_whole(folder / "duplicates.csv", csv_rows(duplicates).encode("utf-8", "surrogatepass"))
    write_json(log, dict(result.log))
    return [folder / name for name in FILES]


def check_folder(folder: Path, strategy: Strategy, *, overwrite: bool) -> None:
    """Raise InvalidRequest before a search if a strategy's output cannot be written to this folder."""
    _check(folder, {"strategy": strategy.text}, overwrite=overwrite)


def _check(folder: Path, facts: Mapping[str, Any], *, overwrite: bool) -> None:
    """Raise InvalidRequest if the folder is a file, or has a log that differs in these fields."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise InvalidRequest(f"{nearest} is a file; name a folder for the log and the lists")
    present = [name for name in FILES if (folder / name).exists()]
    if not present or overwrite:
        return
    if LOG not in present:
        raise InvalidRequest(f"{folder} has a file {present[0]}, and no log; choose another folder, or replace it with `overwrite`")
    try:
        log = read_log(folder / LOG)
    except SciretrieveError:
        log = {}
    if any(log.get(key) != fact for key, fact in facts.items()):
        raise InvalidRequest(f"{folder} has the log of another run; choose another folder, or replace it with `overwrite`")
