"""A citation benchmark of one's own, from `benchmarks build cite`: papers as queries, with candidates of several kinds each."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import InvalidRequest
from ...base.types import Paper, Query
from ...metrics.judgements import Qrels, objects_by_id
from ..material import Material, Task
from .benchmark_files import corpus_of, find, fingerprint, paper_of, rows, text_of

CANDIDATES = "candidates.json"
"""`{field: {query: {kind: [ids]}}}`, as MDCR's labels; the kind "true" has the cited papers."""
TRUE = "true"
ALL = "all"
"""The field of all papers, for a corpus without fields."""
COCITE = "cocite"
"""The split of BEIR's layout with co-cited papers."""


def load(folder: Path, split: str, benchmark: str) -> Material:
    """One task per field, each query with its own candidates. Like `beir:DIR`, which shares the index, this reads all papers of the corpus.

    Raises NotFound, InvalidRequest.
    """
    path = find(folder, CANDIDATES, benchmark=benchmark)
    corpus = find(folder, "corpus.jsonl", benchmark=benchmark)
    papers: dict[str, Paper] = {}
    fields = {field: _kinds(path, field, value) for field, value in objects_by_id(path).items()}
    wanted = {
        id
        for queries in fields.values()
        for query, kinds in queries.items()
        for id in (query, *(id for row in kinds.values() for id in row))
    }
    for number, row in rows(corpus):
        id = text_of(corpus, number, row, "_id")
        if id in wanted:
            papers[id] = paper_of(row, id, abstract="text")
    if (missing_id := next((id for id in wanted if id not in papers), None)) is not None:
        raise InvalidRequest(f"{path} names paper {missing_id!r}, which is not in {corpus}; build the benchmark again")
    tasks = []
    for field, queries in fields.items():
        qrels: Qrels = {query: {id: int(kind == TRUE) for kind, ids in kinds.items() for id in ids} for query, kinds in queries.items()}
        tasks.append(Task.reranked(field, {query: Query(query, paper=papers[query]) for query in queries}, qrels))
    return Material(corpus_of(corpus, "_id", abstract="text"), tuple(tasks), f"beir:{folder}", fingerprint([corpus]))


def _kinds(path: Path, field: str, queries: object) -> dict[str, dict[str, list[str]]]:
    """The candidates of a field's queries, by kind, "true" last: so a paper of two kinds ends up relevant."""
    if not isinstance(queries, dict) or not queries:
        raise InvalidRequest(f"{path}: the field {field!r} has no queries; expected {{field: {{query: {{kind: [ids]}}}}}}")
    for query, kinds in queries.items():
        if not isinstance(kinds, dict) or not all(isinstance(row, list) for row in kinds.values()) or not kinds.get(TRUE):
            raise InvalidRequest(f"{path}: {field}, query {query!r} has no list {TRUE!r} of cited papers; build the benchmark again")
    return {
        query: {kind: [str(id) for id in kinds[kind]] for kind in sorted(kinds, key=lambda kind: kind == TRUE)}
        for query, kinds in queries.items()
    }
