"""Cutting a corpus into shards: papers and ids are written before anything is encoded."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...files.schema import concat
from ...files.writing import created, remove, replaced, sync_file
from .names import write_names

ROW_GROUP = 128
"""Papers per row group of papers.parquet. Showing one hit reads and decompresses a whole group. Groups half as large show hits in two
thirds of the time, but a filter that reads a column of every group takes twice as long. Filters on year, venue, authors or DOI read no
groups (`names`)."""

SHARD_BYTES = 512 << 20
"""Most bytes of papers in a shard. Abstracts never reach it; full texts do."""

ANY = range(sys.maxsize)
"""Numbers of all shards."""


class Cutter:
    """Collects papers and writes a shard whenever it has enough.

    Attributes:
        shards: number of papers in each shard so far.
    """

    def __init__(self, folder_of: Callable[[int], Path], shard_size: int, sizes: Sequence[int] = (), places: Container[int] = ANY) -> None:
        """Begin with the first shard.

        Args:
            folder_of: returns the folder of the shard with a number, from 0.
            shard_size: number of papers in a full shard.
            sizes: number of papers in each shard; if empty, shards are only bounded by size.
            places: numbers of the shards to write. Others are only counted.
        """
        self._folder_of, self._shard_size, self._sizes, self._places = folder_of, shard_size, sizes, places
        self._tables: list[pa.Table] = []
        self._papers = self._bytes = 0
        self.shards: list[int] = []

    def add(self, papers: pa.Table) -> None:
        """Add the next papers."""
        while len(papers):
            full = self._sizes[len(self.shards)] if self._sizes else self._shard_size
            self._tables.append(papers.slice(0, full - self._papers))
            papers = papers.slice(len(self._tables[-1]))
            self._papers += len(self._tables[-1])
            self._bytes += self._tables[-1].nbytes
            if self._papers == full or (not self._sizes and self._bytes >= SHARD_BYTES):
                self._write()

    def finish(self) -> list[int]:
        """Write the last shard. Returns the number of papers in each shard."""
        if self._papers:
            self._write()
        return self.shards

    def _write(self) -> None:
        if len(self.shards) in self._places:
            # hash each table before others change a column's type, so that a later `sync` sees the same papers
            hashes = pa.concat_arrays([contents(table) for table in self._tables])
            cut_shard(self._folder_of(len(self.shards)), concat(self._tables), hashes)
        self.shards.append(self._papers)
        self._tables, self._papers, self._bytes = [], 0, 0


def cut_shard(folder: Path, papers: pa.Table, hashes: pa.Array) -> None:
    """Write a shard's papers, names and ids to a new folder, and sync them to disk."""
    remove(folder)
    folder.mkdir(parents=True)
    # with few papers, dictionaries and statistics cost more to read than they save
    layout = {"row_group_size": ROW_GROUP, "compression": "zstd", "use_dictionary": False, "write_statistics": False}
    with created(folder / "papers.parquet") as file:
        pq.write_table(papers, file, **layout)
    write_names(folder, papers)
    ids = pa.table({"id": papers["id"].combine_chunks(), "content": hashes})
    # its name appears last, as a sign to a resumed run that the papers are complete
    with replaced(folder / "ids.arrow") as file, pa.ipc.new_file(file, ids.schema) as writer:
        writer.write_table(ids)
    sync_file(folder)
    sync_file(folder.parent)


def contents(papers: pa.Table) -> pa.FixedSizeBinaryArray:
    """Hash of each paper's content, equal if all columns have the same text.

    A missing value equals an empty one, and a number equals its digits, since another part of the corpus may give a column another type.
    Each name and text is preceded by its length, so that different papers cannot give the same string.
    """
    columns = [(name, _texts(papers[name].to_pylist())) for name in sorted(papers.column_names)]
    rows = zip(*(texts for _, texts in columns), strict=True)
    names = [f"{len(name)}:{name}" for name, _ in columns]
    digests = [
        blake2b(
            "".join(f"{name}{len(text)}:{text}" for name, text in zip(names, row, strict=True) if text).encode(), digest_size=16
        ).digest()
        for row in rows
    ]
    return pa.array(digests, pa.binary(16))


def _texts(values: Iterable[Any]) -> list[str]:
    return [value if type(value) is str else _text(value) for value in values]


def _text(value: Any) -> str:
    value = _plain(value)
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str) if isinstance(value, list | dict) else str(value)


def _plain(value: Any) -> Any:
    """Normalise a value so that its text does not depend on its column, where other values may add fields or turn integers into floats."""
    if isinstance(value, dict):
        return {name: item for name, inner in value.items() if (item := _plain(inner)) is not None} or None
    if isinstance(value, list):
        return [_plain(item) for item in value] or None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None if value is None or value != value or value == "" else value
