"""Passages of papers for a query: of a full text, or an abstract, or, in a long one, the text around the best sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...answers.authors import authors_in
from ...answers.snippets import QueryWords, words_in
from ...base.errors import InvalidRequest
from ...base.types import Paper, Passage, Rows
from ...papers.sentences import sentence_ranges, sentences
from ..full_texts import passages_within
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
    """The best passages for a query, among the papers at the given rows, with the requested fields: the best of each paper, and, if these
    are fewer than the limit, further ones of their full texts.

    Raises InvalidRequest for an empty query, or an unknown field.
    """
    index, wanted = records.index, _wanted(fields)
    ranking = ranked(index, query, among, limit)
    words = words_in(index, [query])
    papers, names, snapshot = index.snapshot.papers_at(ranking.rows), index.snapshot.whole_names(ranking.rows), index.snapshot
    bodies = [None] * len(papers) if ranking.passages is None else snapshot.passages_at(ranking.passages)
    shown = [passage if _is_better(passage, paper, words) else None for passage, paper in zip(bodies, papers, strict=True)]
    found = list(zip(ranking.scores.tolist(), papers, names, shown, strict=True))
    if 0 < len(found) < limit:
        paper_of, last = dict(zip(names, papers, strict=True)), found[-1][0]
        more = passages_within(index, query, limit, names)
        further = [passage for passage in more if passage not in shown][: limit - len(found)]
        for place, passage in enumerate(further, 1):  # scores of passages and of papers do not compare, so these only fall
            name = passage.paper_name
            found.append((last / (1 + place) if last > 0 else last - place, paper_of[name], name, passage))
    return [
        {
            "score": score,
            "paper": _paper(paper, name),
            "snippet": {
                part: value for part, value in (_snippet(paper, words) if passage is None else _body(passage)).items() if part in wanted
            },
        }
        for score, paper, name, passage in found
    ]


def _is_better(passage: Passage | None, paper: Paper, words: QueryWords) -> bool:
    """Whether a passage of a full text has as much of the query's words as the abstract."""
    return passage is not None and words.weight(passage.text) >= words.weight(paper.abstract)


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


def _body(passage: Passage) -> dict[str, Any]:
    """A passage of a full text. Its offsets are in the text that was read, whose blanks may be more."""
    return {
        "text": passage.text,
        "snippetKind": "body",
        "section": passage.section or None,
        "snippetOffset": {"start": passage.start, "end": passage.end},
        "annotations": {
            "sentences": [{"start": start, "end": end} for start, end in sentence_ranges(passage.text)],
            "refMentions": None,
        },
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
