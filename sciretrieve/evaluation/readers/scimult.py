"""SciMult's evaluation files, which are JSON Lines despite their names: link prediction, zero-shot PPR, search, label retrieval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import InvalidRequest
from ...types import Paper, Query
from ..judgements import Qrels, grade_of
from ..material import Material, Task
from .files import find, fingerprint, paper_of, rows, text_of

SEARCH_SETS = ("Search", "TRECCOVID_SciRepEval", "TRECCOVID_BEIR", "SciFact", "NFCorpus")
LINKS, SEARCH = "link_prediction_retrieval", "search"
"""The folders of link prediction and of search in SciMult's archive."""
RERANKED = {"Search", "TRECCOVID_SciRepEval"}
"""Search sets whose queries rank their own candidates; the others rank the whole corpus."""
REPEAT_SUFFIX = " (again)"
"""The suffix of the id of a positive that is listed again."""
MAPLE_SETS = ("CSConference", "ChemistryMeSH", "Geography", "Psychology")


def load_links(folder: Path, task: str, benchmark: str) -> Material:
    """SciDocs' full corpus: every paper of the file is a candidate, including the query itself; `task` is cite or co-cite."""
    path = find(folder, "SciDocs_papers_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    for number, row in rows(path):
        id = text_of(path, number, row, "paper")
        positives = row.get(task)
        if not isinstance(positives, list):
            raise InvalidRequest(f"{path}, line {number}: paper {id!r} has no list {task!r}")
        if positives:
            queries[id] = Query(id, paper=paper_of(row, id))
            qrels[id] = _judgements_of(positives)
    return Material(_pool(path, "paper"), (Task(task, queries, qrels),), benchmark, fingerprint([path]), _repeats(qrels))


def load_patients(folder: Path, benchmark: str) -> Material:
    """Zero-shot patient-to-patient retrieval; queries have no id and are numbered by their lines."""
    patients = find(folder, "PMCPatientsPPR_patients_test.json", benchmark=benchmark)
    queries_file = find(folder, "PMCPatientsPPR_queries_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    unjudged_queries = 0
    for number, row in rows(queries_file):
        positives = row.get("patient")
        if not isinstance(positives, list):
            raise InvalidRequest(f"{queries_file}, line {number}: no list of patients")
        if positives:
            queries[str(number)] = Query(str(number), paper=paper_of(row, ""))
            qrels[str(number)] = _judgements_of(positives)
        else:
            unjudged_queries += 1
    notes = _repeats(qrels) + ([f"{unjudged_queries} queries without a positive are left out"] if unjudged_queries else [])
    return Material(_pool(patients, "patient"), (Task("PPR", queries, qrels),), benchmark, fingerprint([patients]), notes)


def load_searches(folder: Path, benchmark: str) -> list[Material]:
    """The search sets that are there; a note names those that are not. Raises NotFound if none is."""
    present = [name for name in SEARCH_SETS if any(folder.rglob(f"{name}_papers_test.json*"))]
    sets = [load_search(folder, name, benchmark) for name in present or SEARCH_SETS]
    if missing := [name for name in SEARCH_SETS if name not in present]:
        sets[0].notes.append(
            f"there are no files of {', '.join(missing)}: figures over all sets are over {len(present)} and do not compare"
        )
    return sets


def load_search(folder: Path, name: str, benchmark: str) -> Material:
    """One of the five search sets."""
    papers = find(folder, f"{name}_papers_test.json", benchmark=benchmark)
    queries_file = find(folder, f"{name}_queries_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    for number, row in rows(queries_file):
        id = text_of(queries_file, number, row, "query_id")
        grades = row.get("score")
        if not isinstance(grades, dict):
            raise InvalidRequest(f"{queries_file}, line {number}: query {id!r} has no object of scores")
        queries[id] = Query(id, text_of(queries_file, number, row, "query"))
        qrels[id] = {str(paper): grade_of(queries_file, number, grade) for paper, grade in grades.items()}
    candidates = {id: tuple(row) for id, row in qrels.items()} if name in RERANKED else None
    return Material(_pool(papers, "paper"), (Task(name, queries, qrels, candidates),), f"{benchmark}-{name}", fingerprint([papers]))


def load_labels(folder: Path, field: str, benchmark: str, *, by_name: bool) -> Material:
    """A set of MAPLE: papers as queries, labels (name, definition) as candidates; `by_name` ranks labels named in the paper first."""
    labels = find(folder, f"{field}_label.json", benchmark=benchmark)
    papers = find(folder, f"{field}_papers_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    for number, row in rows(papers):
        id = str(row.get("paper", number))
        if id in queries:
            raise InvalidRequest(f"{papers}, line {number}: paper {id!r} is listed above already")
        queries[id] = Query(id, paper=paper_of(row, id))
        qrels[id] = _judgements_of(row.get("label") or [])
        if not qrels[id]:
            raise InvalidRequest(f"{papers}, line {number}: paper {id!r} has no label")
    first = None
    if by_name:
        matched_file = find(folder, f"{field}_matched.json", benchmark=benchmark)
        matches = [{str(label) for label in row.get("candidate") or []} for _, row in rows(matched_file)]
        if len(matches) < len(queries):
            raise InvalidRequest(f"{matched_file} has {len(matches)} lines, fewer than the papers of {papers}")
        label_ids = {text_of(labels, number, row, "label") for number, row in rows(labels)}
        first = {id: names_matched & label_ids for id, names_matched in zip(queries, matches, strict=False)}

    def pool() -> Iterator[Paper]:
        for number, row in rows(labels):
            names = row.get("name") or [""]
            yield Paper(
                text_of(labels, number, row, "label"),
                str(names[0] if isinstance(names, list) else names),
                str(row.get("definition") or ""),
            )

    # both forms of the benchmark share their labels and therefore one index
    return Material(pool, (Task(field, queries, qrels, first=first),), f"maple-{field}", fingerprint([labels]), _repeats(qrels))


def _judgements_of(positives: Iterable[Any]) -> dict[str, int]:
    """Positives as judgements. The authors divide by the number listed, so a repeated one counts as one more that is never retrieved."""
    counts = Counter(str(other) for other in positives)
    return {id + REPEAT_SUFFIX * repeat: 1 for id, count in counts.items() for repeat in range(count)}


def _repeats(qrels: Qrels) -> list[str]:
    repeat_count = sum(id.endswith(REPEAT_SUFFIX) for row in qrels.values() for id in row)
    return (
        [f"{repeat_count:,} positives are listed again for the same query; the authors' recall counts them, and so does ours"]
        if repeat_count
        else []
    )


def _pool(path: Path, key: str) -> Callable[[], Iterator[Paper]]:
    def pool() -> Iterator[Paper]:
        for number, row in rows(path):
            yield paper_of(row, text_of(path, number, row, key))

    return pool
