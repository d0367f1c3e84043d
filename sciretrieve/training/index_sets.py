"""Training sets out of an index: what its papers bring to learn from, and the same of other papers, by which the training is measured.

A paper that is held out is in no set that is learned from: neither as a query, nor as an answer, nor in a ranking. Nor is one of its title.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.errors import InvalidRequest
from ..base.types import Mask, Paper, Query, Rows
from ..evaluation.builders.folders import new_folder
from ..files.writing import listed, make_folder, read_json, remove, write_json
from ..options import CiteSettings
from ..papers.corpora.corpus import PaperCorpus
from ..protocols import Progress
from ..query.index import Index
from .forms import Lessons
from .held_out import folded
from .pairs import build_pairs
from .set_folder import Doc, write_facts, write_papers, write_queries, write_table
from .training_set import read_training_set

SHARE, MOST_CHOOSING, MOST_JUDGING = 0.1, 300, 1000
"""Of papers with title and abstract so many are held out to choose weights by, and as many to judge them by, but no more than these."""
FEWEST = 100
"""Papers with title and abstract that an index has at least: of fewer, what is held out tells nothing."""
MOST = 4000
"""Pairs of a kind, and papers that they are made of, at most: more than some minutes on two cores learn from."""
COCITED = 2
"""Papers that cite two papers together, at least."""
MOST_RANKINGS, DEPTH = 1000, 100
PLACES = (0, 3, 10, 31)
"""Of an answer that teaches, the papers at these places: all of its first would be much the same."""
FEWEST_PAIRS = 5
"""Pairs that a set has to have, to be measured on."""
OWN = "the index itself"
FACTS = "index.json"


@dataclass(frozen=True)
class Division:
    """The rows of an index's papers that have a title and an abstract: each in an order of chance, which their titles and a seed decide."""

    learning: Rows
    choosing: Rows
    judging: Rows


def lessons_of(index: Index, seed: int, folder: Path, progress: Progress) -> Lessons:
    """What an encoder learns from an index, and is measured on; the sets are in `folder`, as they were if they are there already.

    Raises:
        InvalidRequest: the index has too few papers; or the folder has the sets of another index or seed.
    """
    facts = {"index": str(index.path.resolve()), "seed": seed}
    if not folder.exists():
        with new_folder(folder) as new:
            _make(index, seed, new, progress)
            write_json(new / FACTS, facts | {"generation": index.snapshot.manifest.generation})
    made = read_json(folder / FACTS)
    if {name: made.get(name) for name in facts} != facts:
        raise InvalidRequest(
            f"{folder.parent} has a training for {made.get('index')} with the seed {made.get('seed')}; begin anew with `overwrite`"
        )
    sets = {path.name: (path, read_training_set(path)) for path in listed(folder / "learning")}
    choosing, judging = ([read_training_set(path) for path in listed(folder / part)] for part in ("choosing", "judging"))
    return Lessons(sets, choosing, judging, ("--from-index", index.path.name))


def divided(index: Index, seed: int) -> Division:
    """Which papers are learned from, and which are held out. Raises InvalidRequest if there are too few."""
    keys: list[int] = []
    rows: list[int] = []
    place = 0
    live = index.snapshot.scope.places
    for table in index.snapshot.tables(["id", "title", "abstract"]):
        for id, title, abstract in zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True):
            if title.strip() and abstract.strip():
                words = folded(title) or id
                keys.append(int.from_bytes(hashlib.sha256(f"{seed} {words}".encode()).digest()[:8], "big") >> 1)
                rows.append(int(live[place]))
            place += 1
    if len(rows) < FEWEST:
        raise InvalidRequest(
            f"{index.path} has {len(rows):,} papers with a title and an abstract, too few to hold some out: it takes {FEWEST} at least"
        )
    all_keys, all_rows = np.array(keys, np.int64), np.array(rows, np.int64)
    order = np.lexsort((all_rows, all_keys))
    all_keys, all_rows = all_keys[order], all_rows[order]
    # papers with the same title have the same key, and go the same way
    first = min(int(SHARE * len(rows)), MOST_JUDGING)
    second = first + min(int(SHARE * len(rows)), MOST_CHOOSING)
    ends = [int(np.searchsorted(all_keys, all_keys[end - 1], side="right")) for end in (first, second)]
    judging, choosing, learning = np.split(all_rows, ends)
    return Division(learning, choosing, judging)


def _make(index: Index, seed: int, folder: Path, progress: Progress) -> None:
    division = divided(index, seed)
    progress.note(
        f"{index.path}: {len(division.learning):,} papers to learn from; {len(division.choosing):,} to choose by and "
        f"{len(division.judging):,} to judge by, which are held out"
    )
    for name in ("learning", "choosing", "judging"):
        rows: Rows = getattr(division, name)
        part = folder / name
        make_folder(part)
        _of_texts(index, rows[:MOST], seed, part, progress, is_measured=name != "learning")
        if index.snapshot.has_references:
            _of_citations(index, rows, seed, part, is_measured=name != "learning")
        if not listed(part):
            raise InvalidRequest(f"the papers of {index.path} have no titles and sentences of their own, which tell them apart")
    if "hybrid" in index.modes:
        _of_rankings(index, division.learning, folder / "learning" / "rankings", progress)
    else:
        progress.note(f"{index.path} has no hybrid search to learn from")


def _of_texts(index: Index, rows: Rows, seed: int, folder: Path, progress: Progress, *, is_measured: bool) -> None:
    """Titles against abstracts, and sentences against their papers without them."""
    papers = [Paper(paper.id, paper.title, paper.abstract) for paper in index.snapshot.papers_at(rows)]
    corpus = PaperCorpus.of("the index", "", lambda: iter(papers))
    for recipe in ("titles", "sentences"):
        target = folder / recipe
        try:
            build_pairs(corpus, target, recipe, CiteSettings(seed=seed), progress=False)
        except InvalidRequest as error:  # abstracts of one sentence, say
            if not is_measured:
                progress.note(f"no pairs of {recipe}: {error}")
            continue
        if is_measured and len(read_training_set(target).triplets) < FEWEST_PAIRS:
            remove(target)


def _of_citations(index: Index, rows: Rows, seed: int, folder: Path, *, is_measured: bool) -> None:
    """Papers and those that they cite; to learn from, also papers and those that are cited with them most often."""
    graph = index.snapshot.citations.graph
    is_in: Mask = np.zeros(graph.size, bool)
    is_in[rows] = True
    cited = [(row, other) for row in rows.tolist() for other in graph.cites(row)[is_in[graph.cites(row)]].tolist()]
    order = np.random.default_rng(seed).permutation(len(cited))[:MOST]
    _write_pairs(index, folder / "citations", "citations", [cited[place] for place in np.sort(order).tolist()], is_measured=is_measured)
    if is_measured:
        return
    together = []
    for row in rows[:MOST].tolist():
        citing = graph.cited_by(row)
        lists = [graph.cites(other) for other in citing[is_in[citing]].tolist()]
        others, counts = np.unique(np.concatenate(lists), return_counts=True) if lists else (np.empty(0, np.int64),) * 2
        counts = np.where(is_in[others] & (others != row), counts, 0)
        if len(counts) and counts.max() >= COCITED:
            together.append((row, int(others[counts.argmax()])))
    _write_pairs(index, folder / "cocitations", "co-citations", together, is_measured=is_measured)


def _write_pairs(index: Index, target: Path, recipe: str, pairs: Sequence[tuple[int, int]], *, is_measured: bool) -> None:
    if len(pairs) < (FEWEST_PAIRS if is_measured else 1):
        return
    rows = sorted({row for pair in pairs for row in pair})
    papers = dict(zip(rows, index.snapshot.papers_at(np.array(rows, np.int64)), strict=True))
    make_folder(target)
    write_table(target, "pairs", ((papers[row].id, papers[other].id, "", "") for row, other in pairs))
    _write_texts(target, {}, list(papers.values()))
    write_facts(target, "pairs", {"recipe": recipe, "source": OWN, "papers": len(papers), "pairs": len(pairs), "without": []})


def _of_rankings(index: Index, rows: Rows, target: Path, progress: Progress) -> None:
    """What the index's hybrid search answers to titles, of papers that are learned from, other than the paper itself."""
    is_in: Mask = np.zeros(index.snapshot.scope.rows, bool)
    is_in[rows] = True
    asking = index.snapshot.papers_at(rows[:MOST_RANKINGS])
    queries = {f"{paper.id}#title": paper.title for paper in asking}
    progress.note(f"the hybrid search of {index.path} answers {len(queries):,} titles, to learn from")
    run = index.search([Query(id, title) for id, title in queries.items()], DEPTH, mode="hybrid", group=False)
    table: list[tuple[str, int, float]] = []
    for (id, own), ranking in zip(zip(queries, rows.tolist(), strict=False), run, strict=True):
        others = [place for place, row in enumerate(ranking.rows.tolist()) if is_in[row] and row != own]
        chosen = [others[place] for place in PLACES if place < len(others)]
        if len(chosen) > 1:
            table += [(id, int(ranking.rows[place]), float(ranking.scores[place])) for place in chosen]
    if not table:
        return
    ranked = sorted({row for _, row, _ in table})
    papers = dict(zip(ranked, index.snapshot.papers_at(np.array(ranked, np.int64)), strict=True))
    make_folder(target)
    write_table(target, "rankings", ((id, papers[row].id, f"{score:.5f}") for id, row, score in table))
    asked = {id for id, _, _ in table}
    _write_texts(target, {id: text for id, text in queries.items() if id in asked}, list(papers.values()))
    facts = {"recipe": "hybrid search", "source": OWN, "papers": len(papers), "queries": len(asked), "without": []}
    write_facts(target, "rankings", facts)


def _write_texts(target: Path, queries: Mapping[str, str], papers: Sequence[Paper]) -> None:
    write_queries(target, queries)
    write_papers(target, [Doc(paper.id) for paper in papers], [(paper.id, paper.title, paper.abstract) for paper in papers])
