"""Which papers make a triplet, by the recipes of the papers: a paper, one that it cites, and one that it does not.

`specter` is of Singh et al. 2023, appendix A.2, as SPECTER's authors sample; `specter2` of section 5 there, as the authors' script
does; `scimult` of Zhang et al. 2023, section 3.4; `s2orc` of Seoh et al. 2023, appendix C.1. A hard negative is always cited by what
the query cites, and not by the query.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from ..base.once import once
from ..base.types import Mask, Rows
from ..evaluation.builders.negatives import shuffled
from ..query.citations.citation_graph import Graph

HARD, EASY = "hard", "easy"
SAME, SHARED, OTHER = "same fields", "shared field", "other fields"
"""Kinds of negatives: cited by what the query cites; by chance; and by chance among papers with the query's fields, with any, with none."""
DRAWS = 10_000
"""Papers that are drawn at most in search of other fields: where nearly all share one, a query gets fewer negatives."""

NO_ROWS: Rows = np.empty(0, np.int64)
Key = TypeVar("Key", bound=Hashable)


class Triplet(NamedTuple):
    """Rows of a corpus: a query, a paper that it cites, one that it does not; and what kind of negative that is."""

    query: int
    positive: int
    negative: int
    kind: str


@dataclass(frozen=True)
class CitationNetwork:
    """What triplets are drawn from.

    Attributes:
        graph: who cites whom.
        is_usable: which papers may be in a triplet, (n,).
        field_sets: the fields of each paper; None if papers have none.
    """

    graph: Graph
    is_usable: Mask
    field_sets: Sequence[Collection[str]] | None = None

    def cited(self, row: int) -> list[int]:
        """The usable papers that a paper cites, rising."""
        return self._usable(self.graph.cites(row))

    def beyond(self, row: int, through: Iterable[int]) -> list[int]:
        """The usable papers that any of these cite and the paper itself does not, rising."""
        further = {other for step in through for other in self.graph.cites(step).tolist()} - self.not_negative(row)
        return self._usable(np.array(sorted(further), np.int64))

    def not_negative(self, row: int) -> set[int]:
        """A paper and all that it cites."""
        return {row, *self.graph.cites(row).tolist()}

    def by_chance(self, barred: Collection[int], chance: Random) -> Iterator[int]:
        """Usable papers in an order of chance, each once, but for barred ones."""
        return _drawn(self._rows, barred, chance)

    def by_fields(self, row: int, barred: Collection[int], chance: Random) -> Mapping[str, Iterator[int]]:
        """The same, of each kind of fields; of none for a paper of no known field."""
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
    """Rows by what they are paired with."""
    rows_of: dict[Key, list[int]] = {}
    for row, key in pairs:
        rows_of.setdefault(key, []).append(row)
    return {key: np.array(rows, np.int64) for key, rows in rows_of.items()}


def _drawn(rows: Rows, barred: Collection[int], chance: Random) -> Iterator[int]:
    """Rows in an order of chance, each once, also where some are there twice."""
    taken = set(barred)
    for row in shuffled(rows, chance):
        if row not in taken:
            taken.add(row)
            yield row


@dataclass(frozen=True, slots=True)
class Recipe:
    """A paper's recipe.

    Attributes:
        source: the paper, and where in it.
        sample: gives the triplets of a query, all different, none if the recipe makes none of it.
        title_only: the share of papers whose abstract is left out.
        needs_field: whether only papers of a known field are queries.
    """

    source: str
    sample: Callable[[CitationNetwork, int, Random], list[Triplet]]
    title_only: float = 0.0
    needs_field: bool = False


def _specter(citations: CitationNetwork, query: int, chance: Random) -> list[Triplet]:
    """Five: two hard ones and three easy ones. A query without hard negatives makes none, as in the authors' code, whose margin
    between cited and further papers is nothing then."""
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
    """Ten: four hard ones, and six easy ones of which two have the query's fields, two share one, and two have none of them; six by
    chance where fields are not known. Each negative gets the next of the papers that the query cites."""
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
    """One for each paper that the query cites, with a negative that this very paper cites; by chance where there is none, as for
    three in five of the paper's own pairs."""
    triplets = []
    barred = citations.not_negative(query)
    for positive in citations.cited(query):
        if further := citations.beyond(query, [positive]):
            triplets.append(Triplet(query, positive, chance.choice(further), HARD))
        else:
            triplets += [Triplet(query, positive, negative, EASY) for negative in islice(citations.by_chance(barred, chance), 1)]
    return triplets


RECIPES: Mapping[str, Recipe] = {
    "specter": Recipe("Cohan et al. 2020; Singh et al. 2023, appendix A.2", _specter),
    "specter2": Recipe("Singh et al. 2023, section 5", _specter2, title_only=0.05),
    "scimult": Recipe("Zhang et al. 2023, section 3.4", _scimult),
    "s2orc": Recipe("Seoh et al. 2023, appendix C.1", _specter, needs_field=True),
}
