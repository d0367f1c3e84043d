"""PMC-Patients' ReCDS benchmark, articles (PAR) and patients (PPR) for a patient, in both naming schemes of its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...metrics.judgements import read_qrels
from ...types import Paper, Query
from ..material import Material, Task
from .beir import judged_queries
from .benchmark_files import find, fingerprint, paper_of, rows, text_of


def load(folder: Path, task: str, split: str, benchmark: str) -> Material:
    """`task` is PAR or PPR. Queries are texts for PAR; for PPR they are read like the corpus's patients."""
    corpus = find(folder, f"{task}/{task}_corpus.jsonl", f"{task}/corpus.jsonl", f"{task}_corpus.jsonl", benchmark=benchmark)
    queries_file = find(folder, f"queries/{split}_queries.jsonl", f"{split}_queries.jsonl", benchmark=benchmark)
    names = (f"{task}/{task}_{split}_qrels.tsv", f"{task}/qrels_{split}.tsv", f"{task}_{split}_qrels.tsv")
    qrels_file = find(folder, *names, benchmark=benchmark)
    queries = {}
    for number, row in rows(queries_file):
        id = text_of(queries_file, number, row, "_id")
        text = text_of(queries_file, number, row, "text")
        queries[id] = Query(id, paper=Paper(id, "", text)) if task == "PPR" else Query(id, text)
    qrels = read_qrels(qrels_file)

    def pool() -> Iterator[Paper]:
        for number, row in rows(corpus):
            yield paper_of(row, text_of(corpus, number, row, "_id"), abstract="text")

    return Material(pool, (Task(task, judged_queries(qrels, queries, qrels_file, queries_file), qrels),), benchmark, fingerprint([corpus]))
