"""Datasets by their names in ir_datasets (MacAvaney et al. 2021), which brings papers, queries and judgements. Documents are streamed."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

from ...base.errors import InvalidRequest, SciretrieveError, Unavailable, UnknownName
from ...base.extras import need
from ...base.types import Paper, Query
from ...base.wording import shortlist
from ..material import Material, Task
from .benchmark_files import fingerprint

PARTS = ("docs", "queries", "qrels")
TEXTS = ("abstract", "text", "body", "summary", "contents")
"""Fields of documents that are a paper's text, the best first."""
NAMED = 5
"""The most datasets to name in an error."""


def load(folder: Path, split: str, benchmark: str) -> Material:
    """The judged queries of a dataset, over all of its documents. `folder` is not used: ir_datasets knows the files.

    Raises:
        MissingExtra: ir_datasets is not installed.
        UnknownName, InvalidRequest: there is no such dataset, or it has no documents, queries or judgements.
        Unavailable: ir_datasets cannot read or download it.
    """
    need("ir_datasets", "a dataset of ir_datasets")
    name = benchmark.partition(":")[2]
    if split:
        raise InvalidRequest(f"{benchmark} takes no split; name the part: {benchmark}/{split}")
    dataset, parent = _found(name)
    with _answering(name):
        qrels: dict[str, dict[str, int]] = {}
        for row in dataset.qrels_iter():
            qrels.setdefault(str(row.query_id), {})[str(row.doc_id)] = int(row.relevance)
        texts = {str(query.query_id): _text_of(query) for query in dataset.queries_iter()}
    if (textless := next((id for id in qrels if not texts.get(id, "").strip()), None)) is not None:
        raise InvalidRequest(f"{benchmark}: query {textless!r} is judged, but has no text")

    def pool() -> Iterator[Paper]:
        with _answering(name):
            for doc in dataset.docs_iter():
                yield paper_of(doc)

    queries = {id: Query(id, texts[id]) for id in qrels}
    return Material(pool, (Task(name.rpartition("/")[2], queries, qrels),), f"irds:{parent}", _fingerprint(dataset, parent))


def paper_of(doc: Any) -> Paper:
    """A document as a paper: its title, and the best of its other texts."""
    fields = doc._asdict()
    title = str(fields.get("title") or "")
    text = next((fields[name] for name in TEXTS if isinstance(fields.get(name), str) and fields[name].strip()), None)
    return Paper(str(doc.doc_id), title, text if text is not None else _text_of(doc).removeprefix(title).lstrip())


def _found(name: str) -> tuple[Any, str]:
    """A dataset, and the name of the largest one with the same documents, which share an index."""
    import ir_datasets

    with _answering(name):
        try:
            dataset = ir_datasets.load(name)
        except KeyError:
            raise UnknownName("dataset of ir_datasets", name, list(ir_datasets.registry)) from None
        missing = [part for part in PARTS if not dataset.has(part)]
        if missing:
            whole = [one for one in ir_datasets.registry if one.startswith(f"{name}/") and all(map(ir_datasets.load(one).has, PARTS))]
            hint = f"; these parts have all: {shortlist(whole[:NAMED], len(whole))}" if whole else ""
            raise InvalidRequest(f"irds:{name} has no {' and no '.join(missing)}, so it measures nothing{hint}")
        return dataset, ir_datasets.docs_parent_id(name)


@contextmanager
def _answering(name: str) -> Iterator[None]:
    """Within it, a fault of ir_datasets, such as a failed download, becomes Unavailable, and is not told a second time in its log."""
    log = logging.getLogger("ir_datasets")
    log.addFilter(_is_no_fault)
    try:
        yield
    except SciretrieveError:
        raise
    except Exception as error:
        said = shorten(str(error), 200, placeholder="…") or type(error).__name__
        raise Unavailable(
            f"ir_datasets cannot read {name}, which may need a download: {said}; try `ir_datasets export {name} docs`"
        ) from error
    finally:
        log.removeFilter(_is_no_fault)


def _is_no_fault(record: logging.LogRecord) -> bool:
    return not record.getMessage().lower().startswith(("download error", "download failed", "[error]"))


def _text_of(record: Any) -> str:
    """The main text of a query or document; queries of earlier versions have no `default_text`."""
    return str(record.default_text() if hasattr(record, "default_text") else record.text)


def _fingerprint(dataset: Any, parent: str) -> str:
    """The file of the documents, if there is one; else the dataset's name, since what is published does not change."""
    try:
        path = Path(dataset.docs_path(force=False))
        return fingerprint([path], parent)
    except (AttributeError, TypeError, OSError):
        return hashlib.sha256(parent.encode()).hexdigest()
