"""`sciretrieve search --strategy` and `--replay`: a strategy run over indexes, its counts, its log and its lists."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ..choices import Format, Help
from ..errors import InvalidRequest
from ..options import SearchOptions
from ..wording import as_json, counted
from .console import Console, interruptible, printable, say
from .parameters import SEARCHING

if TYPE_CHECKING:
    from ..strategies import Strategy, Translation

StrategyFile: TypeAlias = Annotated[
    Path | None,
    Help("Run the named lines of this .toml file, each over all indexes that it names, or -i.", "FILE"),
]
From: TypeAlias = Annotated[
    Literal["pubmed", "ovid"] | None,
    Help("FILE is as PubMed or Ovid write strategies, a search a line; what has no counterpart is said."),
]
Output: TypeAlias = Annotated[
    Path | None,
    Help(
        "Where a strategy's log and its lists of papers and duplicates go; with --from, FILE.toml has the translation alone.",
        "DIR",
        short="-o",
    ),
]
Overwrite: TypeAlias = Annotated[bool, Help("Replace the log and lists of another strategy in DIR.")]
Replay: TypeAlias = Annotated[
    Path | None, Help("Run a log.json again on the same generations: are the counts the same?", "LOG", advanced=True)
]


def check_alone(options: SearchOptions, given: Mapping[str, Any]) -> None:
    """Refuse options of a search, by their names, beside a strategy: it is run as its file says."""
    changed = [f"`{field.name}`" for field in fields(options) if getattr(options, field.name) != getattr(SEARCHING, field.name)]
    if others := [*changed, *(name for name, value in given.items() if value)]:
        raise InvalidRequest(f"a strategy is run as its file says, which may have filter, since and until; leave out {others[0]}")


def check_absent(given: Mapping[str, Any]) -> None:
    """Refuse options of a strategy where none is run."""
    if names := [name for name, value in given.items() if value]:
        raise InvalidRequest(f"{names[0]} is for a strategy; name its file with --strategy")


def run_asked(
    strategy: Path | None,
    replay: Path | None,
    syntax: Literal["pubmed", "ovid"] | None,
    indexes: Sequence[str],
    output: Path | None,
    overwrite: bool,
    format: Format,
    console: Console,
) -> None:
    """Run a strategy, or a log again. Raises InvalidRequest for both, and for options of the one beside the other."""
    if format not in ("table", "json"):
        raise InvalidRequest(
            f"a strategy's counts are printed with --format table or json, not {format}; -o DIR has the papers as CSV and RIS"
        )
    if replay is None:
        assert strategy is not None
        run_strategy(strategy, syntax, indexes, output, overwrite, format, console)
        return
    given = {"--strategy": strategy, "--from": syntax, "--output": output, "--overwrite": overwrite}
    if names := [name for name, value in given.items() if value]:
        raise InvalidRequest(f"--replay runs a log as it is, and writes nothing; leave out {names[0]}")
    run_replay(replay, indexes, format, console)


def run_strategy(
    file: Path,
    syntax: Literal["pubmed", "ovid"] | None,
    indexes: Sequence[str],
    output: Path | None,
    overwrite: bool,
    format: Format,
    console: Console,
) -> None:
    """Run a strategy, print its counts, and write its log and lists; or write a translation alone."""
    from .. import strategies
    from ..strategies.lists import check_folder

    translation = None if syntax is None else _translated(file, syntax, console)
    if output is not None and output.suffix == ".toml":
        _write_translation(translation, output, overwrite, console)
        return
    strategy = strategies.read(file) if translation is None else _parsed(file, translation)
    if output is not None:
        check_folder(output, strategy, overwrite=overwrite)
    with interruptible(console):
        result = strategies.run(strategy, indexes, translation=translation, progress=console)
    _print(result.log, format)
    if output is not None:
        strategies.write(result, output, overwrite=overwrite)
        console.note(f"log.json, papers.csv, papers.ris and duplicates.csv: {output}")


def run_replay(log: Path, indexes: Sequence[str], format: Format, console: Console) -> None:
    """Run a log again, and print its counts. The exit code is 1 where they differ."""
    from .. import strategies

    with interruptible(console):
        replay = strategies.replay(log, indexes, progress=console)
    _print(replay.result.log, format)
    if not replay.differences:
        console.note(f"the counts are those of {replay.date}")
        return
    for difference in replay.differences:
        typer.echo(printable(difference), err=True)
    raise typer.Exit(1)


def _translated(file: Path, syntax: Literal["pubmed", "ovid"], console: Console) -> Translation:
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
        raise InvalidRequest(f"{file}: {error}; -o FILE.toml writes the translation, to be edited and run with --strategy") from error


def _write_translation(translation: Translation | None, output: Path, overwrite: bool, console: Console) -> None:
    from ..files.writing import write_whole

    if translation is None:
        raise InvalidRequest(f"-o {output} is for a translation with --from pubmed or ovid; name a folder for the log and the lists")
    if output.exists() and not overwrite:
        raise InvalidRequest(f"{output} is there already; name another file, or replace it with --overwrite")
    if not output.parent.is_dir():
        raise InvalidRequest(f"there is no directory {output.parent} to write {output.name} to")
    write_whole(output, translation.text.encode())
    notes = counted(len(translation.notes), "note") if translation.notes else "all lines have counterparts"
    console.note(f"{output}: {notes}; run it with --strategy {output}")


def _print(log: Mapping[str, Any], format: Format) -> None:
    from ..strategies import as_table

    say([as_json(log, indent=1)] if format == "json" else as_table(log, shutil.get_terminal_size((100, 24)).columns))
