"""Several indexes searched as one: an index whose shards are those of all, so that there is one ranking, by scores of one kind.

Nothing is merged afterwards. BM25 counts papers and terms over all indexes, and meaning is compared as in one index, or, where encoders
differ, on the scale of each. So a paper has the score that it has in an index that was built of all the papers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from ..choices import MODES, Mode
from ..encoders.query_encoder import JoinedQueryEncoder, QueryEncoder
from ..errors import Ambiguous, InvalidRequest
from ..files.schema import papers_of
from ..files.streams import checked_text
from ..matching.dense import VectorShard
from ..matching.dense.scale import SAMPLE_SIZE, Scale, ScaledShard, scale
from ..matching.effort import Effort
from ..matching.late import Packing, TokenShard
from ..matching.lexical.corpus_statistics import Frequencies, summed
from ..matching.search import Probe, Searcher
from ..matching.sharding import by_shard
from ..once import once
from ..options import SearchOptions
from ..papers.duplicates import same_works
from ..protocols import AnyEncoder
from ..runs import Ranking
from ..storage.shards import Shard
from ..types import Paper, Rows, Vectors, name_in
from ..wording import enumerated
from .index import Index
from .joint import hardest, joined, lacking
from .narrowing.nested import place_of
from .snapshot import LISTED, as_ids, same


class Indexes(Index):
    """Snapshots of several indexes, which are searched as one.

    Attributes:
        members: the indexes, in the order given; they are this object's own, and closed with it.
        path: all names in one, for messages; it is no folder.
        lacking: what keeps all of them from being searched in every way, a sentence each.
    """

    def __init__(self, indexes: Sequence[str | Path | Index], *, encoder: AnyEncoder | None = None) -> None:
        """Open several indexes.

        Args:
            indexes: their directories, or indexes that are open: these are opened again at their generation, with the same encoder, so that
                each may be closed without the other.
            encoder: an encoder of queries, or its name, for all of those that are given by their directory, see `Index`.

        Raises:
            NotFound, CorruptData, UnknownName: as `Index`, of any of them.
            InvalidRequest: there are none, one is given twice, a cluster searches one, or they cannot be searched together: they count
                words in different ways, or one has only vectors and another only BM25.
        """
        if isinstance(indexes, str | Path | Index) or not (listed := list(indexes)):
            raise InvalidRequest("`open_many` takes several indexes: a list of their folders")
        with ExitStack() as opening:
            self.members = tuple(opening.enter_context(_opened(index, encoder)) for index in listed)
            self._names = _names([member.path for member in self.members])
            self.path = Path(" + ".join(self._names))
            self._starts = np.cumsum([0, *(sum(shard.papers for shard in member.shards) for member in self.members)])
            self.shards = [
                Shard(shard.verified, shard.facts, shard.first + start)
                for member, start in zip(self.members, self._starts.tolist(), strict=False)
                for shard in member.shards
            ]
            manifests = {name: member.manifest for name, member in zip(self._names, self.members, strict=True)}
            self.lacking: tuple[str, ...] = tuple(lacking(manifests))
            self._spaces, self._scales = _spaces(self.members), list[Scale]()
            if len(self._spaces) > 1:
                self._set_scales()
            self.manifest = joined(manifests, [space[0].manifest for space in self._spaces])
            opening.pop_all()

    def _set_scales(self) -> None:
        """Find the scales of different encoders; without one of them vectors are not searched."""
        for members in self._spaces:
            rows = np.concatenate([np.arange(*self._span(member)) for member in members])
            sample = self.drawn(self.scope.among(rows).places, SAMPLE_SIZE)
            found = scale(self._plain_vectors(members), members[0].golden, sample)
            if found is None:
                names = [name for name, member in zip(self._names, self.members, strict=True) if member in members]
                self.lacking = (
                    *self.lacking,
                    f"what the scores of {enumerated(names)} mean cannot be told, and others have another encoder, so all of the indexes "
                    "are searched by words alone",
                )
                self._spaces, self._scales = [], []
                return
            self._scales.append(found)

    def _let_go(self) -> None:
        for member in self.members:
            member.close()

    def refreshed(self) -> Indexes:
        """The indexes as they are now: this object if nothing was committed to any of them since, else another; see `Index.refreshed`."""
        return self._renewed([member.refreshed() for member in self.members])

    def reopened(self) -> Indexes:
        """See `Index.reopened`."""
        return self._renewed([member.reopened() for member in self.members])

    def _renewed(self, current: Sequence[Index]) -> Indexes:
        if all(now is then for now, then in zip(current, self.members, strict=True)):
            return self
        try:
            return Indexes(current)
        finally:
            for now, then in zip(current, self.members, strict=True):
                if now is not then:
                    now.close()

    def __contains__(self, id: object) -> bool:
        """Whether a paper of any of them has this id, or stands under it as INDEX:ID."""
        return isinstance(id, str) and bool(self._rows_of([checked_text(id, "id")])[id])

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those of the given ids, or of INDEX:ID, that mean one paper; an id that different papers have in different indexes
        means none."""
        return {id: rows[0] for id, rows in self._rows_of(ids).items() if rows and self._is_one_work(np.array(rows, np.int64))}

    def rows(self, ids: str | Sequence[str]) -> Rows:
        """See `Index.rows`. Raises Ambiguous, too, for an id that different papers have in different indexes."""
        for id, rows in self._rows_of([checked_text(id, "id") for id in as_ids(ids)]).items():
            self._check_means_one(id, "id", rows)
        return super().rows(ids)

    def _named_row(self, text: str, strict: bool) -> int:
        match = self.lookup.named(text)
        if not len(match):
            return super()._named_row(text, strict)
        self._check_means_one(text, match.by, match.rows.tolist())
        return self._telling(match.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called: their folders' names, or their paths where two folders have one name."""
        return self._names

    def whole_names(self, rows: Rows) -> list[str]:
        """See `Snapshot.whole_names`."""
        return list(map(name_in, self.names_at(rows), self.ids(rows)))

    def remarks(self, columns: Iterable[str]) -> list[str]:
        """What keeps all of them from being searched in every way, and which lack some of the columns, a sentence each."""
        remarks = list(self.lacking)
        for column in dict.fromkeys(columns):
            members = zip(self._names, self.members, strict=True)
            without = [name for name, member in members if place_of(member.columns.names, column) is None]
            if without and place_of(self.columns.names, column) is not None:
                have = "has" if len(without) == 1 else "have"
                remarks.append(f"{enumerated(without)} {have} no column {column}: to a filter, all of these papers are without a value")
        return remarks

    def _checked(self, k: int, mode: Mode | None) -> Mode:
        if self.lacking and mode in MODES and mode not in self.modes:
            raise InvalidRequest(f"{self.lacking[0]}; leave out `mode={mode!r}`")
        return super()._checked(k, mode)

    def _rows_of(self, ids: Sequence[str]) -> dict[str, list[int]]:
        """For each id its rows in the indexes, in their order; for INDEX:ID, if that is no id, the row of this paper."""
        rows_of: dict[str, list[int]] = {id: [] for id in ids}
        for start, member in zip(self._starts.tolist(), self.members, strict=False):
            for id, row in member.find(ids).items():
                rows_of[id].append(start + row)
        for start, name, member in zip(self._starts.tolist(), self._names, self.members, strict=False):
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

    def _span(self, member: Index) -> tuple[int, int]:
        """The first row of an index, and the one after its last."""
        place = self.members.index(member)
        return int(self._starts[place]), int(self._starts[place + 1])

    def _member_at(self, row: int) -> Index:
        return self.members[int(np.searchsorted(self._starts, row, side="right")) - 1]

    def names_at(self, rows: Rows) -> list[str]:
        """See `Snapshot.names_at`."""
        return [self._names[place] for place in (np.searchsorted(self._starts, rows, side="right") - 1).tolist()]

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

    def leading(self, ranking: Ranking, probe: Probe, k: int) -> Ranking:
        """See `Index.leading`; the ranking says in which index each paper stands."""
        led = super().leading(ranking, probe, k)
        return replace(led, indexes=self.names_at(led.rows))

    def _grouped(self, ranking: Ranking, papers: Sequence[Paper], probe: Probe, k: int) -> Ranking:
        every = super()._grouped(ranking, papers, probe, len(ranking))
        first = self._at_its_fullest(every.take(range(min(k, len(every)))), probe)
        if len(first) == min(k, len(every)):
            return first
        whole = self._at_its_fullest(every, probe)
        return whole.take(range(min(k, len(whole))))

    def _at_its_fullest(self, ranking: Ranking, probe: Probe) -> Ranking:
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
            copies = np.concatenate([rows[place : place + 1], others[probe.scope.has(others)]])
            if len(copies) > 1:
                rows[place] = copies[max(range(len(copies)), key=_fullness(self.papers_at(copies)))]
            shown = self.names_at(rows[place : place + 1])[0], self.ids(rows[place : place + 1])[0]
            pairs = dict.fromkeys([*found, *zip(self.names_at(others), self.ids(others), strict=True)])
            also_in[place] = [name for name, id in pairs if (name, id) != shown]
            also[place] = [id for name, id in pairs if (name, id) != shown]
        whole = replace(ranking, ids=self.ids(rows), rows=rows, indexes=self.names_at(rows), also=also, also_in=also_in)
        return whole if len(kept) == len(whole) else whole.take(kept)

    def effort(self, options: SearchOptions) -> Effort:
        """See `Index.effort`: as hard as the index that needs the most."""
        if options.recall is None and options.ef is None and options.nprobe is None:
            return self.searcher.effort
        return hardest([member.effort(options) for member in self.members])

    @once
    def searcher(self) -> Searcher:
        """What the three ways to search work on."""
        return replace(super().searcher, effort=hardest([member.searcher.effort for member in self.members if member.vectors]))

    @once
    def _frequencies(self) -> Mapping[int, Frequencies]:
        """For each shard, by its first row, how many papers of all indexes have each of its terms."""
        parts = [[(shard.postings.terms, member.frequencies(shard)) for shard in member.shards] for member in self.members]
        counts = [part for parts in summed(parts) for part in parts]
        return {shard.first: part for shard, part in zip(self.shards, counts, strict=True)}

    def frequencies(self, shard: Shard) -> Frequencies:
        """How many papers of all indexes have each term of a shard, (terms,)."""
        return self._frequencies[shard.first]

    @once
    def golden(self) -> Vectors | None:
        """The encoder's vectors for a probe, see `Snapshot.golden`; None with different encoders."""
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

    def _plain_vectors(self, members: Sequence[Index]) -> list[VectorShard]:
        """The vectors of some of the indexes, their rows counted over all."""
        metric = members[0].manifest.metric
        assert metric is not None
        return [shard.vectors(members[0].dim, metric) for shard in self.shards if self._member_at(shard.first) in members]

    def check_comparable(self) -> None:
        """See `Snapshot.check_comparable`."""
        if len(self._spaces) > 1:
            raise InvalidRequest(f"the vectors of {self.path} are by different encoders and cannot be compared; take one index at a time")

    def vectors_at(self, rows: Rows) -> Vectors:
        """See `Snapshot.vectors_at`. Raises as `check_comparable`."""
        self.check_comparable()
        return super().vectors_at(rows)

    @once
    def scale(self) -> Scale | None:
        """What dense scores mean in all of them together, see `Snapshot.scale`."""
        if len(self._spaces) <= 1:
            return super().scale
        return Scale(0.0, 1.0, np.concatenate([scale.rows for scale in self._scales]))

    @once
    def packing(self) -> Packing | None:
        """How token vectors of the first index are packed; None where any lacks them."""
        return None if self.manifest.late is None else self.members[0].packing

    def tokens_of(self, shards: Iterable[Shard]) -> list[TokenShard]:
        """See `Snapshot.tokens_of`; each index has packed them in its own way."""
        if self.packing is None:
            return []
        packed = [(shard, self._member_at(shard.first).packing) for shard in shards]
        return [shard.tokens(packing) for shard, packing in packed if packing is not None]

    @once
    def query_encoder(self) -> QueryEncoder:
        """What encodes queries."""
        encoders = [space[0].query_encoder for space in self._spaces]
        return encoders[0] if len(encoders) == 1 else JoinedQueryEncoder(self.path, encoders)


def _opened(index: str | Path | Index, encoder: AnyEncoder | None) -> Index:
    if not isinstance(index, Index):
        return Index(index, encoder=encoder)
    given = index._given  # which one that is closed has no more
    if type(index) is not Index:
        raise InvalidRequest(f"{index.path} cannot be one of several indexes: they are opened here, each by itself; give its folder")
    return same(Index(index.path, encoder=given, generation=index.manifest.generation, query_encoder=index.query_encoder), index)


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


def _spaces(members: Sequence[Index]) -> list[list[Index]]:
    """The indexes in groups of one encoder and one metric, whose scores can be compared; none where any has no vectors."""
    if any(member.manifest.encoder is None for member in members):
        return []
    spaces: list[list[Index]] = []
    for member in members:
        for space in spaces:
            if space[0].query_encoder.fits(member.manifest.encoder) and space[0].manifest.metric == member.manifest.metric:
                space.append(member)
                break
        else:
            spaces.append([member])
    return spaces
