"""Topics with many relevant papers, of three real sets: what a systematic review would have to find, and where it begins."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

PAPERS = 5000
"""Papers that are drawn of a larger set, with a fixed seed."""


@dataclass(frozen=True)
class Topic:
    """What a reviewer looks for: the words that she begins with, and the papers that she would include."""

    query: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class Pool:
    """The papers to be screened, each a dict with id, title and abstract, and topics in them."""

    name: str
    papers: list[dict[str, Any]]
    topics: list[Topic]


def pools(folder: Path, most: int) -> Iterator[Pool]:
    """The sets that the folder has, with the topics that have the most relevant papers, `most` of each."""
    for name, load in (("cranfield", _cranfield), ("acm", _acm), ("hepth", _hepth)):
        if (folder / name).is_dir():
            papers, topics = load(folder / name)
            topics.sort(key=lambda topic: (-len(topic.relevant), topic.query))
            yield Pool(name, papers, topics[:most])


def _cranfield(folder: Path) -> tuple[list[dict[str, Any]], list[Topic]]:
    """Questions, and the abstracts that were judged relevant to them in any degree."""
    papers = [_paper(json.loads(line), "_id") for line in (folder / "corpus.jsonl").read_text().splitlines()]
    papers = [paper for paper in papers if paper["title"] or paper["abstract"]]
    relevant = defaultdict(set)
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, paper, grade = line.split("\t")
        if int(grade) > 0:
            relevant[query].add(paper)
    queries = map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
    pool = {paper["id"] for paper in papers}
    return papers, [Topic(query["text"], frozenset(relevant[query["_id"]] & pool)) for query in queries]


def _acm(folder: Path) -> tuple[list[dict[str, Any]], list[Topic]]:
    """Authors' keywords, and the papers that have them; they are no part of the papers' texts."""
    rows = [row for row in pq.read_table(folder / "corpus.parquet").to_pylist() if row["keywords"] and row["abstract"]]
    rows = random.Random(0).sample(rows, PAPERS)
    relevant = defaultdict(set)
    for row in rows:
        for keyword in row["keywords"]:
            relevant[keyword.strip().lower()].add(row["id"])
    return [_paper(row, "id") for row in rows], [Topic(keyword, frozenset(papers)) for keyword, papers in relevant.items()]


def _hepth(folder: Path) -> tuple[list[dict[str, Any]], list[Topic]]:
    """Titles of much cited papers, and the papers that cite them; of papers from 2000 on, whose citations are known."""
    rows = pq.read_table(folder / "corpus.parquet").to_pylist()
    titles = {row["id"]: row["title"] for row in rows}
    rows = random.Random(0).sample([row for row in rows if row["year"] >= 2000], PAPERS)
    pool = {row["id"] for row in rows}
    relevant = defaultdict(set)
    for line in (folder / "citations.tsv").read_text().splitlines()[1:]:
        citing, cited = line.split("\t")
        if citing in pool and cited in titles:
            relevant[cited].add(citing)
    # the cited paper itself would be found at once
    return [_paper(row, "id") for row in rows], [Topic(titles[cited], frozenset(papers - {cited})) for cited, papers in relevant.items()]


def _paper(row: dict[str, Any], id: str) -> dict[str, Any]:
    return {"id": row[id], "title": row.get("title") or "", "abstract": row.get("abstract") or row.get("text") or ""}
