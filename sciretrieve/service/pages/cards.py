"""Papers in lists: the title and the nearest sentence with the query's words marked and formulas set, and the reasons for the paper."""

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
from ...base.types import Hit, Paper, Passage
from ...base.wording import without_controls
from ...papers.formulas import formulas_in, in_unicode
from ...papers.retractions import retracted, retraction_columns
from ...query.index import Index
from ...query.ranking.linking import GRAPHED
from ...runs import WEAK
from .formulas import mathml
from .state import State

Pieces = Sequence[tuple[str, bool]]
"""A text in pieces, of which formulas are HTML, and whether each is marked."""


EXCERPT = 360
"""The most characters of a passage in a list of papers, unless its best sentence is longer."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage of a full text in pieces, with the query's words marked, and its place: page and section."""

    place: Pieces
    text: Pieces


@dataclass(frozen=True)
class Card:
    """A paper in a list.

    Attributes:
        paper: the paper.
        name: its name among all of the service's indexes.
        index: the name of its index, if there are several.
        also: names of its other records.
        is_retracted: whether its record marks it as retracted.
        words: the query's words, to be marked; None in lists without a query.
        snippet: the sentence of its abstract nearest to the query, or its first.
        passage: the best of its full text; None without one.
        cited: how many papers of the index cite it; None if unknown.
        named: how the query names it, such as "DOI"; "" if it does not.
        shared: how many of the query's words it has, and of how many; None if none.
        nearness: its nearness in meaning, from 0 to 1; None if it is not near.
        is_linked: whether citations link it with the papers that it is like.
        lines: its ranks, words and nearest sentence, if requested.
    """

    paper: Paper
    name: str
    index: str | None = None
    also: Sequence[str] = ()
    is_retracted: bool = False
    words: QueryWords | None = None
    snippet: str = ""
    passage: ShownPassage | None = None
    cited: int | None = None
    named: str = ""
    shared: tuple[int, int] | None = None
    nearness: float | None = None
    is_linked: bool = False
    lines: Sequence[str] = ()

    @once
    def title(self) -> Pieces:
        """Its title, or a substitute."""
        return pieces(self._headline, self.words)

    @property
    def plain_title(self) -> str:
        """The title as a text."""
        return in_unicode(without_controls(self._headline))

    @once
    def sentence(self) -> Pieces:
        """The snippet in pieces."""
        return pieces(self.snippet, self.words)

    @once
    def abstract(self) -> Pieces:
        """The abstract in pieces."""
        return pieces(self.paper.abstract, None)

    @property
    def _headline(self) -> str:
        return " ".join(self.paper.title.split()) or self.paper.headline(120)


def cards_of(index: Index, named: Sequence[tuple[Paper, str]]) -> list[Card]:
    """Papers of an index without a query, each with its name."""
    flags = _retracted(index, [paper for paper, _ in named])
    return [Card(paper, name, is_retracted=flag) for (paper, name), flag in zip(named, flags, strict=True)]


def cards_of_hits(index: Index, hits: Sequence[Hit]) -> list[Card]:
    """Hits without a query, with their other records."""
    flags = _retracted(index, [hit.paper for hit in hits])
    return [Card(hit.paper, hit.name, hit.index, hit.also_names, flag) for hit, flag in zip(hits, flags, strict=True)]


def cards_of_answer(index: Index, answer: Answer, first: int, state: State) -> list[Card]:
    """The hits of an answer from a place on, counted from 0."""
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
            passage=None if hit.passage is None else shown_passage(hit.passage, words, EXCERPT),
            cited=count,
            named=answer.ranking.known.get(hit.id, ""),
            shared=_shared_words(words, hit.paper),
            nearness=near,
            is_linked=hit.scores.get("citations") is not None,
            lines=reasons(hit, why) if why is not None else (),
        )
        cards.append(card)
    return cards


def shown_passage(passage: Passage, words: QueryWords, most: int | None = None) -> ShownPassage:
    """A passage, or of a long one its sentences around the best, of at most so many characters."""
    text = passage.text if most is None else words.excerpt(passage.text, most)
    return ShownPassage(pieces(passage.place, None), pieces(text, words))


def pieces(text: str, words: QueryWords | None) -> Pieces:
    """A text in pieces, with the query's words marked, without control characters. A formula is one piece."""
    text = without_controls(text)
    marks = words.marks(text) if words is not None else []
    parts: list[tuple[str, bool]] = []
    last = 0
    for formula in formulas_in(text):
        if (math := mathml(formula.tex)) is not None:
            is_marked = any(start < formula.end and end > formula.start for start, end in marks)
            parts += [*_marked(text, marks, last, formula.start), (math, is_marked)]
            last = formula.end
    return [part for part in [*parts, *_marked(text, marks, last, len(text))] if part[0]]


def _marked(text: str, marks: Sequence[tuple[int, int]], first: int, end: int) -> Iterator[tuple[str, bool]]:
    """The pieces of a part of a text."""
    for mark, mark_end in marks:
        mark, mark_end = max(mark, first), min(mark_end, end)
        if mark < mark_end:
            yield from ((text[first:mark], False), (text[mark:mark_end], True))
            first = mark_end
    yield text[first:end], False


def _shared_words(words: QueryWords, paper: Paper) -> tuple[int, int] | None:
    """How many of the query's words a paper has, and of how many."""
    shared = words.rarities.keys() & set(words.analyzer.terms(f"{paper.title} {paper.abstract}"))
    return (len(shared), len(words.rarities)) if shared else None


def _nearness(index: Index, hits: Sequence[Hit]) -> Iterator[float | None]:
    scores = [hit.scores.get("dense") for hit in hits]
    if index.snapshot.scale is None or not any(score is not None for score in scores):
        yield from (None for _ in hits)
        return
    for score in index.snapshot.scale.strength(np.array([np.nan if score is None else score for score in scores])).tolist():
        yield score if score >= WEAK else None  # false for NaN


def _cited(index: Index, answer: Answer, first: int) -> list[int | None]:
    places = answer.places[first:]
    if not index.snapshot.has_references or len(index) > GRAPHED:
        return [None] * len(places)
    counts = index.snapshot.citations.graph.cited_counts
    return [int(counts[answer.ranking.rows[place]]) for place in places]


def _retracted(index: Index, papers: Sequence[Paper]) -> list[bool]:
    """Whether each paper's record marks it as retracted."""
    columns = {name: pa.array([paper.extra.get(name) for paper in papers]) for name in retraction_columns(index.snapshot.columns)}
    flags: list[bool] = retracted(pa.table({"title": pa.array([paper.title for paper in papers], pa.string()), **columns})).tolist()
    return flags
