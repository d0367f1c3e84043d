"""Passages of papers for a query: an abstract, or, in a long one, the text around the sentence with most of the query's words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...answers.authors import authors_in
from ...answers.snippets import QueryWords
from ...base.errors import InvalidRequest
from ...base.types import Paper, Rows
from ...papers.sentences import sentences
from . import columns
from .ranking import ranked
from .records import Records

LONGEST = 500
"""The most words of a passage."""
PARTS = ("text", "snippetKind", "section", "snippetOffset", "annotations")
"""The fields of a passage."""
PATTERN = rf"^(snippet(\.({'|'.join(PARTS)}))?(,|$))*$"
"""The pattern of a list of these."""


def passages(records: Records, query: str, among: Rows | None, limit: int, fields: str | None) -> list[dict[str, Any]]:
    """The best passages for a query, one per paper, among the papers at the given rows, with the requested fields.

    Raises InvalidRequest for an empty query, or an unknown field.
    """
    index, wanted = records.index, _wanted(fields)
    ranking = ranked(index, query, among, limit)
    bm25 = index.snapshot.bm25
    words = QueryWords(
        index.snapshot.analyzer, {term: 1.0 if bm25 is None else bm25.rarity(term) for term in index.snapshot.analyzer.terms(query)}
    )
    found = zip(ranking.scores.tolist(), index.snapshot.papers_at(ranking.rows), index.snapshot.whole_names(ranking.rows), strict=True)
    return [
        {
            "score": score,
            "paper": _paper(paper, name),
            "snippet": {part: value for part, value in _snippet(paper, words).items() if part in wanted},
        }
        for score, paper, name in found
    ]


def _wanted(fields: str | None) -> set[str]:
    """The requested fields of a passage; all of them by default."""
    names = [name.strip() for name in (fields or "").split(",") if name.strip()]
    wanted = set[str]()
    for name in names:
        top, _, rest = name.partition(".")
        part = rest.partition(".")[0]
        if top != "snippet" or (part and part not in PARTS):
            raise InvalidRequest(f"there is no field {name[:60]!r}; the fields are {', '.join(f'snippet.{part}' for part in PARTS)}")
        wanted |= {part} if part else set(PARTS)
    return wanted or set(PARTS)


def _paper(paper: Paper, name: str) -> dict[str, Any]:
    """The facts of a passage's paper."""
    own = columns.columns_of(paper)
    corpus_id = columns.external_ids(paper, own).get("CorpusId")
    pdf = columns.open_access_pdf(paper, own)
    return {
        "paperId": name,
        "corpusId": None if corpus_id is None else str(corpus_id),
        "title": paper.title,
        "authors": [name for _, name in authors_in(paper.authors)],
        "openAccessInfo": {"license": None, "status": pdf["status"] if pdf else None, "disclaimer": None},
    }


def _snippet(paper: Paper, words: QueryWords) -> dict[str, Any]:
    """The passage of a paper; offsets are in characters, of the passage in its text and of sentences in the passage."""
    kind, text = ("abstract", paper.abstract) if paper.abstract else ("title", paper.title)
    spans = list(_spans(text))
    first, end = _sentences_around(text, spans, words)
    start, stop = (spans[first][0], spans[end - 1][1]) if spans else (0, len(text))
    return {
        "text": text[start:stop],
        "snippetKind": kind,
        "section": None,
        "snippetOffset": {"start": start, "end": stop},
        "annotations": {
            "sentences": [{"start": left - start, "end": right - start} for left, right in spans[first:end]],
            "refMentions": None,
        },
    }


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The beginning and end of each sentence of a text."""
    end = 0
    for sentence in sentences(text):
        start = text.find(sentence, end)
        if start >= 0:
            end = start + len(sentence)
            yield start, end


def _sentences_around(text: str, spans: list[tuple[int, int]], words: QueryWords) -> tuple[int, int]:
    """The sentences around the best one, as many as fit into a passage: the first, and the one after the last."""
    best = text.find(words.snippet(text)) if len(text.split()) > LONGEST else 0
    first = next((place for place, (start, end) in enumerate(spans) if start <= best < end), 0)
    end = first + 1
    while True:
        if end < len(spans) and _length(text, spans, first, end + 1) <= LONGEST:
            end += 1
        elif first > 0 and _length(text, spans, first - 1, end) <= LONGEST:
            first -= 1
        else:
            return first, min(end, len(spans))


def _length(text: str, spans: list[tuple[int, int]], first: int, end: int) -> int:
    """The number of words of some sentences."""
    return len(text[spans[first][0] : spans[end - 1][1]].split())
