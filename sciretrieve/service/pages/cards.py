"""What lists show of a paper: its title and its nearest sentence with the words of the query marked, and why it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ...answers.answering import Answer
from ...answers.explaining import Explanation
from ...answers.outputs import reasons
from ...answers.snippets import QueryWords, query_words
from ...base.once import once
from ...base.types import Hit, Paper
from ...base.wording import without_controls
from ...papers.retractions import retracted, retraction_columns
from ...query.index import Index
from ...query.ranking.linking import GRAPHED
from ...runs import WEAK
from .state import State

Pieces = Sequence[tuple[str, bool]]
"""A text in pieces, each with whether it is marked."""


@dataclass(frozen=True)
class Card:
    """A paper in a list.

    Attributes:
        paper: the paper.
        name: what names it among all of the service's indexes.
        index: the name of its index, where there are several.
        also: names of its other records.
        is_retracted: whether its record says so.
        words: the words of the query, which are marked; None in lists without one.
        snippet: the sentence of its abstract that is nearest to the query, or its first.
        cited: how many papers of the index cite it; None if that is not known.
        named: by what the query names it, such as "DOI"; "" if it does not.
        shared: how many of the query's words it has, and how many these are; None if none.
        nearness: how near it is in meaning, from 0 to 1; None if it is not near.
        is_linked: whether citations link it with the papers that it is like.
        lines: its ranks, words and nearest sentence, if these were asked for.
    """

    paper: Paper
    name: str
    index: str | None = None
    also: Sequence[str] = ()
    is_retracted: bool = False
    words: QueryWords | None = None
    snippet: str = ""
    cited: int | None = None
    named: str = ""
    shared: tuple[int, int] | None = None
    nearness: float | None = None
    is_linked: bool = False
    lines: Sequence[str] = ()

    @once
    def title(self) -> Pieces:
        """Its title, or what stands for it."""
        return pieces(" ".join(self.paper.title.split()) or self.paper.headline(120), self.words)

    @property
    def plain_title(self) -> str:
        """The title as a text."""
        return "".join(text for text, _ in self.title)

    @once
    def sentence(self) -> Pieces:
        """The snippet in pieces."""
        return pieces(self.snippet, self.words)


def cards_of(index: Index, named: Sequence[tuple[Paper, str]]) -> list[Card]:
    """Papers of an index that no query led to, each with what names it."""
    flags = _retracted(index, [paper for paper, _ in named])
    return [Card(paper, name, is_retracted=flag) for (paper, name), flag in zip(named, flags, strict=True)]


def cards_of_hits(index: Index, hits: Sequence[Hit]) -> list[Card]:
    """The same of hits, with their other records."""
    flags = _retracted(index, [hit.paper for hit in hits])
    return [Card(hit.paper, hit.name, hit.index, hit.also_names, flag) for hit, flag in zip(hits, flags, strict=True)]


def cards_of_answer(index: Index, answer: Answer, first: int, state: State) -> list[Card]:
    """The hits of the answer to a state from a place on, counted from 0."""
    hits = answer.hits[first:]
    words = query_words(index, answer)
    whys: Sequence[Explanation | None] = answer.explanations[first:] if answer.explanations else [None] * len(hits)
    flags, cited, nearness = _retracted(index, [hit.paper for hit in hits]), _cited(index, answer, first), _nearness(index, hits)
    cards = []
    for hit, why, flag, count, near in zip(hits, whys, flags, cited, nearness, strict=True):
        card = Card(
            hit.paper,
            state.name_of(hit.name),
            hit.index or state.index or None,
            [state.name_of(other) for other in hit.also_names],
            flag,
            words=words,
            snippet=(why.sentence if why is not None else "") or words.snippet(hit.paper.abstract),
            cited=count,
            named=answer.ranking.known.get(hit.id, ""),
            shared=_shared(words, hit.paper),
            nearness=near,
            is_linked=hit.scores.get("citations") is not None,
            lines=reasons(hit, why) if why is not None else (),
        )
        cards.append(card)
    return cards


def pieces(text: str, words: QueryWords | None) -> Pieces:
    """A text in pieces, in which words of a query are marked. Control characters are left out of it."""
    text = without_controls(text)
    parts: list[tuple[str, bool]] = []
    last = 0
    for start, end in words.marks(text) if words is not None else ():
        parts += [(text[last:start], False), (text[start:end], True)]
        last = end
    return [part for part in [*parts, (text[last:], False)] if part[0]]


def _shared(words: QueryWords, paper: Paper) -> tuple[int, int] | None:
    """How many of the query's words a paper has, and how many these are."""
    shared = words.rarities.keys() & set(words.analyzer.terms(f"{paper.title} {paper.abstract}"))
    return (len(shared), len(words.rarities)) if shared else None


def _nearness(index: Index, hits: Sequence[Hit]) -> Iterator[float | None]:
    scores = [hit.scores.get("dense") for hit in hits]
    if index.snapshot.scale is None or not any(score is not None for score in scores):
        yield from (None for _ in hits)
        return
    for score in index.snapshot.scale.strength(np.array([np.nan if score is None else score for score in scores])).tolist():
        yield score if score >= WEAK else None  # NaN is not


def _cited(index: Index, answer: Answer, first: int) -> list[int | None]:
    hits = answer.hits[first:]
    if not index.snapshot.has_references or len(index) > GRAPHED:
        return [None] * len(hits)
    counts = index.snapshot.citations.graph.cited_counts
    return [int(counts[answer.ranking.rows[hit.rank - 1]]) for hit in hits]


def _retracted(index: Index, papers: Sequence[Paper]) -> list[bool]:
    """Which papers' records say that they were retracted."""
    columns = {name: pa.array([paper.extra.get(name) for paper in papers]) for name in retraction_columns(index.snapshot.columns)}
    flags: list[bool] = retracted(pa.table({"title": pa.array([paper.title for paper in papers], pa.string()), **columns})).tolist()
    return flags
