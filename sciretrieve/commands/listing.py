"""`sciretrieve info indexes`: lists the indexes, and the default one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InvalidRequest, NotFound
from ..base.wording import counted, size_text
from .console import say, say_json
from .parameters import PlainFormatOption

if TYPE_CHECKING:
    from ..storage.finding import FoundIndex


def indexes(format: PlainFormatOption = "table") -> None:
    """List the indexes that can be named, and what they are.

    They are in ./indexes, in folders above, or in those of the setting `indexes`. Unfinished and damaged ones are listed, too.
    """
    from ..storage.finding import chosen, found, listing

    try:
        choice, why_none = chosen(), None
    except (NotFound, InvalidRequest) as error:
        choice, why_none = None, str(error)
    default = choice.path.resolve() if choice else None
    paths = found()
    if choice and choice.path.is_dir() and default not in {path.resolve() for path in paths}:
        paths.append(choice.path)
    rows = [listing(path) for path in paths]
    if format == "json":
        listed = [{**asdict(row), "path": str(row.path), "default": _is_default(row.path, default)} for row in rows]
        say_json({"schema": 1, "default": str(choice.path) if choice else None, "indexes": listed})
        return
    if rows:
        widths = [max(map(len, column)) for column in zip(*map(_cells, rows), strict=True)]
        for row in rows:
            name, *cells = (cell.ljust(width) for cell, width in zip(_cells(row), widths, strict=True))
            say([f"{'*' if _is_default(row.path, default) else ' '} {'  '.join((name, *cells))}".rstrip(), f"    {_location(row)}"])
        say([""])
    say([f"* is taken without -i: {choice.why}" if choice else str(why_none)])


def _is_default(path: Path, default: Path | None) -> bool:
    return path.resolve() == default


def _cells(row: FoundIndex) -> tuple[str, ...]:
    if row.papers is None or row.bytes is None or row.built is None:
        return row.name, row.state, "", "", "", ""
    return row.name, counted(row.papers, "paper"), row.encoder or "", ", ".join(row.modes), row.built[:10], size_text(row.bytes)


def _location(row: FoundIndex) -> str:
    return f"{row.path}: {row.fault}" if row.fault else str(row.path)
