"""What a pasted text should cite: its sentences that need a citation, each with papers and what supports them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...answers.draft_citations import UncitedSentence, suggest_for
from ...answers.snippets import words_in
from ...papers.drafts.reading import draft_of
from ...query.index import Index
from ..parameters import check_query
from ..service import service_of
from .cards import EXCERPT, Card, Pieces, cards_of, pieces, shown_passage
from .rendering import page
from .state import values_of

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence that needs a citation, as a text and in pieces, and its papers, each with its citation key."""

    text: str
    pieces: Pieces
    papers: list[tuple[Card, str]]


@router.api_route("/draft", methods=["GET", "POST"])
async def draft(http: HttpRequest) -> Response:
    """A box for a text, and what the text in the request should cite. Raises InvalidRequest for one too long, or without a sentence."""
    service, values = service_of(http), await values_of(http)
    text = values.get("text", [""])[0].replace("\r\n", "\n").strip()
    check_query(text, service, "text")
    index, most = service.library.index(), service.settings.query
    if not text:
        return page(http, "draft.html", text="", most=most, compared=0, sentences=[])

    def shown() -> Response:
        found = suggest_for(index, draft_of(text, name="the text"))
        sentences = [_shown(index, each) for each in found.sentences]
        return page(http, "draft.html", text=text, most=most, compared=found.compared, sentences=sentences)

    return await service.do(http, shown, heavy=True)


def _shown(index: Index, uncited: UncitedSentence) -> ShownSentence:
    text = uncited.sentence.text
    words = words_in(index, [text])
    papers = []
    for card, found in zip(cards_of(index, [(each.paper, each.name) for each in uncited.papers]), uncited.papers, strict=True):
        passage = None if found.passage is None else shown_passage(found.passage, words, EXCERPT)
        papers.append((replace(card, index=found.index, words=words, snippet=found.sentence, passage=passage), found.key))
    return ShownSentence(text, pieces(text, None), papers)
