"""Encoding a corpus or a file of queries into a file of vectors for other programs.

Vectors are collected in `FILE.partial/`, on disk after every window, so that an interrupted run can be resumed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..base.arguments import checked
from ..base.choices import DEFAULT_ENCODER, SideName
from ..base.errors import IndexExists, InvalidRequest, SciretrieveError
from ..base.types import Paper, Query, Vectors
from ..encoders import opened_encoder
from ..encoders.ahead import make_ahead
from ..files.schema import texts_of
from ..files.writing import check_parent, read_json, remove_lock, replaced, sync_file, work_lock, write_json, write_lines, write_vectors
from ..papers.corpora import ColumnMap, Corpus, Rejected, Rejections, Sources, open_corpus, read_queries, warn_of
from ..progress import shown
from ..protocols import AdvanceCounter, AnyEncoder, Encoder, Progress

Like = Literal["scidocs", "scirepeval"]
PLAN = "plan.json"
ID_KEYS: dict[Like, str] = {"scidocs": "paper_id", "scirepeval": "doc_id"}
SUFFIXES = (".jsonl", ".npy", ".parquet")
QUERY_SUFFIXES = {".jsonl", ".ndjson", ".tsv", ".txt"}
Items: TypeAlias = Iterable[Paper] | Iterable[Query]


@checked
def encode(
    source: Sources | Corpus,
    target: str | Path,
    *,
    encoder: AnyEncoder = DEFAULT_ENCODER,
    side: SideName = "paper",
    like: Like = "scidocs",
    columns: ColumnMap | None = None,
    limit: int | None = None,
    strict: bool = False,
    overwrite: bool = False,
    progress: Progress | bool = True,
) -> int:
    """Encode papers or queries into a file, or resume an interrupted run. Returns their number.

    Args:
        source: a corpus, as in `build`; for `side="query"`, a file of queries or a corpus whose papers are queries.
        target: a `.jsonl` file (one object per line, with id and embedding), a `.npy` file (with a `.ids.txt` beside it) or a `.parquet`
            file (columns id and embedding). Vectors are float32.
        encoder: a name, see `encoders.load_encoder`, or an encoder.
        side: the encoder's side; "paper_as_query" for a corpus whose papers are queries.
        like: the form of JSON Lines: `paper_id` as SciDocs, or `doc_id` as SciRepEval.
        columns: the roles of a corpus's columns; by default recognised by name.
        limit: most items to encode.
        strict: stop at the first bad row, instead of listing it in `FILE.rejected.jsonl`.
        overwrite: replace an existing file.
        progress: receives progress; by default a progress bar on a terminal, False for none.

    Raises:
        IndexExists: the file exists, or there is an unfinished run with another plan.
        InvalidRequest, NotFound: the source, the target or the encoder is invalid.
        IndexBusy: another process is writing this file.

    >>> sr.encode("papers.jsonl", "vectors.npy")
    100
    """
    path = Path(target)
    if path.suffix not in SUFFIXES:
        raise InvalidRequest(f"cannot write vectors to {path.name}: name a .jsonl, .npy or .parquet file")
    check_parent(path)
    if path.exists() and not overwrite:
        raise IndexExists(str(path), "is there already")
    model = opened_encoder(encoder, device="auto")
    rejections = Rejections(path.with_name(path.name + ".rejected.jsonl"), strict)
    items, fingerprint, total, name = _items(source, side, columns, rejections)
    work_folder = path.with_name(path.name + ".partial")
    with work_lock(work_folder):
        plan = {
            "source": fingerprint,
            "encoder": model.identity(),  # without precision, since vectors stay comparable
            "side": side,
            "limit": limit,
        }
        run = _Run(work_folder, model, json.loads(json.dumps(plan)), overwrite)
        with shown(progress) as listener:
            if side == "paper" and total is not None:
                model.expect(min(total, limit or total))
            listener.start(total if limit is None or total is None else min(total, limit), run.done)
            try:
                count = run.encode(islice(items, limit), listener)
                if not count:
                    raise InvalidRequest(f"there is nothing to encode in {name}")
            except SciretrieveError:
                if not run.done:
                    run.remove()
                raise
            WRITERS[path.suffix](path, run.ids(), run.vectors(count), ID_KEYS[like])
            run.remove()
            if rejections.count:
                listener.note(f"rejected rows: {rejections.count:,}, see {rejections.path}")
    warn_of(rejections.count, rejections.first, str(path), rejections.path)
    return count


def _items(
    source: Sources | Corpus, side: SideName, columns: ColumnMap | None, reject: Callable[[list[Rejected]], None]
) -> tuple[Items, str, int | None, str]:
    """The items to encode, their fingerprint, their number if known, and their source."""
    only = source[0] if isinstance(source, list | tuple) and len(source) == 1 else source
    if side == "query" and isinstance(only, str | Path):
        path = Path(only)
        if str(path) == "-" or path.is_dir() or set(path.suffixes) & QUERY_SUFFIXES:
            queries = read_queries(path)
            digest = json.dumps([[query.id, query.words] for query in queries])
            return queries, digest, len(queries), str(path)
    corpus = source if isinstance(source, Corpus) else open_corpus(source, columns)
    facts = corpus.fingerprint(), corpus.count(), ", ".join(corpus.sources)
    papers = _papers(corpus, reject)
    return (papers if side == "paper" else (Query(paper.id, paper=paper) for paper in papers)), *facts


def _papers(corpus: Corpus, reject: Callable[[list[Rejected]], None]) -> Iterator[Paper]:
    for batch in corpus.batches():
        reject(batch.rejected)
        yield from texts_of(batch.papers)


class _Run:
    """A run: its vectors and ids so far, in whole windows."""

    def __init__(self, folder: Path, encoder: Encoder, plan: dict[str, Any], overwrite: bool) -> None:
        self.folder, self.encoder = folder, encoder
        self._vectors, self._ids = folder / "vectors.f32", folder / "ids.jsonl"
        old_plan = read_json(folder / PLAN) if (folder / PLAN).exists() else None
        if old_plan is not None and old_plan != plan and not overwrite:
            raise IndexExists(str(folder.with_suffix("")), "has an unfinished run of other papers or another encoder")
        if old_plan != plan:
            for path in (self._vectors, self._ids):
                path.unlink(missing_ok=True)
            write_json(folder / PLAN, plan)
        for path in (self._vectors, self._ids):
            path.touch()
        # ids are written after vectors, so an item with an id is complete
        id_lines = list(takewhile(_is_whole, self._ids.read_bytes().splitlines(keepends=True)))
        vector_count = self._vectors.stat().st_size // (4 * encoder.dim)
        self.done = min(len(id_lines), vector_count) // encoder.window * encoder.window
        os.truncate(self._vectors, self.done * 4 * encoder.dim)
        os.truncate(self._ids, sum(map(len, id_lines[: self.done])))

    def encode(self, items: Iterator[Any], progress: Progress) -> int:
        """Encode the remaining items, a window at a time. Returns the total number."""
        count = sum(1 for _ in islice(items, self.done))
        windows = iter(lambda: list(islice(items, self.encoder.window)), [])
        for window, tokens in make_ahead(windows, self._tokens):
            counted = AdvanceCounter(progress.advance)
            vectors = self.encoder.encode_queries(window) if tokens is None else self.encoder.encode(tokens, counted)
            for path, data in (
                (self._vectors, np.ascontiguousarray(vectors, np.float32).tobytes()),
                (self._ids, "".join(json.dumps(item.id) + "\n" for item in window).encode()),
            ):
                with path.open("ab") as file:
                    file.write(data)
                sync_file(path)
            count += len(window)
            self.done = count
            progress.advance(len(window) - counted.papers)
        return count

    def _tokens(self, window: Sequence[Any]) -> Any:
        """First half of encoding papers. Queries are encoded in one step, since their sides may differ."""
        return None if isinstance(window[0], Query) else self.encoder.tokenise(window)

    def remove(self) -> None:
        """Remove the run's files."""
        for path in (self._vectors, self._ids, self.folder / PLAN):
            path.unlink()
        remove_lock(self.folder)

    def ids(self) -> Iterator[str]:
        """Ids, in order."""
        with self._ids.open("rb") as file:
            yield from (json.loads(line) for line in file)

    def vectors(self, count: int) -> Vectors:
        """Vectors, (count, dim), on disk."""
        return np.memmap(self._vectors, np.float32, "r", shape=(count, self.encoder.dim))


def _is_whole(line: bytes) -> bool:
    """Whether a line is a complete id, not the truncated end of an interrupted run."""
    try:
        return line.endswith(b"\n") and isinstance(json.loads(line), str)
    except ValueError:
        return False


def _blocks(ids: Iterator[str], vectors: Vectors) -> Iterator[tuple[list[str], Vectors]]:
    size = 1024
    for start in range(0, len(vectors), size):
        yield list(islice(ids, size)), np.asarray(vectors[start : start + size])


def _write_jsonl(target: Path, ids: Iterator[str], vectors: Vectors, key: str) -> None:
    write_lines(
        target,
        (
            # as text, NumPy gives the fewest digits that restore the same float32
            f'{{"{key}": {json.dumps(id, ensure_ascii=False)}, "embedding": [{", ".join(row)}]}}'
            for block_ids, block in _blocks(ids, vectors)
            for id, row in zip(block_ids, block.astype(str), strict=True)
        ),
    )


def _write_npy(target: Path, ids: Iterator[str], vectors: Vectors, key: str) -> None:  # noqa: ARG001
    write_lines(target.with_suffix(".ids.txt"), ids)
    write_vectors(target, (vectors[start : start + 65_536] for start in range(0, len(vectors), 65_536)), vectors.shape)


def _write_parquet(target: Path, ids: Iterator[str], vectors: Vectors, key: str) -> None:  # noqa: ARG001
    schema = pa.schema([("id", pa.string()), ("embedding", pa.list_(pa.float32(), vectors.shape[1]))])
    with replaced(target) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for block_ids, block in _blocks(ids, vectors):
            values = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), vectors.shape[1])
            writer.write_table(pa.table([pa.array(block_ids, pa.string()), values], schema=schema))


WRITERS = {".jsonl": _write_jsonl, ".npy": _write_npy, ".parquet": _write_parquet}
