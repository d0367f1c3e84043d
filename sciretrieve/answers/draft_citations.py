"""What a draft should cite: papers of the library for its sentences that have no citation and seem to need one.

draft ─ sentences without citations ─ search by text and passages ─▶ papers ─ names, citations around it ─▶ order ─ nearness ─▶ few, or none
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arguments import checked
from ..base.choices import check_count
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..base.types import Hit, Paper, Passage, Query, Rows, Scores, name_in
from ..base.wording import counted
from ..papers.bibliographies import bibtex_entries
from ..papers.drafts.draft import DraftSentence, Manuscript
from ..papers.drafts.reading import SUFFIXES, draft_of, read_draft
from ..query.index import Index
from ..query.opening import AnyIndex, opened
from ..runs import SCHEMA, Ranking, Run
from .draft_context import DraftContext, similarity
from .inserting import insert
from .snippets import QueryWords, words_in
from .uncited import demanded

DEPTH = 20
"""Papers that are compared for a sentence."""
CONTEXT = 0.8
"""What a paper gains by the citations around the sentence, times its cosine with the nearest of them."""
WORDS_OF_NEIGHBOURS = 0.32
"""BM25's score of a paper that is as near as neighbours are, as a share of the rarities of a sentence's words."""
BY_NAME = 1.0
"""What a paper gains whose authors the sentence names: it comes first."""


@dataclass(frozen=True, slots=True)
class CitablePaper:
    """A paper that a sentence should perhaps cite.

    Attributes:
        paper: the paper.
        key: its citation key, as `cite` gives it.
        score: how well it fits, from 0 to 1; papers that the sentence names have 1.
        by: what speaks for it: "names" if the sentence names its authors, else "text".
        passage: the passage of its full text that supports it; None without a full text.
        sentence: of that passage, or else of its abstract, the sentence with most of the words.
        index: if the library is several indexes, the name of the paper's.
    """

    paper: Paper
    key: str
    score: float
    by: str
    passage: Passage | None
    sentence: str
    index: str | None = None

    @property
    def name(self) -> str:
        """The paper's name in the library: its id, or INDEX:ID if there are several indexes."""
        return name_in(self.index, self.paper.id)


@dataclass(frozen=True, slots=True)
class UncitedSentence:
    """A sentence of a draft without a citation, and the papers that it should perhaps cite, best first."""

    sentence: DraftSentence
    papers: Sequence[CitablePaper]


@dataclass(frozen=True, slots=True)
class DraftCitations(AsJson):
    """What a draft should cite.

    Attributes:
        draft: the draft.
        path: its file; None if it was given as text.
        sentences: the sentences for which papers fit, in order.
        compared: the number of sentences without a citation that were compared with papers.
    """

    draft: Manuscript
    path: Path | None
    sentences: Sequence[UncitedSentence]
    compared: int

    def __repr__(self) -> str:
        return f"<DraftCitations for {counted(len(self.sentences), 'sentence')} of {self.path or 'a text'}>"

    def to_dict(self) -> dict[str, Any]:
        """The suggestions as `--format json` prints them, see `sciretrieve.schema("suggestions")`."""
        return {
            "schema": SCHEMA,
            "draft": self.path.name if self.path else None,
            "compared": self.compared,
            "sentences": [_as_dict(one) for one in self.sentences],
        }

    def insert(self) -> Path:
        """Write a copy of the draft with the best paper's key in each of the sentences: beside it, `paper.tex` as `paper.cited.tex`.

        Returns:
            The copy.

        Raises:
            InvalidRequest: the draft is no file of text in UTF-8, or the copy exists.
        """
        if self.path is None:
            raise InvalidRequest("a text that is no file has no place for a copy; name a file")
        return insert(self.path, self.draft, [(one.sentence, one.papers[0].key) for one in self.sentences])


@checked
def suggest(index: AnyIndex, draft: str | Path, k: int = 3) -> DraftCitations:
    """Suggest papers of an index for the sentences of a draft that have no citation and seem to need one.

    Args:
        index: the library, with or without full texts.
        draft: the path of a .tex, .md, .docx or .txt file, or a text.
        k: most papers for a sentence.

    Returns:
        The sentences for which papers fit, with these. Papers that are cited nearby are left out.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: the draft cannot be read, or k is below 1.

    >>> found = sr.suggest(index, "draft.txt")
    >>> keys = [(one.sentence.line, [paper.key for paper in one.papers]) for one in found.sentences]
    """
    check_count(k)
    is_file = isinstance(draft, Path) or ("\n" not in draft and draft.lower().endswith(SUFFIXES))
    path = Path(draft) if is_file else None
    document = draft_of(str(draft)) if path is None else read_draft(path)
    with opened(index) as library:
        return suggest_for(library, document, k, path)


def suggest_for(index: Index, document: Manuscript, k: int = 3, path: Path | None = None) -> DraftCitations:
    """Suggest papers for the sentences of a draft that was read, from a file at `path` or from a text. See `suggest`."""
    asked = [(place, least) for place, sentence in enumerate(document.sentences) if (least := demanded(sentence)) is not None]
    of_each = zip(asked, _papers(index, document, asked, k), strict=True)
    sentences = [UncitedSentence(document.sentences[place], papers) for (place, _), papers in of_each if papers]
    return DraftCitations(document, path, _with_keys(sentences), len(asked))


def ranked(index: Index, draft: Manuscript, places: Sequence[int]) -> Iterator[tuple[Ranking, Scores]]:
    """Rank the papers for some sentences of a draft.

    Args:
        index: the library.
        draft: the draft.
        places: the places of the sentences among those of the draft.

    Yields:
        A ranking for each sentence, whose `known` are the papers that it names, and the papers' nearness, (n,).
    """
    if not places:
        return
    context = DraftContext(index, draft)
    run = index.search([Query(str(place), draft.sentences[place].text) for place in places], DEPTH)
    for place, ranking in zip(places, run, strict=True):
        text, nearby = draft.sentences[place].text, context.nearby(place)
        named = np.setdiff1d(context.named(text), nearby)
        if len(missing := np.setdiff1d(named, ranking.rows)):
            rows = np.union1d(ranking.rows, missing)
            (ranking,) = index.search([Query(ranking.query.id, text)], len(rows), among=rows)
        ranking = ranking.take(np.flatnonzero(~np.isin(ranking.rows, _with_copies(index, nearby))))
        is_named = np.isin(ranking.rows, named)
        scores = ranking.scores + CONTEXT * np.array(similarity(index, ranking.rows, nearby)) + BY_NAME * is_named
        order = np.argsort(-scores, kind="stable")
        known = {ranking.ids[at]: "names" for at in np.flatnonzero(is_named).tolist()}
        ranking = replace(ranking, scores=scores, known=known).take(order)
        yield ranking, _nearness(index, ranking)


def _with_copies(index: Index, rows: Rows) -> Rows:
    return index.snapshot.with_copies(rows) if len(rows) else rows


def _nearness(index: Index, ranking: Ranking) -> Scores:
    """How near papers are to their sentence, (n,): 0 by chance, 1 as neighbours are. By vectors, or where these have no scale by words."""
    scale, bm25 = index.snapshot.scale, index.snapshot.bm25
    if scale is not None and (dense := ranking.parts.get("dense")) is not None:
        return np.nan_to_num(scale.scaled(dense), nan=0.0)
    if bm25 is None or (scores := ranking.parts.get("bm25")) is None:
        return np.zeros(len(ranking))
    total = sum(bm25.rarity(term) for term in set(index.snapshot.analyzer.terms(ranking.query.text)))
    return np.nan_to_num(scores, nan=0.0) / (total * WORDS_OF_NEIGHBOURS or 1.0)


def _papers(index: Index, draft: Manuscript, asked: Sequence[tuple[int, float]], k: int) -> Iterator[list[CitablePaper]]:
    """The papers for each sentence, given its place and how near they must be."""
    places = [place for place, _ in asked]
    for (place, least), (ranking, nearness) in zip(asked, ranked(index, draft, places), strict=True):
        fits = [at for at, (id, value) in enumerate(zip(ranking.ids, nearness, strict=True)) if id in ranking.known or value >= least]
        if not fits:
            yield []
            continue
        chosen = ranking.take(fits[:k])
        hits = Run((chosen,), index.modes[0], index.snapshot).hits_of(chosen)
        words = words_in(index, [draft.sentences[place].text])
        yield [_citable(hit, hit.id in ranking.known, words) for hit in hits]


def _citable(hit: Hit, is_named: bool, words: QueryWords) -> CitablePaper:
    text = hit.paper.abstract if hit.passage is None else hit.passage.text
    score = 1.0 if is_named else min(hit.score, 1.0)
    return CitablePaper(hit.paper, "", score, "names" if is_named else "text", hit.passage, words.snippet(text), hit.index)


def _with_keys(sentences: Sequence[UncitedSentence]) -> list[UncitedSentence]:
    """The same with the papers' keys, each paper with one, and no two with the same."""
    papers = {one.name: one.paper for sentence in sentences for one in sentence.papers}
    key_of = dict(zip(papers, bibtex_entries.keys(list(papers.values())), strict=True))
    return [replace(each, papers=[replace(one, key=key_of[one.name]) for one in each.papers]) for each in sentences]


def _as_dict(uncited: UncitedSentence) -> dict[str, Any]:
    sentence = uncited.sentence
    place = {name: getattr(sentence, name) for name in ("line", "start", "end", "section", "text")}
    return {**place, "papers": [_paper_as_dict(one) for one in uncited.papers]}


def _paper_as_dict(one: CitablePaper) -> dict[str, Any]:
    passage = one.passage.to_dict() if one.passage else None
    about = {"key": one.key, "id": one.paper.id, "title": one.paper.title, "year": one.paper.year, "authors": list(one.paper.authors)}
    return {**about, "score": one.score, "by": one.by, "sentence": one.sentence, "passage": passage}
