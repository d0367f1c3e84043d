"""BEIR directories: corpus.jsonl (or .parquet), queries.jsonl, qrels/SPLIT.tsv. TREC-COVID, SciFact, NFCorpus, SciDocs, your own."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import InvalidRequest
from ...base.types import Query
from ...metrics.judgements import Qrels, read_qrels
from ...papers.corpora import read_queries
from ..material import Material, Task
from .benchmark_files import corpus_of, find, fingerprint


def load(folder: Path, split: str, benchmark: str) -> Material:
    """The queries that `qrels/SPLIT.tsv` judges, over the whole corpus. Raises NotFound, InvalidRequest."""
    corpus = find(folder, "corpus.jsonl", "corpus.parquet", benchmark=benchmark)
    # a folder may have several sets of queries for one corpus, each with its own split and queries file
    queries_file = find(folder, f"queries-{split}.jsonl", "queries.jsonl", benchmark=benchmark)
    qrels_file = find(folder, f"qrels/{split}.tsv", f"{split}.tsv", benchmark=benchmark)
    qrels = read_qrels(qrels_file)
    queries = judged_queries(qrels, {query.id: query for query in read_queries(queries_file, qrels)}, qrels_file, queries_file)

    return Material(corpus_of(corpus, "_id", "id", abstract="text"), (Task(split, queries, qrels),), benchmark, fingerprint([corpus]))


def judged_queries(qrels: Qrels, queries: dict[str, Query], qrels_file: Path, queries_file: Path) -> dict[str, Query]:
    """The judged queries, in the order of the judgements.

    Raises:
        InvalidRequest: a query has no text; a figure over the others would not be the benchmark's.
    """
    if (textless_id := next((id for id in qrels if id not in queries), None)) is not None:
        line = next(
            (number for number, text in enumerate(qrels_file.read_text(encoding="utf-8").splitlines(), 1) if textless_id in text.split()), 0
        )
        raise InvalidRequest(f"{qrels_file}, line {line}: query {textless_id!r} is judged, but {queries_file} has no text for it")
    return {id: queries[id] for id in qrels}
