"""`sciretrieve search`, `similar` and `batch`: open an index, ask it, print what it answers."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidRequest
from .console import Console, say
from .options import (
    Count,
    Debug,
    Explain,
    Filter,
    Format,
    FormatName,
    Fusion,
    FusionName,
    IndexPath,
    ModeOption,
    QueryEncoder,
    Quiet,
    open_index,
)

if TYPE_CHECKING:
    from ..runs import Run

CHUNK = 256


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words, a question, a title; - reads it from stdin.")],
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    k: Count = 10,
    mode: ModeOption = None,
    filter: Filter = None,
    fusion: Fusion = FusionName.convex,
    explain: Explain = False,
    format: Format = FormatName.table,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find papers by meaning and by words."""
    text = sys.stdin.read().strip() if query == ["-"] else " ".join(query)
    start = time.perf_counter()
    opened = open_index(index, encoder)
    run = opened.search(text, k, mode=mode.value if mode else None, filter=filter, fusion=fusion.value)
    _print(run, text, start, format, explain, Console(quiet))


def similar(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids of papers to be like; - reads them from stdin, one a line.")
    ] = None,
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    negatives: Annotated[
        list[str] | None, typer.Option("--not", metavar="ID", help="A paper to be unlike; may be given more than once.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="'Title. Abstract' of a paper to be like that is not in the index.")
    ] = None,
    k: Count = 10,
    mode: ModeOption = None,
    filter: Filter = None,
    fusion: Fusion = FusionName.convex,
    explain: Explain = False,
    format: Format = FormatName.table,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find papers like the given ones.

    The given papers are never among the answers. Several are combined by Rocchio's formula: the mean of those to be like,
    less a fifth of the mean of those to be unlike.
    """
    wanted = [line.strip() for line in sys.stdin if line.strip()] if ids == ["-"] else list(ids or [])
    start = time.perf_counter()
    opened = open_index(index, encoder)
    run = opened.similar(
        wanted, k, text=text, negatives=negatives or [], mode=mode.value if mode else None, filter=filter, fusion=fusion.value
    )
    _print(run, run.rankings[0].query.id, start, format, explain, Console(quiet))


def batch(
    queries: Annotated[
        str, typer.Argument(metavar="QUERIES", help="A .jsonl, .tsv or .txt file, a BEIR directory, or - for lines on stdin.")
    ],
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the run goes; - is stdout.")] = Path("-"),
    k: Count = 1000,
    mode: ModeOption = None,
    filter: Filter = None,
    fusion: Fusion = FusionName.convex,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Answer many queries at once, as a TREC run file."""
    from ..corpora import read_queries
    from ..files import write_whole
    from ..outputs import renamed

    asked = read_queries(queries)
    opened = open_index(index, encoder)
    console = Console(quiet)
    lines: list[str] = []
    encoded = 0
    console.start(len(asked), unit="queries")
    try:
        for first in range(0, len(asked), CHUNK):
            some = asked[first : first + CHUNK]
            run = opened.search(some, k, mode=mode.value if mode else None, filter=filter, fusion=fusion.value)
            lines += run.to_trec(f"sciretrieve-{run.mode}")
            encoded += renamed(run)
            console.advance(len(some))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        console.close()
    if str(output) == "-":
        say(lines)
    else:
        if not output.parent.is_dir():
            raise InvalidRequest(f"there is no directory {output.parent} to write {output.name} to")
        write_whole(output, "".join(line + "\n" for line in lines).encode())
        console.note(f"{len(asked):,} queries, {len(lines):,} lines: {output}")
    if encoded:
        console.note(f"{encoded:,} ids hold white space, which TREC files cannot; they were percent-encoded")


def _print(run: Run, query: str, start: float, format: FormatName, explain: bool, console: Console) -> None:
    from .. import outputs

    if format == FormatName.trec:
        say(outputs.trec(run))
        return
    hits = run.hits
    if format == FormatName.json:
        say([outputs.answer(query, run.mode, 1000 * (time.perf_counter() - start), hits)])
    elif format != FormatName.table:
        say(outputs.FORMATS[format.value](hits))
    elif not hits:
        console.note("no paper matches")
    else:
        width = shutil.get_terminal_size((80, 24)).columns
        say(line for hit in hits for line in (*outputs.table([hit], width), *([outputs.explanation(hit)] if explain else [])))
