"""Small benchmarks in the layouts that their authors publish, with vectors of known values; ties and gaps on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sciretrieve.base.types import Vectors

METADATA = "paper_metadata_view_cite_read.json"
SCIDOCS = ("coview", "coread", "cite", "cocite")
"""The folders of SciDocs' tasks."""


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def qrels_table(qrels: Mapping[str, Mapping[str, int]]) -> str:
    """Judgements as BEIR writes them."""
    rows = (f"{query}\t{other}\t{grade}\n" for query, row in qrels.items() for other, grade in row.items())
    return "query-id\tcorpus-id\tscore\n" + "".join(rows)


def write_beir(folder: Path, papers: Iterable[Any], queries: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]) -> Path:
    """A BEIR directory of papers with id, title and abstract."""
    write_lines(folder / "corpus.jsonl", ({"_id": row["id"], "title": row["title"], "text": row["abstract"]} for row in papers))
    write_lines(folder / "queries.jsonl", ({"_id": id, "text": text} for id, text in queries.items()))
    write_text(folder / "qrels/test.tsv", qrels_table(qrels))
    return folder


def write_scidocs(
    folder: Path, qrels: Mapping[str, Mapping[str, Mapping[str, int]]], papers: Iterable[str] | Mapping[str, Any], metadata: str = METADATA
) -> Path:
    """SciDocs' tasks, by their folders, and its metadata: papers by their ids, or ids of made-up ones."""
    for task, judged in qrels.items():
        lines = (f"{query} 0 {other} {grade}\n" for query, row in judged.items() for other, grade in row.items())
        write_text(folder / task / "test.qrel", "".join(lines))
    write_text(folder / metadata, json.dumps(dict(papers) if isinstance(papers, Mapping) else {id: paper(id) for id in papers}))
    return folder


def made_vectors(ids: list[str], seed: int = 0, dim: int = 8) -> dict[str, Vectors]:
    """Random vectors of few values, so that there are ties; every fifth is the one before it again."""
    chance = np.random.default_rng(seed)
    vectors: dict[str, Vectors] = {}
    for position, id in enumerate(ids):
        vector = (chance.integers(-3, 4, dim) / 4).astype(np.float32)
        vectors[id] = vectors[ids[position - 1]] if position % 5 == 4 else vector
    return vectors


def write_vectors(path: Path, vectors: dict[str, Vectors]) -> Path:
    return write_lines(path, ({"paper_id": id, "embedding": [float(value) for value in vector]} for id, vector in vectors.items()))


def paper(id: str, key: str = "paper_id") -> dict[str, Any]:
    return {key: id, "title": f"title of {id}", "abstract": "" if id.endswith("3") else f"abstract of {id}"}
