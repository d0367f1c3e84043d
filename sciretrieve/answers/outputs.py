"""Hits as text: a table for people, and formats for other programs, one function per format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.choices import conditions
from ..base.types import Hit, Paper, Passage, Rows, TotalIs
from ..base.wording import as_json, cell, columns, counted, wrapped
from ..files import csv_files
from ..metrics.trec import encoded
from ..papers import identifiers
from ..papers.bibliographies import csl_items, endnote_records
from ..papers.bibliographies.addresses import addresses_of
from ..papers.bibliographies.author_names import byline
from ..papers.bibliographies.bibtex_entries import entries
from ..papers.bibliographies.reference_lists import markdown, webpage
from ..papers.bibliographies.ris_records import records
from ..papers.formulas import in_unicode
from ..protocols import PaperSource
from ..runs import NAMED, SCHEMA, WEAK_NOTE, Run

if TYPE_CHECKING:
    from ..papers.references import Reference
    from ..query.citations.citation_graph import Link
    from ..query.index import Index
    from ..query.reading.counting import CountLine
    from .answering import Answer
    from .explaining import Explanation
    from .overview import Facet, Group
    from .profiles import Profile

Lines = Iterator[str]


TABLE_FIELDS = ("rank", "score", "id", "title", "year", "venue", "authors", "abstract", "doi", "url", "dense", "bm25")
"""Default columns of CSV and TSV."""
HIT_FIELDS = (*TABLE_FIELDS, "tokens", "rerank", "scores", "also", "extra")
"""Fields of a hit besides the columns of its corpus."""
INDEX_FIELDS = ("index", "also", "also_in")
"""Further fields in CSV and TSV if several indexes were searched."""
WHICH: Mapping[str, str] = {
    "beginning of a title": "whose title begins so",
    "misspelt title": "whose title is nearly this",
    "reference": "that this reference is to",
    "names": "by authors of this name",
}
"""How a query names papers, in words, where "with this DOI" would not fit."""
TOTALS: Mapping[TotalIs, tuple[str, str]] = {
    "has all words": ("has all of these words", "have all of these words"),
    "meets demands": ("meets the demands", "meet the demands"),
    "is named": ("is named by the query", "are named by the query"),
    "passes filters": ("passes the filter", "pass the filter"),
}
"""In what way counted papers satisfy a query, singular and plural."""
LONGEST_ALSO = 20
"""Most letters of duplicates' names in a table. Longer lists are shown as a count."""
NEAR_WORD = 0.5
"""Least cosine for a paper's word to be shown as a match of a query's word. Unrelated words have 0.3 to 0.4."""
SHOWN = 3
"""Papers shown per group."""


def table(hits: Sequence[Hit], width: int) -> Lines:
    """Two lines per hit: rank, score, year and title; then authors, venue, the id for `similar`, and near-duplicates."""
    indent = " " * 18
    for hit in hits:
        paper = hit.paper
        year = f"{paper.year or '':>4}"
        title = in_unicode(" ".join((paper.title or paper.abstract).split()))
        lead = f"{hit.rank:>3}  {hit.score:>7.3f}  {year}  "
        yield lead + fitted(title or "(no title)", max(width - len(lead), 20))
        id = hit.name + also(hit)
        details = " · ".join(part for part in (byline(paper), paper.venue or "", id) if part)
        yield indent + "  " + _cut(details, width - 20, whole=len(id))
        if hit.passage is not None:
            yield indent + "  " + fitted(f"{passage_label(hit.passage)}{' '.join(hit.passage.text.split())}", max(width - 20, 20))


def also(hit: Hit) -> str:
    """The duplicates of a hit, to be shown after its id. A few are named, more are counted."""
    names = ", ".join(hit.also_names)
    return f" · also {names if len(names) <= LONGEST_ALSO else counted(len(hit.also), 'other')}" if hit.also else ""


def passage_label(passage: Passage) -> str:
    """What stands before a passage: its page and section."""
    return f"{passage.place}: " if passage.place else ""


def passage_lines(index: Index, passages: Sequence[Passage], width: int) -> Lines:
    """An index's passages for programs and people: name, place and title, then the whole text."""
    for passage, paper in zip(passages, index.papers(passages), strict=True):
        about = " · ".join(filter(None, (passage.name, passage.place, paper.title)))
        yield fitted(about, width)
        yield from (f"    {line}" for line in wrapped(passage.text, max(width - 4, 20)))


def explanation(hit: Hit, why: Explanation, width: int) -> Lines:
    """Lines of an explanation, to be shown below a hit."""
    for reason in reasons(hit, why):
        first, *further_lines = wrapped(reason, max(width - 22, 20))
        yield " " * 20 + "↳ " + first
        yield from (" " * 22 + further_line for further_line in further_lines)


def reasons(hit: Hit, why: Explanation) -> list[str]:
    """A hit's rank and score in each half of the search by title and abstract, its scores with its full text, the words it shares, and its
    nearest sentence."""
    places = [f"{name} rank {place.rank:,} ({place.score:.4f})" for name, place in (("dense", why.dense), ("BM25", why.bm25)) if place]
    if (token_score := hit.scores.get("tokens")) is not None:
        places.append(f"tokens {token_score:.4f}")
    if (rerank_score := hit.scores.get("rerank")) is not None:
        places.append(f"reranker {rerank_score:.4f}")
    lines = [" · ".join(places)]
    if hit.passage is not None:
        scores = [
            f"{name} {score:.4f}" for name, key in (("dense", "dense"), ("BM25", "bm25")) if (score := hit.scores.get(key)) is not None
        ]
        lines.append(f"with its full text: {' · '.join(scores)}")
    if why.words:
        lines.append("words: " + ", ".join(f"{word} {weight:.1f}" for word, weight in list(why.words.items())[:8]))
    near_words = [f"{word} ~ {other} {cosine:.2f}" for word, (other, cosine) in why.meanings.items() if cosine >= NEAR_WORD]
    if near_words:
        lines.append(f"by meaning: {', '.join(near_words[:8])}")
    if (closeness := hit.scores.get("citations")) is not None and why.link is not None:
        lines.append(f"citations {closeness:.4f}: {', '.join(linked_by(why.link))}")
    if why.sentence:
        lines.append(f"“{why.sentence}”")
    return lines


def linked_by(link: Link) -> Lines:
    """How citations link a paper with the example papers, strongest first."""
    if link.cites:
        yield "cites it"
    if link.cited:
        yield "cited by it"
    if link.shared:
        yield counted(link.shared, "shared reference")
    if link.together:
        yield f"cited together by {link.together:,}"
    if link.between:
        yield f"{counted(link.between, 'paper')} between them"


def profiled(profile: Profile) -> dict[str, Any]:
    """A profile as JSON."""
    surroundings: dict[str, Any] = {"also": list(profile.also), "similar": [hit.to_dict() for hit in profile.similar]}
    if profile.citations is not None:
        surroundings["cites"] = [_named(work) for work in profile.citations.cites]
        surroundings["cited_by"] = [_named(paper) for paper in profile.citations.cited_by]
    if profile.sections:
        surroundings["sections"] = [{"head": head, "page": page} for head, page in profile.sections]
    fields = profile.paper.to_dict()
    extra = fields.pop("extra")
    return fields | {"addresses": dict(addresses_of(profile.paper)), "extra": extra} | surroundings


def _named(work: Paper | Reference) -> dict[str, Any]:
    """A paper of the index, or a reference to another work, as JSON."""
    if isinstance(work, Paper):
        return {"id": work.id, "title": work.title, "year": work.year}
    return {"id": None, "names": list(work.names), "reference": work.label}


def answer(answer: Answer, fields: Sequence[str] = ()) -> str:
    """An answer as one JSON object, with the given fields of hits or all of them."""
    if not fields:
        return answer.to_json()
    value = answer.to_dict()
    for place, hit in enumerate(answer.hits):
        why = value["hits"][place].get("explanation")
        value["hits"][place] = _chosen(hit, fields) | ({} if why is None else {"explanation": why})
    return as_json(value, indent=2)


def notes(answer: Answer) -> Lines:
    """Notes on an answer besides its hits, one line each."""
    if known := answer.ranking.known:
        which = WHICH.get(by := next(iter(known.values())), f"with this {by}")
        yield f"first comes the paper {which}" if len(known) == 1 else f"first come the {len(known):,} papers {which}"
    elif (query := answer.request.query) is not None:
        for name, read in (("DOI", identifiers.doi), ("arXiv number", identifiers.arxiv)):
            if number := read(query):
                yield f"no eligible paper has the {name} {number}"
                break
    for word, meant in answer.ranking.corrections.items():
        yield f'"{word}" was taken for "{meant}"; quote it to search for it unchanged'
    yield from words_alone(answer.lacks_meaning)
    if answer.ranking.weak:
        yield f"{WEAK_NOTE}: the best of them are far from the query and have few of its words"
    yield from undecided(answer.run)
    if answer.unmet:
        yield f"no paper in the index has what the query requires: {', '.join(answer.unmet)}"
    yield from answer.remarks
    if not answer.hits and answer.run.mode == "citations":
        yield "no reference links another paper with the given ones; --by text compares what they say"
    elif not answer.hits:
        yield "no paper matches"


def words_alone(why: str) -> Lines:
    """A note that BM25 alone answered; empty unless `why` says so."""
    if why:
        yield f"answered by words alone: {why}"


def total(answer: Answer) -> str:
    """Number of papers that satisfy the query, and number of ranked papers if that is greater; "" if the query demands nothing."""
    if answer.total_is == "passes filters" and not answer.request.options.filters:
        return ""
    ranked, (one, several) = answer.ranking.ranked, TOTALS[answer.total_is]
    text = f"{counted(answer.total, 'paper')} {one if answer.total == 1 else several}" if answer.total else f"no paper {one}"
    return text if ranked is None or ranked <= answer.total else f"{text}; {ranked:,} are ranked"


def undecided(run: Run) -> Lines:
    """A note on papers that a filter could not decide; empty if there are none."""
    return not_compared(run.source, np.unique(np.concatenate([np.empty(0, np.int64), *(ranking.undecided for ranking in run)])))


def not_compared(source: PaperSource, rows: Rows) -> Lines:
    """The same for the papers at the given rows."""
    if len(rows):
        yield left_out([paper.id for paper in source.papers_at(rows[:NAMED])], len(rows))


def left_out(ids: Sequence[str], count: int) -> str:
    """A note that `count` papers could not be compared; the first ids are listed."""
    more = f" and {count - NAMED:,} more" * (count > NAMED)
    names = ", ".join(ids[:NAMED]) + more
    return (
        f"{counted(count, 'paper')} left out, since their values do not compare with the filter's (`sciretrieve show` prints them): {names}"
    )


def facet_lines(facets: Sequence[Facet]) -> Lines:
    """Counts of values, one block per column."""
    from .overview import FACET_DEPTH

    for facet in facets:
        is_one = facet.papers == 1
        if facet.papers_are == "match":
            which = f"{'matches' if is_one else 'match'}, among the first {FACET_DEPTH:,}"
        else:
            which = TOTALS[facet.papers_are][not is_one]
        yield f"{facet.column}, of {counted(facet.papers, 'paper')} that {which}:"
        width = max((len(f"{count:,}") for _, count in facet.values), default=1)
        yield from (f"  {count:>{width},}  {value}" for value, count in facet.values)
        other_counts = [
            f"{counted(facet.others, 'other value')}" * bool(facet.others),
            f"{counted(facet.missing, 'paper')} without" * bool(facet.missing),
        ]
        if any(other_counts):
            yield "  " + ", ".join(filter(None, other_counts))


def count_table(lines: Sequence[CountLine]) -> Lines:
    """Table of a query's counts: line number, papers, and text."""
    number_width = len(f"#{len(lines)}")
    width = max(len(f"{line.papers:,}") for line in lines)
    for line in lines:
        yield f"{f'#{line.number}':<{number_width}}  {line.papers:>{width},}  {_line(line.text)}"


def count_value(query: str, filters: Sequence[str], lines: Sequence[CountLine]) -> dict[str, Any]:
    """A query's counts as JSON, see `sciretrieve.schema("count")`."""
    rows = [asdict(line) for line in lines]
    return {"schema": SCHEMA, "query": query, "filters": list(filters), "total": lines[-1].papers, "lines": rows}


def cluster_lines(clusters: Sequence[Group], width: int) -> Lines:
    """Groups of papers, largest first: sizes, words, and titles of the best ranked papers."""
    for group in clusters:
        yield f"{len(group.papers):>4}  {', '.join(group.label)}"
        for paper in group.papers[:SHOWN]:
            title = in_unicode(" ".join((paper.title or paper.abstract).split())) or "(no title)"
            yield "      " + _cut(f"{title} · {paper.id}", width - 6, whole=len(paper.id))
        if len(group.papers) > SHOWN:
            yield f"      and {len(group.papers) - SHOWN:,} more"


def jsonl(hits: Sequence[Hit], fields: Sequence[str] = ()) -> Lines:
    """One JSON object per hit and line, with the given fields or all."""
    return (as_json(_chosen(hit, fields)) for hit in hits)


def csv_lines(hits: Sequence[Hit], fields: Sequence[str] = ()) -> Lines:
    """Comma-separated values with a header; lists are joined by "; ". With the given fields or the default ones."""
    fields = fields or _usual_fields(hits)
    return csv_files.csv_lines([fields, *(_cells(hit, fields) for hit in hits)])


def tsv_lines(hits: Sequence[Hit], fields: Sequence[str] = ()) -> Lines:
    """Tab-separated values. A line is a paper, since tabs and line breaks within a value become blanks."""
    fields = fields or _usual_fields(hits)
    return csv_files.csv_lines([fields, *([_line(value) for value in _cells(hit, fields)] for hit in hits)], "\t")


def _usual_fields(hits: Sequence[Hit]) -> Sequence[str]:
    """Default columns; for several indexes also each hit's index and duplicates."""
    return [*TABLE_FIELDS, *INDEX_FIELDS] if any(hit.index is not None for hit in hits) else TABLE_FIELDS


def aligned(hits: Sequence[Hit], fields: Sequence[str]) -> Lines:
    """A table of the given fields for people, one line per hit."""
    rows = [list(fields), *([_line(value) for value in _cells(hit, fields)] for hit in hits)]
    widths = [max(columns(row[place]) for row in rows) for place in range(len(fields))]
    for row in rows:
        yield "  ".join(cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()


def _chosen(hit: Hit, fields: Sequence[str]) -> dict[str, Any]:
    """A hit's fields by name: those of JSON, its scores in parts of the search, and columns of its corpus. Without `fields`, all."""
    row = hit.to_dict()
    values = row["extra"] | row["scores"] | row
    return {name: values.get(name) for name in fields} if fields else row


def _cells(hit: Hit, fields: Sequence[str]) -> list[Any]:
    return [cell(value) for value in _chosen(hit, fields).values()]


def _line(value: Any) -> str:
    """A value as text without tabs and line breaks."""
    return "" if value is None else " ".join(str(value).split())


def page(answer: Answer, index: str, date: str) -> Lines:
    """An answer as an HTML page with the query, the index and the date."""
    request = answer.request
    facts = {
        "mode": answer.run.mode,
        "filter": " and ".join(conditions(request.options.filter)),
        "index": index,
        "date": date,
        "found": total(answer),
        "hits shown": f"{len(answer.hits):,}",
    }
    title = answer.query if request.query is not None else f"Papers like {request.text or answer.query}"
    return webpage(_papers(answer.hits), title, {name: value for name, value in facts.items() if value})


def _papers(hits: Sequence[Hit]) -> list[Paper]:
    return [hit.paper for hit in hits]


TABULAR: Mapping[str, Callable[[Sequence[Hit], Sequence[str]], Lines]] = {"jsonl": jsonl, "csv": csv_lines, "tsv": tsv_lines}
"""Formats that take a choice of fields."""
FORMATS: Mapping[str, Callable[[Sequence[Hit]], Lines]] = {
    "bibtex": lambda hits: (f"{entry}\n" for entry in entries(_papers(hits))),
    "ris": lambda hits: records(_papers(hits)),
    "csl-json": lambda hits: iter([csl_items.text(_papers(hits)).rstrip()]),
    "endnote": lambda hits: iter([endnote_records.text(_papers(hits)).rstrip()]),
    "markdown": lambda hits: markdown(_papers(hits)),
}
"""Formats of references, which contain nothing about the search; `page` does."""


def count_encoded_ids(run: Run) -> int:
    """Number of a run's ids that a TREC file must encode."""
    return sum(encoded(id) != id for ranking in run for id in ranking.ids)


def _cut(text: str, width: int, whole: int) -> str:
    """Shorten in the middle. The id at the end stays whole, so that it can be copied."""
    if columns(text) <= width:
        return text
    tail = text[max(len(text) - whole - 3, 0) :]
    room = width - columns(tail)
    return fitted(text[: len(text) - len(tail)], room) + tail if room > 1 else tail.removeprefix(" · ")


def fitted(text: str, width: int) -> str:
    """Shorten a text to `width` columns with an ellipsis: between words, or within the first word if that is longer."""
    return text if columns(text) <= width else f"{wrapped(text, width - 1)[0].rstrip(' ·,;:')}…"
