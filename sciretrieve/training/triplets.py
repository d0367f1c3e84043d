"""Making a training set: triplets of a corpus's papers by who cites whom, without those that a benchmark tests."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ..errors import InvalidRequest, UnknownName
from ..evaluation.builders import ANY, CiteSettings
from ..evaluation.builders.cited_corpus import Collection, read_collection
from ..evaluation.builders.folders import new_folder
from ..files.writing import write_json, write_lines, write_whole
from ..papers.corpora import ColumnMap, Corpus, Sources, open_corpus
from ..progress import shown
from ..protocols import Progress
from ..query.citations import Graph
from ..types import Mask
from .forms import CORPUS, FACTS, HEADERS
from .held_out import Tested, names_of, read_tested
from .recipes import RECIPES, Citations, Triplet


def build_triplets(
    corpus: Sources | Corpus,
    to: str | Path,
    recipe: str,
    settings: CiteSettings = ANY,
    *,
    without: Sequence[str] = (),
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
) -> None:
    """Make a training set of a corpus whose papers cite each other, in the folder `to`, which appears when all is written.

    It has triplets.tsv, with the ids of a query, of a paper that it cites and of one that it does not, and the kind of the latter;
    corpus.jsonl, with these papers, in BEIR's layout; and training.json, which says how it was made. Papers without a title or
    an abstract are in no triplet. The same corpus, recipe, settings and seed give the same files.

    Args:
        corpus: files, directories, globs, papers in memory, or an open `Corpus`.
        to: a new folder.
        recipe: "specter", "specter2" or "scimult", see `recipes.RECIPES`.
        settings: which citations and fields; how many papers are queries at most, drawn by chance, and how many others they cite
            at least; and the seed. Its `cocited` and `indexes` choose nothing here.
        without: benchmarks whose papers that are queries will be tested: "beir:DIR", "cite:DIR". They are in no triplet, under this id
            or title, and nothing is reached through them.
        columns: which columns of the corpus are which; by default recognised by name.
        progress: what is told how far it is, and what was read as what; by default a bar where a person looks, False for none.

    Raises:
        NotFound, InvalidRequest: the corpus, a file of citations, a benchmark or a setting is invalid; or `to` is there already; or no
            triplet can be made.
        UnknownName: there is no such recipe, or no such column.
        IndexBusy: another process is making the same folder.
    """
    if recipe not in RECIPES:
        raise UnknownName("recipe", recipe, RECIPES)
    chosen = RECIPES[recipe]
    with shown(progress) as progress:
        if unknown := next((name for name in without if not name.startswith(("beir:", "cite:"))), None):
            raise InvalidRequest(f"`without` takes beir:DIR and cite:DIR, not {unknown!r}")
        tests = [read_tested(name) for name in without]
        opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
        with new_folder(Path(to)) as folder:
            collection = read_collection(opened_corpus, settings)
            for note in collection.notes:
                progress.note(note)
            is_tested = _tested(opened_corpus, collection, tests)
            if tests:
                progress.note(f"{int(is_tested.sum()):,} papers of the corpus are test queries, and are left out")
            citations = Citations(_without(collection.graph, is_tested), collection.full & ~is_tested, collection.field_sets)
            queries = _queries(citations, settings)
            progress.start(len(queries), unit="queries")
            triplets: list[Triplet] = []
            for row in queries:
                triplets += chosen.sample(citations, row, Random(f"{settings.seed} {recipe} {collection.ids[row]}"))
                progress.advance(1)
            if not triplets:
                raise InvalidRequest(
                    f"the recipe {recipe} makes no triplet: of {len(queries):,} possible queries, none cites one that cites another"
                )
            counts = Counter(triplet.kind for triplet in triplets)
            made_of = len({triplet.query for triplet in triplets})
            progress.note(f"{len(triplets):,} triplets of {made_of:,} queries; negatives: {_listed(counts)}")
            _write_triplets(folder, triplets, collection.ids)
            bare = _write_corpus(opened_corpus, folder, collection, triplets, chosen.title_only, settings.seed)
            facts: dict[str, Any] = {
                "schema": 1,
                "task": "triplets",
                "recipe": recipe,
                "source": chosen.source,
                "seed": settings.seed,
                "papers": len({row for triplet in triplets for row in triplet[:3]}),
                "title_only": bare,
                "queries": made_of,
                "triplets": len(triplets),
                "kinds": dict(sorted(counts.items())),
                "without": list(without),
                "left_out": int(is_tested.sum()),
            }
            write_json(folder / FACTS, facts)


def _queries(citations: Citations, settings: CiteSettings) -> list[int]:
    """The rows of the queries, rising: usable papers that cite enough others; of too many, some by chance."""
    rows = np.flatnonzero(citations.is_usable & (citations.graph.cites_counts >= settings.cited)).tolist()
    if settings.queries is None or settings.queries >= len(rows):
        return rows
    return sorted(Random(f"{settings.seed} queries").sample(rows, settings.queries))


def _tested(corpus: Corpus, collection: Collection, tests: Sequence[Tested]) -> Mask:
    """Which papers are queries of a test, by id or title, (n,)."""
    if not tests:
        return np.zeros(len(collection.ids), bool)
    names = {name for test in tests for paper in test.queries.values() for name in names_of(paper.id, paper.title)}
    flags = [
        not names.isdisjoint(names_of(id, title))
        for batch in corpus.batches()
        for id, title in zip(batch.papers["id"].to_pylist(), batch.papers["title"].to_pylist(), strict=True)
    ]
    return np.array(flags, bool)


def _without(graph: Graph, is_left_out: Mask) -> Graph:
    """The graph without the citations from and to some papers."""
    citing = np.repeat(np.arange(graph.size), graph.cites_counts)
    keep = ~is_left_out[citing] & ~is_left_out[graph.cited]
    return Graph.of(graph.size, np.stack([citing[keep], graph.cited[keep]], axis=1))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _write_triplets(folder: Path, triplets: Sequence[Triplet], ids: Sequence[str]) -> None:
    table = io.StringIO()
    writer = csv.writer(table, delimiter="\t", lineterminator="\n")
    writer.writerow(HEADERS["triplets"])
    writer.writerows((ids[triplet.query], ids[triplet.positive], ids[triplet.negative], triplet.kind) for triplet in triplets)
    write_whole(folder / "triplets.tsv", table.getvalue().encode())


def _write_corpus(corpus: Corpus, folder: Path, collection: Collection, triplets: Sequence[Triplet], title_only: float, seed: int) -> int:
    """Write the papers of the triplets, in the corpus's order; of some, by chance, only the title. Returns how many these are."""
    wanted = {collection.ids[row] for triplet in triplets for row in triplet[:3]}
    bare = {id for id in wanted if title_only and Random(f"{seed} title {id}").random() < title_only}
    write_lines(
        folder / CORPUS,
        (
            json.dumps({"_id": id, "title": title, "text": "" if id in bare else abstract}, ensure_ascii=False)
            for batch in corpus.batches()
            for id, title, abstract in zip(*(batch.papers[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)
            if id in wanted
        ),
    )
    return len(bare)
