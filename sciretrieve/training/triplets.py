"""Making a training set: triplets of a corpus's papers by who cites whom, without those that a benchmark tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np

from ..errors import InvalidRequest, UnknownName
from ..evaluation.builders.cited_corpus import Collection, read_collection
from ..evaluation.builders.folders import new_folder
from ..options import CiteSettings
from ..papers.corpora import ColumnMap, Corpus, Sources, open_corpus
from ..progress import shown
from ..protocols import Progress
from ..query.citations import Graph
from ..types import Mask, Paper, Query
from .field_shares import drawn_by_shares, parsed_shares
from .held_out import HeldOut
from .mining import MINED, Mining, opened_miner
from .recipes import HARD, RECIPES, CitationNetwork, Recipe, Triplet
from .set_folder import Doc, write_facts, write_papers, write_table


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
    with shown(progress) as progress:
        held_out = HeldOut.of(without)
        opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
        with new_folder(Path(to)) as folder:
            collection = read_collection(opened_corpus, settings)
            for note in collection.notes:
                progress.note(note)
            is_tested = _tested(opened_corpus, len(collection.ids), held_out)
            if without:
                progress.note(f"{int(is_tested.sum()):,} papers of the corpus are test queries, and are left out")
            citations = CitationNetwork(without_papers(collection.graph, is_tested), collection.full & ~is_tested, collection.field_sets)
            queries = _queries(citations, collection, chosen, settings, shares, progress)
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
                triplets = _mined(triplets, mining, opened_corpus, citations, collection.ids, folder, progress)
            counts = Counter(triplet.kind for triplet in triplets)
            made_of = len({triplet.query for triplet in triplets})
            progress.note(f"{len(triplets):,} triplets of {made_of:,} queries; negatives: {listed_counts(counts)}")
            ids = collection.ids
            write_table(folder, "triplets", ((ids[one.query], ids[one.positive], ids[one.negative], one.kind) for one in triplets))
            wanted = {ids[row] for triplet in triplets for row in triplet[:3]}
            bare = {id for id in wanted if chosen.title_only and Random(f"{settings.seed} title {id}").random() < chosen.title_only}
            write_papers(folder, map(Doc, wanted), ((id, title, "" if id in bare else text) for id, title, text in _texts(opened_corpus)))
            facts = {
                "recipe": recipe,
                "source": chosen.source,
                "seed": settings.seed,
                "papers": len(wanted),
                "title_only": len(bare),
                "queries": made_of,
                "triplets": len(triplets),
                "kinds": dict(sorted(counts.items())),
                **({"shares": shares} if shares else {}),
                **({"mined": mining.facts()} if mining else {}),
                "without": list(without),
                "left_out": int(is_tested.sum()),
            }
            write_facts(folder, "triplets", facts)


def listed_counts(counts: Counter[str]) -> str:
    """Kinds and how many there are of each, the most first."""
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _queries(
    citations: CitationNetwork, collection: Collection, recipe: Recipe, settings: CiteSettings, shares: str | None, progress: Progress
) -> list[int]:
    """The rows of the queries, rising: usable papers that cite enough others; of too many, some by chance."""
    rows: list[int] = np.flatnonzero(citations.is_usable & (citations.graph.cites_counts >= (settings.cited or 1))).tolist()
    fields = collection.fields
    if (recipe.needs_field or shares) and fields is None:
        raise InvalidRequest("queries are drawn by their fields, and the corpus has no column of fields; name it with `field`")
    if recipe.needs_field and fields:
        rows = [row for row in rows if fields[row]]
    chance = Random(f"{settings.seed} queries")
    if shares and fields:
        drawn, lacking = drawn_by_shares(rows, fields, parsed_shares(shares), settings.queries, chance)
        progress.note(
            f"{len(drawn):,} queries, spread over fields by {shares}" + (f"; no papers are of {', '.join(lacking)}" if lacking else "")
        )
        return drawn
    if settings.queries is None or settings.queries >= len(rows):
        return rows
    return sorted(chance.sample(rows, settings.queries))


def _tested(corpus: Corpus, size: int, held_out: HeldOut) -> Mask:
    """Which papers are queries of a test, by id or title, (n,)."""
    if not held_out.names:
        return np.zeros(size, bool)
    return np.array([held_out.has_paper(id, title) for id, title, _ in _texts(corpus)], bool)


def _texts(corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    for batch in corpus.batches():
        yield from zip(*(batch.papers[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)


def without_papers(graph: Graph, is_left_out: Mask) -> Graph:
    """The graph without the citations from and to some papers."""
    citing = np.repeat(np.arange(graph.size), graph.cites_counts)
    keep = ~is_left_out[citing] & ~is_left_out[graph.cited]
    return Graph.of(graph.size, np.stack([citing[keep], graph.cited[keep]], axis=1))


def _mined(
    triplets: Sequence[Triplet],
    mining: Mining,
    corpus: Corpus,
    citations: CitationNetwork,
    ids: Sequence[str],
    folder: Path,
    progress: Progress,
) -> list[Triplet]:
    """The same, with what the query finds in place of hard negatives, each once; these are no papers that the query cites."""
    row_of = {id: row for row, id in enumerate(ids)}
    wanted: dict[str, dict[str, None]] = {}
    negatives_of: dict[str, set[int]] = {}
    for triplet in triplets:
        negatives_of.setdefault(ids[triplet.query], set()).add(triplet.negative)
        if triplet.kind == HARD:
            wanted.setdefault(ids[triplet.query], {})[ids[triplet.positive]] = None
    queries = [Query(id, paper=Paper(id, title, abstract)) for id, title, abstract in _texts(corpus) if id in wanted]
    barred = {id: {ids[row] for row in citations.not_negative(row_of[id]) | negatives_of[id]} for id in wanted}
    progress.start(len(queries), unit="mined queries")
    with opened_miner(mining, corpus, row_of, folder) as miner:
        positives = {id: list(others) for id, others in wanted.items()}
        found = {
            (query, positive): iter([row for other in others if citations.is_usable[row := row_of[other]]])
            for query, negatives in miner.negatives(queries, positives, barred, progress)
            for positive, others in negatives.items()
        }
    taken: set[tuple[int, int]] = set()
    mined: list[Triplet] = []
    for triplet in triplets:
        rows = found.get((ids[triplet.query], ids[triplet.positive]), iter(())) if triplet.kind == HARD else iter(())
        negative = next((row for row in rows if (triplet.query, row) not in taken), None)
        if negative is None:
            mined.append(triplet)
        else:
            taken.add((triplet.query, negative))
            mined.append(triplet._replace(negative=negative, kind=MINED))
    return mined
