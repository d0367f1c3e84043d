"""A corpus: one or more sources read as one stream of papers, countable where that is cheap, and re-iterable."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from ..errors import InvalidRequest, NotFound
from ..streams import COMPRESSIONS
from ..types import Paper
from . import beir, bibtex, delimited, jsonl, parquet, ris
from .papers import ColumnMap, papers
from .raw import RawBatch, Rejected, batches_of_rows

READERS = {
    ".parquet": parquet.read,
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".json": jsonl.read,
    ".csv": delimited.read,
    ".tsv": delimited.read,
    ".bib": bibtex.read,
    ".ris": ris.read,
}
STDIN = Path("-")


@dataclass(frozen=True)
class Corpus:
    """A named, re-iterable source of papers (standard input alone can be read but once)."""

    files: tuple[Path, ...]
    columns: ColumnMap
    name: str

    textless: ClassVar[bool] = False
    """Whether papers without any text are kept."""

    def batches(self) -> Iterator[tuple[pa.Table, list[Rejected]]]:
        """Yield tables of papers (columns as `schema.PAPER_FIELDS`, then the corpus's own) and what was rejected."""
        return papers(self._raw(), self.columns, self.textless)

    def count(self) -> int | None:
        """How many rows there are, or None where only reading everything would tell."""
        total = 0
        for file in self.files:
            suffix = _suffix(file)
            if file == STDIN or file.suffix.lower() in COMPRESSIONS or suffix in (".bib", ".ris"):
                return None
            total += parquet.count(file) if suffix == ".parquet" else _lines(file) - (suffix in (".csv", ".tsv"))
        return total

    def fingerprint(self) -> str:
        """Changes when any file's path, size or modification time does: what a partial build is recognised by."""
        digest = hashlib.sha256(repr(self.columns).encode())
        for file in self.files:
            status = file.stat() if file != STDIN else None
            facts = (str(file.resolve()), status.st_size, status.st_mtime_ns) if status else ("-",)
            digest.update(repr(facts).encode())
        return digest.hexdigest()

    def _raw(self) -> Iterator[RawBatch]:
        for file in self.files:
            beir_file = file == beir.corpus_file(file.parent) and file.name.startswith("corpus.json")
            reader = beir.read if beir_file else READERS[_suffix(file)]
            yield from reader(file)


@dataclass(frozen=True)
class PaperCorpus(Corpus):
    """A corpus made of papers, not of files: a benchmark's, all of whose papers are candidates."""

    textless: ClassVar[bool] = True

    papers: Callable[[], Iterator[Paper]]
    """Yields the papers, anew each time it is called."""
    print: str
    """Changes when they do."""

    @classmethod
    def of(cls, name: str, fingerprint: str, papers: Callable[[], Iterator[Paper]]) -> PaperCorpus:
        """The papers that `papers()` yields; of each only id, title and abstract count."""
        return cls((), ColumnMap(), name, papers, fingerprint)

    def count(self) -> int | None:
        """Unknown."""
        return None

    def fingerprint(self) -> str:
        """As it was given."""
        return self.print

    def _raw(self) -> Iterator[RawBatch]:
        rows = ({"id": paper.id, "title": paper.title, "abstract": paper.abstract} for paper in self.papers())
        yield from batches_of_rows(self.name, enumerate(rows, 1))


def open_corpus(sources: str | Path | Iterable[str | Path], columns: ColumnMap | None = None) -> Corpus:
    """Find the files behind `sources`: files, directories (BEIR, or all files of one format), globs, `-` (JSONL).

    Raises:
        NotFound: a source names nothing.
        InvalidRequest: a source is of no format that is read here.
    """
    listed = [sources] if isinstance(sources, str | Path) else list(sources)
    files = [file for source in listed for file in _expand(str(source))]
    if not files:
        raise InvalidRequest("no corpus given; name a file, a directory, or - for JSONL on standard input")
    return Corpus(tuple(files), columns or ColumnMap(), _name(Path(str(listed[0])), files))


def _expand(source: str) -> Sequence[Path]:
    path = Path(source)
    if source == "-":
        return [STDIN]
    if path.is_dir():
        return _directory(path)
    if path.is_file():
        if _suffix(path) not in READERS:
            known = ", ".join(sorted(READERS))
            raise InvalidRequest(f"{path} is of no format that is read here ({known}, also with .gz or .zst)")
        return [path]
    found = sorted(glob.glob(source, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute patterns)
    if found:
        return [file for item in found for file in _expand(item)]
    raise NotFound(f"there is no corpus {source}; check the path")


def _directory(path: Path) -> Sequence[Path]:
    if beir_file := beir.corpus_file(path):
        return [beir_file]
    found = sorted(file for file in path.rglob("*") if file.is_file() and _suffix(file) in READERS and not file.name.startswith((".", "_")))
    kinds = {_suffix(file) for file in found}
    if not found:
        raise NotFound(f"{path} holds no file that is read here ({', '.join(sorted(READERS))})")
    if len(kinds) > 1:
        raise InvalidRequest(f"{path} holds files of several formats ({', '.join(sorted(kinds))}); name those to index")
    return found


def _suffix(path: Path) -> str:
    """The suffix that tells the format, behind that of a compression: .jsonl of papers.jsonl.gz."""
    if path == STDIN:
        return ".jsonl"
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSIONS else suffix


def _name(source: Path, files: Sequence[Path]) -> str:
    if source == STDIN:
        return "stdin"
    if source.is_dir() or (len(files) == 1 and source.is_file()):
        named = source.resolve()
        return named.name.split(".")[0] if named.is_file() else named.name
    return files[0].resolve().parent.name


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
