"""Several indexes read as one: the shards are those of all, so that there is one ranking, by scores of one kind.

Nothing is merged afterwards. BM25 counts papers and terms over all indexes, and meaning is compared as in one index, or, where encoders
differ, on the scale of each. So a paper has the score that it has in an index that was built of all the papers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..base.choices import MODES, Mode
from ..base.errors import Ambiguous, InvalidRequest
from ..base.once import once
from ..base.types import Paper, Rows, Vectors, name_in
from ..base.wording import enumerated
from ..encoders.query_encoder import same_vectors
from ..files.schema import papers_of
from ..files.streams import checked_text
from ..matching.dense import VectorShard
from ..matching.dense.scale import SAMPLE_SIZE, Scale, ScaledShard, scale
from ..matching.effort import USUAL, Effort
from ..matching.fusion import Fusion
from ..matching.late import Packing, TokenShard
from ..matching.lexical import Analyzer, Statistics
from ..matching.lexical.corpus_statistics import Frequencies, summed
from ..matching.scope import Scope
from ..matching.sharding import by_shard
from ..options import Bm25Parameters, SearchOptions
from ..papers.duplicates import same_works
from ..runs import Ranking
from ..storage.manifest import Manifest
from ..storage.shards import Shard
from .narrowing.nested import place_of
from .snapshot import LISTED, Snapshot, as_ids

if TYPE_CHECKING:
    from ..papers.corpora import Rejected

Value = TypeVar("Value")


class JointSnapshots(Snapshot):
    """Snapshots of several indexes as one, whose shards follow each other.

    Attributes:
        lacking: what keeps all of them from being searched in every way, a sentence each.
    """

    def __init__(self, members: Sequence[Snapshot]) -> None:
        """Join them.

        Raises InvalidRequest where one is there twice, or they cannot be searched together: they count words in different ways, or one
        has only vectors and another only BM25.
        """
        self._members = tuple(members)
        self.names = _names([member.path for member in members])
        self.path = Path(" + ".join(self.names))
        self._starts = np.cumsum([0, *(sum(shard.papers for shard in member.shards) for member in members)])
        self.shards = [
            Shard(shard.verified, shard.facts, shard.first + start)
            for member, start in zip(members, self._starts.tolist(), strict=False)
            for shard in member.shards
        ]
        named = dict(zip(self.names, members, strict=True))
        self.lacking: tuple[str, ...] = tuple(_lacking(named))
        self._spaces, self._scales = _spaces(members), list[Scale]()
        if len(self._spaces) > 1:
            self._set_scales()
        one = self._spaces[0][0] if len(self._spaces) == 1 else None
        self.encoder, self.metric = (None, None) if one is None else (one.encoder, one.metric)
        self.late = one is not None and all(member.late for member in members)  # by one encoder
        self.statistics = _statistics(named)
        self.parameters = None if self.statistics is None else _shared([member.parameters for member in members]) or Bm25Parameters()
        self.fusion = _shared([member.fusion for member in members]) or Fusion()
        self.usual_effort = _hardest([member.usual_effort for member in members if member.has_vectors])
        self.checksum = " ".join(member.checksum for member in members)

    def _set_scales(self) -> None:
        """Find the scales of different encoders; without one of them vectors are not searched."""
        for members in self._spaces:
            rows = np.concatenate([np.arange(*self._span(member)) for member in members])
            sample = self.drawn(self.scope.among(rows).places, SAMPLE_SIZE)
            found = scale(self._plain_vectors(members), members[0].golden, sample)
            if found is None:
                names = [name for name, member in zip(self.names, self._members, strict=True) if member in members]
                self.lacking = (
                    *self.lacking,
                    f"what the scores of {enumerated(names)} mean cannot be told, and others have another encoder, so all of the indexes "
                    "are searched by words alone",
                )
                self._spaces, self._scales = [], []
                return
            self._scales.append(found)

    @property
    def manifest(self) -> Manifest:
        """Raises InvalidRequest."""
        raise InvalidRequest(f"{self.path} are several indexes, and this is of one; take one index at a time")

    @property
    def rejected(self) -> int:
        """See `Snapshot.rejected`."""
        return sum(member.rejected for member in self._members)

    @once
    def rejections(self) -> tuple[Rejected, ...]:
        """See `Snapshot.rejections`."""
        return tuple(row for member in self._members for row in member.rejections)

    def spaces(self) -> Sequence[Sequence[int]]:
        """The places of the indexes whose vectors can be compared, in groups; none if vectors are not searched."""
        return [[self._members.index(member) for member in space] for space in self._spaces]

    def _let_go(self) -> None:
        for member in self._members:
            member.close()

    @property
    def is_current(self) -> bool:
        """See `Snapshot.is_current`."""
        return all(member.is_current for member in self._members)

    def __len__(self) -> int:
        return sum(map(len, self._members))

    @property
    def has_vectors(self) -> bool:
        """See `Snapshot.has_vectors`."""
        return bool(self._spaces)

    @property
    def dim(self) -> int:
        """The dimension of queries' vectors: those by all encoders stand one after the other."""
        return sum(space[0].dim for space in self._spaces)

    def __contains__(self, id: object) -> bool:
        """Whether a paper of any of them has this id, or stands under it as INDEX:ID."""
        return isinstance(id, str) and bool(self._rows_of([checked_text(id, "id")])[id])

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those of the given ids, or of INDEX:ID, that mean one paper; an id that different papers have in different indexes
        means none."""
        return {id: rows[0] for id, rows in self._rows_of(ids).items() if rows and self._is_one_work(np.array(rows, np.int64))}

    def rows(self, ids: str | Sequence[str]) -> Rows:
        """See `Snapshot.rows`. Raises Ambiguous, too, for an id that different papers have in different indexes."""
        for id, rows in self._rows_of([checked_text(id, "id") for id in as_ids(ids)]).items():
            self._check_means_one(id, "id", rows)
        return super().rows(ids)

    def _named_row(self, text: str, strict: bool) -> int:
        match = self.lookup.named(text)
        if not len(match):
            return super()._named_row(text, strict)
        self._check_means_one(text, match.by, match.rows.tolist())
        return self._telling(match.rows)

    def whole_names(self, rows: Rows) -> list[str]:
        """See `Snapshot.whole_names`."""
        return list(map(name_in, self.names_at(rows), self.ids(rows)))

    def remarks(self, columns: Iterable[str]) -> list[str]:
        """See `Snapshot.remarks`."""
        remarks = list(self.lacking)
        for column in dict.fromkeys(columns):
            members = zip(self.names, self._members, strict=True)
            without = [name for name, member in members if place_of(member.columns.names, column) is None]
            if without and place_of(self.columns.names, column) is not None:
                have = "has" if len(without) == 1 else "have"
                remarks.append(f"{enumerated(without)} {have} no column {column}: to a filter, all of these papers are without a value")
        return remarks

    def checked_mode(self, mode: Mode | None) -> Mode:
        """See `Snapshot.checked_mode`."""
        if self.lacking and mode in MODES and mode not in self.modes:
            raise InvalidRequest(f"{self.lacking[0]}; leave out `mode={mode!r}`")
        return super().checked_mode(mode)

    def _rows_of(self, ids: Sequence[str]) -> dict[str, list[int]]:
        """For each id its rows in the indexes, in their order; for INDEX:ID, if that is no id, the row of this paper."""
        rows_of: dict[str, list[int]] = {id: [] for id in ids}
        for start, member in zip(self._starts.tolist(), self._members, strict=False):
            for id, row in member.find(ids).items():
                rows_of[id].append(start + row)
        for start, name, member in zip(self._starts.tolist(), self.names, self._members, strict=False):
            within = {
                id: id.removeprefix(name_in(name, "")) for id, rows in rows_of.items() if not rows and id.startswith(name_in(name, ""))
            }
            found = member.find(list(within.values()))
            for id in within:
                rows_of[id] += [start + found[within[id]]] if within[id] in found else []
        return rows_of

    def _check_means_one(self, text: str, by: str, rows: Sequence[int]) -> None:
        """Raise Ambiguous where a text names several works."""
        if not self._is_one_work(np.array(rows, np.int64)):
            first = np.array(rows[:LISTED], np.int64)
            names = zip(self.names_at(first), self.papers_at(first), strict=True)
            raise Ambiguous(text, by, len(rows), [(name_in(name, paper.id), paper.title, paper.year) for name, paper in names])

    def _span(self, member: Snapshot) -> tuple[int, int]:
        """The first row of an index, and the one after its last."""
        place = self._members.index(member)
        return int(self._starts[place]), int(self._starts[place + 1])

    def _member_at(self, row: int) -> Snapshot:
        return self._members[int(np.searchsorted(self._starts, row, side="right")) - 1]

    def names_at(self, rows: Rows) -> list[str]:
        """See `Snapshot.names_at`."""
        return [self.names[place] for place in (np.searchsorted(self._starts, rows, side="right") - 1).tolist()]

    def distinct(self, rows: Rows) -> Rows:
        """Those of the papers at the given rows, ascending, that are left if each work is taken once: of its records, as `same_works` finds
        them, the one that says the most."""
        names = ("id", "title", "authors", "year", "doi")
        read = (table for shard, _, shard_rows in by_shard(rows, self.shards) for _, table in shard.read_at(shard_rows, names))
        known = [paper for table in read for paper in papers_of(table)]
        dropped: list[int] = []
        for work in same_works(known):
            places = np.array(work.places)
            fullest = max(range(len(places)), key=_fullness(self.papers_at(rows[places])))
            dropped += np.delete(places, fullest).tolist()
        return np.delete(rows, dropped)

    def grouped(self, rankings: Sequence[Ranking], scopes: Sequence[Scope], k: int) -> Sequence[Ranking]:
        """See `Snapshot.grouped`."""
        every = super().grouped(rankings, scopes, max(map(len, rankings)))
        return [self._grouped(ranking, scope, k) for ranking, scope in zip(every, scopes, strict=True)]

    def _grouped(self, every: Ranking, scope: Scope, k: int) -> Ranking:
        """The first k works of those of a ranking."""
        first = self._at_its_fullest(every.take(range(min(k, len(every)))), scope)
        if len(first) == min(k, len(every)):
            return first
        whole = self._at_its_fullest(every, scope)
        return whole.take(range(min(k, len(whole))))

    def _at_its_fullest(self, ranking: Ranking, scope: Scope) -> Ranking:
        """A ranking in which each paper stands for all of its copies, those that the search did not come to among them: in its place is
        shown the copy that says the most, of those that may answer, with the scores of the one that was found."""
        rows, also, also_in = ranking.rows.copy(), list[list[str]](), list[list[str]]()
        kept, seen = list[int](), set[int]()
        for place, others in enumerate(self.copies(ranking.rows)):
            also.append([])
            also_in.append([])
            if int(rows[place]) in seen:  # of a work before it, as only a copy shows that the search did not come to
                continue
            kept.append(place)
            seen |= {int(rows[place]), *others.tolist()}
            found = [(ranking.indexes[place], ranking.ids[place]), *zip(ranking.also_in[place], ranking.also[place], strict=True)]
            copies = np.concatenate([rows[place : place + 1], others[scope.has(others)]])
            if len(copies) > 1:
                rows[place] = copies[max(range(len(copies)), key=_fullness(self.papers_at(copies)))]
            shown = self.names_at(rows[place : place + 1])[0], self.ids(rows[place : place + 1])[0]
            pairs = dict.fromkeys([*found, *zip(self.names_at(others), self.ids(others), strict=True)])
            also_in[place] = [name for name, id in pairs if (name, id) != shown]
            also[place] = [id for name, id in pairs if (name, id) != shown]
        whole = replace(ranking, ids=self.ids(rows), rows=rows, indexes=self.names_at(rows), also=also, also_in=also_in)
        return whole if len(kept) == len(whole) else whole.take(kept)

    def effort(self, options: SearchOptions) -> Effort:
        """See `Snapshot.effort`: as hard as the index that needs the most."""
        if options.recall is None and options.ef is None and options.nprobe is None:
            return self.usual_effort
        return _hardest([member.effort(options) for member in self._members])

    @property
    def analyzer(self) -> Analyzer:
        """See `Snapshot.analyzer`; all count words in one way."""
        return Analyzer() if self.statistics is None else self._members[0].analyzer

    @once
    def _frequencies(self) -> Mapping[int, Frequencies]:
        """For each shard, by its first row, how many papers of all indexes have each of its terms."""
        parts = [[(shard.postings.terms, member.frequencies(shard)) for shard in member.shards] for member in self._members]
        counts = [part for parts in summed(parts) for part in parts]
        return {shard.first: part for shard, part in zip(self.shards, counts, strict=True)}

    def frequencies(self, shard: Shard) -> Frequencies:
        """See `Snapshot.frequencies`."""
        return self._frequencies[shard.first]

    @property
    def golden(self) -> Vectors | None:
        """See `Snapshot.golden`; None with different encoders."""
        return self._spaces[0][0].golden if len(self._spaces) == 1 else None

    @once
    def vectors(self) -> list[VectorShard]:
        """The shards' vectors; with different encoders each shard scores on its encoder's scale."""
        if len(self._spaces) <= 1:
            return self.vectors_of(self.shards)
        scales = self._scales
        starts = np.cumsum([0, *(space[0].dim for space in self._spaces)]).tolist()
        found: list[VectorShard] = []
        for number, members in enumerate(self._spaces):
            for shard in self._plain_vectors(members):
                facts = {field.name: getattr(shard, field.name) for field in fields(VectorShard)}
                found.append(ScaledShard(**facts, start=starts[number], scale=scales[number]))
        return sorted(found, key=lambda shard: shard.first)

    def _plain_vectors(self, members: Sequence[Snapshot]) -> list[VectorShard]:
        """The vectors of some of the indexes, their rows counted over all."""
        metric = members[0].metric
        assert metric is not None
        return [shard.vectors(members[0].dim, metric) for shard in self.shards if self._member_at(shard.first) in members]

    @once
    def scale(self) -> Scale | None:
        """What dense scores mean in all of them together, see `Snapshot.scale`."""
        if len(self._spaces) <= 1:
            return super().scale
        return Scale(0.0, 1.0, np.concatenate([scale.rows for scale in self._scales]))

    @property
    def packing(self) -> Packing | None:
        """How token vectors of the first index are packed; None where any lacks them."""
        return self._members[0].packing if self.late else None

    def tokens_of(self, shards: Iterable[Shard]) -> list[TokenShard]:
        """See `Snapshot.tokens_of`; each index has packed them in its own way."""
        if self.packing is None:
            return []
        packed = [(shard, self._member_at(shard.first).packing) for shard in shards]
        return [shard.tokens(packing) for shard, packing in packed if packing is not None]


def _names(paths: Sequence[Path]) -> tuple[str, ...]:
    """What to call indexes. Raises InvalidRequest where one is there twice."""
    resolved = [path.resolve() for path in paths]
    for number, path in enumerate(resolved):
        if path in resolved[:number]:
            raise InvalidRequest(f"the index {paths[number]} is given twice; leave out one of them")
    names = [path.name for path in resolved]
    return tuple(name if names.count(name) == 1 else str(path) for name, path in zip(names, paths, strict=True))


def _fullness(papers: Sequence[Paper]) -> Callable[[int], tuple[bool, int, int]]:
    """Gives how much the paper at a place says, to compare: with an abstract more than without, then by how many fields it has; of equals
    the first says the most."""

    def fullness(place: int) -> tuple[bool, int, int]:
        *fields, extra = papers[place].to_dict().values()
        return bool(papers[place].abstract), sum(map(bool, [*fields, *extra.values()])), -place

    return fullness


def _spaces(members: Sequence[Snapshot]) -> list[list[Snapshot]]:
    """The indexes in groups of one encoder and one metric, whose scores can be compared; none where any has no vectors."""
    if not all(member.has_vectors for member in members):
        return []
    spaces: list[list[Snapshot]] = []
    for member in members:
        for space in spaces:
            if same_vectors(space[0].encoder, member.encoder) and space[0].metric == member.metric:
                space.append(member)
                break
        else:
            spaces.append([member])
    return spaces


def _lacking(members: Mapping[str, Snapshot]) -> Iterator[str]:
    """What keeps indexes from being searched in every way in which some of them can be, a sentence each, by their names.

    Raises InvalidRequest where they have no way in common.
    """
    without = {
        "vectors": [name for name, member in members.items() if not member.has_vectors],
        "BM25": [name for name, member in members.items() if member.statistics is None],
    }
    if without["vectors"] and without["BM25"]:
        raise InvalidRequest(
            f"{without['vectors'][0]} has no vectors, and {without['BM25'][0]} no BM25, so there is no way to search both; "
            "take one index at a time"
        )
    for what, way in (("vectors", "words"), ("BM25", "meaning")):
        if 0 < len(without[what]) < len(members):
            have = "has" if len(without[what]) == 1 else "have"
            yield f"{enumerated(without[what])} {have} no {what}, so all of the indexes are searched by {way} alone"


def _hardest(efforts: Sequence[Effort]) -> Effort:
    """What is enough for each of several indexes."""
    if not efforts:
        return USUAL
    return Effort(
        ef=max((effort.ef for effort in efforts if effort.ef is not None), default=None),
        nprobe=max((effort.nprobe for effort in efforts if effort.nprobe is not None), default=None),
        deepens=any(effort.deepens for effort in efforts),
        exact=any(effort.exact for effort in efforts),
    )


def _statistics(members: Mapping[str, Snapshot]) -> Statistics | None:
    """BM25's statistics of all papers; None where any index lacks it. Raises InvalidRequest where they count words in different ways."""
    facts_of = {name: member.manifest.lexical for name, member in members.items() if member.manifest.lexical is not None}
    if len(facts_of) < len(members):
        return None
    (first_name, first), *others = facts_of.items()
    for name, facts in others:
        if facts["analyzer"] != first["analyzer"]:
            older = name if facts["analyzer"].get("form", 0) < first["analyzer"].get("form", 0) else first_name
            raise InvalidRequest(
                f"{first_name} and {name} count words in different ways; `sciretrieve reindex -i {older}` counts them anew, in seconds"
            )
    return Statistics(**{name: sum(int(facts["statistics"][name]) for facts in facts_of.values()) for name in first["statistics"]})


def _shared(values: Sequence[Value]) -> Value | None:
    """The value that all have; None where they differ."""
    return values[0] if all(value == values[0] for value in values) else None
