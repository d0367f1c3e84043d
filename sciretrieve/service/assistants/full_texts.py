"""Answers of the tools that read full texts: passages for a query, and a paper's passages in order."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.errors import NotFound
from ...base.types import Passage
from ...options import SearchOptions
from ...papers.bibliographies.author_names import byline
from .finding import LONGEST_TITLE, LONGEST_VENUE
from .paging import Ask, page
from .results import FoundPassage, FoundPassages, FullTextPassage, ReadFullText, cut
from .shelf import Shelf

LONGEST_PASSAGE = 6000
"""The most characters of a passage. Only what is no sentence is longer, such as a list without marks."""
LISTED = 60
"""The most sections that are listed."""


def passages(shelf: Shelf, query: str, papers: Sequence[str], limit: int, filter: Sequence[str], asked: str, ask: Ask) -> FoundPassages:
    """A page of the passages that answer a query. Raises as `Index.passages`."""
    index = shelf.index
    found = index.passages(query, limit, SearchOptions(filter=tuple(filter)), within=shelf.own(papers))

    def items(places: range) -> list[FoundPassage]:
        shown = [found[place] for place in places]
        return [
            FoundPassage(
                rank=place + 1,
                id=shelf.prefix + passage.paper_name,
                title=cut(paper.title, LONGEST_TITLE) or "(no title)",
                authors=cut(byline(paper), LONGEST_VENUE),
                year=paper.year,
                page=passage.page,
                section=cut(passage.section, LONGEST_VENUE),
                passage=cut(passage.text, LONGEST_PASSAGE),
            )
            for place, passage, paper in zip(places, shown, index.papers(shown), strict=True)
        ]

    return page(ask, shelf.state, [each.name for each in found], items, FoundPassages(asked=asked, count=len(found), passages=[]))


def full_text(shelf: Shelf, name: str, section: str, first_page: int | None, ask: Ask) -> ReadFullText:
    """A page of a paper's full text. Raises NotFound for a paper without one, and for a section or a page that it does not have."""
    index = shelf.index
    row = index.named_rows([name])
    (paper,), (own_name,) = index.snapshot.papers_at(row), shelf.names(row)
    every = index.full_text(own_name)
    if not every:
        raise NotFound(f"{own_name} has no full text here; `get_papers` has its abstract")
    shown = _chosen(every, section, first_page)
    is_whole = shown is every and not ask.cursor
    frame = ReadFullText(
        id=own_name,
        title=cut(paper.title, LONGEST_TITLE) or "(no title)",
        sections=_sections(every) if is_whole else [],
        count=len(shown),
        passages=[],
    )

    def items(places: range) -> list[FullTextPassage]:
        return [
            FullTextPassage(page=each.page, section=cut(each.section, LONGEST_VENUE), passage=cut(each.text, LONGEST_PASSAGE))
            for each in shown[places.start : places.stop]
        ]

    return page(ask, shelf.state, [each.name for each in shown], items, frame)


def _chosen(every: Sequence[Passage], section: str, first_page: int | None) -> Sequence[Passage]:
    """The passages of a section, from a page on. Raises NotFound."""
    shown = every
    if wanted := section.casefold().strip():
        shown = [passage for passage in every if wanted in passage.section.casefold()]
        if not shown:
            raise NotFound(f"no section has {cut(section, LONGEST_VENUE)!r} in its head; there are: {'; '.join(_sections(every))}")
    if first_page is not None:
        last = max((passage.page or 0 for passage in shown), default=0)
        shown = [passage for passage in shown if passage.page is not None and passage.page >= first_page]
        if not shown:
            raise NotFound(f"no passage begins on page {first_page} or later; the last page is {last}" if last else "the text has no pages")
    return shown


def _sections(every: Sequence[Passage]) -> list[str]:
    """The heads of the sections, each with its first page in brackets."""
    first: dict[str, Passage] = {}
    for passage in every:
        first.setdefault(passage.section, passage)
    heads = [
        f"{cut(head, LONGEST_VENUE) or '(no head)'}{f' (p. {passage.page})' if passage.page else ''}" for head, passage in first.items()
    ]
    return [*heads[:LISTED], *[f"and {len(heads) - LISTED} more"] * (len(heads) > LISTED)]
