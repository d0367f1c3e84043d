"""Alternative-self retrieval (Singh and Singh 2022, §5): a title must find its own paper, on any corpus."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...base.errors import InvalidRequest
from ...base.types import Paper, Query
from ...files.schema import texts_of
from ...papers.corpora import accepted, open_corpus
from ..material import Material, Task

QUERIES = 1000
TITLE = "title of "
"""The prefix of a bare title's id."""


def load(source: Path, split: str, benchmark: str) -> Material:
    """Task I ranks the papers with title and abstract; Task II also all titles except the query's own.

    The queries are 1,000 of these papers, drawn with a fixed seed. Raises NotFound, InvalidRequest.
    """
    corpus = open_corpus(source)
    papers = []
    for table in accepted(corpus):
        papers += [paper for paper in texts_of(table) if paper.title.strip() and paper.abstract.strip()]
    if not papers:
        raise InvalidRequest(f"{source} has no paper with a title and an abstract, which this benchmark needs")
    query_papers = random.Random(0).sample(papers, min(QUERIES, len(papers)))
    titles = [Paper(TITLE + paper.id, paper.title) for paper in papers]
    # the query has the id of its own title, which is therefore removed from the answer
    queries = {TITLE + paper.id: Query(TITLE + paper.id, paper=Paper(TITLE + paper.id, paper.title)) for paper in query_papers}
    qrels = {TITLE + paper.id: {paper.id: 1} for paper in query_papers}
    task_one = Task("Task I", queries, qrels, among=len(papers))
    task_two = Task("Task II", queries, qrels)
    tasks = (task_one, task_two, *(replace(task, name=f"{task.name}, standardised", standardise=True) for task in (task_one, task_two)))

    def pool() -> Iterator[Paper]:
        yield from papers
        yield from titles

    return Material(pool, tasks, benchmark, corpus.fingerprint())
