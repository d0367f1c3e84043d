"""The page of one paper, with its neighbours and citations, and the page of an author's papers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...answers.authors import authors_in, authors_of
from ...answers.profiles import CitationsOf, profile
from ...answers.snippets import words_in
from ...base.types import Paper
from ...papers.bibliographies.keywords import keywords_of
from ...query.index import Index
from ..full_texts import passages_within
from ..parameters import check_query
from ..service import address_of, service_of
from .cards import ShownPassage, cards_of, cards_of_hits, pieces, shown_passage
from .rendering import page
from .state import paper_path
from .zotero import tags

router = APIRouter(include_in_schema=False)

NAMED = 100
"""The most authors of a paper that are named: some have thousands."""
LISTED = 50
"""The most cited and citing papers that are shown."""
PASSAGES = 8
"""The passages of a full text that are shown for a query."""


@router.get("/paper/{name:path}")
async def paper_page(http: HttpRequest, name: str, q: str = "") -> Response:
    """A paper with the papers that it cites, that cite it, its neighbours, and the best passages of its full text for a query.

    Raises NotFound, InvalidRequest for too long a query.
    """
    service, asked = service_of(http), q.strip()
    check_query(asked, service)
    index = service.library.index()

    def shown() -> Response:
        found = profile(index, name)
        row = index.named_rows(name)
        (whole_name,) = index.snapshot.whole_names(row)
        authors = [author for _, author in authors_in(found.paper.authors)]
        (card,) = cards_of(index, [(found.paper, whole_name)])
        known = found.citations or CitationsOf((), (), (), ())
        cited = [(work, name) for work, name in zip(known.cites, known.cites_names, strict=True) if isinstance(work, Paper)]
        citing = list(zip(known.cited_by, known.cited_by_names, strict=True))
        return page(
            http,
            "paper.html",
            card=card,
            stands_in=index.snapshot.names_at(row)[0] if len(index.names) > 1 else "",
            also=found.also,
            authors=authors[:NAMED],
            others=len(authors) - len(authors[:NAMED]),
            keywords=keywords_of(found.paper),
            asked=asked,
            passages=_passages(index, asked, whole_name),
            sections=[(pieces(head, None), first_page) for head, first_page in found.sections],
            tags=list(tags(found.paper, address_of(http) + paper_path(whole_name))),
            knows_citations=found.citations is not None,
            cited=cards_of(index, cited[:LISTED]),
            cited_count=len(cited),
            elsewhere=[str(work) for work in known.cites if not isinstance(work, Paper)][:LISTED],
            elsewhere_count=len(known.cites) - len(cited),
            citing=cards_of(index, citing[:LISTED]),
            citing_count=len(citing),
            similar=cards_of_hits(index, found.similar),
        )

    return await service.do(http, shown)


def _passages(index: Index, asked: str, name: str) -> list[ShownPassage]:
    """The best passages of a paper's full text for a query."""
    words = words_in(index, [asked])
    return [shown_passage(passage, words) for passage in passages_within(index, asked, PASSAGES, name)] if asked else []


@router.get("/author")
async def author_page(http: HttpRequest, name: str) -> Response:
    """The papers of an author, the latest first. Raises NotFound."""
    service = service_of(http)
    index = service.library.index()

    def shown() -> Response:
        author = authors_of(index)[name]
        pairs = zip(index.snapshot.papers_at(author.rows), index.snapshot.whole_names(author.rows), strict=True)
        cards = cards_of(index, sorted(pairs, key=lambda pair: -(pair[0].year or 0))[: service.settings.most])
        return page(http, "author.html", author=author, cards=cards)

    return await service.do(http, shown)
