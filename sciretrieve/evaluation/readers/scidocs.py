"""SciDocs in its original form, and Multi-SciDocs in the same form: judged candidates for each query, and paper metadata."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...types import Paper, Query
from ..judgements import objects_by_id, read_qrels
from ..material import Material, Task
from .files import find, fingerprint, paper_of

TASKS = {"coview": "co-view", "coread": "co-read", "cite": "cite", "cocite": "co-cite"}
"""Folder -> the name that the authors print."""
METADATA = ("paper_metadata_view_cite_read.json", "paper_metadata.json")


def load(folder: Path, split: str, benchmark: str, tasks: tuple[str, ...] = tuple(TASKS)) -> Material:
    """The tasks in TASK/SPLIT.qrel, each query with its own candidates. Raises NotFound, InvalidRequest."""
    metadata = find(folder, *METADATA, benchmark=benchmark)
    papers = _papers(metadata)
    loaded_tasks, notes = [], []
    for task in tasks:
        qrels = read_qrels(find(folder, f"{task}/{split}.qrel", benchmark=benchmark))
        if missing_queries := [id for id in qrels if id not in papers]:
            notes.append(
                f"{TASKS[task]}: {len(missing_queries)} queries have no metadata; "
                f"only vectors made elsewhere answer them: {missing_queries[0]} …"
            )
        missing_candidates = {id for row in qrels.values() for id in row if id not in papers}
        if missing_candidates:
            notes.append(
                f"{TASKS[task]}: {len(missing_candidates)} candidates have no metadata; without a vector they count only in the judgements"
            )
        queries = {id: Query(id, paper=papers.get(id)) for id in qrels}
        loaded_tasks.append(Task(TASKS[task], queries, qrels, {id: tuple(row) for id, row in qrels.items()}))

    def pool() -> Iterator[Paper]:
        yield from papers.values()

    return Material(pool, tuple(loaded_tasks), benchmark, fingerprint([metadata]), notes)


def _papers(path: Path) -> dict[str, Paper]:
    return {str(id): paper_of(row, str(id)) for id, row in objects_by_id(path).items()}
