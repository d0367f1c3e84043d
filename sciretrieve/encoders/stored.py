"""Vectors from elsewhere, looked up by id: JSON Lines as SciDocs and SciRepEval write them, .npy with ids, Parquet."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.choices import Metric
from ..base.errors import InvalidRequest, NotFound
from ..base.once import once
from ..base.types import Paper, Query, Vectors
from ..files.streams import json_lines
from ..matching.dense.exact import NOT_MEASURABLE, measurable
from ..protocols import Advance, Encoder, ignore_advance

PREFIX = "vectors:"
LAYOUT = "vectors"
"""The layout, in an encoder's identity, of vectors looked up by id."""
IDS = ".ids.txt"
"""The suffix of the file with the vectors' ids, one per line."""
ID_NAMES = ("paper_id", "doc_id", "id", "_id", "corpus_id", "query_id")
VECTOR_NAMES = ("embedding", "vector", "embeddings")
WINDOW = 4096
Table: TypeAlias = tuple[dict[str, int], npt.NDArray[np.floating], set[str]]
"""Rows by id, the vectors, (n, dim), and the ids whose vector is empty."""


class StoredVectors(Encoder):
    """Looks vectors up by the ids of papers and queries, in a file `vectors:FILE`."""

    precision = "fp32"
    ran_in = ()
    window = WINDOW
    symmetric = True
    prefix = PREFIX

    def __init__(self, path: Path) -> None:
        """Raises NotFound if there is no file."""
        if not path.is_file():
            raise NotFound(f"there are no vectors at {path}; name their file after {self.prefix}")
        self.path = path

    @property
    def name(self) -> str:
        """The prefix and the path, as given."""
        return f"{self.prefix}{self.path}"

    @property
    def metric(self) -> Metric:
        """Euclidean distance, as for the published vectors of SPECTER's family; `metric` changes that."""
        return "l2"

    @property
    def rows(self) -> dict[str, int]:
        """The row of each id's vector."""
        return self._table[0]

    @property
    def empty(self) -> Set[str]:
        """Ids whose vector is an empty list, as in SciDocs' files: known ids without a vector."""
        return self._table[2]

    @property
    def matrix(self) -> npt.NDArray[np.floating]:
        """All vectors, in the file's order."""
        return self._table[1]

    def exact(self, ids: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors in the file's precision, (n, dim). Raises KeyError for an id without one."""
        rows, vectors, _ = self._table
        return np.asarray(vectors[[rows[id] for id in ids]]) if len(ids) else np.empty((0, self.dim), np.float32)

    @property
    def dim(self) -> int:
        """The vectors' dimension."""
        return int(self._table[1].shape[1])

    def identity(self) -> dict[str, Any]:
        """See `protocols.Encoder`."""
        return {"name": self.name, "layout": LAYOUT, "files": {"base": self._digests}, "metric": self.metric, "dim": self.dim}

    def tokenise(self, papers: Sequence[Paper]) -> list[str]:
        """The papers' ids."""
        return [paper.id for paper in papers]

    def encode(self, tokens: list[str], advance: Advance = ignore_advance) -> Vectors:  # noqa: ARG002 - it is fast
        """The vectors of the papers with these ids. Raises InvalidRequest for an id without one."""
        rows, vectors, _ = self._table
        try:
            return np.ascontiguousarray(vectors[[rows[id] for id in tokens]], np.float32)
        except KeyError:
            missing = [id for id in tokens if id not in rows]
            more = f", nor of {len(missing) - 1:,} others of this {len(tokens):,}" if len(missing) > 1 else ""
            raise InvalidRequest(
                f"{self.name} has no vector of {missing[0]!r}{more}; every paper and query needs one, under the very same id"
            ) from None

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """The queries' vectors, by their ids. Raises InvalidRequest for an id without one."""
        return self.encode([query.id for query in queries])

    @property
    def ids_file(self) -> Path | None:
        """The file with the ids beside it; None if the vectors' file has them."""
        if ".npy" not in _suffixes(self.path):
            return None
        names = [self.path.with_suffix(suffix) for suffix in (IDS, ".ids", ".txt", ".ids.json")]
        return next((name for name in names if name.is_file()), None)

    @once
    def _digests(self) -> dict[str, str]:
        """The SHA-256 of each file that assigns vectors to papers."""
        digests = {}
        for path in filter(None, (self.path, self.ids_file)):
            with path.open("rb") as file:
                digests[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        return digests

    @once
    def _table(self) -> Table:
        """See `Table`; the vectors stay on disk."""
        suffixes = _suffixes(self.path)
        if ".npy" in suffixes:
            return self._from_npy()
        if suffixes[-1:] == [".parquet"]:
            return _gather(self.path, _parquet(self.path))
        if {".jsonl", ".ndjson", ".json"} & set(suffixes):
            return _gather(self.path, _jsonl(self.path))
        raise InvalidRequest(
            f"{self.path} is not in a format that vectors are read from (.jsonl, .npy with ids beside it, .parquet; "
            "a FAISS index is named by --encoder faiss:FILE)"
        )

    def _from_npy(self) -> Table:
        try:
            vectors = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ArithmeticError, EOFError, OSError, SyntaxError, TypeError, ValueError) as error:
            raise InvalidRequest(f"{self.path} cannot be read as a .npy file ({error}); save it again") from error
        if not isinstance(vectors, np.ndarray):
            raise InvalidRequest(f"{self.path} holds several arrays; save the vectors alone with numpy.save")
        if self.ids_file is None:
            raise InvalidRequest(
                f"{self.path} needs its ids beside it: {self.path.with_suffix(IDS).name}, one per line, in the order of its rows"
            )
        ids = read_ids(self.ids_file, self.path)
        if vectors.ndim != 2 or len(ids) != len(vectors) or vectors.dtype.kind != "f":
            raise InvalidRequest(
                f"{self.path} has shape {vectors.shape} of {vectors.dtype}, and {self.ids_file.name} {len(ids):,} ids; they must agree"
            )
        rows = rows_of(ids, self.ids_file)
        if (row := first_unmeasurable(vectors)) is not None:
            raise InvalidRequest(f"{self.path}, row {row}: the vector of {ids[row]!r} {NOT_MEASURABLE}")
        return rows, vectors, set()


def reads_texts(encoder: Encoder | None) -> bool:
    """Whether an encoder reads texts, which is slow, instead of looking vectors up; False for None."""
    return encoder is not None and not isinstance(encoder, StoredVectors)


def read_ids(ids_file: Path, vectors_file: Path) -> list[str]:
    """The ids in a file, one per line, or in a list as JSON. Raises InvalidRequest if they cannot be read."""
    try:
        text = ids_file.read_text(encoding="utf-8")
        # `splitlines` would also split at characters that ids may contain
        return [str(id) for id in json.loads(text)] if ids_file.suffix == ".json" else text.removesuffix("\n").split("\n")
    except (RecursionError, TypeError, ValueError) as error:
        raise InvalidRequest(f"{ids_file} cannot be read ({error}); it holds the ids of {vectors_file.name}, in order") from error


def rows_of(ids: Sequence[str], ids_file: Path) -> dict[str, int]:
    """The row of each id. Raises InvalidRequest for a repeated id."""
    rows: dict[str, int] = {}
    for row, id in enumerate(ids):
        if rows.setdefault(id, row) != row:
            raise InvalidRequest(f"{ids_file}, line {row + 1}: the id {id!r} is in line {rows[id] + 1} already")
    return rows


def first_unmeasurable(vectors: npt.NDArray[np.floating]) -> int | None:
    """The first row of (n, dim) vectors that cannot be compared, see `measurable`; None if all can."""
    for start in range(0, len(vectors), WINDOW):
        is_bad = ~measurable(vectors[start : start + WINDOW])
        if is_bad.any():
            return start + int(is_bad.argmax())
    return None


def _suffixes(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes]


def _gather(path: Path, lines: Iterator[tuple[int, str, Any]]) -> Table:
    """Check vectors one by one and write them to an unnamed file, which the system removes after the last use."""
    rows: dict[str, int] = {}
    empty: set[str] = set()
    dim = 0
    with tempfile.TemporaryFile() as file:
        for number, id, values in lines:
            if id in rows or id in empty:
                raise InvalidRequest(f"{path}, line {number}: the id {id!r} was in an earlier line")
            if isinstance(values, list | np.ndarray) and not len(values):
                empty.add(id)
                continue
            try:
                vector = np.asarray(values, np.float64)
            except (OverflowError, TypeError, ValueError):
                vector = np.empty((0, 0))
            if vector.ndim != 1 or not len(vector):
                raise InvalidRequest(f"{path}, line {number}: the vector of {id!r} is not a list of numbers")
            if not measurable(vector[None])[0]:
                raise InvalidRequest(f"{path}, line {number}: the vector of {id!r} {NOT_MEASURABLE}")
            dim = dim or len(vector)
            if len(vector) != dim:
                raise InvalidRequest(f"{path}, line {number}: the vector of {id!r} has {len(vector)} numbers, those before it {dim}")
            rows[id] = len(rows)
            file.write(vector.tobytes())
        if not rows:
            raise InvalidRequest(f"{path} holds no vectors")
        file.flush()
        return rows, np.memmap(file, np.float64, "r", shape=(len(rows), dim)), empty


def _jsonl(path: Path) -> Iterator[tuple[int, str, Any]]:
    for number, row in json_lines(path):
        if isinstance(row, str):
            raise InvalidRequest(f"{path}, line {number}: {row}; the file may be cut short")
        id = next((row[name] for name in ID_NAMES if row.get(name) is not None), None)
        values = next((row[name] for name in VECTOR_NAMES if name in row), None)
        if id is None or values is None:
            raise InvalidRequest(f"{path}, line {number}: expected an object with a paper_id and an embedding")
        yield number, str(id), values


def _parquet(path: Path) -> Iterator[tuple[int, str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        names = set(file.schema_arrow.names)
        id = next((name for name in ID_NAMES if name in names), None)
        vector = next((name for name in VECTOR_NAMES if name in names), None)
        if id is None or vector is None:
            raise InvalidRequest(f"{path} has the columns {', '.join(sorted(names))}; vectors need an id and an embedding column")
        number = 0
        for batch in file.iter_batches(WINDOW, columns=[id, vector]):
            for row_id, values in zip(batch.column(id).to_pylist(), batch.column(vector), strict=True):
                number += 1
                yield number, str(row_id), values.values.to_numpy(zero_copy_only=False) if values.is_valid else None
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidRequest(f"{path} cannot be read as Parquet ({error})") from error
