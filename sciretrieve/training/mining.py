"""Mined negatives: answers of an index to a query that are not relevant, without those that may well be.

A paper that scores nearly as high as the positive may be relevant and unjudged. So a negative's score must be below a share of the
positive's, 0.95: TopK-PercPos of NV-Retriever (Moreira et al. 2024, arXiv 2407.15831, section 3).
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
    """Settings of mining.

    Attributes:
        by: "bm25", or the folder of an index of the corpus, searched by its vectors, or by BM25 if it has none.
        first, last: the ranks of negatives.
        share: a negative's score is below this share of the positive's.

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
        """The settings to record with a set."""
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
    """For each query's id and each of its positive papers, the ids of hard negatives from an index, best first.

    Args:
        index: of a corpus.
        mining: the settings.
        queries: each once.
        positives: by query, the relevant papers that need negatives.
        barred: by query, other papers that cannot be negatives.
        known: the corpus's papers.
        progress: a listener.

    A positive paper beyond the last rank has no negatives, since all papers above it score higher.

    Raises:
        InvalidRequest: the index has a paper that the corpus lacks.
    """
    mode: Mode = "bm25" if index.snapshot.encoder is None else "dense"

    def asked(query: Query) -> Query:
        """The query to search: for BM25, as a paper, so that its spelling is not corrected."""
        return query if mode != "bm25" or query.paper is not None else Query(query.id, paper=Paper(query.id, query.text))

    def bound(score: float) -> float:
        """The score that negatives must stay below. A score below 0, such as a distance, is divided by the share."""
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
    """For each wanted query and positive paper, the id of the hardest negative; None if there is none.

    Args:
        mining: the settings.
        wanted: ids of a query and a positive paper, repeated for several negatives.
        queries: each query once.
        barred: by query, papers that cannot be negatives; found ones are added, so that a query has each once.
        corpus, known: the papers to mine in, and their ids.
        usable: the papers that may be negatives.
        folder: the place of a temporary BM25 index.
        progress: a listener.

    Raises:
        NotFound, CorruptData: there is no such index, or it is damaged.
    """
    positives: dict[str, dict[str, None]] = {}
    for query, positive in wanted:
        positives.setdefault(query, {})[positive] = None
    progress.start(len(queries), unit="mined queries")
    found: dict[tuple[str, str], list[str]] = {}
    path = folder / "bm25" if mining.by == BM25 else None
    try:
        with build(corpus, path, BuildSettings(encoder=None, dense="none"), progress=False) if path else open_index(mining.by) as index:
            for query, hard in negatives(index, mining, queries, positives, barred, known, progress):
                found |= {(query, positive): [id for id in ids if id in usable] for positive, ids in hard.items()}
    finally:
        if path:
            remove(path)
    mined: list[str | None] = []
    for query, positive in wanted:
        negative = next((id for id in found.get((query, positive), ()) if id not in barred[query]), None)
        barred[query].update(() if negative is None else (negative,))
        mined.append(negative)
    return mined
