"""A corpus: one or more sources read as one stream of papers, countable if that is cheap, and re-iterable."""

from __future__ import annotations

import glob
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias

import pyarrow as pa

from ..errors import InvalidRequest, NotFound
from ..streams import STDIN, blocks
from ..types import Paper
from . import beir, zotero_library
from .columns import ColumnMap
from .dialects import plain
from .formats import SUFFIXES, format_of, suffix_of
from .papers import Batch, papers
from .raw import BATCH_ROWS, RawBatch, Row, batches_of_rows, table_of_rows


class ArrowStream(Protocol):
    """A table that Arrow can read: a data frame of pandas or Polars, an Arrow table, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table's data, by Arrow's PyCapsule interface."""


Sources: TypeAlias = str | Path | Iterable[str | Path] | Iterable[Row] | ArrowStream
"""What `open_corpus` opens."""


@dataclass(frozen=True)
class Corpus:
    """A named, re-iterable source of papers."""

    files: tuple[Path, ...]
    columns: ColumnMap
    name: str

    textless: ClassVar[bool] = False
    """Whether papers without any text are kept."""
    has_columns: ClassVar[bool] = True
    """Whether its papers come from columns, so that it is worth saying what was read as what."""

    def batches(self) -> Iterator[Batch]:
        """Yield the papers in tables (columns as `schema.PAPER_FIELDS`, then the corpus's own), and what was rejected."""
        return papers(self._raw(), self.columns, self.textless)

    def count(self) -> int | None:
        """How many rows there are, or None if that needs reading everything."""
        total = 0
        for file in self.files:
            rows = format_of(file).count(file)
            if rows is None:
                return None
            total += rows
        return total

    def fingerprint(self) -> str:
        """Identifies the corpus of a partial build: changes when any file's path, size or modification time does, or the contents
        of standard input."""
        digest = hashlib.sha256(repr(self.columns).encode())
        for file in self.files:
            digest.update(repr(_facts(file)).encode())
        return digest.hexdigest()

    def _raw(self) -> Iterator[RawBatch]:
        for file in self.files:
            yield from format_of(file).read(file)


@dataclass(frozen=True)
class PaperCorpus(Corpus):
    """A corpus of papers in memory: a benchmark's, whose papers are all candidates."""

    textless: ClassVar[bool] = True
    has_columns: ClassVar[bool] = False

    papers: Callable[[], Iterator[Paper]]
    """Yields the papers, anew each time it is called."""
    print: str
    """Changes when they do."""

    @classmethod
    def of(cls, name: str, fingerprint: str, papers: Callable[[], Iterator[Paper]]) -> PaperCorpus:
        """The papers that `papers()` yields; only their ids, titles and abstracts are used."""
        return cls((), ColumnMap(), name, papers, fingerprint)

    def count(self) -> int | None:
        """Unknown."""
        return None

    def fingerprint(self) -> str:
        """The given one."""
        return self.print

    def _raw(self) -> Iterator[RawBatch]:
        rows = ({"id": paper.id, "title": paper.title, "abstract": paper.abstract} for paper in self.papers())
        yield from batches_of_rows(self.name, enumerate(rows, 1))


@dataclass(frozen=True)
class TableCorpus(Corpus):
    """A corpus in memory: a table with one row per paper."""

    table: pa.Table

    def count(self) -> int | None:
        """The table's rows."""
        return int(self.table.num_rows)

    def fingerprint(self) -> str:
        """Changes with the table's contents."""
        digest = hashlib.sha256(repr(self.columns).encode())
        with pa.ipc.new_stream(pa.PythonFile(_Hashing(digest), "w"), self.table.schema) as stream:
            for batch in self.table.combine_chunks().to_batches(BATCH_ROWS):
                stream.write_batch(batch)
        return digest.hexdigest()

    def _raw(self) -> Iterator[RawBatch]:
        for first in range(0, self.table.num_rows, BATCH_ROWS):
            rows = self.table.slice(first, BATCH_ROWS)
            yield RawBatch(self.name, rows, list(range(first + 1, first + 1 + rows.num_rows)))


def open_corpus(sources: Sources, columns: ColumnMap | None = None) -> Corpus:
    """Open a corpus.

    Args:
        sources: files, directories (BEIR, or all files of supported formats), globs, or `-` for standard input, of any format;
            or papers in memory: a data frame of pandas or Polars, an Arrow table, or a list of dicts.
        columns: which columns are which; by default recognised by name.

    Raises:
        NotFound: a source does not exist.
        InvalidRequest: a source has an unsupported format, or is not a table of papers.
    """
    column_map = columns or ColumnMap()
    if hasattr(sources, "__arrow_c_stream__"):
        return TableCorpus((), column_map, "papers", _arrow(sources))
    items = [sources] if isinstance(sources, str | Path) else list(sources) if isinstance(sources, Iterable) else [sources]
    if items and all(isinstance(item, Mapping) for item in items):
        return TableCorpus((), column_map, "papers", _arrow(items))
    for item in items:
        if not isinstance(item, str | Path):
            raise InvalidRequest(
                f"{type(item).__name__} is not a corpus; give files, directories, a data frame, an Arrow table or a list of dicts"
            )
    files = [file for source in items for file in _expand(str(source))]
    if not files:
        raise InvalidRequest("no corpus given; name a file, a directory, or - for JSON Lines on standard input")
    return Corpus(tuple(files), column_map, _name(Path(str(items[0])), files))


def _arrow(papers: Any) -> pa.Table:
    try:
        return table_of_rows([plain(paper) for paper in papers]) if isinstance(papers, list) else pa.table(papers)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidRequest(f"the {type(papers).__name__} cannot be read as a table of papers: {reason}") from error


class _Hashing(io.RawIOBase):
    """A write-only file that only updates a digest."""

    def __init__(self, digest: Any) -> None:
        self._digest = digest

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, block: Any) -> int:
        """Update the digest."""
        self._digest.update(block)
        return len(block)


def _facts(file: Path) -> tuple[object, ...]:
    if file == STDIN:
        digest = hashlib.sha256()
        for block in blocks(file):
            digest.update(block)
        return "-", digest.hexdigest()
    status, journal = file.stat(), zotero_library.journal_of(file)
    facts = str(file.resolve()), status.st_size, status.st_mtime_ns
    return (*facts, *_facts(journal)) if journal.is_file() else facts


def _expand(source: str) -> Sequence[Path]:
    path = Path(source)
    if source == "-":
        return [STDIN]
    if path.is_dir():
        return _directory(path)
    if path.is_file():
        format_of(path)
        return [path]
    matches = sorted(glob.glob(source, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute patterns)
    if matches:
        return [file for match in matches for file in _expand(match)]
    raise NotFound(f"there is no corpus {source}; check the path")


def _directory(path: Path) -> Sequence[Path]:
    if beir_file := beir.corpus_file(path):
        return [beir_file]
    files = sorted(
        file for file in path.rglob("*") if file.is_file() and suffix_of(file) in SUFFIXES and not file.name.startswith((".", "_"))
    )
    if not files:
        raise NotFound(f"{path} holds no supported file ({', '.join(SUFFIXES)})")
    return files


def _name(source: Path, files: Sequence[Path]) -> str:
    if source == STDIN:
        return "stdin"
    if source.is_dir() or (len(files) == 1 and source.is_file()):
        path = source.resolve()
        return path.name.split(".")[0] if path.is_file() else path.name
    return files[0].resolve().parent.name
