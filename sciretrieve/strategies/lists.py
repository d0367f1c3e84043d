"""What a run of a strategy leaves in a folder: its log, the papers as CSV and RIS, and the duplicates that were removed."""

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
"""What logs of the same run have in common."""


def write(result: StrategyResult, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write `log.json`, `papers.csv`, `papers.ris` and `duplicates.csv` into a folder, which is made, and return them. Each is written
    whole or not at all, the log last: where it is, all are of its run.

    Raises InvalidRequest, unless it is to `overwrite`, where the folder has the log of another run, of another strategy or with other
    counts; or one of these files, and no log.
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
    """Raise InvalidRequest for a folder that a strategy's lists cannot be written to, before anything is searched for."""
    _check(folder, {"strategy": strategy.text}, overwrite=overwrite)


def _check(folder: Path, facts: Mapping[str, Any], *, overwrite: bool) -> None:
    """Raise InvalidRequest if there is a file in place of the folder, or a log in it of which these facts are not true."""
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
