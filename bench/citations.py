"""What do citations bring to `similar`? Papers that are hidden from the graph, found by text, by citations, and by both.

    python bench/citations.py INDEX CITATIONS.tsv [--queries 1000]

INDEX is an index of papers, and CITATIONS.tsv has a citing and a cited id a line. Two tasks:

- held-out references: of papers with at least 4 references in the index, half of these, drawn by chance, are hidden from the graph, and
  should be found. Papers that are still linked directly are taken out of every ranking, since they are no find;
- other co-citation: what should be found are the papers that at least two papers cite together with the query, graded by how many do,
  and these citing papers are hidden from the graph: those that are not in the index or, if all are, the later half of the citations.

Half of the queries, every second one, choose what share citations have beside the text, and how many unknown works each paper is taken to
have: the table has the nDCG@10 x 100 of each choice, with the other as it usually is. Then it has for the other half nDCG@10 and R@100,
x 100, by text alone, citations alone, and both, in each mode of the text, and for both a 95 % bootstrap interval and the p-value of a
paired randomisation test against the text alone.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from quality import MEASURES
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.types import Rows
from sciretrieve.matching.search import Probe
from sciretrieve.metrics.measures import Evaluator
from sciretrieve.metrics.naming import parse_measure
from sciretrieve.metrics.significance import compare, interval
from sciretrieve.query.citations import citation_graph
from sciretrieve.query.citations.citation_graph import CitationGraph, Graph
from sciretrieve.query.citations.cited_works import WorkNames
from sciretrieve.query.ranking import linking
from sciretrieve.query.ranking.linking import DEPTH, LinkedPapers
from sciretrieve.runs import Ranking

SHARES, UNKNOWNS = (0.5, 0.67, 0.8, 0.9, 0.95), (0, 5, 10, 20, 40)
LEAST_CITED, LEAST_TOGETHER = 4, 2
"""References of a query of the first task, and papers that cite two papers together for the second."""


@dataclass(frozen=True)
class Task:
    """A graph, and for each query what should be found, by grade, and what is known already."""

    name: str
    graph: CitationGraph
    wanted: Mapping[int, Mapping[int, int]]
    known: Mapping[int, Rows]


def graph_of(papers: int, whole: Graph, pairs: Rows) -> CitationGraph:
    """The graph of some of the citations of a whole one, pairs of citing and cited rows, (n, 2)."""
    return CitationGraph(papers, papers, WorkNames([]), Graph.of(whole.size, pairs))


def pairs_of(whole: Graph) -> Rows:
    """A graph's pairs of citing and cited rows, (n, 2)."""
    return np.stack([np.repeat(np.arange(whole.size), whole.cites_counts), whole.cited], axis=1)


def held_out(papers: int, whole: Graph, queries: int) -> Task:
    """References of some papers, half of them hidden."""
    chance = np.random.default_rng(0)
    pairs = pairs_of(whole)
    asked = chance.permutation(np.flatnonzero(whole.cites_counts[:papers] >= LEAST_CITED))[:queries].tolist()
    hidden = {row: chance.permutation(whole.cites(row))[: len(whole.cites(row)) // 2] for row in asked}
    is_hidden = np.zeros(len(pairs), bool)
    for row, cited in hidden.items():
        is_hidden |= (pairs[:, 0] == row) & np.isin(pairs[:, 1], cited)
    graph = graph_of(papers, whole, pairs[~is_hidden & (pairs[:, 0] < papers)])
    wanted = {row: dict.fromkeys(cited.tolist(), 1) for row, cited in hidden.items()}
    return Task("held-out references", graph, wanted, {row: np.setdiff1d(graph.graph.neighbours(row), hidden[row]) for row in asked})


def other_co_citation(papers: int, whole: Graph, years: Rows, queries: int) -> Task:
    """What other papers cite together than those of the graph."""
    chance = np.random.default_rng(0)
    pairs = pairs_of(whole)
    is_outside = pairs[:, 0] >= papers
    is_other = is_outside if is_outside.any() else years[pairs[:, 0]] > np.median(years[pairs[:, 0]])
    graph, others = graph_of(papers, whole, pairs[~is_other]), Graph.of(whole.size, pairs[is_other])
    links = graph.graph.cites_counts + graph.graph.cited_counts
    asked = chance.permutation(np.flatnonzero((links[:papers] > 0) & (others.cited_counts[:papers] >= LEAST_TOGETHER)))
    wanted = {}
    for row in asked.tolist():
        rows, counts = np.unique(np.concatenate([others.cites(other) for other in others.cited_by(row)]), return_counts=True)
        found = (counts >= LEAST_TOGETHER) & (rows != row)
        if found.any():
            wanted[row] = dict(zip(rows[found].tolist(), counts[found].tolist(), strict=True))
    wanted = dict(list(wanted.items())[:queries])
    return Task("other co-citation", graph, wanted, {row: np.empty(0, np.int64) for row in wanted})


def values(task: Task, rankings: Mapping[int, Ranking]) -> Any:
    """Each measure for each query, (queries, measures)."""
    evaluator = Evaluator(
        {str(row): {str(other): grade for other, grade in wanted.items()} for row, wanted in task.wanted.items()},
        list(map(parse_measure, MEASURES)),
    )
    runs = {}
    for row, ranking in rankings.items():
        rows = ranking.rows[~np.isin(ranking.rows, task.known[row])][:100]
        runs[str(row)] = {str(other): float(-rank) for rank, other in enumerate(rows.tolist())}
    scored = evaluator.per_query(runs)
    return np.array([[scored.get(str(row), {}).get(measure, 0.0) for measure in MEASURES] for row in rankings])


def linked(index: sr.Index, task: Task, unknown: int) -> dict[int, LinkedPapers]:
    """The papers that the task's graph links with each query, where papers are taken to have so many unknown works."""
    usual, citation_graph.UNKNOWN = citation_graph.UNKNOWN, unknown
    graph = CitationGraph(task.graph.papers, task.graph.papers, task.graph.names, task.graph.graph)
    links = {row: LinkedPapers(*graph.related(row), index.ids, True) for row in task.wanted}
    citation_graph.UNKNOWN = usual
    return links


def shown(measured: Any) -> str:
    """The means of the measures as text."""
    return " / ".join(f"{100 * mean:.1f}" for mean in measured.mean(axis=0))


def rows_of(index: sr.Index, task: Task) -> Iterator[dict[str, Any]]:
    """One row of the table for each mode of the text."""
    ids = dict(zip(task.wanted, index.ids(np.array(list(task.wanted), np.int64)), strict=True))
    links = {unknown: linked(index, task, unknown) for unknown in {*UNKNOWNS, citation_graph.UNKNOWN}}
    deep = DEPTH + max(map(len, task.known.values()))
    by_citations = values(
        task,
        {row: link.ranking(Probe(sr.Query(ids[row]), index.snapshot.scope), deep) for row, link in links[citation_graph.UNKNOWN].items()},
    )
    for mode in index.modes:
        texts = {row: index.similar(id, DEPTH, by="text", mode=mode, group=False).rankings[0] for row, id in ids.items()}

        def both(share: float, unknown: int, texts: Mapping[int, Ranking] = texts) -> Any:
            usual, linking.SHARE = linking.SHARE, share
            joined = {row: link.joined(texts[row], deep) if len(link.rows) else texts[row] for row, link in links[unknown].items()}
            linking.SHARE = usual
            return values(task, joined)

        def chosen(share: float, unknown: int) -> str:
            return f"{100 * both(share, unknown)[::2, 0].mean():.1f}"

        by_text, usual = values(task, texts)[1::2], both(linking.SHARE, citation_graph.UNKNOWN)[1::2]
        low, high = interval(usual[:, 0])
        yield {
            "task": task.name,
            "queries": len(ids),
            "text": mode,
            **{f"share {share}": chosen(share, citation_graph.UNKNOWN) for share in SHARES},
            **{f"unknown {unknown}": chosen(linking.SHARE, unknown) for unknown in UNKNOWNS},
            "by text": shown(by_text),
            "by citations": shown(by_citations[1::2]),
            "by both": shown(usual),
            "interval": f"[{100 * low:.1f}, {100 * high:.1f}]",
            "p": f"{compare(by_text[:, 0], usual[:, 0]).p_randomisation:.4f}",
        }


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit("name an index and a table of citing and cited ids: python bench/citations.py INDEX CITATIONS.tsv")
    index, table = sr.open(sys.argv.pop(1)), Path(sys.argv.pop(1))
    chosen = arguments(__doc__, queries=1000)
    with table.open(newline="") as file:
        lines = [(citing, cited) for citing, cited in csv.reader(file, delimiter="\t") if citing != "citing"]
    row_of = {id: row for row, id in enumerate(index.snapshot.live_ids())}
    papers = len(row_of)
    for citing, _ in lines:
        row_of.setdefault(citing, len(row_of))  # papers of which only the references are known
    whole = Graph.of(len(row_of), np.array([(row_of[citing], row_of[cited]) for citing, cited in lines if cited in row_of], np.int64))
    years = np.array([year or 0 for part in index.snapshot.tables(["year"]) for year in part["year"].to_pylist()])
    rows: list[dict[str, Any]] = []
    for task in (held_out(papers, whole, chosen.queries), other_co_citation(papers, whole, years, chosen.queries)):
        for row in rows_of(index, task):
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    report(rows, chosen.json)


if __name__ == "__main__":
    main()
