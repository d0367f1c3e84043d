"""Rebuilds published benchmarks from their authors' sources, in the layout of SciMult's evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.arguments import checked
from ...base.errors import InvalidRequest, NotFound, UnknownName
from ...base.types import Paper, Query
from ...files.writing import make_folder, write_lines
from ...metrics.judgements import Qrels, objects_by_id
from ...progress import shown
from ...protocols import Progress
from ...query.citations.citation_graph import Graph
from ..readers import beir, pmc_patients
from ..readers.benchmark_files import find, paper_of
from ..readers.scimult import LINKS, SEARCH
from .folders import new_folder

TOGETHER = 10
"""The fewest papers that cite two papers together for them to count as co-cited (Zhang et al. 2023, §4.3 and App. A.2)."""
SETS = {"scifact": ("SciFact", 5_183, 1_109), "nfcorpus": ("NFCorpus", 3_633, 3_237)}
"""By a part of a BEIR directory's name: SciMult's name of the set, and its numbers of papers and queries (its Table A2)."""
SPLITS = ("train", "dev", "test")


@checked
def build_published(name: str, sources: Sequence[str | Path], to: str | Path, progress: Progress | bool = True) -> None:
    """Make a published benchmark in the folder `to`, which appears when everything is written.

    Args:
        name: one of `BUILDERS`.
        sources: the folder with its sources; for scimult-search one BEIR directory for each set.
        to: a new folder, for `evaluate NAME --data`.
        progress: a listener, also for the numbers of papers and queries here and as published; see `build_cite`.

    Raises:
        UnknownName: there is no such benchmark to build.
        NotFound, InvalidRequest: a file is missing or has another layout, or `to` exists.
        IndexBusy: another process is making the same folder.
    """
    if name not in BUILDERS:
        raise UnknownName("benchmark to build", name, ["cite", "multi-scidocs", *BUILDERS])
    folders = [Path(source) for source in sources]
    if missing := next((folder for folder in folders if not folder.is_dir()), None):
        raise NotFound(f"there is no folder {missing}; {name} is built from one with the authors' files")
    if len(folders) > 1 and name != "scimult-search":
        raise InvalidRequest(f"{name} is built from one folder; give it once")
    with shown(progress) as listener, new_folder(Path(to)) as folder:
        for note in BUILDERS[name](name, folders, folder):
            listener.note(note)


def _scidocs(name: str, sources: Sequence[Path], folder: Path) -> list[str]:
    """SciDocs' papers with their cited and co-cited papers among them.

    Papers outside the metadata count as citing papers if `cited_by` names them; SciMult does not say whether they do.
    """
    path = find(sources[0], "paper_metadata_view_cite_read.json", benchmark=name)
    papers = objects_by_id(path)
    if not any(isinstance(row.get("references"), list) for row in papers.values()):
        keys = sorted(next(iter(papers.values()), {}))
        expected = "{id: {title, abstract, references, cited_by}}"
        raise InvalidRequest(f"{path} has no lists of references: expected {expected}, found {', '.join(keys) or 'nothing'}")
    row_of = {id: row for row, id in enumerate(papers)}
    ids = list(papers)
    pairs = []
    for id, paper in papers.items():
        pairs += [(row_of[id], row_of[str(other)]) for other in paper.get("references") or () if str(other) in row_of]
        pairs += [(row_of.setdefault(str(other), len(row_of)), row_of[id]) for other in paper.get("cited_by") or ()]
    graph = Graph.of(len(row_of), np.array(pairs, np.int64).reshape(-1, 2))
    lines = []
    counts = [0, 0]
    for row, id in enumerate(ids):
        lists = [
            [ids[other] for other in others.tolist() if other < len(ids)] for others in (graph.cites(row), graph.cocited(row, TOGETHER))
        ]
        counts = [count + bool(others) for count, others in zip(counts, lists, strict=True)]
        lines.append(_line("paper", paper_of(papers[id], id), {"cite": lists[0], "co-cite": lists[1]}))
    _write(folder / LINKS, "SciDocs_papers_test.json", lines)
    return [
        _count_note("papers", len(ids), 142_009),
        _count_note("queries of scidocs-cite", counts[0], 92_214),
        _count_note("queries of scidocs-cocite", counts[1], 54_543),
    ]


def _patients(name: str, sources: Sequence[Path], folder: Path) -> list[str]:
    """PMC-Patients' corpus of patients, and the queries of all splits.

    SciMult does not say which text is the title: none is, as in PMC-Patients' own corpus.
    """
    materials = [pmc_patients.load(sources[0], split, name, task="PPR") for split in SPLITS]
    patients = [_line("patient", paper) for paper in materials[0].pool()]
    queries = []
    for task in (task for material in materials for task in material.tasks):
        for id, row in task.qrels.items():
            positives = [other for other, grade in row.items() if grade > 0]
            paper = task.queries[id].paper
            if positives and paper is not None:
                queries.append(json.dumps({"title": paper.title, "abstract": paper.abstract, "patient": positives}, ensure_ascii=False))
    _write(folder / LINKS, "PMCPatientsPPR_patients_test.json", patients)
    _write(folder / LINKS, "PMCPatientsPPR_queries_test.json", queries)
    return [_count_note("patients", len(patients), 155_151), _count_note("queries", len(queries), 100_327)]


def _search(name: str, sources: Sequence[Path], folder: Path) -> list[str]:
    """SciFact and NFCorpus from BEIR's directories, with the queries of all splits."""
    notes = []
    for source in sources:
        key = next((key for key in SETS if key in source.resolve().name.lower()), None)
        if key is None:
            raise InvalidRequest(f"{source} is neither {' nor '.join(SETS)}, going by its name; name BEIR's directories of these")
        set_name, *published = SETS[key]
        splits = [split for split in SPLITS if (source / "qrels" / f"{split}.tsv").is_file()]
        if not splits:
            raise NotFound(f"{source} has no qrels/{{{','.join(SPLITS)}}}.tsv; expected BEIR's directory of {set_name}")
        queries: dict[str, Query] = {}
        qrels: Qrels = {}
        for split in splits:
            material = beir.load(source, split, name)
            queries |= material.tasks[0].queries
            for id, row in material.tasks[0].qrels.items():
                qrels.setdefault(id, {}).update(row)
        papers = [_line("paper", paper) for paper in material.pool()]
        lines = [
            json.dumps({"query_id": id, "query": query.words, "score": qrels[id]}, ensure_ascii=False) for id, query in queries.items()
        ]
        _write(folder / SEARCH, f"{set_name}_papers_test.json", papers)
        _write(folder / SEARCH, f"{set_name}_queries_test.json", lines)
        notes += [
            _count_note(f"papers of {set_name}", len(papers), published[0]),
            _count_note(f"queries of {set_name}", len(lines), published[1]),
        ]
    return notes


def _line(key: str, paper: Paper, more: Mapping[str, Any] = {}) -> str:
    return json.dumps({key: paper.id, "title": paper.title, "abstract": paper.abstract, **more}, ensure_ascii=False)


def _write(folder: Path, file: str, lines: Iterable[str]) -> None:
    make_folder(folder)
    write_lines(folder / file, lines)


def _count_note(what: str, count: int, published: int) -> str:
    return f"{count:,} {what}, {'as published' if count == published else f'where {published:,} were published'}"


BUILDERS: Mapping[str, Callable[[str, Sequence[Path], Path], list[str]]] = {
    "scidocs-cite": _scidocs,
    "scidocs-cocite": _scidocs,
    "pmc-patients-zeroshot": _patients,
    "scimult-search": _search,
}
"""Builders of benchmarks by name. Each reads the sources' folders, fills a new folder, and returns notes."""
