"""Printing hits: a table for people, and formats for other programs. One function per format."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from .bibliographies.bibtex import entries
from .bibliographies.names import family
from .bibliographies.ris import records
from .runs import Run, trec_id
from .schema import plain
from .types import Hit

if TYPE_CHECKING:
    from .answers.explaining import Explanation
    from .answers.faceting import Facet
    from .answers.overview import Group

Lines = Iterator[str]


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of an answer besides its hits: explanations, counts, groups, corrected words, and how well the best hits
    match the query."""

    explanations: Sequence[Explanation] = ()
    facets: Sequence[Facet] = ()
    clusters: Sequence[Group] = ()
    corrections: Mapping[str, str] = field(default_factory=dict)
    strength: float | None = None
    weak: bool = False


NOTHING = View()

NEAR_WORD = 0.5
"""The cosine from which on a word of a paper is shown as an answer to one of the query; those of unrelated words are 0.3 to 0.4."""
SHOWN = 3
"""Papers that are shown of each group."""


def table(hits: Sequence[Hit], width: int) -> Lines:
    """Two lines per hit: rank, score, year and title; then authors, venue, and the id for `similar`."""
    indent = " " * 18
    for hit in hits:
        paper = hit.paper
        year = f"{paper.year or '':>4}"
        title = " ".join((paper.title or paper.abstract).split())
        lead = f"{hit.rank:>3}  {hit.score:>7.3f}  {year}  "
        first, *further_lines = _wrapped(title or "(no title)", max(width - len(lead), 20))
        yield lead + first
        for line in further_lines:
            yield indent + "  " + line
        details = " · ".join(part for part in (_byline(paper.authors), paper.venue or "", paper.id) if part)
        yield indent + "  " + _cut(details, width - 20, whole=len(paper.id))
        if hit.also:
            yield indent + "  also: " + ", ".join(hit.also)


def explanation(hit: Hit, why: Explanation, width: int) -> Lines:
    """Lines with a hit's rank and score in each half of the search, the words it shares, and its nearest sentence."""
    places = [f"{name} rank {place.rank:,} ({place.score:.4f})" for name, place in (("dense", why.dense), ("BM25", why.bm25)) if place]
    if why.title:
        places.append(f"{100 * why.title:.0f} % of its title")
    if (token_score := hit.scores.get("tokens")) is not None:
        places.append(f"tokens {token_score:.4f}")
    if (rerank_score := hit.scores.get("rerank")) is not None:
        places.append(f"reranker {rerank_score:.4f}")
    lines = [" · ".join(places)]
    if why.words:
        lines.append("words: " + ", ".join(f"{word} {weight:.1f}" for word, weight in list(why.words.items())[:8]))
    near_words = [f"{word} ~ {other} {cosine:.2f}" for word, (other, cosine) in why.meanings.items() if cosine >= NEAR_WORD]
    if near_words:
        lines.append(f"by meaning: {', '.join(near_words[:8])}")
    if why.sentence:
        lines.append(f"“{why.sentence}”")
    for line in lines:
        first, *further_lines = _wrapped(line, max(width - 22, 20))
        yield " " * 20 + "↳ " + first
        yield from (" " * 22 + further_line for further_line in further_lines)


def record(hit: Hit) -> dict[str, Any]:
    """A hit as JSON."""
    paper = hit.paper
    return {
        "rank": hit.rank,
        "score": hit.score,
        "id": paper.id,
        "title": paper.title,
        "year": paper.year,
        "venue": paper.venue,
        "authors": list(paper.authors),
        "abstract": paper.abstract,
        "doi": paper.doi,
        "url": paper.url,
        "scores": dict(hit.scores),
        "also": list(hit.also),
        "extra": plain(paper.extra),
    }


def answer(query: str, mode: str, milliseconds: float, hits: Sequence[Hit], view: View = NOTHING) -> str:
    """The answer to one query as one JSON object, of schema 1."""
    value: dict[str, Any] = {"schema": 1, "query": query, "mode": mode, "total_time_ms": round(milliseconds, 3)}
    value["corrections"] = [{"word": word, "meant": meant} for word, meant in view.corrections.items()]
    value |= {"strength": view.strength, "weak": view.weak}
    rows = [record(hit) for hit in hits]
    for row, why in zip(rows, view.explanations, strict=False):
        row["explanation"] = asdict(why)
    value["hits"] = rows
    if view.facets:
        value["facets"] = [asdict(facet) for facet in view.facets]
    if view.clusters:
        value["clusters"] = [
            {"label": list(group.label), "papers": [{"id": paper.id, "title": paper.title} for paper in group.papers]}
            for group in view.clusters
        ]
    return json.dumps(value, ensure_ascii=False, indent=2)


def facet_lines(facets: Sequence[Facet]) -> Lines:
    """Counts of values, one block per column."""
    for facet in facets:
        yield f"{facet.column}, papers counted {facet.papers:,}:"
        width = max((len(f"{count:,}") for _, count in facet.values), default=1)
        yield from (f"  {count:>{width},}  {value}" for value, count in facet.values)
        other_counts = [f"{facet.others:,} other values" * bool(facet.others), f"{facet.missing:,} papers without" * bool(facet.missing)]
        if any(other_counts):
            yield "  " + ", ".join(filter(None, other_counts))


def cluster_lines(clusters: Sequence[Group], width: int) -> Lines:
    """Groups of papers, largest first: their sizes, words, and the titles of the best ranked."""
    for group in clusters:
        yield f"{len(group.papers):>4}  {', '.join(group.label)}"
        for paper in group.papers[:SHOWN]:
            title = " ".join((paper.title or paper.abstract).split()) or "(no title)"
            yield "      " + _cut(f"{title} · {paper.id}", width - 6, whole=len(paper.id))
        if len(group.papers) > SHOWN:
            yield f"      and {len(group.papers) - SHOWN:,} more"


def jsonl(hits: Sequence[Hit]) -> Lines:
    """One JSON object per hit and line."""
    return (json.dumps(record(hit), ensure_ascii=False) for hit in hits)


def csv_lines(hits: Sequence[Hit]) -> Lines:
    """Comma-separated, with a header; authors joined by "; "."""
    columns = ("rank", "score", "id", "title", "year", "venue", "authors", "abstract", "doi", "url", "dense", "bm25")
    yield _csv_row(columns)
    for hit in hits:
        row = record(hit) | {"authors": "; ".join(hit.paper.authors), **hit.scores}
        yield _csv_row([row[column] for column in columns])


def bibtex(hits: Sequence[Hit]) -> Lines:
    """One BibTeX entry per hit, in rank order, see `bibliographies.bibtex`."""
    return (f"{entry}\n" for entry in entries([hit.paper for hit in hits]))


def trec(run: Run) -> Lines:
    """The run as lines of a TREC run file."""
    return run.to_trec()


FORMATS: Mapping[str, Callable[[Sequence[Hit]], Lines]] = {"jsonl": jsonl, "csv": csv_lines, "bibtex": bibtex, "ris": records}
"""The formats that need only the hits; table, json and trec need more."""


def count_encoded_ids(run: Run) -> int:
    """How many of a run's ids must be changed for a TREC file."""
    return sum(trec_id(id) != id for ranking in run for id in ranking.ids)


def _byline(authors: Sequence[str]) -> str:
    families = [family(name) for name in authors]
    return f"{families[0]} et al." if len(families) > 2 else " and ".join(families)


def _cut(text: str, width: int, whole: int) -> str:
    """Shorten in the middle, keeping the id at the end whole, so that it can be copied."""
    if _columns(text) <= width:
        return text
    tail = text[len(text) - whole - 3 :]
    head = text[: _fitting(text[: len(text) - len(tail)], width - 1 - _columns(tail))]
    return f"{head.rstrip(' ·')}…{tail}" if head else tail.removeprefix(" · ")


def _fitting(text: str, width: int) -> int:
    """How many of a text's first characters take at most `width` columns."""
    columns = 0
    for place, char in enumerate(text):
        columns += _columns(char)
        if columns > width:
            return place
    return len(text) if columns <= width else 0


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` columns, between words if possible."""
    lines: list[list[str]] = [[]]
    columns = 0  # of the last line
    for word in text.split():
        size, gap = _columns(word), bool(lines[-1])
        if columns + gap + size <= width:
            lines[-1] += [" ", word] if gap else [word]
            columns += gap + size
            continue
        if gap:
            lines.append([])
            columns = 0
        for char in word:  # a word longer than a line, such as a title without spaces
            size = _columns(char)
            if columns + size > width:
                lines.append([])
                columns = 0
            lines[-1].append(char)
            columns += size
    return ["".join(line) for line in lines]


def _columns(text: str) -> int:
    """How many terminal columns a text takes: wide characters count twice, combining ones not."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _csv_row(values: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(values)  # the writer quotes the characters of its line terminator
    return buffer.getvalue().removesuffix("\r\n")
