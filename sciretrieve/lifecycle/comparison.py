"""Comparing a corpus with an index: new papers, changed papers, and papers that the corpus lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..base.once import once
from ..base.types import Mask, Rows
from ..files.schema import booleans, integers, texts
from ..matching.sharding import by_shard
from ..papers.corpora import Batch, CutOff, Rejected, Withdrawn
from ..papers.corpora.ids import OWN_ID, SeenIds, are_others, own_id, warn_of_own_ids, warn_of_repeats, works_of
from ..query.snapshot import Snapshot
from ..storage.shards.cutting import contents

FEW = 4
"""Batches for which all ids are scanned. Making a table of a million ids takes as long as ten scans."""
NAMES = pa.list_(pa.string())
SHOWN = 5
"""Papers of each kind that are named."""


class IdTable:
    """Maps ids to rows of an index's papers, in batches.

    The first few batches scan all ids of the index. After that, a table is built once, in 16 bytes per paper, of sorted hashes of the ids.
    Matches are confirmed by the ids in the index.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot, self._asked = snapshot, 0

    @once
    def _table(self) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Rows sorted by the hashes of their ids, and these hashes."""
        hashes = np.concatenate([_hashes(shard.ids.to_pylist()) for shard in self._snapshot.shards])
        rows = self._snapshot.scope.places
        by_hash = rows[np.argsort(hashes[rows])]
        return by_hash, hashes[by_hash]

    def rows(self, ids: Sequence[str]) -> Rows:
        """Rows of the papers with the given ids, (n,); -1 for an unknown id."""
        if not len(ids):
            return np.empty(0, np.int64)
        self._asked += 1
        return self._scan(ids) if self._asked <= FEW else self._look_up(ids)

    def _scan(self, ids: Sequence[str]) -> Rows:
        values, row_of = texts(ids), dict[str, int]()
        for shard in self._snapshot.shards:
            is_there = pc.is_in(shard.ids, value_set=values).to_numpy(zero_copy_only=False)
            shard_rows = shard.scope.passing(is_there).places
            row_of |= zip(shard.texts_at("id", shard_rows), (shard_rows + shard.first).tolist(), strict=True)
        return np.array([row_of.get(id, -1) for id in ids], np.int64)

    def _look_up(self, ids: Sequence[str]) -> Rows:
        by_hash, known_hashes = self._table
        rows = np.full(len(ids), -1, np.int64)
        hashes = _hashes(ids)
        places = np.searchsorted(known_hashes, hashes)
        open_positions = np.arange(len(ids))
        while True:  # until each is found, or no paper has the hash of its id
            open_positions = open_positions[places[open_positions] < len(known_hashes)]
            open_positions = open_positions[known_hashes[places[open_positions]] == hashes[open_positions]]
            if not len(open_positions):
                return rows
            candidates = by_hash[places[open_positions]]
            pairs = zip(self._snapshot.ids(candidates), open_positions.tolist(), strict=True)
            is_same = np.array([id == ids[position] for id, position in pairs])
            rows[open_positions[is_same]] = candidates[is_same]
            open_positions = open_positions[~is_same]
            places[open_positions] += 1


def _hashes(ids: Iterable[str]) -> npt.NDArray[np.int64]:
    return np.fromiter(map(hash, ids), np.int64)


class CorpusComparison:
    """Compares a corpus with an index, batch by batch.

    With `keeps_others`, a paper whose id belongs to another work in the index gets a new id instead of replacing that work.

    Attributes:
        added, unchanged: numbers of new papers, and of papers with the same contents.
        lost: number of unreadable rows that may belong to any paper of the index.
    """

    def __init__(self, snapshot: Snapshot, *, keeps_others: bool = False) -> None:
        self._snapshot, self._table, self._keeps_others = snapshot, IdTable(snapshot), keeps_others
        self._is_seen: Mask = np.zeros(snapshot.scope.rows, bool)
        self._is_rejected: Mask = np.zeros(snapshot.scope.rows, bool)
        self._replaced_rows: list[Rows] = []
        self._added_ids: list[str] = []
        self._seen_own_ids = SeenIds()
        self.added = self.unchanged = self.lost = 0

    def chosen(self, batch: Batch) -> pa.Table:
        """Papers of a batch that the index lacks or has with other contents."""
        self._note(batch.rejected)
        papers, rows = batch.papers, self._table.rows(batch.papers["id"].to_pylist())
        is_taken = self._differ(papers, rows)
        if self._keeps_others:
            papers, rows, is_taken = self._kept_apart(batch, rows, is_taken)
        known_positions = np.flatnonzero(rows >= 0)
        known_rows, is_replaced = rows[known_positions], is_taken[known_positions]
        self._is_seen[known_rows] = True
        self._replaced_rows.append(known_rows[is_replaced])
        self.unchanged += int(np.count_nonzero(~is_replaced))
        new_positions = np.flatnonzero(rows < 0)
        self.added += len(new_positions)
        self._added_ids += papers["id"].take(integers(new_positions[: SHOWN - len(self._added_ids)])).to_pylist()
        return papers.filter(booleans(is_taken))

    def _kept_apart(self, batch: Batch, rows: Rows, is_taken: Mask) -> tuple[pa.Table, Rows, Mask]:
        """A batch's papers, their rows and whether they are taken, with new ids for works whose ids other works of the index have.

        If the corpus has a paper with such a new id as well, it is the same work, and the later of the two is left out as unchanged.
        """
        papers, ids = batch.papers, batch.papers["id"].to_pylist()
        changed_positions = np.flatnonzero(is_taken & (rows >= 0))
        if own_ids := self._own_ids(batch, changed_positions, rows[changed_positions]):
            warn_of_own_ids(batch.source, [(ids[position], id) for position, id in own_ids.items()], " of the index")
            ids = [own_ids.get(position, id) for position, id in enumerate(ids)]
            papers = papers.set_column(0, "id", pa.array(ids, pa.string()))
            positions = np.array(list(own_ids), np.int64)
            rows[positions] = self._table.rows(list(own_ids.values()))
            is_taken[positions] = self._differ(papers.take(integers(positions)), rows[positions])
        own_positions = np.flatnonzero(pc.match_substring_regex(papers["id"], OWN_ID).to_numpy())
        is_first = np.ones(len(rows), bool)
        is_first[own_positions], _ = self._seen_own_ids.add([ids[position] for position in own_positions.tolist()])
        if is_first.all():
            return papers, rows, is_taken
        warn_of_repeats(batch.source, papers["id"].filter(booleans(~is_first)).to_pylist())
        self.unchanged += int(np.count_nonzero(~is_first))
        return papers.filter(booleans(is_first)), rows[is_first], is_taken[is_first]

    def _differ(self, papers: pa.Table, rows: Rows) -> Mask:
        """Whether each paper's contents differ from those of the index's paper at the given row, (n,). True for papers without a row."""
        hashes, is_taken = contents(papers), np.ones(len(rows), bool)
        known_positions = np.flatnonzero(rows >= 0)
        for shard, places, shard_rows in by_shard(rows[known_positions], self._snapshot.shards):
            positions = known_positions[places]
            equal = pc.equal(hashes.take(integers(positions)), shard.contents.take(integers(shard_rows)))
            is_taken[positions] = ~equal.to_numpy(zero_copy_only=False)
        return is_taken

    def _own_ids(self, batch: Batch, positions: Rows, rows: Rows) -> dict[int, str]:
        """New ids for papers, by position, that are other works than the papers with their ids in the index, at the given rows."""
        if not len(positions):
            return {}
        papers = batch.papers.select(["id", "title", "authors"]).take(integers(positions))
        holders = self._snapshot.papers_at(rows, ["id", "title", "authors"])
        held = pa.table({"title": [paper.title for paper in holders], "authors": pa.array([paper.authors for paper in holders], NAMES)})
        is_other = are_others(works_of(papers), works_of(held), papers["title"].to_pylist(), batch.has_weak_ids)
        others = papers.filter(booleans(is_other)).to_pylist()
        own_ids = (own_id(paper["id"], paper["title"], paper["authors"] or []) for paper in others)
        return dict(zip(positions[is_other].tolist(), own_ids, strict=True))

    def _note(self, rejected: Sequence[Rejected]) -> None:
        """Note the papers of rejected rows. A paper that its source has withdrawn counts as missing."""
        unread = [row for row in rejected if not isinstance(row, Withdrawn)]
        self.lost += sum(row.id is None or isinstance(row, CutOff) for row in unread)
        rows = self._table.rows([row.id for row in unread if row.id is not None])
        self._is_rejected[rows[rows >= 0]] = True

    @property
    def replaced_rows(self) -> Rows:
        """Rows of papers with other contents in the corpus."""
        return np.concatenate([np.empty(0, np.int64), *self._replaced_rows])

    def missing_rows(self, despite_lost: bool) -> tuple[Rows, Rows]:
        """Rows of papers that the corpus lacks: first missing papers, then papers whose rows may be unreadable. With `despite_lost`, only
        papers whose id is in an unreadable row count as the latter."""
        rows = self._snapshot.scope.passing(~self._is_seen).places
        is_kept = self._is_rejected[rows] | (self.lost > 0 and not despite_lost)
        return rows[~is_kept], rows[is_kept]

    def examples(self, **rows: Rows) -> dict[str, list[str]]:
        """Ids of the first few papers that are new, replaced, and at the given rows."""
        named_rows: dict[str, Any] = {"replaced": self.replaced_rows, **rows}
        return {"added": self._added_ids, **{name: self._snapshot.ids(places[:SHOWN]) for name, places in named_rows.items()}}
