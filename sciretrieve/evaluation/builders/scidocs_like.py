"""Sets like Multi-SciDocs (Seoh et al. 2023, §3 and appendix) of any corpus with citations: in SciDocs' layout, with random negatives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np

from ...base.arguments import checked
from ...base.errors import InvalidRequest
from ...files.schema import texts_of
from ...files.writing import make_folder, write_lines, write_whole
from ...options import CiteSettings
from ...papers.corpora import ColumnMap, Corpus, Sources
from ...protocols import Progress
from .cited_corpus import Collection, building
from .negatives import shuffled

POSITIVES, NEGATIVES = 5, 500
"""The most related papers of a query, and the number of random ones (Seoh et al. 2023)."""
SPLITS = ("test", "val")


@checked
def build_scidocs_like(
    corpus: Sources | Corpus,
    to: str | Path,
    settings: CiteSettings = CiteSettings(),
    *,
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
) -> None:
    """Make a set in the layout of `multi-scidocs`, in the folder `to`, which appears when everything is written.

    It has cite/SPLIT.qrel and cocite/SPLIT.qrel, with different queries for test and val, and paper_metadata.json. If papers have fields,
    queries are drawn equally from all, so that none is the majority. Arguments and errors are those of `build_cite`; its `indexes` have no
    effect here.
    """
    with building(corpus, columns, settings, to, progress) as (opened, collection, folder, listener):
        if spaced := next((id for id in collection.ids if len(id.split()) != 1), None):
            raise InvalidRequest(f"SciDocs' layout separates ids by blanks, so it cannot hold an id with a blank, such as {spaced!r}")
        graph = collection.graph
        # the paper only says that a query cites a paper, and that one paper cites both co-cited ones
        cited, cocited = settings.cited or 1, settings.cocited or 1
        related: dict[str, Callable[[int], list[int]]] = {
            "cite": lambda row: graph.cites(row).tolist() if len(graph.cites(row)) >= cited else [],
            "cocite": lambda row: graph.cocited(row, cocited).tolist(),
        }
        named: set[int] = set()
        for task, of in related.items():
            positives = dict(
                islice(_queries(collection, of, f"{settings.seed} {task}"), len(SPLITS) * settings.query_count(has_fields=False))
            )
            if len(positives) < len(SPLITS):
                raise InvalidRequest(
                    f"{len(positives)} papers with a title and an abstract have others for {task}; lower `cited` or `cocited`"
                )
            make_folder(folder / task)
            for place, split in enumerate(SPLITS):
                rows = list(positives)[place :: len(SPLITS)]
                lines: list[str] = []
                few = 0
                for row in rows:
                    grades = _judged(collection, row, positives[row], f"{settings.seed} {task} {row}")
                    named |= {row, *grades}
                    few += list(grades.values()).count(0) < NEGATIVES
                    lines += [f"{collection.ids[row]} 0 {collection.ids[other]} {grade}" for other, grade in grades.items()]
                write_lines(folder / task / f"{split}.qrel", lines)
                listener.note(
                    f"{task}, {split}: {len(rows):,} queries" + (f", {few:,} of them with fewer than {NEGATIVES} negatives" if few else "")
                )
        _write_metadata(opened, folder, {collection.ids[row] for row in named})


def _queries(collection: Collection, related: Callable[[int], list[int]], seed: str) -> Iterator[tuple[int, list[int]]]:
    """Random papers with title and abstract that have related papers, with these: one of each field in turn."""
    rows_of_field: dict[str, list[int]] = {}
    for row in np.flatnonzero(collection.full).tolist():
        rows_of_field.setdefault(collection.fields[row] if collection.fields is not None else "", []).append(row)
    if collection.fields is not None:
        rows_of_field.pop("", None)
    chance = Random(seed)
    draws = []
    for field in sorted(rows_of_field):
        chance.shuffle(rows_of_field[field])
        draws.append((row, others) for row in rows_of_field[field] if (others := related(row)))
    while draws:
        for draw in list(draws):
            if (drawn := next(draw, None)) is None:
                draws.remove(draw)
            else:
                yield drawn


def _judged(collection: Collection, row: int, positives: list[int], seed: str) -> dict[int, int]:
    """The candidates of a query with their grades: some of its positives, and random papers that are neither positives nor neighbours."""
    chance = Random(seed)
    barred = {row, *positives, *collection.graph.neighbours(row).tolist()}
    drawn = (other for other in shuffled(np.arange(len(collection.ids)), chance) if other not in barred)
    negatives = list(islice(drawn, NEGATIVES))
    return dict.fromkeys(chance.sample(positives, min(POSITIVES, len(positives))), 1) | dict.fromkeys(negatives, 0)


def _write_metadata(corpus: Corpus, folder: Path, wanted: set[str]) -> None:
    papers = {
        paper.id: {"paper_id": paper.id, "title": paper.title, "abstract": paper.abstract}
        for batch in corpus.batches()
        for paper in texts_of(batch.papers)
        if paper.id in wanted
    }
    write_whole(folder / "paper_metadata.json", json.dumps(papers, ensure_ascii=False).encode())
