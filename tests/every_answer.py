"""All that an index answers, in a form that does not depend on how it came about: two indexes of the same papers must agree to the bit.

Rows and the number of shards are left out, and what comes in the order of rows is sorted. Everything else is compared exactly.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import sciretrieve as sr
from sciretrieve.answers import overview
from sciretrieve.answers.explaining import explain, why_not
from sciretrieve.base.types import Query
from sciretrieve.evaluation.spaces import IndexSpace
from sciretrieve.lifecycle.exporting import export
from sciretrieve.query.ranking.grouping import groups_of

TYPED = ('"message passing" nodes', "title:graph -molecules edges", "author:lovelace vaccine", "grahp nueral", "year:2012 price")
"""Queries with operators and slips, each answered by itself."""
PLAIN = ("graph networks", "galaxy telescope orbit dust", "market price of risk")
ALL = 10_000
"""More papers than any index here has."""
OF_SOME = "year >= 2010"
SEARCHES: tuple[tuple[str | None, int], ...] = ((None, 3), (None, ALL), (OF_SOME, ALL), ('venue == "ACL" or authors contains "Turing"', 3))
"""Filters, and how many papers are asked for."""


def rankings(run: sr.Run) -> list[Any]:
    """Each query's ids, scores and all that is known of them."""
    return [
        (
            list(ranking.ids),
            ranking.scores.tobytes(),
            {name: part.tobytes() for name, part in ranking.parts.items()},
            [list(others) for others in ranking.also],
            dict(ranking.corrections),
            ranking.strength,
            (ranking.total, ranking.total_is, ranking.ranked),
        )
        for ranking in run
    ]


def quick_answers(index: sr.Index) -> dict[str, Any]:
    """The ids and scores of every paper for a few queries in every mode, and how many papers there are."""
    found: dict[str, Any] = {mode: rankings(index.search(PLAIN[:2], ALL, mode=mode, group=False)) for mode in index.modes}
    return {"papers": len(index), **found}


def every_answer(index: sr.Index, folder: Path) -> dict[str, Any]:
    """All that an index answers. Files are written to `folder`."""
    answers: dict[str, Any] = {"papers": len(index), "modes": index.modes, "columns": sorted(map(str, index.snapshot.columns))}
    ids = sorted(index.snapshot.live_ids())
    for mode in index.modes:
        for filter, k in SEARCHES:
            answers[f"{mode} {filter} {k}"] = rankings(index.search(PLAIN, k, mode=mode, filter=filter, group=False))
        answers[f"{mode} grouped"] = rankings(index.search(PLAIN, 5, mode=mode, group=True))
        answers[f"{mode} similar"] = rankings(index.similar(ids[:2], 30, mode=mode, negatives=ids[-1:]))
        answers[f"{mode} fed"] = rankings(index.search("graph networks", 30, mode=mode, like=ids[:2], unlike=ids[-1:]))
        answers[f"{mode} text"] = rankings(index.similar(text="Graphs. Message passing over edges", k=30, mode=mode))
        answers[f"{mode} given"] = index.score(Query("q", "graph networks"), ids, mode=mode).tobytes()
    answers["typed"] = [rankings(index.search(query, 20)) for query in TYPED]
    answers["counted"] = [index.count_lines(query, OF_SOME) for query in (*TYPED, *PLAIN)]
    answers["corrections"] = [index.corrections(query) for query in TYPED]
    answers["explained"] = [asdict(part) for part in explain(index, "graph networks of the market", ids)]
    answers["why not"] = [asdict(why_not(index, id, "vaccine immune", k=2, filter=OF_SOME)) for id in ids[:2]]
    everything = index.search("graph networks", ALL, group=False)
    answers["facets"] = [asdict(facet) for facet in overview.facets_of(index, everything, ["year", "venue", "authors", "topic"])]
    answers["duplicates"] = sorted(sorted(group) for _, group in groups_of(index.snapshot.tables(["id", "title", "authors"])))
    answers["tables"] = sorted(id for table in index.snapshot.tables(["id"]) for id in table["id"].to_pylist())
    answers["ids"] = ids
    answers["rows"] = sorted(index.ids(index.snapshot.rows(ids)))
    answers["contents"] = [asdict(paper) for paper in index.papers(ids)]
    answers["parquet"] = sorted(pq.read_table(export(index, folder / "exported.parquet")[0]).to_pylist(), key=lambda row: row["id"])
    if index.snapshot.vectors:
        answers["diverse"] = rankings(index.search(PLAIN, 5, diversify=True))
        space = IndexSpace(index)
        placed = [vector.tobytes() for matrix in space.matrices() for vector in matrix]
        answers["space"] = sorted(zip(space.ids, placed, strict=True))
        answers["space's papers"] = space.papers([*ids, "no such paper"])[1].tobytes()
        vectors, names = export(index, folder / "exported.npy")
        answers["npy"] = sorted(names.read_text().splitlines()), vectors.stat().st_size
        if index.snapshot.bm25 is not None:
            groups = overview.clusters_of(index, everything)
            answers["clusters"] = [(group.label, [paper.id for paper in group.papers]) for group in groups]
    return answers
