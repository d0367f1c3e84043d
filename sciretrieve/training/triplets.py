"""Making a training set: triplets of a corpus's papers by who cites whom, without those that a benchmark tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np

from ..base.errors import InvalidRequest, UnknownName
from ..base.types import Mask, Paper, Query
from ..evaluation.builders.cited_corpus import Collection, read_collection
from ..evaluation.builders.folders import new_folder
from ..options import CiteSettings
from ..papers.corpora import ColumnMap, Corpus, Sources
from ..progress import shown
from ..protocols import Progress
from ..query.citations.citation_graph import Graph
from .field_shares import drawn_by_shares, parsed_shares
from .mining import MINED, Mining, mine
from .recipes import HARD, RECIPES, CitationNetwork, Recipe, Triplet
from .set_folder import Doc, write_facts, write_papers, write_table
from .training_papers import SetRequest


def build_triplets(
    corpus: Sources | Corpus,
    to: str | Path,
    recipe: str,
    settings: CiteSettings = CiteSettings(),
    *,
    without: Sequence[str] = (),
    shares: str | None = None,
    mining: Mining | None = None,
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
        recipe: "specter", "specter2", "scimult" or "s2orc", see `recipes.RECIPES`.
        settings: which citations and fields; how many papers are queries at most, drawn by chance, and how many others they cite
            at least; and the seed. Its `cocited` and `indexes` choose nothing here.
        without: benchmarks whose papers that are queries will be tested: "beir:DIR", "cite:DIR". They are in no triplet, under this id
            or title, and nothing is reached through them.
        shares: how queries are spread over fields, see `field_shares.parsed_shares`; by default as they are.
        mining: what finds negatives in place of the hard ones; where it finds none, the recipe's own stay.
        columns: which columns of the corpus are which; by default recognised by name.
        progress: what is told how far it is, and what was read as what; by default a bar where a person looks, False for none.

    Raises:
        NotFound, InvalidRequest: the corpus, a file of citations, a benchmark, an index or a setting is invalid; or `to` is there
            already; or no triplet can be made.
        UnknownName: there is no such recipe, column or field.
        IndexBusy: another process is making the same folder.
    """
    if recipe not in RECIPES:
        raise UnknownName("recipe", recipe, RECIPES)
    chosen = RECIPES[recipe]
    with shown(progress) as progress, new_folder(Path(to)) as folder:
        request = SetRequest(corpus, settings, without, None, columns, progress)
        collection = read_collection(request.corpus, settings)
        for note in collection.notes:
            progress.note(note)
        is_tested = _tested(request, len(collection.ids))
        if without:
            progress.note(f"{int(is_tested.sum()):,} papers of the corpus are test queries, and are left out")
        citations = CitationNetwork(without_papers(collection.graph, is_tested), collection.full & ~is_tested, collection.field_sets)
        queries = _queries(citations, collection, chosen, request, shares)
        progress.start(len(queries), unit="queries")
        triplets: list[Triplet] = []
        for row in queries:
            triplets += chosen.sample(citations, row, Random(f"{settings.seed} {recipe} {collection.ids[row]}"))
            progress.advance(1)
        if not triplets:
            raise InvalidRequest(
                f"the recipe {recipe} makes no triplet: of {len(queries):,} possible queries, none cites one that cites another"
            )
        if mining is not None:
            triplets = _mined(triplets, mining, request, citations, collection.ids, folder)
        counts = Counter(triplet.kind for triplet in triplets)
        made_of = len({triplet.query for triplet in triplets})
        progress.note(f"{len(triplets):,} triplets of {made_of:,} queries; negatives: {listed_counts(counts)}")
        ids = collection.ids
        write_table(folder, "triplets", ((ids[one.query], ids[one.positive], ids[one.negative], one.kind) for one in triplets))
        wanted = {ids[row] for triplet in triplets for row in triplet[:3]}
        bare = {id for id in wanted if chosen.title_only and Random(f"{settings.seed} title {id}").random() < chosen.title_only}
        write_papers(folder, map(Doc, wanted), ((id, title, "" if id in bare else text) for id, title, text in _texts(request.corpus)))
        made = {
            "papers": len(wanted),
            "title_only": len(bare),
            "queries": made_of,
            "triplets": len(triplets),
            "kinds": dict(sorted(counts.items())),
            **({"shares": shares} if shares else {}),
            **({"mined": mining.facts()} if mining else {}),
        }
        write_facts(folder, "triplets", request.facts(recipe, chosen.source, made, int(is_tested.sum())))


def listed_counts(counts: Counter[str]) -> str:
    """Kinds and how many there are of each, the most first."""
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _queries(citations: CitationNetwork, collection: Collection, recipe: Recipe, request: SetRequest, shares: str | None) -> list[int]:
    """The rows of the queries, rising: usable papers that cite enough others; of too many, some by chance."""
    settings, fields = request.settings, collection.fields
    rows: list[int] = np.flatnonzero(citations.is_usable & (citations.graph.cites_counts >= (settings.cited or 1))).tolist()
    if (recipe.needs_field or shares) and fields is None:
        raise InvalidRequest("queries are drawn by their fields, and the corpus has no column of fields; name it with `field`")
    if recipe.needs_field and fields:
        rows = [row for row in rows if fields[row]]
    if not (shares and fields):
        return request.some(rows)
    drawn, lacking = drawn_by_shares(rows, fields, parsed_shares(shares), settings.queries, Random(f"{settings.seed} queries"))
    request.progress.note(
        f"{len(drawn):,} queries, spread over fields by {shares}" + (f"; no papers are of {', '.join(lacking)}" if lacking else "")
    )
    return drawn


def _tested(request: SetRequest, size: int) -> Mask:
    """Which papers are queries of a test, by id or title, (n,)."""
    if not request.held_out.names:
        return np.zeros(size, bool)
    return np.array([request.held_out.has_paper(id, title) for id, title, _ in _texts(request.corpus)], bool)


def _texts(corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    for batch in corpus.batches():
        yield from zip(*(batch.papers[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)


def without_papers(graph: Graph, is_left_out: Mask) -> Graph:
    """The graph without the citations from and to some papers."""
    citing = np.repeat(np.arange(graph.size), graph.cites_counts)
    keep = ~is_left_out[citing] & ~is_left_out[graph.cited]
    return Graph.of(graph.size, np.stack([citing[keep], graph.cited[keep]], axis=1))


def _mined(
    triplets: Sequence[Triplet], mining: Mining, request: SetRequest, citations: CitationNetwork, ids: Sequence[str], folder: Path
) -> list[Triplet]:
    """The same, with what the query finds in place of hard negatives, each once; these are no papers that the query cites."""
    row_of = {id: row for row, id in enumerate(ids)}
    wanted = [(ids[triplet.query], ids[triplet.positive]) for triplet in triplets if triplet.kind == HARD]
    barred = {query: {ids[row] for row in citations.not_negative(row_of[query])} for query, _ in wanted}
    for triplet in triplets:
        if ids[triplet.query] in barred:
            barred[ids[triplet.query]].add(ids[triplet.negative])
    queries = [Query(id, paper=Paper(id, title, abstract)) for id, title, abstract in _texts(request.corpus) if id in barred]
    usable = {id for id, is_usable in zip(ids, citations.is_usable.tolist(), strict=True) if is_usable}
    negatives = iter(mine(mining, wanted, queries, barred, request.corpus, row_of, usable, folder, request.progress))
    mined: list[Triplet] = []
    for triplet in triplets:
        negative = next(negatives) if triplet.kind == HARD else None
        mined.append(triplet if negative is None else triplet._replace(negative=row_of[negative], kind=MINED))
    return mined
