"""Mined negatives: what an index answers to a query, and what is not relevant to it, without those that may well be.

A paper that scores nearly as high as the positive one may be relevant and unjudged. So only papers are taken that score below a share
of the positive's score, 0.95: TopK-PercPos of NV-Retriever (Moreira et al. 2024, arXiv 2407.15831, section 3).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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


def negatives(
    index: Index,
    mining: Mining,
    queries: Sequence[Query],
    positives: Mapping[str, Collection[str]],
    barred: Mapping[str, Collection[str]],
    known: Collection[str],
    progress: Progress,
) -> Iterator[tuple[str, Mapping[str, list[str]]]]:
    """For each query's id, and each of its positive papers, the ids of the papers of an index that are hard for it, best first.

    Args:
        index: of a corpus.
        mining: how.
        queries: each once.
        positives: the papers that are relevant, by query, for which negatives are wanted.
        barred: papers that are no negatives, by query; positives are none anyway.
        known: the corpus's papers.
        progress: is told.

    A positive paper beyond the last rank has no negatives: all above it score higher.

    Raises:
        InvalidRequest: the index has a paper that the corpus lacks.
    """
    mode: Mode = "bm25" if index.snapshot.encoder is None else "dense"

    def asked(query: Query) -> Query:
        """A query as it is searched: for BM25 a paper of its text, whose words are not taken for others, as those that people type are."""
        return query if mode != "bm25" or query.paper is not None else Query(query.id, paper=Paper(query.id, query.text))

    def bound(score: float) -> float:
        """What a negative scores less than; scores below 0, such as distances, are as far from the bound on their side."""
        return score * mining.share if score >= 0 else score / mining.share

    for start in range(0, len(queries), BATCH):
        batch = queries[start : start + BATCH]
        run = index.search([asked(query) for query in batch], mining.last, mode=mode, group=False)
        for query, ranking in zip(batch, run, strict=True):
            if missing := next((id for id in ranking.ids if id not in known), None):
                raise InvalidRequest(f"{index.path} has papers that the corpus lacks, {missing!r} first; index the corpus itself")
            scores = dict(zip(ranking.ids, ranking.parts.get(mode, ranking.scores).tolist(), strict=True))
            wanted = positives[query.id]
            no_negatives = {*wanted, *barred.get(query.id, ())}
            others = [id for id in ranking.ids[mining.first - 1 :] if id not in no_negatives]
            yield query.id, {id: [other for other in others if scores[other] < bound(scores[id])] for id in wanted if id in scores}
        progress.advance(len(batch))


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
        corpus, known: what it is mined in, and the ids of its papers.
        usable: the papers that may be negatives.
        folder: where BM25's index is made, and removed.
        progress: is told.

    Raises:
        NotFound, CorruptData: there is no such index, or it is damaged.
    """
    positives: dict[str, dict[str, None]] = {}
    for query, positive in wanted:
        positives.setdefault(query, {})[positive] = None
    progress.start(len(queries), unit="mined queries")
    found: dict[tuple[str, str], list[str]] = {}
    made = folder / "bm25" if mining.by == BM25 else None
    try:
        with build(corpus, made, BuildSettings(encoder=None, dense="none"), progress=False) if made else open_index(mining.by) as index:
            for query, hard in negatives(index, mining, queries, positives, barred, known, progress):
                found |= {(query, positive): [id for id in ids if id in usable] for positive, ids in hard.items()}
    finally:
        if made:
            remove(made)
    mined: list[str | None] = []
    for query, positive in wanted:
        negative = next((id for id in found.get((query, positive), ()) if id not in barred[query]), None)
        barred[query].update(() if negative is None else (negative,))
        mined.append(negative)
    return mined
