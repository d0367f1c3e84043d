"""Reading shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import methodcaller
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...base.choices import Metric
from ...base.errors import CorruptData
from ...base.once import once
from ...base.types import Paper, Rows
from ...base.waiting import raise_if_abandoned
from ...files.schema import PAPER_FIELDS, integers, mapped_columns, papers_of, text, text_of, texts
from ...files.verified import Verified
from ...files.writing import read_array, write_array
from ...matching.dense import VectorShard
from ...matching.late import Packing, TokenShard
from ...matching.lexical import FIELDS_FILE, FieldPostings, Postings
from ...matching.lexical.lists import numbers_of
from ...matching.scope import Scope
from ...matching.sharding import by_shard
from ..manifest import SHARDS, ShardFacts
from .kept import KEPT, KeptGroups
from .names import NAMES, NAMES_FILE, read_names

ID_COLUMNS = {"id": pa.string(), "content": pa.binary(16)}
COMPARED = 4
"""Most ids that are each compared with all ids. More are looked up in a table, which takes the time of about four comparisons."""
OFTEN = 16
"""Lookups of ids after which the bytes in ids are gathered, which takes as long as some lookups."""
AT_ONCE = 1 << 20
"""Bytes that are counted at a time."""
FEW = 32
"""Most papers whose texts are read one by one, without arrays."""
GROUPS_AT_ONCE = 64
"""Row groups in memory at a time, about 250 kB each."""
NAMES_AT_ONCE = 8192
"""Papers whose names are read at a time."""


class Shard:
    """A shard opened for reading. Each file is checked when first read.

    Attributes:
        first: row of its first paper, counted over all shards.
        papers: number of papers, deleted ones included.
        verified: checks the index's files.
        kept: row groups that were read last, of all shards of the index.
    """

    def __init__(self, verified: Verified, facts: ShardFacts, first: int, kept: KeptGroups | None = None) -> None:
        self.facts = facts
        self.first = first
        self.papers = int(facts.papers)
        self.verified = verified
        self.kept = KeptGroups() if kept is None else kept
        self._idle_readers: list[pq.ParquetFile] = []
        self._texts: dict[str, Callable[[int], str]] = {}
        self._lookups = 0

    def file(self, name: str) -> Path:
        """Path of one of its files, after a check. Raises CorruptData."""
        return self.verified.check(f"{SHARDS}/{self.facts.name}/{name}", self.facts.files[name])

    def _check_again(self, name: str) -> None:
        """Raise CorruptData if one of its files was truncated or overwritten since it was opened."""
        self.verified.check_again((f"{SHARDS}/{self.facts.name}/{name}",))

    @once
    def scope(self) -> Scope:
        """Its undeleted papers."""
        name = self.facts.deleted_file
        if name is None:
            return Scope(self.papers)
        deleted = read_deleted(self.file(name))
        if len(deleted) != self.facts.deleted or not (deleted < self.papers).all():
            raise CorruptData(f"{self.file(name)} does not match its shard; try `sciretrieve verify --repair`")
        return Scope(self.papers).without(deleted)

    @once
    def postings(self) -> Postings:
        """Its terms. Only for an index with BM25."""
        for name in ("postings.arrow", "lengths.arrow"):
            path = self.file(name)
        return Postings(path.parent, self.papers)

    @once
    def fields(self) -> FieldPostings:
        """Words of its papers' authors, venues and keywords. Only for an index with BM25."""
        return FieldPostings(self.file(FIELDS_FILE).parent, self.papers)

    def vectors(self, dim: int, metric: Metric) -> VectorShard:
        """Its vectors, with their FAISS index if any. Only for an index with vectors."""
        ann_path = self.file(self.facts.ann_file) if self.facts.ann_file else None
        return VectorShard(self.file("vectors.npy"), self.papers, dim, metric, self.first, ann_path)

    def tokens(self, packing: Packing) -> TokenShard:
        """Its packed token vectors. Only for an index with late interaction."""
        return TokenShard(self.file("tokens.npy"), self.file("token-counts.npy"), self.papers, packing, self.first)

    @once
    def _ids_table(self) -> dict[str, pa.Array]:
        path = self.file("ids.arrow")
        columns = mapped_columns(path, ID_COLUMNS)
        if len(columns["id"]) != self.papers:
            raise CorruptData(f"{path} has {len(columns['id'])} ids where the manifest says {self.papers}")
        return columns

    @property
    def ids(self) -> pa.StringArray:
        """Ids of all its papers, deleted ones included, in row order."""
        return self._ids_table["id"]

    @property
    def contents(self) -> pa.FixedSizeBinaryArray:
        """Hash of each paper's content, see `cutting.contents`, in row order."""
        return self._ids_table["content"]

    @once
    def marks(self) -> npt.NDArray[np.uint64]:
        """A number derived from each paper's content, (papers,). Samples drawn by these numbers do not depend on rows."""
        marks: npt.NDArray[np.uint64] = numbers_of(self.contents, np.dtype((np.uint64, 2)))[:, 0]
        return marks

    def texts_at(self, name: str, rows: Rows) -> list[str]:
        """Ids, titles, venues or DOIs at the given rows of this shard; "" for a missing one."""
        if name != "id" and NAMES_FILE not in self.facts.files:
            return [getattr(paper, name) or "" for paper in self.papers_at(rows, ("id", name))]
        raise_if_abandoned()
        column = self._mapped(name)
        with self._errors_named(NAMES_FILE):
            if len(rows) <= FEW:
                if name not in self._texts:
                    self._texts[name] = text_of(column)
                return list(map(self._texts[name], rows.tolist()))
            several: list[str] = column.take(integers(rows)).to_pylist()
        return [one or "" for one in several] if column.null_count else several

    def _mapped(self, name: str) -> pa.Array:
        """A memory-mapped column, after a check of its file."""
        file = "ids.arrow" if name == "id" else NAMES_FILE
        column = self.ids if name == "id" else self._names[name]
        self._check_again(file)
        return column

    @once
    def _file(self) -> pq.ParquetFile:
        path = self.file("papers.parquet")
        with self._errors_named():
            file = pq.ParquetFile(self._source, pre_buffer=False)
            kinds = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
            groups = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        if file.metadata.num_rows != self.papers or sum(groups) != self.papers or min(groups, default=0) < 0:
            raise CorruptData(f"{path} has {file.metadata.num_rows} papers where the manifest says {self.papers}")
        if any(kinds.get(field.name) != field.type for field in PAPER_FIELDS):
            raise CorruptData(f"{path} does not have the columns of papers")
        return file

    def _reader(self) -> pq.ParquetFile:
        """A reader for this thread alone, since Arrow does not guarantee that readers can be shared. A new one takes 20 µs."""
        try:
            return self._idle_readers.pop()  # atomic
        except IndexError:
            return pq.ParquetFile(self._source, metadata=self._file.metadata, pre_buffer=False)

    @once
    def _source(self) -> pa.NativeFile:
        """The file of its papers, readable by any number of threads. It is not mapped, so that reading a truncated file raises an error."""
        return pa.OSFile(str(self.file("papers.parquet")), "rb")

    @once
    def _starts(self) -> Rows:
        """First row of each row group, and the end of the last."""
        sizes = [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    @once
    def _bytes_of_groups(self) -> Rows:
        """Approximate size of each row group in memory."""
        return np.array([self._file.metadata.row_group(group).total_byte_size for group in range(self._file.num_row_groups)], np.int64)

    @property
    def bytes(self) -> int:
        """Approximate size of its papers in memory."""
        return int(self._bytes_of_groups.sum())

    @once
    def schema(self) -> pa.Schema:
        """The papers' columns."""
        return self._file.schema_arrow

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """Rows of the given ids among its undeleted papers. Missing ids are left out."""
        self._lookups += 1
        possible_ids = [id for id in ids if len(id.encode()) in self._id_sizes]
        if self._lookups > OFTEN:
            possible_ids = [id for id in possible_ids if self._id_bytes.issuperset(id.encode())]
        if not possible_ids:
            return {}
        if len(possible_ids) <= COMPARED:
            rows = np.array([pc.index(self.ids, text(id)).as_py() for id in possible_ids], np.int64)
            rows = rows[rows >= 0]
        else:  # builds a table of the requested ids, since one of the shard's ids takes ten times as long
            asked = pc.is_in(self.ids, value_set=texts(possible_ids))
            rows = numbers_of(pc.indices_nonzero(asked), np.uint64).astype(np.int64)
        rows = rows[self.scope.has(rows)]
        return dict(zip(self.texts_at("id", rows), rows.tolist(), strict=True))

    def find_in_any_case(self, id: str) -> Rows:
        """Rows of the undeleted papers whose id equals this one when case is ignored, ascending."""
        lowered = id.lower()
        if self._ids_are_ascii and len(lowered.encode()) not in self._id_sizes:
            return np.empty(0, np.int64)
        lowered_ids = pc.ascii_lower(self.ids) if self._ids_are_ascii else pc.utf8_lower(self.ids)
        rows: Rows = numbers_of(pc.indices_nonzero(pc.equal(lowered_ids, text(lowered))), np.uint64).astype(np.int64)
        return rows[self.scope.has(rows)]

    @once
    def _id_sizes(self) -> frozenset[int]:
        """Lengths of its ids in bytes. Most queries differ from all of them, so their text need not be compared."""
        return frozenset(pc.unique(pc.binary_length(self.ids)).to_pylist())

    @once
    def _id_bytes(self) -> frozenset[int]:
        """Bytes that occur in its ids. In most ids there are no blanks, and in most queries there are."""
        occurring = np.zeros(256, bool)
        for first in range(0, len(every := np.frombuffer(self.ids.buffers()[2] or b"", np.uint8)), AT_ONCE):
            occurring |= np.bincount(every[first : first + AT_ONCE], minlength=256) > 0
        return frozenset(np.flatnonzero(occurring).tolist())

    @once
    def _ids_are_ascii(self) -> bool:
        return bool(pc.all(pc.string_is_ascii(self.ids), min_count=0).as_py())

    def papers_at(self, rows: Rows, names: Sequence[str] | None = None) -> list[Paper]:
        """Papers at the given rows of this shard, in order. `names` limits the columns and must include the id."""
        papers: dict[int, Paper] = {}
        for paper_rows, table in self.read_at(np.unique(rows), names):
            papers |= dict(zip(paper_rows.tolist(), papers_of(table), strict=True))
        return [papers[row] for row in rows.tolist()]

    def read_at(self, rows: Rows, names: Sequence[str] | None = None) -> Iterator[tuple[Rows, pa.Table]]:
        """Papers at the given rows, ascending, a few row groups at a time: rows and columns, all or the given ones."""
        mapped, stored = self._split_columns(names)
        for some, table in self._stored_at(rows, stored) if stored else _parts(rows):
            named = self._named_columns(mapped, some)
            yield some, named if table is None else _side_by_side(named, table, self.schema.names)

    def _stored_at(self, rows: Rows, names: Sequence[str]) -> Iterator[tuple[Rows, pa.Table]]:
        """The same from papers.parquet. Row groups are kept, unless they are more than can be kept."""
        groups, ends = np.unique(np.searchsorted(self._starts, rows, side="right") - 1, return_index=True)
        bounds = [*ends.tolist(), len(rows)]
        keeps = int(self._bytes_of_groups[groups].sum()) <= KEPT
        for first in range(0, len(groups), GROUPS_AT_ONCE):
            some = groups[first : first + GROUPS_AT_ONCE]
            span = slice(bounds[first], bounds[first + len(some)])
            if keeps:
                self._check_again("papers.parquet")
                parts = zip(some.tolist(), bounds[first:], bounds[first + 1 :], strict=False)
                tables = [_at(self._kept_group(group, names), rows[start:end] - self._starts[group]) for group, start, end in parts]
                table = pa.concat_tables(tables).combine_chunks()
            else:
                sizes = self._starts[some + 1] - self._starts[some]
                skipped_rows = self._starts[some] - (np.cumsum(sizes) - sizes)  # rows before a group that were not read
                read = self._read(methodcaller("read_row_groups", some.tolist(), columns=names), int(sizes.sum()))
                table = _at(read, rows[span] - np.repeat(skipped_rows, np.diff(bounds[first : first + len(some) + 1])))
            yield rows[span], self._validated(table)

    def _kept_group(self, group: int, names: Sequence[str]) -> pa.Table:
        return self.kept.get((self.facts.name, group, *names), partial(self._stored_group, group, names))

    def _stored_group(self, group: int, names: Sequence[str] | None = None) -> pa.Table:
        """Columns of a row group. Their texts are not validated, since most are not needed."""
        first, end = map(int, self._starts[group : group + 2])
        return self._read(methodcaller("read_row_group", group, columns=names), end - first)

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Whole columns, including deleted papers. Columns that this shard lacks are left out."""
        mapped, stored = self._split_columns(names)
        return self.stored_columns(names) if stored else self._named_columns(mapped)

    def stored_columns(self, names: Sequence[str]) -> pa.Table:
        """The same from papers.parquet, from which all other files are derived."""
        column_names = [name for name in names if name in self.schema.names]
        return self._validated(self._read(methodcaller("read", columns=column_names), self.papers))

    @once
    def _names(self) -> dict[str, pa.Array]:
        table = read_names(self.file(NAMES_FILE), self.papers)
        return {name: table[name].chunk(0) for name in table.column_names}

    def _split_columns(self, names: Sequence[str] | None) -> tuple[list[str], list[str]]:
        """Split columns, all or the given ones, into memory-mapped ones and those in papers.parquet."""
        known = {"id", *NAMES.names} if NAMES_FILE in self.facts.files else set()
        if not names or not known.issuperset(names):  # avoids opening the file of papers
            names = [name for name in self.schema.names if names is None or name in names]
        return [name for name in names if name in known], [name for name in names if name not in known]

    def _named_columns(self, names: Sequence[str], rows: Rows | None = None) -> pa.Table:
        """Columns of names, and ids, of all papers or at the given rows."""
        raise_if_abandoned()
        columns = {name: self._mapped(name) for name in dict.fromkeys(names)}
        if rows is not None:
            places = integers(rows)
            columns = {name: column.take(places) for name, column in columns.items()}
        table = pa.Table.from_arrays(list(columns.values()), list(columns))
        with self._errors_named(NAMES_FILE):
            table.validate(full=True)
        return table

    def tables(self) -> Iterator[tuple[int, pa.Table]]:
        """All papers, deleted ones included, in row order, one row group at a time, each with its first paper's row within the shard."""
        for group in range(self._file.num_row_groups):
            yield int(self._starts[group]), self._validated(self._stored_group(group))

    def _read(self, read: Callable[[pq.ParquetFile], pa.Table], papers: int) -> pa.Table:
        """Read a table, and check its number of papers."""
        raise_if_abandoned()
        with self._errors_named():
            reader = self._reader()
            table = read(reader)
            self._idle_readers.append(reader)
            if table.num_columns and len(table) != papers:  # a column may be shorter than the file claims
                raise ValueError(f"{len(table)} values for {papers} papers")
            table.validate()
            return table

    def _validated(self, table: pa.Table) -> pa.Table:
        """A table from papers.parquet, after a check of all of its values."""
        with self._errors_named():
            table.validate(full=True)
            return table

    @contextmanager
    def _errors_named(self, name: str = "papers.parquet") -> Iterator[None]:
        """Add a file's name to Arrow's errors."""
        try:
            yield
        except (pa.ArrowException, OSError, ValueError) as error:
            path = self.verified.directory / SHARDS / self.facts.name / name
            raise CorruptData(f"{path} cannot be read: {' '.join(str(error).split())}") from error


def _at(table: pa.Table, places: Rows) -> pa.Table:
    """Rows of a table at ascending places."""
    return table.slice(int(places[0]), 1) if len(places) == 1 else table.take(integers(places))


def _parts(rows: Rows) -> Iterator[tuple[Rows, None]]:
    """Rows, some thousands at a time."""
    for first in range(0, len(rows), NAMES_AT_ONCE):
        yield rows[first : first + NAMES_AT_ONCE], None


def _side_by_side(one: pa.Table, other: pa.Table, names: Sequence[str]) -> pa.Table:
    """Columns of two tables of the same papers, in the order of the names."""
    columns = {name: column for table in (one, other) for name, column in zip(table.column_names, table.columns, strict=True)}
    present = [name for name in names if name in columns]
    return pa.Table.from_arrays([columns[name] for name in present], present)


def texts_at(shards: Sequence[Shard], name: str, rows: Rows) -> list[str]:
    """`Shard.texts_at` for rows counted over several shards."""
    in_order = [""] * len(rows)
    for shard, positions, shard_rows in by_shard(rows, shards):
        own = shard.texts_at(name, shard_rows)
        if len(own) == len(in_order):  # as most often
            return own
        for position, one in zip(positions.tolist(), own, strict=True):
            in_order[position] = one
    return in_order


def open_shards(verified: Verified, all_facts: Iterable[ShardFacts]) -> list[Shard]:
    """Open the shards of a generation, in order, with rows counted over all."""
    shards: list[Shard] = []
    first, kept = 0, KeptGroups()
    for facts in all_facts:
        shards.append(Shard(verified, facts, first, kept))
        first += facts.papers
    return shards


def scope_of(shards: Sequence[Shard]) -> Scope:
    """Undeleted papers of these shards."""
    rows = sum(shard.papers for shard in shards)
    if not any(shard.facts.deleted for shard in shards):
        return Scope(rows)
    return Scope(rows, np.concatenate([shard.scope.flags for shard in shards]))


def write_deleted(path: Path, rows: Rows) -> None:
    """Write the rows of a shard's deleted papers."""
    write_array(path, np.sort(rows).astype(np.int32))


def read_deleted(path: Path) -> Rows:
    """Rows of a shard's deleted papers, ascending. Raises CorruptData."""
    rows = np.array(read_array(path, "restore it"))
    if rows.dtype != np.int32 or rows.ndim != 1 or (np.diff(rows) <= 0).any() or (len(rows) and rows[0] < 0):
        raise CorruptData(f"{path} does not hold ascending rows; restore it")
    deleted_rows: Rows = rows.astype(np.int64)
    return deleted_rows
