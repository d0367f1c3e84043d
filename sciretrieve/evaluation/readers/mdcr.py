"""MDCR: for each of 19 fields, papers as queries with candidates of seven kinds; the cited ones are relevant."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import InvalidRequest, NotFound
from ...base.types import Paper, Query
from ...metrics.judgements import Qrels, json_of
from ..material import Material, Task
from .benchmark_files import find, fingerprint, paper_of, rows, text_of

KINDS = ("bm25", "graph", "most_cited", "random", "scincl", "specter", "true")
"""The kinds in the authors' order: a paper that is also in `true` ends up relevant."""
FIELDS = (
    *("Art", "Biology", "Business", "Chemistry", "Computer Science", "Economics", "Engineering", "Environmental Science"),
    *("Geography", "Geology", "History", "Materials Science", "Mathematics", "Medicine", "Philosophy", "Physics"),
    *("Political Science", "Psychology", "Sociology"),
)


def load(folder: Path, split: str, benchmark: str, *, whole_corpus: bool = False) -> Material:
    """One task per field; with `whole_corpus` every paper of the data file is a candidate.

    Otherwise the data file may be missing, since the authors' evaluator reads only the labels.
    Raises NotFound, InvalidRequest.
    """
    labels = find(folder, f"mdcr_{split}.json", benchmark=benchmark)
    textless = ""
    try:
        data = find(folder, f"mdcr_{split}_data.jsonl", benchmark=benchmark)
    except NotFound as error:
        if whole_corpus:
            raise
        data, textless = None, str(error)
    value = json_of(labels)
    papers: dict[str, Paper] = {}
    if data is not None:
        for number, row in rows(data):
            id = text_of(data, number, row, "paper_id")
            papers.setdefault(id, paper_of(row, id))
    tasks = []
    for field in FIELDS:
        if not isinstance(value.get(field), dict):
            raise InvalidRequest(
                f"{labels} has no field {field!r}; the benchmark is the mean over all {len(FIELDS)}, so get the file again"
            )
        queries: dict[str, Query] = {}
        qrels: Qrels = {}
        for id, kinds in value[field].items():
            if missing_kinds := [kind for kind in KINDS if not isinstance(kinds.get(kind), list)]:
                raise InvalidRequest(f"{labels}: {field}, query {id!r} has no list {missing_kinds[0]!r}; get the file again")
            row = {str(other): int(kind == "true") for kind in KINDS for other in kinds[kind]}
            for other in (id, *row):
                if data is not None and other not in papers:
                    raise InvalidRequest(
                        f"{labels}: {field}, query {id!r} names paper {other!r}, which is not in {data}; get the file again"
                    )
            queries[id] = Query(id, paper=papers.get(id))
            qrels[id] = {other: grade for other, grade in row.items() if grade or not whole_corpus}
        candidates = None if whole_corpus else {id: tuple(row) for id, row in qrels.items()}
        tasks.append(Task(field, queries, qrels, candidates, single=not whole_corpus))

    notes = [f"{labels} also has {name!r}, which is not a field of the benchmark" for name in value if name not in FIELDS]
    return Material(papers.values, tuple(tasks), benchmark, fingerprint([data] if data is not None else []), notes, textless)
