"""A shard: the unit of building and resuming. A folder whose files never change once it has its final name.

papers.parquet   the papers in row order, in small row groups
ids.arrow        their ids alone, memory-mapped
vectors.npy      their vectors, (papers, dim) float32, if the index has an encoder
postings.arrow   their terms, if the index has BM25
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .errors import CorruptData
from .files import describe, read_json, sync_file, write_json
from .lexical import Analyzer, PostingsBuilder
from .manifest import SHARD_FILES, ShardFacts
from .once import once
from .protocols import Encoder
from .schema import concat, integers, papers_of
from .types import Paper, Rows

ROW_GROUP = 256
"""Papers per row group of papers.parquet; a whole group is read and decompressed to show one hit. Groups half as large show
hits in two thirds of the time, but a filter, which reads a column of every group, takes twice as long."""
GROUPS_AT_ONCE = 32
"""Row groups in memory at a time, about 500 kB each."""


class Shard:
    """A shard opened for reading. `first` is the row of its first paper, counted over all shards."""

    def __init__(self, directory: Path, facts: ShardFacts, first: int) -> None:
        self.directory = directory
        self.facts = facts
        self.first = first
        self._reading = Lock()  # Arrow does not guarantee that threads may share a Parquet reader

    def __len__(self) -> int:
        return int(self.facts.papers)

    @once
    def ids(self) -> pa.StringArray:
        """The papers' ids in row order."""
        path = self.directory / "ids.arrow"
        try:
            column = pa.ipc.open_file(pa.memory_map(str(path))).read_all()["id"].combine_chunks()
        except (pa.ArrowInvalid, OSError, KeyError) as error:
            raise CorruptData(f"{path} cannot be read: {error}") from error
        if len(column) != len(self):
            raise CorruptData(f"{path} has {len(column)} ids where the manifest says {len(self)}")
        return column

    def ids_at(self, rows: Rows) -> list[str]:
        """The ids at the given rows of this shard."""
        ids: list[str] = self.ids.take(integers(rows)).to_pylist()
        return ids

    @once
    def _file(self) -> pq.ParquetFile:
        path = self.directory / "papers.parquet"
        try:
            file = pq.ParquetFile(path, memory_map=True)
        except (pa.ArrowInvalid, OSError) as error:
            raise CorruptData(f"{path} cannot be read: {error}") from error
        if file.metadata.num_rows != len(self):
            raise CorruptData(f"{path} has {file.metadata.num_rows} papers where the manifest says {len(self)}")
        return file

    @once
    def _starts(self) -> Rows:
        """The first row of each row group, and the end of the last."""
        sizes = [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    @property
    def schema(self) -> pa.Schema:
        """The papers' columns."""
        return self._file.schema_arrow

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of the given ids in this shard; ids that it lacks are left out."""
        places = pc.index_in(pa.array(ids, pa.string()), value_set=self.ids) if len(ids) > 16 else [pc.index(self.ids, id) for id in ids]
        rows = {id: place.as_py() for id, place in zip(ids, places, strict=True)}
        return {id: row for id, row in rows.items() if row is not None and row >= 0}

    def papers(self, rows: Rows) -> list[Paper]:
        """The papers at the given rows of this shard, in that order."""
        paper_rows = np.unique(rows)
        groups, group_of_row = np.unique(np.searchsorted(self._starts, paper_rows, side="right") - 1, return_inverse=True)
        papers: dict[int, Paper] = {}
        for first in range(0, len(groups), GROUPS_AT_ONCE):
            read_groups = groups[first : first + GROUPS_AT_ONCE]
            table = self._read(partial(self._file.read_row_groups, read_groups.tolist()))
            sizes = self._starts[read_groups + 1] - self._starts[read_groups]
            skipped_rows = self._starts[read_groups] - (np.cumsum(sizes) - sizes)  # rows before a group that were not read
            in_groups = (group_of_row >= first) & (group_of_row < first + GROUPS_AT_ONCE)
            places = paper_rows[in_groups] - skipped_rows[group_of_row[in_groups] - first]
            papers |= dict(zip(paper_rows[in_groups].tolist(), papers_of(table.take(integers(places))), strict=True))
        return [papers[row] for row in rows.tolist()]

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Whole columns; names that this shard lacks are left out."""
        column_names = [name for name in names if name in self.schema.names]
        return self._read(partial(self._file.read, columns=column_names))

    def tables(self) -> Iterator[tuple[int, pa.Table]]:
        """The papers in row order, a row group at a time, each with the row of its first paper within the shard."""
        for group in range(self._file.num_row_groups):
            yield int(self._starts[group]), self._read(partial(self._file.read_row_group, group))

    def _read(self, read_table: Callable[[], pa.Table]) -> pa.Table:
        try:
            with self._reading:
                return read_table()
        except (pa.ArrowInvalid, OSError) as error:
            raise CorruptData(f"{self.directory / 'papers.parquet'} cannot be read: {error}") from error


class ShardWriter:
    """Builds one shard in a `.partial` folder. Vectors are on disk after every window; the rest is quickly redone."""

    def __init__(self, directory: Path, encoder: Encoder | None, analyzer: Analyzer | None) -> None:
        """Start, or continue, the shard that will be `directory`."""
        self.directory = directory
        self.partial = directory.with_name(directory.name + ".partial")
        self.partial.mkdir(parents=True, exist_ok=True)
        self._encoder = encoder
        self._postings = PostingsBuilder(analyzer) if analyzer else None
        self._tables: list[pa.Table] = []
        self._papers = 0
        self._truncated: int | None = None
        self._encoded = _encoded_papers(directory, encoder)
        if self._encoder is not None and self._vectors.exists():
            os.truncate(self._vectors, _HEADER + self._encoded * 4 * self._encoder.dim if self._encoded else 0)

    @property
    def papers(self) -> int:
        """How many papers the shard has so far."""
        return self._papers

    def add(self, window: pa.Table, tokens: Any = None) -> int:
        """Add the next window of papers (a short one only at the shard's end); returns how many had to be encoded.

        `tokens` are the encoder's `tokenise` of them.
        """
        titles, abstracts = window["title"].to_pylist(), window["abstract"].to_pylist()
        if self._postings:
            self._postings.add(titles, abstracts)
        self._tables.append(window)
        self._papers += window.num_rows
        if self._encoder is None:
            return 0
        truncated = self._encoder.truncated(tokens)
        self._truncated = None if truncated is None else (self._truncated or 0) + truncated
        if self._papers <= self._encoded:
            return 0
        vectors = self._encoder.encode(tokens)
        with self._vectors.open("ab") as file:
            if file.tell() == 0:
                file.write(_npy_header(0, self._encoder.dim))
            file.write(np.ascontiguousarray(vectors, np.float32).tobytes())
        sync_file(self._vectors)
        return len(titles)

    def finish(self) -> ShardFacts:
        """Write what remains, force all to disk, and give the shard its final name."""
        table = concat(self._tables)
        # for so few papers, dictionaries and statistics cost more to read than they save
        layout = {"row_group_size": ROW_GROUP, "compression": "zstd", "use_dictionary": False, "write_statistics": False}
        pq.write_table(table, self.partial / "papers.parquet", **layout)
        with pa.OSFile(str(self.partial / "ids.arrow"), "wb") as sink:
            ids = pa.table({"id": table["id"].combine_chunks()})
            with pa.ipc.new_file(sink, ids.schema) as writer:
                writer.write_table(ids)
        if self._postings:
            self._postings.write(self.partial / "postings.arrow")
        if self._encoder is not None:
            with self._vectors.open("r+b") as file:
                file.write(_npy_header(self._papers, self._encoder.dim))
        files = {}
        for path in sorted(self.partial.iterdir()):
            if path.name not in SHARD_FILES:  # left by a process that was killed while writing shard.json
                path.unlink()
                continue
            sync_file(path)
            files[path.name] = describe(path)
        facts = ShardFacts(self.directory.name, self._papers, files, self._truncated)
        write_json(self.partial / "shard.json", asdict(facts))
        self.partial.rename(self.directory)
        sync_file(self.directory.parent)
        return facts

    @property
    def _vectors(self) -> Path:
        return self.partial / "vectors.npy"


def _encoded_papers(directory: Path, encoder: Encoder | None) -> int:
    """How many papers of the shard that will be `directory` have vectors from an interrupted build, in whole windows.

    The last window is not counted: it may not be completely on disk.
    """
    path = directory.with_name(directory.name + ".partial") / "vectors.npy"
    if encoder is None or not path.exists():
        return 0
    rows = (path.stat().st_size - _HEADER) // (4 * encoder.dim)
    return max(rows // encoder.window - 1, 0) * encoder.window


def finished_facts(directory: Path) -> ShardFacts:
    """The facts that `ShardWriter.finish` wrote on a shard."""
    return ShardFacts(**read_json(directory / "shard.json"))


_HEADER = 128
"""Bytes before the vectors in vectors.npy."""


def _npy_header(papers: int, dim: int) -> bytes:
    """The header of a .npy file of that shape: 128 bytes, padded, whatever the number of papers."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (papers, dim)})
    return header.getvalue()
