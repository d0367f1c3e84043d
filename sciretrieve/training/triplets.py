"""Triplets: a paper, one that it cites, and one that it does not cite, by the recipes of the papers.

`specter` follows Singh et al. 2023, appendix A.2, as SPECTER's authors sample; `specter2` section 5 there, as in the authors' script;
`scimult` Zhang et al. 2023, section 3.4; `s2orc` Seoh et al. 2023, appendix C.1. A hard negative is a paper that the query's citations cite
and the query does not. `scincl` takes neighbours in an embedding of the citations, see `neighbourhoods`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from random import Random
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..base.errors import InvalidRequest
from ..base.once import once
from ..base.types import Mask, Paper, Query, Rows
from ..evaluation.builders.cited_corpus import Collection as CitedPapers
from ..evaluation.builders.cited_corpus import read_collection
from ..evaluation.builders.negatives import shuffled
from ..query.citations.citation_graph import Graph
from .field_shares import drawn_by_shares, parsed_shares
from .forms import Doc
from .mining import MINED, Mining, mine
from .neighbourhoods import embedded, sampled
from .training_papers import DrawnSet, Recipe, SetRequest, texts_in

HARD, EASY = "hard", "easy"
SAME, SHARED, OTHER = "same fields", "shared field", "other fields"
"""Kinds of negatives by fields: the query's very fields, some of them, none of them."""
DRAWS = 10_000
"""The most papers drawn in search of other fields; if nearly all share a field, a query gets fewer negatives."""

NO_ROWS: Rows = np.empty(0, np.int64)
Key = TypeVar("Key", bound=Hashable)


class Triplet(NamedTuple):
    """Rows of a corpus: a query, a paper that it cites, a negative; and the negative's kind."""

    query: int
    positive: int
    negative: int
    kind: str


@dataclass(frozen=True)
class CitationNetwork:
    """The citations that triplets are drawn from.

    Attributes:
        graph: the citations.
        is_usable: the papers that may be in a triplet, (n,).
        field_sets: the fields of each paper; None if papers have none.
    """

    graph: Graph
    is_usable: Mask
    field_sets: Sequence[Collection[str]] | None = None

    def cited(self, row: int) -> list[int]:
        """The usable papers that a paper cites, rising."""
        return self._usable(self.graph.cites(row))

    def beyond(self, row: int, through: Iterable[int]) -> list[int]:
        """The usable papers that any of `through` cites and the paper itself does not, rising."""
        further = {other for step in through for other in self.graph.cites(step).tolist()} - self.not_negative(row)
        return self._usable(np.array(sorted(further), np.int64))

    def not_negative(self, row: int) -> set[int]:
        """A paper and all papers that it cites."""
        return {row, *self.graph.cites(row).tolist()}

    def by_chance(self, barred: Collection[int], chance: Random) -> Iterator[int]:
        """Usable papers in random order, each once, without barred ones."""
        return _drawn(self._rows, barred, chance)

    def by_fields(self, row: int, barred: Collection[int], chance: Random) -> Mapping[str, Iterator[int]]:
        """Usable papers in random order by kind of fields; none if the paper's fields are unknown."""
        if not self.field_sets or not (fields := frozenset(self.field_sets[row])):
            return {}
        sets = self.field_sets
        sharing = np.concatenate([self._rows_of_field.get(field, NO_ROWS) for field in sorted(fields)])
        return {
            OTHER: (other for other in islice(self.by_chance(barred, chance), DRAWS) if fields.isdisjoint(sets[other])),
            SHARED: _drawn(sharing, barred, chance),
            SAME: _drawn(self._rows_of_fields.get(fields, NO_ROWS), barred, chance),
        }

    def _usable(self, rows: Rows) -> list[int]:
        usable: list[int] = rows[self.is_usable[rows]].tolist()
        return usable

    @once
    def _rows(self) -> Rows:
        return np.flatnonzero(self.is_usable)

    @once
    def _rows_of_field(self) -> Mapping[str, Rows]:
        return _rows_by((row, field) for row in self._rows.tolist() for field in set(self.field_sets[row] if self.field_sets else ()))

    @once
    def _rows_of_fields(self) -> Mapping[frozenset[str], Rows]:
        return _rows_by((row, frozenset(self.field_sets[row] if self.field_sets else ())) for row in self._rows.tolist())


def _rows_by(pairs: Iterable[tuple[int, Key]]) -> Mapping[Key, Rows]:
    """Rows by their key."""
    rows_of: dict[Key, list[int]] = {}
    for row, key in pairs:
        rows_of.setdefault(key, []).append(row)
    return {key: np.array(rows, np.int64) for key, rows in rows_of.items()}


def _drawn(rows: Rows, barred: Collection[int], chance: Random) -> Iterator[int]:
    """Rows in random order, each once even if repeated, without barred ones."""
    taken = set(barred)
    for row in shuffled(rows, chance):
        if row not in taken:
            taken.add(row)
            yield row


def _specter(citations: CitationNetwork, query: int, chance: Random) -> list[Triplet]:
    """Five: two hard and three easy ones; none for a query without hard negatives, as in the authors' code, whose margin between cited and
    further papers is then zero.
    """
    cited = citations.cited(query)
    further = citations.beyond(query, cited)
    pairs = len(cited) * len(further)
    places = [divmod(place, len(further)) for place in chance.sample(range(pairs), min(2, pairs))]
    hard = [Triplet(query, cited[one], further[other], HARD) for one, other in places]
    if not hard:
        return []
    easy = islice(citations.by_chance(citations.not_negative(query) | set(further), chance), 5 - len(hard))
    return hard + [Triplet(query, chance.choice(cited), negative, EASY) for negative in easy]


def _specter2(citations: CitationNetwork, query: int, chance: Random) -> list[Triplet]:
    """Ten: four hard and six easy ones. Of the easy ones two have the query's fields, two share one, and two have none of them; six are
    random if fields are unknown. The query's cited papers take turns as positives.
    """
    cited = citations.cited(query)
    further = citations.beyond(query, cited)
    if not further:
        return []
    chance.shuffle(cited)
    negatives = dict.fromkeys(chance.sample(further, min(4, len(further))), HARD)
    barred = citations.not_negative(query) | set(further)
    sources = citations.by_fields(query, barred, chance)
    for kind, rows in sources.items():
        negatives |= dict.fromkeys(islice((row for row in rows if row not in negatives), 2), kind)
    if not sources:
        negatives |= dict.fromkeys(islice(citations.by_chance(barred, chance), 6), EASY)
    return [Triplet(query, positive, negative, kind) for positive, (negative, kind) in zip(cycle(cited), negatives.items(), strict=False)]


def _scimult(citations: CitationNetwork, query: int, chance: Random) -> list[Triplet]:
    """One per cited paper, with a negative that this very paper cites; a random negative if there is none, as in three of five of the
    paper's own pairs.
    """
    triplets = []
    barred = citations.not_negative(query)
    for positive in citations.cited(query):
        if further := citations.beyond(query, [positive]):
            triplets.append(Triplet(query, positive, chance.choice(further), HARD))
        else:
            triplets += [Triplet(query, positive, negative, EASY) for negative in islice(citations.by_chance(barred, chance), 1)]
    return triplets


Sampler = Callable[[CitationNetwork, Sequence[int], SetRequest, Callable[[int], Random]], Iterable[list[Triplet]]]
"""Returns the triplets of each query, all different, or none if the recipe gives none; the last argument gives a query's random numbers."""


def _each(sample: Callable[[CitationNetwork, int, Random], list[Triplet]]) -> Sampler:
    """A sampler that looks at a query alone."""

    def sampler(citations: CitationNetwork, queries: Sequence[int], _: SetRequest, chance_of: Callable[[int], Random]) -> Any:
        return (sample(citations, query, chance_of(query)) for query in queries)

    return sampler


def _scincl(citations: CitationNetwork, queries: Sequence[int], request: SetRequest, chance_of: Callable[[int], Random]) -> Any:
    """Five: three easy ones and two hard ones."""
    vectors = embedded(citations.graph, request.settings.seed, request.progress)
    request.progress.start(len(queries), unit="queries")
    for query, found in zip(queries, sampled(citations.graph, citations.is_usable, queries, chance_of, vectors), strict=True):
        yield [Triplet(query, positive, negative, HARD if is_hard else EASY) for positive, negative, is_hard in found]


def drawn_triplets(
    sample: Sampler,
    request: SetRequest,
    *,
    title_only: float = 0.0,
    needs_field: bool = False,
) -> DrawnSet:
    """The triplets of a corpus with citations.

    Args:
        sample: the recipe.
        request: the settings.
        title_only: the share of papers whose abstract is left out.
        needs_field: whether queries need a known field.
    """
    progress, seed = request.progress, request.settings.seed
    collection = read_collection(request.corpus, request.settings)
    for note in collection.notes:
        progress.note(note)
    ids = collection.ids
    is_tested = _tested(request, len(ids))
    left_out = request.report_left_out(int(is_tested.sum()))
    citations = CitationNetwork(without_papers(collection.graph, is_tested), collection.full & ~is_tested, collection.field_sets)
    queries = _queries(citations, collection, request, needs_field=needs_field)
    progress.start(len(queries), unit="queries")
    triplets: list[Triplet] = []
    for of_query in sample(citations, queries, request, lambda row: Random(f"{seed} {request.recipe} {ids[row]}")):
        triplets += of_query
        progress.advance(1)
    if not triplets:
        raise InvalidRequest(
            f"the recipe {request.recipe} makes no triplet: of {len(queries):,} possible queries, none cites a paper that cites another"
        )
    triplets = _mined(triplets, request.mining, request, citations, ids) if request.mining else triplets
    counts = Counter(triplet.kind for triplet in triplets)
    made_of = len({triplet.query for triplet in triplets})
    progress.note(f"{len(triplets):,} triplets of {made_of:,} queries; negatives: {joined_counts(counts)}")
    wanted = {ids[row] for triplet in triplets for row in triplet[:3]}
    bare = {id for id in wanted if title_only and Random(f"{seed} title {id}").random() < title_only}
    return DrawnSet(
        [(ids[one.query], ids[one.positive], ids[one.negative], one.kind) for one in triplets],
        map(Doc, wanted),
        ((id, title, "" if id in bare else text) for id, title, text in texts_in(request.corpus)),
        {
            "papers": len(wanted),
            "title_only": len(bare),
            "queries": made_of,
            "triplets": len(triplets),
            "kinds": dict(sorted(counts.items())),
            **({"shares": request.shares} if request.shares else {}),
            **({"mined": request.mining.facts()} if request.mining else {}),
        },
        left_out,
    )


def joined_counts(counts: Counter[str]) -> str:
    """Kinds and their counts, the largest first."""
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _queries(citations: CitationNetwork, collection: CitedPapers, request: SetRequest, *, needs_field: bool) -> list[int]:
    """The rows of the queries, rising: usable papers with enough citations; a random sample if there are too many."""
    settings, fields, shares = request.settings, collection.fields, request.shares
    rows: list[int] = np.flatnonzero(citations.is_usable & (citations.graph.cites_counts >= (settings.cited or 1))).tolist()
    if (needs_field or shares) and fields is None:
        raise InvalidRequest("queries are drawn by their fields, and the corpus has no column of fields; name it with `field`")
    if needs_field and fields:
        rows = [row for row in rows if fields[row]]
    if not (shares and fields):
        return request.some(rows)
    drawn, lacking = drawn_by_shares(rows, fields, parsed_shares(shares), settings.queries, Random(f"{settings.seed} queries"))
    request.progress.note(
        f"{len(drawn):,} queries, spread over fields by {shares}" + (f"; no papers are of {', '.join(lacking)}" if lacking else "")
    )
    return drawn


def _tested(request: SetRequest, size: int) -> Mask:
    """The papers that are queries of a test, by id or title, as a mask (n,)."""
    if not request.held_out.names:
        return np.zeros(size, bool)
    return np.array([request.held_out.has_paper(id, title) for id, title, _ in texts_in(request.corpus)], bool)


def without_papers(graph: Graph, is_left_out: Mask) -> Graph:
    """The graph without the citations from and to some papers."""
    pairs = graph.pairs
    return Graph.of(graph.size, pairs[~is_left_out[pairs].any(axis=1)])


def _mined(
    triplets: Sequence[Triplet], mining: Mining, request: SetRequest, citations: CitationNetwork, ids: Sequence[str]
) -> list[Triplet]:
    """The same, with mined papers that the query does not cite in place of hard negatives, each once."""
    row_of = {id: row for row, id in enumerate(ids)}
    wanted = [(ids[triplet.query], ids[triplet.positive]) for triplet in triplets if triplet.kind == HARD]
    barred = {query: {ids[row] for row in citations.not_negative(row_of[query])} for query, _ in wanted}
    for triplet in triplets:
        if ids[triplet.query] in barred:
            barred[ids[triplet.query]].add(ids[triplet.negative])
    queries = [Query(id, paper=Paper(id, title, abstract)) for id, title, abstract in texts_in(request.corpus) if id in barred]
    usable = {id for id, is_usable in zip(ids, citations.is_usable.tolist(), strict=True) if is_usable}
    negatives = iter(mine(mining, wanted, queries, barred, request.corpus, row_of, usable, request.folder, request.progress))
    mined: list[Triplet] = []
    for triplet in triplets:
        negative = next(negatives) if triplet.kind == HARD else None
        mined.append(triplet if negative is None else triplet._replace(negative=row_of[negative], kind=MINED))
    return mined


RECIPES: Mapping[str, Recipe] = {
    "specter": Recipe("Cohan et al. 2020; Singh et al. 2023, appendix A.2", partial(drawn_triplets, _each(_specter))),
    "specter2": Recipe("Singh et al. 2023, section 5", partial(drawn_triplets, _each(_specter2), title_only=0.05)),
    "scimult": Recipe("Zhang et al. 2023, section 3.4", partial(drawn_triplets, _each(_scimult))),
    "scincl": Recipe("Ostendorff et al. 2022, SciNCL, and the command in the README of their code", partial(drawn_triplets, _scincl)),
    "s2orc": Recipe("Seoh et al. 2023, appendix C.1", partial(drawn_triplets, _each(_specter), needs_field=True)),
}
