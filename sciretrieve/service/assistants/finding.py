"""Answers of the search tools: papers with their nearest sentence and reasons, missing papers, and counts of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...answers import outputs, overview
from ...answers.answering import Request, answer, explanations_of
from ...answers.explaining import Explanation, why_not
from ...answers.overview import Facet
from ...answers.snippets import QueryWords, query_words
from ...base.choices import Mode
from ...base.types import Hit
from ...options import SearchOptions
from ...papers.bibliographies.author_names import byline
from .messages import reworded
from .paging import Ask, page
from .results import Absent, CountedColumn, Counts, FoundPapers, ListedPaper, Value, cut
from .shelf import Shelf

LONGEST_TITLE = 300
LONGEST_VENUE = 120
LONGEST_SENTENCE = 400
"""The most characters of a hit's fields."""
WORDS = 8
"""The most query words that are listed for a hit."""
ALSO = 5
"""The most other records of a hit's work that are named."""


def found(shelf: Shelf, request: Request, asked: str, ask: Ask) -> FoundPapers:
    """A page of the papers that answer a request; only the shown ones are explained. Raises as `answers.answering.answer`."""
    whole = answer(shelf.index, request)
    notes = [reworded(note) for note in outputs.notes(whole) if whole.hits or note != "no paper matches"]
    matching = outputs.total(whole).partition(";")[0] * bool(whole.total)
    words = query_words(shelf.index, whole)

    def papers(places: range) -> list[ListedPaper]:
        hits = [whole.hits[place] for place in places]
        shown = whole.ranking.take([hit.rank - 1 for hit in hits])
        explanations = explanations_of(shelf.index, request, shown)
        return [
            _paper(shelf, replace(hit, rank=place + 1), hit.id in whole.ranking.known, why, words)
            for place, hit, why in zip(places, hits, explanations, strict=True)
        ]

    frame = FoundPapers(asked=asked, count=len(whole.hits), matching=matching, papers=[], notes=notes)
    return page(ask, shelf.state, [shelf.name(hit) for hit in whole.hits], papers, frame)


def _paper(shelf: Shelf, hit: Hit, is_named: bool, why: Explanation, words: QueryWords) -> ListedPaper:
    paper, passage = hit.paper, hit.passage
    return ListedPaper(
        rank=hit.rank,
        id=shelf.name(hit),
        title=cut(paper.title or paper.abstract, LONGEST_TITLE) or "(no title)",
        authors=cut(byline(paper), LONGEST_VENUE),
        year=paper.year,
        venue=cut(paper.venue or "", LONGEST_VENUE),
        sentence=cut(why.sentence, LONGEST_SENTENCE),
        passage="" if passage is None else cut(words.excerpt(passage.text, LONGEST_SENTENCE), 2 * LONGEST_SENTENCE),
        place="" if passage is None else cut(passage.place, LONGEST_VENUE),
        why="; ".join([*["the query names it"] * is_named, *_reasons(why)]),
        also=shelf.also(hit)[:ALSO],
    )


def _reasons(why: Explanation) -> Iterator[str]:
    """A paper's ranks in the halves of the search, the words that it shares, and its links by citations."""
    if why.dense is not None:
        yield f"by meaning #{why.dense.rank:,}"
    if why.bm25 is not None:
        yield f"by words #{why.bm25.rank:,} ({', '.join(list(why.words)[:WORDS])})"
    if why.link is not None:
        yield from outputs.linked_by(why.link)


def absent(shelf: Shelf, name: str, query: str, limit: int, filter: Sequence[str], mode: Mode | None) -> Absent:
    """The reasons why a paper is not among the first of a search. Raises as `answers.explaining.why_not`."""
    (own,) = shelf.own([name])
    row = shelf.index.named_rows([own])
    (paper,) = shelf.index.snapshot.papers_at(row)
    found = why_not(shelf.index, own, query, k=limit, mode=mode, filter=tuple(filter))
    return Absent(
        id=shelf.names(row)[0],
        title=cut(paper.title or paper.abstract, LONGEST_TITLE) or "(no title)",
        ranks={str(mode): rank for mode, rank in found.ranks.items()},
        why="; ".join(_reasons(found.explanation)),
        failed=list(found.failed),
        remedies=[reworded(remedy) for remedy in found.remedies],
    )


def counts(shelf: Shelf, columns: Sequence[str], query: str, filter: Sequence[str], ask: Ask) -> Counts:
    """A page of counts of values. Raises UnknownName for a column that the index lacks, and as `answers.answering.answer`."""
    facets: Sequence[Facet]
    notes: list[str] = []
    if query:
        whole = answer(shelf.index, Request(query, k=1, options=SearchOptions(filter=tuple(filter)), facets=columns))
        facets, notes = whole.facets, [reworded(note) for note in outputs.notes(whole)]
    else:
        rows = shelf.index.matching("", tuple(filter))
        facets = [replace(facet, papers_are="passes filters") for facet in overview.facets_at(shelf.index, rows, columns)]
        names = [column.partition(":")[0] for column in columns]
        notes = [
            remark for remark in shelf.index.snapshot.remarks(names) if remark not in shelf.index.snapshot.remarks([])
        ]  # nothing is searched
    values = [(facet.column, value, papers) for facet in facets for value, papers in facet.values]

    def items(places: range) -> list[Value]:
        return [
            Value(column=column, value=cut(value, LONGEST_TITLE) if isinstance(value, str) else value, papers=papers)
            for column, value, papers in values[places.start : places.stop]
        ]

    frame = Counts(columns=[_column(facet, bool(query or filter)) for facet in facets], values=[], notes=notes)
    return page(ask, shelf.state, [repr(value) for value in values], items, frame)


def _column(facet: Facet, is_narrowed: bool) -> CountedColumn:
    (line, *_) = outputs.facet_lines([replace(facet, values=())])
    counted = line.partition(", of ")[2].rstrip(":") if is_narrowed else f"all {facet.papers:,} papers"
    return CountedColumn(column=facet.column, counted=counted, papers=facet.papers, others=facet.others, missing=facet.missing)
