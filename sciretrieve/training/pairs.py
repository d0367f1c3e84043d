"""Making a training set of pairs: a query, a text or a paper, and a paper that answers it, with or without one that does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..base.errors import InvalidRequest, UnknownName
from ..base.types import Paper, Query
from ..evaluation.builders.folders import new_folder
from ..options import CiteSettings
from ..papers.corpora import ColumnMap, Corpus, Sources
from ..progress import shown
from ..protocols import Progress
from .mining import MINED, Mining, mine
from .pair_recipes import RECIPES, Drawn, Pair
from .set_folder import Doc, write_facts, write_papers, write_queries, write_table
from .training_papers import SetRequest
from .triplets import listed_counts

ALONE = "none"
"""What a pair without a negative counts as."""


def build_pairs(
    source: Sources | Corpus,
    to: str | Path,
    recipe: str,
    settings: CiteSettings = CiteSettings(),
    *,
    column: str | None = None,
    without: Sequence[str] = (),
    mining: Mining | None = None,
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
) -> None:
    """Make a training set of pairs, in the folder `to`, which appears when all is written.

    It has pairs.tsv, with the ids of a query, of a paper that answers it and of one that does not (or nothing), and the kind of the
    latter; queries.jsonl, with the texts of queries that are no papers; corpus.jsonl, with the papers, also those whose text is changed
    so that a query does not stand in it, see `set_folder.Doc`; and training.json. The same source, recipe, settings and seed give the
    same files.

    Args:
        source: a corpus, as for `build_triplets`; for the recipe "queries" a BEIR folder; for "scimult-search" a file in the format
            of SciRepEval's searches.
        to: a new folder.
        recipe: "titles", "sentences", "keywords", "queries", "scimult-search", "scimult-labels" or "label-papers", see
            `pair_recipes.RECIPES`.
        settings: how many papers or queries pairs are made of at most, drawn by chance; which citations tell what is near, for labels;
            and the seed. The others choose nothing here.
        column: the column with keywords or labels; by default recognised by name.
        without: benchmarks that will be tested: "beir:DIR", "cite:DIR". None of their queries, papers or texts, is in a pair.
        mining: what finds negatives for pairs that have none.
        columns, progress: as for `build_triplets`.

    Raises:
        NotFound, InvalidRequest: the source, a benchmark, an index or a setting is invalid; or `to` is there already; or no pair can
            be made.
        UnknownName: there is no such recipe or column.
        IndexBusy: another process is making the same folder.
    """
    if recipe not in RECIPES:
        raise UnknownName("recipe", recipe, RECIPES)
    with shown(progress) as progress, new_folder(Path(to)) as folder:
        request = SetRequest(source, settings, without, column, columns, progress)
        drawn = RECIPES[recipe].draw(request)
        if without:
            progress.note(f"{drawn.left_out:,} papers and queries are tested, and are left out")
        if not drawn.pairs:
            raise InvalidRequest(f"the recipe {recipe} makes no pair: {RECIPES[recipe].about}, is nowhere in the source")
        pairs = drawn.pairs if mining is None else _mined(drawn, mining, folder, progress)
        counts = Counter(pair.kind or ALONE for pair in pairs)
        asked = {pair.query for pair in pairs}
        progress.note(f"{len(pairs):,} pairs of {len(asked):,} queries; negatives: {listed_counts(counts)}")
        docs = {doc for pair in pairs for doc in (pair.positive, pair.negative) if doc is not None}
        docs |= {Doc(id) for id in asked if id not in drawn.queries}
        _check_ids(docs, drawn)
        write_table(folder, "pairs", ((one.query, one.positive.id, one.negative.id if one.negative else "", one.kind) for one in pairs))
        write_queries(folder, {id: text for id, text in drawn.queries.items() if id in asked})
        write_papers(folder, docs, drawn.texts(), drawn.labels)
        made = {
            "papers": len({doc.paper for doc in docs} - drawn.labels.keys()),
            "queries": len(asked),
            "pairs": len(pairs),
            "kinds": dict(sorted(counts.items())),
            **({"mined": mining.facts()} if mining else {}),
        }
        write_facts(folder, "pairs", request.facts(recipe, RECIPES[recipe].source, made, drawn.left_out))


def _check_ids(docs: set[Doc], drawn: Drawn) -> None:
    """Raise InvalidRequest if a paper of the source has the id that a changed text, or a label, gets."""
    made = {doc.id for doc in docs if doc.form} | drawn.labels.keys()
    if made and (taken := next((id for id, _, _ in drawn.texts() if id in made), None)):
        raise InvalidRequest(f"a paper has the id {taken!r}, which stands for a changed text or a label here; give it another")


def _mined(drawn: Drawn, mining: Mining, folder: Path, progress: Progress) -> list[Pair]:
    """The same pairs; those without a negative have what their query finds, each paper once a query."""
    if drawn.labels:
        raise InvalidRequest("an index has no labels to mine; leave out `mining`")
    wanted = [(pair.query, pair.positive.paper) for pair in drawn.pairs if pair.negative is None]
    barred: dict[str, set[str]] = {}
    for pair in drawn.pairs:
        no_negatives = barred.setdefault(pair.query, {pair.query, *drawn.relevant.get(pair.query, ())})
        no_negatives |= {doc.paper for doc in (pair.positive, pair.negative) if doc}
    texts = {query: drawn.queries.get(query) for query, _ in wanted}
    papers: dict[str, Paper] = {}
    known: set[str] = set()
    for id, title, abstract in drawn.texts():
        known.add(id)
        if id in texts and texts[id] is None:
            papers[id] = Paper(id, title, abstract)
    queries = [Query(id, paper=papers[id]) if text is None else Query(id, text) for id, text in texts.items()]
    usable = known if drawn.usable is None else drawn.usable
    negatives = iter(mine(mining, wanted, queries, barred, drawn.papers, known, usable, folder, progress))
    pairs: list[Pair] = []
    for pair in drawn.pairs:
        negative = next(negatives) if pair.negative is None else None
        pairs.append(pair if negative is None else pair._replace(negative=Doc(negative, drawn.mined_form), kind=MINED))
    return pairs
