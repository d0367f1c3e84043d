"""Mined negatives: what an index answers to a query, and what is not relevant to it, without those that may well be.

A paper that scores nearly as high as the positive one may be relevant and unjudged. So only papers are taken that score below a share
of the positive's score, 0.95: TopK-PercPos of NV-Retriever (Moreira et al. 2024, arXiv 2407.15831, section 3).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..base.choices import Mode
from ..base.errors import InvalidRequest
from ..base.types import Paper, Query
from ..files.writing import remove
from ..lifecycle import build
from ..options import BuildSettings
from ..papers.corpora import Corpus
from ..protocols import Progress
from ..query.index import Index
from ..query.opening import open_index

BM25 = "bm25"
MINED = "mined"
"""The kind of a mined negative."""
BATCH = 256
"""Queries per search."""


@dataclass(frozen=True, slots=True)
class Mining:
    """How negatives are mined.

    Attributes:
        by: "bm25", or the folder of an index of the corpus, whose vectors choose, or its BM25 if it has none.
        first, last: the ranks among which they are.
        share: the share of the positive's score that a negative's must be below.

    Raises:
        InvalidRequest: a number is out of range.
    """

    by: str | Path
    first: int = 1
    last: int = 100
    share: float = 0.95

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.last:
            raise InvalidRequest(f"negatives are mined from one rank to another, such as 1-100, not {self.first}-{self.last}")
        if not 0 < self.share <= 1:
            raise InvalidRequest(f"`share` must be above 0 and 1 at most, not {self.share}")

    def facts(self) -> dict[str, object]:
        """What of it is written down with a set."""
        return {"by": str(self.by), "ranks": [self.first, self.last], "share": self.share}


@dataclass(frozen=True)
class Miner:
    """An index that answers queries."""

    index: Index
    mode: Mode
    mining: Mining
    known: Collection[str]

    def negatives(
        self, queries: Sequence[Query], positives: Mapping[str, Sequence[str]], barred: Mapping[str, Collection[str]], progress: Progress
    ) -> Iterator[tuple[str, Mapping[str, list[str]]]]:
        """For each query's id, and each of its positive papers, the ids of the papers that are hard for it, best first.

        Args:
            queries: each once.
            positives: the papers that are relevant, by query, for which negatives are wanted.
            barred: papers that are no negatives, by query; positives are none anyway.

        A positive paper beyond the last rank has no negatives: all above it score higher.

        Raises:
            InvalidRequest: the index has a paper that the corpus lacks.
        """
        last = self.mining.last
        for start in range(0, len(queries), BATCH):
            batch = queries[start : start + BATCH]
            run = self.index.search([self._asked(query) for query in batch], last, mode=self.mode, group=False)
            for query, ranking in zip(batch, run, strict=True):
                if missing := next((id for id in ranking.ids if id not in self.known), None):
                    raise InvalidRequest(f"{self.index.path} has papers that the corpus lacks, {missing!r} first; index the corpus itself")
                scores = dict(zip(ranking.ids, ranking.parts.get(self.mode, ranking.scores).tolist(), strict=True))
                wanted = positives[query.id]
                no_negatives = {*wanted, *barred.get(query.id, ())}
                others = [id for id in ranking.ids[self.mining.first - 1 :] if id not in no_negatives]
                yield (
                    query.id,
                    {id: [other for other in others if scores[other] < self._bound(scores[id])] for id in wanted if id in scores},
                )
            progress.advance(len(batch))

    def _asked(self, query: Query) -> Query:
        """A query as it is searched: for BM25 a paper of its text, whose words are not taken for others, as those that people type are."""
        return query if self.mode != "bm25" or query.paper is not None else Query(query.id, paper=Paper(query.id, query.text))

    def _bound(self, score: float) -> float:
        """What a negative scores less than; scores below 0, such as distances, are as far from the bound on their side."""
        return score * self.mining.share if score >= 0 else score / self.mining.share


@contextmanager
def opened_miner(mining: Mining, corpus: Corpus | Sequence[Paper], known: Collection[str], folder: Path) -> Iterator[Miner]:
    """What mines in a corpus; BM25's index is made in `folder`, and removed.

    Raises:
        NotFound, CorruptData: there is no such index, or it is damaged.
    """
    made = folder / "bm25" if mining.by == BM25 else None
    index = build(corpus, made, BuildSettings(encoder=None, dense="none"), progress=False) if made else open_index(mining.by)
    try:
        mode: Mode = "bm25" if index.snapshot.encoder is None else "dense"
        yield Miner(index, mode, mining, known)
    finally:
        index.close()
        if made:
            remove(made)


def mine(
    mining: Mining,
    wanted: Sequence[tuple[str, str]],
    queries: Sequence[Query],
    barred: Mapping[str, set[str]],
    corpus: Corpus | Sequence[Paper],
    known: Collection[str],
    usable: Collection[str],
    folder: Path,
    progress: Progress,
) -> list[str | None]:
    """For each query and positive paper that are wanted, the id of the negative that is hardest; None where there is none.

    Args:
        mining: how.
        wanted: ids of a query and a positive paper; the same ones as often as negatives are wanted.
        queries: each query once.
        barred: papers that are no negatives, by query; those that are found are added, so that a query has each once.
        corpus, known, folder: as for `opened_miner`.
        usable: the papers that may be negatives.
        progress: is told.
    """
    positives: dict[str, dict[str, None]] = {}
    for query, positive in wanted:
        positives.setdefault(query, {})[positive] = None
    progress.start(len(queries), unit="mined queries")
    found: dict[tuple[str, str], list[str]] = {}
    with opened_miner(mining, corpus, known, folder) as miner:
        for query, negatives in miner.negatives(queries, {id: list(ids) for id, ids in positives.items()}, barred, progress):
            found |= {(query, positive): [id for id in ids if id in usable] for positive, ids in negatives.items()}
    mined: list[str | None] = []
    for query, positive in wanted:
        negative = next((id for id in found.get((query, positive), ()) if id not in barred[query]), None)
        barred[query].update(() if negative is None else (negative,))
        mined.append(negative)
    return mined
