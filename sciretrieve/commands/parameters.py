"""Options that several commands share."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ..base.choices import Device, Format, Help
from ..base.errors import CorruptData, InvalidRequest, WordsAlone
from ..options import FACETS, LIKE, UNLIKE, BuildSettings, ColumnMap, SearchOptions
from . import completing
from .console import Console, say_error

if TYPE_CHECKING:
    from ..lifecycle.distributed import RayWorkers
    from ..protocols import Encoder, Reranker
    from ..query.index import Index


PlainFormat: TypeAlias = Literal["table", "json"]
"""The formats of all output except hits."""

BUILDING, SEARCHING, ANY_COLUMNS = BuildSettings(), SearchOptions(), ColumnMap()
"""The defaults of commands, which are the library's."""


def argument(name: str, help: str, completes: str | None = None) -> Any:
    """An argument for typer; `completes` names the function of `completing` for the shell."""
    return typer.Argument(metavar=name, help=help, autocompletion=getattr(completing, completes) if completes else None)


_CORPUS = "Files, directories, globs or .zip: JSON, CSV, Excel, Parquet, BibTeX, RIS, PubMed, Zotero and more; - for standard input."
Corpus: TypeAlias = Annotated[list[str], argument("CORPUS", _CORPUS)]
SomeCorpus: TypeAlias = Annotated[list[str] | None, argument("CORPUS", _CORPUS)]
QueryEncoder: TypeAlias = Annotated[str | None, Help("The queries' encoder, if the index's own has moved; or vectors:FILE.", setting=True)]
SameEncoder: TypeAlias = Annotated[str | None, Help("The index's encoder, if it has moved; or vectors:FILE.", setting=True)]
IndexPath: TypeAlias = Annotated[
    Path | None,
    Help(
        "The index, its folder or its name; default: $SCIRETRIEVE_INDEX, else the one built last.", "NAME", short="-i", completes="indexes"
    ),
]
IndexPaths: TypeAlias = Annotated[
    list[str] | None,
    Help(
        "The index, its folder or its name; default: $SCIRETRIEVE_INDEX, else the one built last. Repeated, or '*' for all: searched as "
        "one.",
        "NAME",
        short="-i",
        completes="indexes",
    ),
]
PaperIds: TypeAlias = Annotated[
    list[str], argument("ID", "Papers: an id, a DOI, a citation key, …; - reads them from stdin, one per line.", "ids")
]
QueryWords: TypeAlias = Annotated[
    list[str] | None,
    argument("QUERY", 'Words, a question, a title; "a phrase", -word, title:word, AND, OR, NOT narrow it; - reads it from stdin.'),
]
TOKENS = "tokens"
"""The name of late interaction for `--rerank`."""
Like: TypeAlias = Annotated[list[str] | None, LIKE]
Unlike: TypeAlias = Annotated[list[str] | None, UNLIKE]
Memory: TypeAlias = Annotated[str | None, Help("Memory for the dense index of --dense auto, e.g. 2GB.", "SIZE", setting=True)]
Facets: TypeAlias = Annotated[list[str] | None, FACETS]
Save: TypeAlias = Annotated[str | None, Help("Save this search; `sciretrieve news` shows its new papers.", "NAME")]
FormatOption: TypeAlias = Annotated[Format, Help("How to print the hits.", short="-f")]
Fields: TypeAlias = Annotated[list[str] | None, Help("Columns to print of each paper, e.g. id,year,title.", "COLUMNS", completes="columns")]
Data: TypeAlias = Annotated[Path | None, Help("The folder with the benchmark's files.", "DIR")]
Append: TypeAlias = Annotated[Path | None, Help("Add the papers to this .bib, .ris or CSL .json file, unless it has them.", "FILE")]
PlainFormatOption: TypeAlias = Annotated[PlainFormat, Help("How to print it.", short="-f")]
Strict: TypeAlias = Annotated[bool, Help("Stop at the first bad row, not listing it in rejected.jsonl.", setting=True)]
Resume: TypeAlias = Annotated[bool, Help("Continue an interrupted run.", setting=True)]
Generation: TypeAlias = Annotated[int | None, Help("An older generation that `sciretrieve info log` shows.", least=1, setting=True)]
Columns: TypeAlias = Annotated[
    ColumnMap,
    Help(
        "The column with the id, title, abstract, year, venue or authors; default: by usual names. Repeatable.",
        "FIELD=COLUMN",
        advanced=True,
    ),
]
Ray: TypeAlias = Annotated[
    str | None,
    Help(
        "Work on a Ray cluster that shares the index's file system: HOST:PORT, auto for the running one, or local.",
        "ADDRESS",
        advanced=True,
    ),
]


def typed_query(words: Sequence[str] | None) -> str:
    """The query on a command line; for - the one on stdin. Raises InvalidRequest without a query."""
    if not words:
        raise InvalidRequest("there is no query; give some words, a sentence or a title")
    return sys.stdin.read().strip() if words == ["-"] else " ".join(words)


def open_index(path: Path | None, encoder: str | None = None, generation: int | None = None, workers: RayWorkers | None = None) -> Index:
    """Open the named index, or the one built last; with another encoder for queries, an older generation, or a cluster if given."""
    warnings.simplefilter("ignore", WordsAlone)  # commands report it themselves
    index_path = chosen_index(path)
    from ..query import opening

    return opening.open_index(index_path, encoder=encoder, generation=generation, workers=workers)


def open_indexes(
    named: Sequence[str] | None, encoder: str | None = None, generation: int | None = None, workers: RayWorkers | None = None
) -> Index:
    """Open the named index like `open_index`, or several as one. Raises InvalidRequest for a generation of several."""
    check_one_index(named, {"--set generation": generation})
    if not named:
        return open_index(None, encoder, generation, workers)
    from ..storage.finding import several

    paths = several(named)
    if len(paths) == 1:
        return open_index(paths[0], encoder, generation, workers)
    from ..query.opening import open_many

    return open_many(paths, encoder=encoder)


@contextmanager
def named_papers(index: Index, names: Sequence[str]) -> Iterator[list[str]]:
    """A context with the names that mean papers. After it, a line on each other name is printed, and the exit code is 1.

    Raises NotFound or Ambiguous if no name means a paper, after lines on all of them but the last.
    """
    found, wrong = index.snapshot.named(names)
    errors = list(wrong.values())
    try:
        if errors and not found:
            raise errors.pop()
        yield [name for name in names if name in found]
    finally:
        for error in errors:
            say_error(str(error))
    if errors:
        raise typer.Exit(1)


def check_one_index(named: Sequence[str] | None, options: Mapping[str, object]) -> None:
    """Reject options for one index if several are named."""
    if named is not None and (len(named) > 1 or "*" in named):
        for option, value in options.items():
            if value is not None:
                raise InvalidRequest(f"{option} is for one index; leave it out, or name one index with -i")


def opened_reranker(name: str | None) -> Reranker | None:
    """The reranker of that name; None for late interaction, which is part of the search. Raises as `open_reranker`."""
    if name is None or name == TOKENS:
        return None
    from ..query.ranking.reranking import open_reranker

    return open_reranker(name, device="cpu")


def given_encoder(name: str | None, index: Path, device: Device = "cpu") -> Encoder | None:
    """The index's encoder under its model's new name, with the index's adapters, pooling and texts; None without a name.

    Raises: as `load_encoder`; NotFound if there is no such index.
    """
    if name is None:
        return None
    from ..encoders import opened_encoder
    from ..storage.manifest import read_manifest

    try:
        built = read_manifest(index).encoder
    except CorruptData:  # the next reader reports the damage
        built = None
    return opened_encoder(name, built, device)


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def parsed_size(text: str | None) -> int | None:
    """A size such as 2GB, 1.5 GiB or 800000, in bytes. Raises InvalidRequest."""
    if text is None:
        return None
    parts = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?) *([A-Z]*)", text.strip().upper())
    if parts is None or parts[2] not in UNITS:
        raise InvalidRequest(f"{text!r} is not a size; write bytes, or a number and a unit such as 800MB, 2GB or 1.5GiB")
    return int(float(parts[1]) * UNITS[parts[2]])


def chosen_index(named: Path | None) -> Path:
    """The index for the value of -i, or without one; see `storage.finding.chosen`, which also gives the reason."""
    from ..storage.finding import chosen

    return chosen(named).path


def index_to_change(named: Path | None, console: Console) -> Path:
    """As `chosen_index`, for commands that change it: prints the index and the reason, unless its folder was given."""
    from ..storage.finding import chosen

    choice = chosen(named)
    if choice.path != named:
        console.note(f"the index is {choice.path} ({choice.why})")
    return choice.path


@contextmanager
def chosen_workers(ray: str | None) -> Iterator[RayWorkers | None]:
    """The requested cluster, if there is one. Raises as `RayWorkers`."""
    if ray is None:
        yield None
        return
    from ..lifecycle.distributed import RayWorkers

    with RayWorkers(ray) as workers:
        yield workers
