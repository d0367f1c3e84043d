"""Filling a cut shard: vectors, postings and fields of its papers, by an encoder and an analyzer.

Filling can be interrupted anywhere and resumed: vectors are on disk after every window, and the rest is quickly redone.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ...base.choices import Device, Precision
from ...base.errors import CorruptData, InvalidRequest
from ...base.types import Paper, Vectors
from ...encoders import check_golden, encode_packed, late, reopen_encoder
from ...encoders.ahead import make_ahead
from ...files.schema import texts_of
from ...files.writing import HEADER, array_header, claimed, describe, read_sealed, rename, sync_file, write_sealed
from ...matching.dense.exact import NOT_MEASURABLE, measurable
from ...matching.late import Packing
from ...matching.lexical import Analyzer, FieldsBuilder, PostingsBuilder
from ...matching.lexical.fields import FIELDS
from ...protocols import Advance, AdvanceCounter, Encoder, ignore_advance
from ..manifest import SHARD_FILES, ShardFacts, shard_facts

WINDOW = 512
"""Papers per window without an encoder; an encoder has its own window size. Windows start at a shard's first row. So the encoder's batches,
and the last bits of the vectors, do not depend on where a build was interrupted."""
SHARD_FACTS = "shard.json"


def fill(
    partial: Path, source: int, encoder: Encoder | None, analyzer: Analyzer | None, advance: Advance, packing: Packing | None = None
) -> ShardFacts:
    """Encode the papers in a cut folder, count their terms, and rename the folder to its final name, without `.partial`.

    Args:
        partial: the folder.
        source: position in `Manifest.sources` of the papers' corpus.
        encoder, analyzer: make vectors and terms; None for a shard without them. Existing vectors are kept.
        advance: called with the number of papers just finished.
        packing: how token vectors are packed; None for a shard without them.
    """
    with claimed(partial / "papers.parquet"):
        return _filled(partial, source, encoder, analyzer, advance, packing)


def _filled(
    partial: Path, source: int, encoder: Encoder | None, analyzer: Analyzer | None, advance: Advance, packing: Packing | None
) -> ShardFacts:
    papers = _papers(partial / "papers.parquet")
    postings = PostingsBuilder(analyzer) if analyzer else None
    fields = FieldsBuilder(analyzer) if analyzer else None
    encoded = _Encoded(partial, encoder, packing) if encoder is not None else None
    rows, truncated = 0, None

    def tokenised(window: pa.Table) -> Any:
        return encoder.tokenise(texts_of(window)) if encoder is not None else None

    for window, tokens in make_ahead(_windows(partial / "papers.parquet", encoder.window if encoder is not None else WINDOW), tokenised):
        if postings and fields:
            postings.add(window["title"].to_pylist(), window["abstract"].to_pylist())
            fields.add(window)
        rows += window.num_rows
        counted = AdvanceCounter(advance)
        if encoder is not None and encoded is not None:
            too_long = encoder.truncated(tokens)
            truncated = None if too_long is None else (truncated or 0) + too_long
            if rows > encoded.done:
                encoded.add(tokens, counted)
        advance(window.num_rows - counted.papers)
    if postings and fields:
        postings.write(partial)
        fields.write(partial)
    if encoded is not None:
        encoded.finish()
    return finish(partial, papers, truncated, (source,))


def store_vectors(partial: Path, encoder: Encoder) -> None:
    """Write an encoder's stored vectors for the papers in a cut folder. The folder is then filled without the encoder."""
    with claimed(partial / "papers.parquet"):
        encoded = _Encoded(partial, encoder, None)
        rows = 0
        for window in _windows(partial / "papers.parquet", encoder.window, ("id",)):
            rows += window.num_rows
            if rows > encoded.done:
                encoded.add(encoder.tokenise([Paper(id) for id in window["id"].to_pylist()]), ignore_advance)
        encoded.finish()


@dataclass(frozen=True, slots=True)
class Filling:
    """`fill` as a task for another process, which opens the encoder itself.

    Attributes:
        partial, source: as in `fill`.
        encoder: the encoder's identity; None for no vectors.
        precision, device: for the encoder; "auto" is resolved in the process.
        golden: the encoder's vectors of the probe, which must be equal there; None for an encoder that reads no texts.
        form: form of the text analysis; None for shards without terms.
        papers: number of papers in all shards of the index.
        packing: as in `fill`.
    """

    partial: Path
    source: int
    encoder: Mapping[str, Any] | None
    precision: Precision
    device: Device
    golden: Vectors | None
    form: int | None
    papers: int
    packing: Packing | None

    def __call__(self, advance: Advance) -> tuple[str | None, tuple[str, ...]]:
        """Fill the shard, unless another process did. Returns the precision of its vectors, and the runtimes that the encoder ran in.
        Raises InvalidRequest if the encoder gives other vectors here."""
        folder = self.partial.with_name(self.partial.name.removesuffix(".partial"))
        if folder.is_dir():
            return None, ()
        known = (json.dumps(dict(self.encoder), sort_keys=True), self.precision, self.device) if self.encoder else None
        encoder = _opened(*known) if known else None
        if encoder is not None and self.golden is not None:
            check_golden(self.golden, encoder, "paper")
        if known and self.packing is not None:
            encoder = _late(*known)
        if encoder is not None:
            encoder.expect(self.papers)
        try:
            fill(self.partial, self.source, encoder, None if self.form is None else Analyzer(form=self.form), advance, self.packing)
        except FileNotFoundError:
            if not folder.is_dir():  # otherwise another process was just finishing it
                raise
        return (None, ()) if encoder is None else (encoder.precision, encoder.ran_in)


@lru_cache(1)
def _opened(identity: str, precision: Precision, device: Device) -> Encoder:
    """The encoder with this identity. It stays open for the next shard."""
    return reopen_encoder(json.loads(identity), precision, device)


@lru_cache(1)
def _late(identity: str, precision: Precision, device: Device) -> Encoder:
    """The same with token vectors."""
    return late(_opened(identity, precision, device))


def finish(partial: Path, papers: int, truncated: int | None, sources: tuple[int, ...]) -> ShardFacts:
    """Write a full shard's entry, sync all files to disk, and rename the folder to its final name."""
    folder = partial.with_name(partial.name.removesuffix(".partial"))
    files = {}
    for path in sorted(partial.iterdir()):
        if path.name not in SHARD_FILES:  # left by a process killed while writing the entry
            path.unlink()
            continue
        sync_file(path)
        files[path.name] = describe(path)
    facts = ShardFacts(folder.name, papers, files, truncated, 0, sources)
    write_sealed(partial / SHARD_FACTS, asdict(facts))
    sync_file(partial)
    rename(partial, folder)
    sync_file(folder.parent)
    return facts


def finished_facts(folder: Path) -> ShardFacts:
    """A shard's entry, as written by `finish`. Raises CorruptData."""
    try:
        return replace(shard_facts(read_sealed(folder / SHARD_FACTS)), name=folder.name)  # shards of parts are renumbered when joined
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptData(f"{folder / SHARD_FACTS} is damaged ({error}); remove {folder} and run the command again") from error


class _Encoded:
    """The encoder's output for a shard: vectors, and for late interaction packed token vectors.

    Attributes:
        done: number of papers encoded by an interrupted run, in whole windows. The last window is discarded, since it may not be completely
            on disk.
    """

    def __init__(self, partial: Path, encoder: Encoder, packing: Packing | None) -> None:
        self._encoder, self._packing = encoder, packing
        self._vectors = _Growing(partial / "vectors.npy", np.dtype(np.float32), (encoder.dim,))
        rows = self._vectors.rows
        if packing is not None:
            self._tokens = _Growing(partial / "tokens.npy", np.dtype(np.uint8), (packing.bytes,))
            self._counts = _Growing(partial / "token-counts.npy", np.dtype(np.int32), ())
            ends = np.cumsum(self._counts.read(min(rows, self._counts.rows)), dtype=np.int64)
            rows = int(np.searchsorted(ends, self._tokens.rows, side="right"))
        self.done = max(rows // encoder.window - 1, 0) * encoder.window
        self._vectors.cut(self.done)
        if packing is not None:
            self._tokens.cut(int(ends[self.done - 1]) if self.done else 0)
            self._counts.cut(self.done)

    def add(self, tokens: Any, advance: Advance) -> None:
        """Encode the next window. Raises InvalidRequest for vectors that cannot be compared."""
        if self._packing is None:
            self._vectors.add(self._comparable(self._encoder.encode(tokens, advance)))
            return
        vectors, packed, counts = encode_packed(self._encoder, tokens, self._packing, advance)
        vectors = self._comparable(vectors)
        self._tokens.add(packed)
        self._counts.add(counts)
        self._vectors.add(vectors)

    def _comparable(self, vectors: Vectors) -> Vectors:
        if len(wrong := np.flatnonzero(~measurable(vectors))):
            paper = self.done + int(wrong[0]) + 1
            raise InvalidRequest(f"the encoder {self._encoder.name} gave a vector for paper {paper:,} of a shard that {NOT_MEASURABLE}")
        return vectors

    def finish(self) -> None:
        """Write the number of rows into each file."""
        self._vectors.finish()
        if self._packing is not None:
            self._tokens.finish()
            self._counts.finish()


class _Growing:
    """An array in a .npy file to which rows are appended. The header gets the number of rows at the end.

    Attributes:
        rows: number of whole rows in the file.
    """

    def __init__(self, path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self._path, self._kind, self._shape = path, kind, shape
        self._size = kind.itemsize * math.prod(shape)
        self.rows = max(path.stat().st_size - HEADER, 0) // self._size if path.exists() else 0

    def read(self, rows: int) -> npt.NDArray[Any]:
        """The first rows."""
        if not rows:
            return np.empty((0, *self._shape), self._kind)
        with self._path.open("rb") as file:
            file.seek(HEADER)
            return np.frombuffer(file.read(rows * self._size), self._kind).reshape(rows, *self._shape)

    def cut(self, rows: int) -> None:
        """Truncate to the first rows."""
        if self._path.exists():
            os.truncate(self._path, HEADER + rows * self._size if rows else 0)
        self.rows = rows

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Append rows and sync them to disk."""
        with self._path.open("ab") as file:
            is_new = file.tell() == 0
            if is_new:
                file.write(array_header((0, *self._shape), self._kind))
            file.write(np.ascontiguousarray(rows, self._kind).tobytes())
            file.flush()
            os.fsync(file.fileno())
        self.rows += len(rows)
        if is_new:
            sync_file(self._path.parent)  # otherwise the file's name, and all windows, may be lost

    def finish(self) -> None:
        """Write the number of rows."""
        with self._path.open("r+b") as file:
            file.write(array_header((self.rows, *self._shape), self._kind))


def _papers(path: Path) -> int:
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError) as error:
        raise CorruptData(f"{path} cannot be read ({error}); remove {path.parent} and run the command again") from error


def _windows(path: Path, size: int, columns: Sequence[str] = ("id", "title", "abstract", *FIELDS)) -> Iterator[pa.Table]:
    """Columns of a shard's papers, as far as present, in tables of one window."""
    tables: list[pa.Table] = []
    rows = 0
    with pq.ParquetFile(path) as file:
        names = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(size, columns=names):
            table = pa.Table.from_batches([batch])
            while len(table):
                tables.append(table.slice(0, size - rows))
                rows += len(tables[-1])
                table = table.slice(len(tables[-1]))
                if rows == size:
                    yield pa.concat_tables(tables).combine_chunks()
                    tables, rows = [], 0
    if tables:
        yield pa.concat_tables(tables).combine_chunks()
