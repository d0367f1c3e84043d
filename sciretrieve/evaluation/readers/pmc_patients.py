"""PMC-Patients' ReCDS benchmark, articles (PAR) and patients (PPR) for a patient.

Its files are read in both naming schemes. SciMult's archive has further files, from which its authors read the queries and candidates of
its Table 6 (src/eval_pmc_patients.py): papers with title and abstract. They are preferred if they are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...base.types import Paper, Query
from ...metrics.judgements import read_qrels
from ..material import Material, Task
from .beir import judged_queries
from .benchmark_files import COMPRESSED, corpus_of, find, fingerprint, rows, text_of

CANDIDATES = {"PAR": "article", "PPR": "patient"}
"""By task: SciMult's name for its candidates."""


def load(folder: Path, split: str, benchmark: str, *, task: str) -> Material:
    """The judged queries, and all candidates; notes name the files.

    `task` is PAR or PPR. In the benchmark's own files, queries are texts for PAR, and are read like the corpus's patients for PPR. In
    SciMult's files, which have the split test alone, they are papers.

    Raises:
        NotFound: the folder has neither.
        InvalidRequest: a row has another form, or a judged query has no text.
    """
    kind = CANDIDATES[task]
    queries_name, corpus_name = (f"PMCPatients{task}_{part}_test.json" for part in ("queries", f"{kind}s"))
    theirs = [_scimults(folder, file) for file in (queries_name, corpus_name)] if split == "test" else [None, None]
    if theirs[0] is not None and theirs[1] is not None:
        queries_file, corpus = theirs[0], theirs[1]
        papers = corpus_of(queries_file, "query")
        queries, id_name, abstract = {paper.id: Query(paper.id, paper=paper) for paper in papers()}, kind, "abstract"
        set_name, note = (
            f"{benchmark}-scimult",
            f"queries and candidates are read from SciMult's own files, {queries_name} and {corpus_name}",
        )
    else:
        corpus = find(folder, f"{task}/{task}_corpus.jsonl", f"{task}/corpus.jsonl", f"{task}_corpus.jsonl", benchmark=benchmark)
        queries_file = find(folder, f"queries/{split}_queries.jsonl", f"{split}_queries.jsonl", benchmark=benchmark)
        queries, id_name, abstract = {query.id: query for query in _texts(queries_file, task)}, "_id", "text"
        set_name, note = benchmark, f"queries and candidates are read from {queries_file.name} and {corpus.name}"
        note += f"; SciMult's own rows are of {queries_name} and {corpus_name} instead" if split == "test" else ""
    names = (f"{task}/{task}_{split}_qrels.tsv", f"{task}/qrels_{split}.tsv", f"{task}_{split}_qrels.tsv")
    qrels_file = find(folder, *names, benchmark=benchmark)
    qrels = read_qrels(qrels_file)

    judged = judged_queries(qrels, queries, qrels_file, queries_file)
    return Material(corpus_of(corpus, id_name, abstract=abstract), (Task(task, judged, qrels),), set_name, fingerprint([corpus]), [note])


def _scimults(folder: Path, name: str) -> Path | None:
    """A file of SciMult's archive, if `folder` is its `pmc_patients` or the folder above; other folders have other files of that name."""
    paths = [place / (name + ending) for place in (folder, folder / "pmc_patients") for ending in COMPRESSED]
    return next((path for path in paths if path.is_file()), None)


def _texts(queries_file: Path, task: str) -> Iterator[Query]:
    for number, row in rows(queries_file):
        id, text = (text_of(queries_file, number, row, name) for name in ("_id", "text"))
        yield Query(id, paper=Paper(id, "", text)) if task == "PPR" else Query(id, text)
