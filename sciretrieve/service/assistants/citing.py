"""Answers of the tool that says what a text should cite: its sentences, each with papers and what supports them."""

from __future__ import annotations

from ...answers.draft_citations import CitablePaper, UncitedSentence, suggest_for
from ...answers.snippets import QueryWords, words_in
from ...papers.bibliographies.author_names import byline
from ...papers.drafts.reading import draft_of
from .finding import LONGEST_SENTENCE, LONGEST_TITLE, LONGEST_VENUE
from .paging import Ask, page
from .results import CitationsToAdd, PaperToCite, SentenceToCite, cut
from .shelf import Shelf


def suggested(shelf: Shelf, text: str, ask: Ask) -> CitationsToAdd:
    """A page of the sentences of a text that need a citation. Raises InvalidRequest for a text without a sentence."""
    found = suggest_for(shelf.index, draft_of(text, name="the text"))

    def sentences(places: range) -> list[SentenceToCite]:
        return [_sentence(shelf, found.sentences[place]) for place in places]

    frame = CitationsToAdd(compared=found.compared, count=len(found.sentences), sentences=[])
    return page(ask, shelf.state, [each.sentence.text for each in found.sentences], sentences, frame)


def _sentence(shelf: Shelf, found: UncitedSentence) -> SentenceToCite:
    text = found.sentence.text
    words = words_in(shelf.index, [text])
    return SentenceToCite(sentence=cut(text, LONGEST_SENTENCE), papers=[_paper(shelf, paper, words) for paper in found.papers])


def _paper(shelf: Shelf, found: CitablePaper, words: QueryWords) -> PaperToCite:
    paper, passage = found.paper, found.passage
    return PaperToCite(
        id=shelf.prefix + found.name,
        key=found.key,
        title=cut(paper.title, LONGEST_TITLE) or "(no title)",
        authors=cut(byline(paper), LONGEST_VENUE),
        year=paper.year,
        is_named=found.by == "names",
        page=None if passage is None else passage.page,
        section="" if passage is None else cut(passage.section, LONGEST_VENUE),
        passage="" if passage is None else cut(words.excerpt(passage.text, LONGEST_SENTENCE), 2 * LONGEST_SENTENCE),
        sentence="" if passage is not None else cut(found.sentence, LONGEST_SENTENCE),
    )
