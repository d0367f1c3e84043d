"""A corpus: one or more sources read as one stream of papers, countable if that is cheap, and re-iterable."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import io
import logging
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, cast

import pyarrow as pa

from ...base.arguments import checked
from ...base.choices import is_iterable
from ...base.errors import InvalidRequest, NotFound
from ...base.types import Paper
from ...config import home
from ...files import archives
from ...files.streams import STDIN, blocks, is_compressed
from ...options import ColumnMap
from . import zotero_library
from .dialects import plain
from .formats import ANY_SUFFIXES, SUFFIXES, format_of, looks_like_papers, plugged, suffix_of, supported
from .jsonl import BEIR_NAMES
from .papers import Batch, papers
from .raw import BATCH_ROWS, BROKEN, RawBatch, Rejected, Row, batch_of_table, batches_of_rows, is_broken, table_of_rows

LOG = logging.getLogger(__name__)
COMMON_NAMES = {"bibliography", "corpus", "data", "documents", "export", "library", "my library", "papers", "references", "train", "works"}
"""Names of files and folders that do not tell one corpus from another."""


class ArrowStream(Protocol):
    """A table that Arrow can read: a data frame of pandas or Polars, an Arrow table, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table's data, by Arrow's PyCapsule interface."""


Sources: TypeAlias = str | Path | Iterable[str | Path] | Iterable[Row] | Iterable[Paper] | ArrowStream | Iterable[ArrowStream]
"""What `open_corpus` opens."""
ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
MISSING = {"NAType", "NaTType"}
"""What pandas has in place of a missing value, besides NaN."""


@dataclass(frozen=True)
class Corpus:
    """A named, re-iterable source of papers.

    >>> corpus = sr.open_corpus("papers.jsonl")  # an sr.Corpus
    >>> sum(len(batch.papers) for batch in corpus.batches())
    100
    """

    files: tuple[Path, ...]
    columns: ColumnMap
    name: str

    textless: ClassVar[bool] = False
    """Whether papers without any text are kept."""
    has_columns: ClassVar[bool] = True
    """Whether its papers come from columns, so that it is worth saying what was read as what."""

    @property
    def sources(self) -> tuple[str, ...]:
        """What its papers come from, for people and for the manifest of an index."""
        return tuple(map(str, self.files))

    def batches(self) -> Iterator[Batch]:
        """Yield the papers in tables (columns as `files.schema.PAPER_FIELDS`, then the corpus's own), and what was rejected."""
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

    papers: Callable[[], Iterable[Paper]]
    """Yields the papers, anew each time it is called."""
    print: str
    """Changes when they do."""

    @classmethod
    def of(cls, name: str, fingerprint: str, papers: Callable[[], Iterable[Paper]]) -> PaperCorpus:
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
    """A corpus in memory: a table with one row per paper, made of a `kind` of object; without rows that have lone surrogates, whose numbers
    are `broken`."""

    table: pa.Table
    kind: str
    broken: Set[int]

    @property
    def sources(self) -> tuple[str, ...]:
        """The kind of object, for it has no name."""
        return (f"in memory: {self.kind} of {self.count():,} rows",)

    def count(self) -> int:
        """All rows."""
        return int(self.table.num_rows) + len(self.broken)

    def fingerprint(self) -> str:
        """Changes with the table's contents."""
        digest = hashlib.sha256(f"{self.columns!r}{sorted(self.broken) or ''}".encode())
        with pa.ipc.new_stream(pa.PythonFile(_Hashing(digest), "w"), self.table.schema) as stream:
            for batch in self.table.combine_chunks().to_batches(BATCH_ROWS):
                stream.write_batch(batch)
        return digest.hexdigest()

    def _raw(self) -> Iterator[RawBatch]:
        numbers, taken = range(1, self.count() + 1), 0
        for first in range(0, len(numbers), BATCH_ROWS):
            window = numbers[first : first + BATCH_ROWS]
            sound = [number for number in window if number not in self.broken]
            rejected = [Rejected(self.name, number, BROKEN) for number in window if number in self.broken]
            yield batch_of_table(self.name, self.table.slice(taken, len(sound)), sound, rejected)
            taken += len(sound)


@checked
def open_corpus(sources: Sources, columns: ColumnMap | None = None) -> Corpus:
    """Open a corpus.

    Args:
        sources: files, directories (BEIR, Zotero's, or all files of supported formats), globs, or `-` for standard input, of any format;
            or papers in memory: a data frame of pandas or Polars, an Arrow table, record batches, or a list of dicts or of `Paper`.
        columns: which columns are which; by default recognised by name.

    Raises:
        NotFound: a source does not exist.
        InvalidRequest: a source has an unsupported format, or is not a table of papers.

    >>> corpus = sr.open_corpus([{"id": "a", "name": "Graph networks"}], sr.ColumnMap(title="name"))
    """
    column_map = columns or ColumnMap()
    if isinstance(sources, str | Path):
        items: list[Any] = [sources]
    elif _is_arrow(sources) or isinstance(sources, Mapping) or not is_iterable(sources):
        items = [sources]
    else:
        items = [*cast(Iterable[Any], sources)]
    if items and all(map(_is_arrow, items)):
        return TableCorpus((), column_map, "papers", *_table(items))
    if items and items[0] is not sources and all(isinstance(item, Mapping | Paper) for item in items):
        return TableCorpus((), column_map, "papers", *_table_of_rows(items))
    for item in items:
        if not isinstance(item, str | Path):
            raise InvalidRequest(
                f"{type(item).__name__} is not a corpus; give files, directories, a data frame, an Arrow table or a list of dicts"
            )
    files = [file for source in items for file in _expand(str(source))]
    if not files:
        raise InvalidRequest("no corpus given; name a file, a directory, or - for standard input")
    return Corpus(tuple(files), column_map, _name(Path(str(items[0])), files))


def _is_arrow(item: object) -> bool:
    return any(hasattr(item, name) for name in ARROW)


def _table(parts: Sequence[Any]) -> tuple[pa.Table, str, Set[int]]:
    """Tables one after another, what they were, and the numbers of their broken rows."""
    type_of_parts = type(parts[0])
    kind = f"{type_of_parts.__module__.partition('.')[0]}.{type_of_parts.__name__}"
    try:
        tables, sound = zip(*map(_sound_table, parts), strict=True)
        return pa.concat_tables(tables, promote_options="permissive"), kind, _broken(chain(*sound))
    except (pa.ArrowException, UnicodeEncodeError, TypeError, ValueError) as error:
        raise _no_table(kind, error) from error


def _sound_table(part: Any) -> tuple[pa.Table, Sequence[bool]]:
    """A part as a table of its sound rows, and which these are; only pandas can have others here."""
    try:
        table = _as_table(part)
        return table, [True] * table.num_rows
    except UnicodeEncodeError:
        if not hasattr(part, "itertuples"):
            raise
        sound = [not is_broken(row) for row in part.itertuples(name=None)]
        return _as_table(part[sound]), sound


def _broken(sound: Iterable[bool]) -> Set[int]:
    return {number for number, is_sound in enumerate(sound, 1) if not is_sound}


def _as_table(part: Any) -> pa.Table:
    """A part as a table; of a pandas data frame also its index, if that has a name: it may be the papers' ids."""
    names = getattr(getattr(part, "index", None), "names", None)
    if names is not None and any(name is not None for name in names):
        return pa.Table.from_pandas(part, preserve_index=True).replace_schema_metadata(None)
    return pa.table(part)


def _table_of_rows(items: Sequence[Row | Paper]) -> tuple[pa.Table, str, Set[int]]:
    kind = "a list" if isinstance(items[0], Mapping) else "a list of Paper"
    rows = [_row(item) for item in items]
    try:
        try:
            return table_of_rows(rows), kind, frozenset()
        except UnicodeEncodeError:
            sound = [not is_broken(row) for row in rows]
            return table_of_rows([*compress(rows, sound)]), kind, _broken(sound)
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        raise _no_table(kind, error) from error


def _row(item: Row | Paper) -> Row:
    if isinstance(item, Paper):
        fields = {field.name: getattr(item, field.name) for field in dataclasses.fields(item) if field.name != "extra"}
        return {**item.extra, **fields, "authors": list(item.authors)}
    return {name: None if _is_missing(value) else value for name, value in plain(item).items()}


def _is_missing(value: object) -> bool:
    """Whether pandas has it in place of a missing value: a row from `to_dict` has NaN where a text is missing."""
    return (isinstance(value, float) and value != value) or type(value).__name__ in MISSING


def _no_table(kind: str, error: Exception) -> InvalidRequest:
    return InvalidRequest(f"{kind} cannot be read as a table of papers: {str(error).splitlines()[0]}")


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
    if within := archives.place(file):
        return *_facts(within[0]), within[1]
    status, journal = file.stat(), zotero_library.journal_of(file)
    facts = str(file.resolve()), status.st_size, status.st_mtime_ns
    return (*facts, *_facts(journal)) if journal.is_file() else facts


def _expand(source: str) -> Sequence[Path]:
    path = Path(source)
    if source == "-":
        return [STDIN]
    if path.is_dir():
        return _directory(path)
    if path.is_file() and _is_of_several(path):
        return _archive(path)
    if path.is_file() or archives.place(path):
        if (index := _index_of(path)) is not None:
            raise _is_index(index)
        format_of(path)
        return [path]
    matches = sorted(glob.glob(source, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute patterns)
    if matches:
        return [file for match in matches for file in _expand(match)]
    raise NotFound(f"there is no corpus {source}; check the path")


def _directory(path: Path) -> Sequence[Path]:
    for name in (*BEIR_NAMES, zotero_library.NAME):  # whose folders have other files, too, which are no papers
        if (path / name).is_file():
            return [path / name]
    files: list[Path] = []
    others: list[str] = []
    found = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_")))
    indexes = {index for file in found if (index := _index_of(file)) is not None}
    for file in found:
        if not indexes.isdisjoint(file.absolute().parents if indexes else ()):
            continue
        if _is_of_several(file):
            files += _archive(file)
        elif _may_have_papers(file):
            files.append(file)
        else:
            others.append(file.relative_to(path).as_posix())
    if indexes and not files:
        raise _is_index(min(indexes))
    if not files:
        raise NotFound(f"{path} holds no supported file ({', '.join(supported())})")
    _warn_of(path, [*(index.relative_to(path.absolute()).as_posix() for index in sorted(indexes)), *others])
    return files


def _index_of(file: Path) -> Path | None:
    """The folder of the index of which a file has papers, deleted ones too, see `storage.shards`; None for other files."""
    if file.name != "papers.parquet" or not file.with_name("ids.arrow").is_file():
        return None
    shards = file.absolute().parents[1]
    return shards.parent if shards.name == "shards" else None


def _is_index(index: Path) -> InvalidRequest:
    if not (index / "manifest.json").is_file():
        return InvalidRequest(f"{index} is an unfinished index, or part of one, and no corpus; name the corpus that it is built from")
    return InvalidRequest(
        f"{index} is an index, and no corpus; `sciretrieve export -i {shlex.quote(str(index))} -o papers.parquet` writes its papers into "
        "one, and in Python an open index is one"
    )


def _may_have_papers(file: Path) -> bool:
    """Whether a file of a directory or a .zip is read: it has the suffix of a format, or one that says nothing, and looks like papers."""
    suffix = suffix_of(file)
    if suffix not in ANY_SUFFIXES:
        return suffix in SUFFIXES or plugged(file) is not None
    is_of_snapshot = not suffix and archives.place(file) is None and is_compressed(file)  # as in OpenAlex's
    return is_of_snapshot or looks_like_papers(file)


def _warn_of(path: Path, names: Sequence[str]) -> None:
    """Name files that are left out."""
    if names:
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        LOG.warning("of %s these files are not read: %s%s", path, ", ".join(names[:3]), more)


def _is_of_several(path: Path) -> bool:
    """Whether a file is a .zip of several files; one of a single file is taken for that file, compressed."""
    try:
        return path.suffix.lower() == archives.SUFFIX and len(archives.names(path)) != 1
    except OSError:  # a damaged one: reading it says how
        return False


def _archive(path: Path) -> Sequence[Path]:
    """The files of supported formats within a .zip, or the corpus alone of a BEIR data set. What is left out is named in a warning."""
    files = archives.names(path)
    names = sorted(files)
    corpora = [name for name in names if Path(name).name in BEIR_NAMES and Path(name).with_name("queries.jsonl").as_posix() in files]
    read = corpora or [name for name in names if not Path(name).name.startswith((".", "_")) and _may_have_papers(path / name)]
    if not read:
        raise NotFound(f"{path} holds no supported file ({', '.join(supported())})")
    _warn_of(path, sorted(files.keys() - set(read)))
    return [path / name for name in read]


def _name(source: Path, files: Sequence[Path]) -> str:
    if source == STDIN:
        return "stdin"
    if source.is_dir() or (source.is_file() and all(source in (file, *file.parents) for file in files)):
        return _telling(source.resolve())
    return _telling(files[0].resolve().parent)


def _telling(path: Path) -> str:
    """The name of a file or folder; for a common name such as corpus.parquet, the name of the nearest folder that has one of its own.

    What lies in the working directory keeps its name.
    """
    own = name = path.name.split(".")[0] if path.is_file() else path.name
    folder = path.parent
    while name.lower() in COMMON_NAMES and folder.name and folder not in (Path.cwd(), home()):
        name, folder = folder.name, folder.parent
    return own if name.lower() in COMMON_NAMES else name
