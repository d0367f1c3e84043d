"""A corpus with its citations and fields."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...base.errors import InvalidRequest, NotFound, UnknownName
from ...base.once import once
from ...base.types import Rows
from ...files.schema import letters
from ...files.streams import bare_name
from ...options import CiteSettings
from ...papers.corpora import FIELDS, ColumnMap, Corpus, Sources, open_corpus, read_attributed
from ...papers.corpora.formats import format_of
from ...papers.references import REFERENCES, read
from ...progress import shown
from ...protocols import Progress
from ...query.citations.citation_graph import Graph
from ...query.citations.cited_works import WorkNames, identifying_columns
from .folders import new_folder

TABLES = (".tsv", ".csv", ".parquet")


@dataclass(frozen=True)
class Collection:
    """The papers of a corpus, by row.

    Attributes:
        ids: (n,), in the corpus's order.
        graph: the citations.
        full: whether each has a title and an abstract, (n,).
        field_sets: the fields of each, the main one first; None if the corpus has no fields.
        notes: the columns as read, and what was left out.
    """

    ids: list[str]
    graph: Graph
    full: np.ndarray[tuple[int], np.dtype[np.bool_]]
    field_sets: list[tuple[str, ...]] | None
    notes: list[str]

    @once
    def fields(self) -> list[str] | None:
        """The main field of each, "" for none; None if the corpus has no fields."""
        return None if self.field_sets is None else [next(iter(names), "") for names in self.field_sets]


@contextmanager
def building(
    corpus: Sources | Corpus, columns: ColumnMap | None, settings: CiteSettings, to: str | Path, progress: Progress | bool
) -> Iterator[tuple[Corpus, Collection, Path, Progress]]:
    """A context for building a benchmark from a corpus: the corpus, its citations and fields, a new folder, and a listener."""
    with shown(progress) as listener:
        opened = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
        with new_folder(Path(to)) as folder:
            collection = read_collection(opened, settings)
            for note in collection.notes:
                listener.note(note)
            yield opened, collection, folder, listener


def read_collection(corpus: Corpus, settings: CiteSettings) -> Collection:
    """Read a corpus's ids, citations and fields. The corpus is read once or, with a column of references, twice.

    Raises:
        NotFound: a file is missing.
        UnknownName: a named column is missing.
        InvalidRequest: there are no citations between papers of the corpus.
    """
    named: list[tuple[Rows, pa.Table]] = []
    count = 0

    def see(table: pa.Table) -> None:
        nonlocal count
        named.append((np.arange(count, count + len(table)), table.select(identifying_columns(table.schema))))
        count += len(table)

    papers = read_attributed(corpus, FIELDS, settings.field, see)
    if settings.field is not None and settings.field not in papers.columns:
        raise UnknownName("column (for `field`)", settings.field, papers.columns)
    row_of = {id: row for row, id in enumerate(papers.ids)}
    if settings.citations is not None:
        pairs, note = _from_table(settings.citations, row_of)
    else:
        pairs, note = _from_column(corpus, _references_column(settings, papers.columns), WorkNames(named), row_of)
    if settings.field is not None and not papers.column:
        raise InvalidRequest(f"the column {settings.field!r} names no field")
    notes = [note, *([f"fields are read from {papers.column!r}"] if papers.column else [])]
    field_sets = [names or () for names in papers.values] if papers.column else None
    return Collection(papers.ids, Graph.of(len(papers.ids), pairs), papers.full, field_sets, notes)


def _references_column(settings: CiteSettings, columns: list[str]) -> str:
    if settings.references is not None:
        if settings.references not in columns:
            raise UnknownName("column (for `references`)", settings.references, columns)
        return settings.references
    known = [name for name in columns if letters(name) in REFERENCES]
    if not known:
        raise InvalidRequest(
            f"no column of references among {', '.join(columns[:16])}; name it with `references`, "
            "or a table of citing and cited ids with `citations`"
        )
    return min(known, key=lambda name: (REFERENCES.index(letters(name)), name))


def _from_column(corpus: Corpus, column: str, names: WorkNames, row_of: Mapping[str, int]) -> tuple[Rows, str]:
    """Pairs of citing and cited rows, (n, 2), by a column of the corpus, and a note on it."""
    pairs = array("q")
    total = first = 0
    strange = ""
    for batch in corpus.batches():
        for references in read(batch.papers, [column]):
            cited, _, is_named = names.resolved(references)
            total += int(is_named.sum())
            pairs.extend(np.stack([first + references.citing, cited], axis=1)[cited >= 0].ravel().tolist())
            outside = np.flatnonzero(is_named & (cited < 0))
            if not strange and len(outside):
                strange = next(filter(None, (column_names[int(outside[0])].as_py() for column_names in references.names)))
        first += len(batch.papers)
    return _checked(pairs, total, f"the column {column!r}", strange, row_of)


def _id(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _from_table(path: Path, row_of: Mapping[str, int]) -> tuple[Rows, str]:
    """Pairs of citing and cited rows, (n, 2), by a table of ids, and a note on it."""
    if not path.is_file():
        raise NotFound(f"there are no citations at {path}; name a table of citing and cited ids ({', '.join(TABLES)})")
    suffix = Path(bare_name(path)).suffix
    if suffix.lower() not in TABLES:
        raise InvalidRequest(
            f"{path} has no format that citations are read from ({', '.join(TABLES)}, the first two also with .gz or .zst)"
        )
    pairs = array("q")
    total = 0
    strange = ""
    names: tuple[str, str] | None = None
    for batch in format_of(path).read(path):
        if batch.rejected:
            raise InvalidRequest(f"{path}, row {batch.rejected[0].row}: {batch.rejected[0].reason}")
        if names is None:
            names = _citing_and_cited(path, batch.table.column_names)
            # in a table without a header, the first pair is in its place
            header = names if all(name in row_of for name in names) else ()
            total += bool(header)
            pairs.extend(row_of[name] for name in header)
        for citing, cited in zip(batch.table[names[0]].to_pylist(), batch.table[names[1]].to_pylist(), strict=True):
            total += 1
            if citing is None or cited is None:
                raise InvalidRequest(f"{path}, row {total}: a citation needs two ids, and one is missing")
            outside = [id for id in map(_id, (citing, cited)) if id not in row_of]
            pairs.extend(() if outside else (row_of[_id(citing)], row_of[_id(cited)]))
            strange = strange or next(iter(outside), "")
    return _checked(pairs, total, str(path), strange, row_of)


def _citing_and_cited(path: Path, columns: list[str]) -> tuple[str, str]:
    if len(columns) < 2:
        raise InvalidRequest(f"{path} has one column, {columns[0]!r}; citations need a citing and a cited id, between tabs in .tsv")
    named = [next((name for name in columns if name.lower().startswith(start)), None) for start in ("citing", "cited")]
    return (named[0], named[1]) if named[0] and named[1] else (columns[0], columns[1])


def _checked(pairs: array[int], total: int, source: str, strange: str, row_of: Mapping[str, int]) -> tuple[Rows, str]:
    if not pairs:
        example = next(iter(row_of))
        reason = f"it names {strange!r}, say, where the corpus has ids like {example!r}" if strange else "it names none at all"
        raise InvalidRequest(f"{source} has no citation between papers of the corpus: {reason}")
    outside = f"; {total - len(pairs) // 2:,} of its {total:,} citations name papers outside the corpus" if 2 * total > len(pairs) else ""
    return np.array(pairs, np.int64).reshape(-1, 2), f"citations are read from {source}{outside}"
