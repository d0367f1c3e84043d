"""`sciretrieve strategy`: runs search strategies over indexes, with counts, log and lists; translates them, and runs them again."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ..base.choices import Help
from ..base.errors import InvalidRequest
from ..base.wording import as_json, counted, printable
from .console import Console, interruptible, say
from .parameters import IndexPaths, PlainFormat, PlainFormatOption, argument

if TYPE_CHECKING:
    from ..strategies import Strategy, Translation

File: TypeAlias = Annotated[Path, argument("FILE", "A strategy: a .toml file of named lines.")]
Syntax: TypeAlias = Literal["pubmed", "ovid"]
Written: TypeAlias = Annotated[Path, argument("FILE", "A strategy as PubMed or Ovid write it, a search a line.")]


def strategy() -> None:
    """Run search strategies, or translate those of PubMed and Ovid."""


def run(
    file: File,
    index: IndexPaths = None,
    output: Annotated[Path | None, Help("For the log and the lists of papers and duplicates.", "DIR", short="-o")] = None,
    overwrite: Annotated[bool, Help("Replace another strategy's log and lists in DIR.")] = False,
    from_: Annotated[Syntax | None, Help("Read FILE in PubMed's or Ovid's syntax; report what has no counterpart.")] = None,
    format: PlainFormatOption = "table",
) -> None:
    """Run the named lines of a strategy, each over all indexes that its file names, or -i.

    Prints each line's count. With -o, DIR gets a dated log, which `strategy replay` runs again, and the papers, each once, as CSV and
    RIS. Filters and years are in the file.
    """
    from .. import strategies
    from ..strategies.lists import check_folder

    console = Console()
    translation = None if from_ is None else _translated(file, from_, console)
    read_strategy = strategies.read(file) if translation is None else _parsed(file, translation)
    if output is not None:
        check_folder(output, read_strategy, overwrite=overwrite)
    with interruptible(console):
        result = strategies.run(read_strategy, index or (), translation=translation, progress=console)
    _print(result.log, format)
    if output is not None:
        strategies.write(result, output, overwrite=overwrite)
        console.note(f"log.json, papers.csv, papers.ris and duplicates.csv: {output}")


def translate(
    file: Written,
    from_: Annotated[Syntax, Help("Who writes strategies so.")],
    output: Annotated[Path | None, Help("Where the translation goes, a .toml file; default: stdout.", "FILE", short="-o")] = None,
    overwrite: Annotated[bool, Help("Replace the file.")] = False,
) -> None:
    """Translate a strategy of PubMed or Ovid, to be edited and run.

    It reports what has no counterpart, line by line.
    """
    from ..files.writing import check_parent, write_whole

    if output is not None and output.exists() and not overwrite:
        raise InvalidRequest(f"{output} is there already; name another file, or replace it with --overwrite")
    if output is not None:
        check_parent(output)
    console = Console()
    translation = _translated(file, from_, console)
    if output is None:
        say(translation.text.splitlines())
        return
    write_whole(output, translation.text.encode())
    notes = counted(len(translation.notes), "note") if translation.notes else "all lines have counterparts"
    console.note(f"{output}: {notes}; next: sciretrieve strategy run {shlex.quote(str(output))}")


def replay(
    log: Annotated[Path, argument("LOG", "The log.json of a strategy.")], index: IndexPaths = None, format: PlainFormatOption = "table"
) -> None:
    """Run a log again on the same generations: are the counts the same?

    It writes nothing. The exit code is 1 where counts differ.
    """
    from .. import strategies

    console = Console()
    with interruptible(console):
        replayed = strategies.replay(log, index or (), progress=console)
    _print(replayed.result.log, format)
    if not replayed.differences:
        console.note(f"the counts are those of {replayed.date}")
        return
    for difference in replayed.differences:
        typer.echo(printable(difference), err=True)
    raise typer.Exit(1)


def _translated(file: Path, syntax: Syntax, console: Console) -> Translation:
    from ..strategies import read_text, translate

    try:
        translation = translate(read_text(file), syntax)
    except InvalidRequest as error:
        raise InvalidRequest(f"{file}: {error}") from error
    for note in translation.notes:
        console.note(note)
    return translation


def _parsed(file: Path, translation: Translation) -> Strategy:
    from ..strategies import parse

    try:
        return parse(translation.text)
    except InvalidRequest as error:
        raise InvalidRequest(f"{file}: {error}; `strategy translate` writes a file, to be edited and run") from error


def _print(log: Mapping[str, Any], format: PlainFormat) -> None:
    from ..strategies import as_table

    say([as_json(log, indent=1)] if format == "json" else as_table(log, shutil.get_terminal_size((100, 24)).columns))
