"""Importing decisions: from other sessions, from tables, and from exports of ASReview and Rayyan.

ASReview writes a column `asreview_label` or `included` of 1 and 0 and a column `asreview_note`, or in RIS a note such as
`ASReview_relevant`. Rayyan writes everything into the notes of CSV and RIS, including each reviewer's decision: `RAYYAN-INCLUSION:
{"Ada"=>"Included", "Ben"=>"Maybe"} | RAYYAN-EXCLUSION-REASONS: wrong population | USER-NOTES: {"Ada"=>["see p. 3"]}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest, NotFound
from ..base.types import Paper
from ..files.csv_files import unguarded
from ..papers import identifiers
from ..papers.bibliographies.ris_records import RECORD
from ..papers.corpora.formats import CSV, EXCEL, RIS
from ..papers.duplicates import same_works
from ..query.index import Index
from .decisions import WRITTEN, Decision, DecisionFile, Verdict, decided
from .units import Units, naming

WORDS: Mapping[str, Verdict | None] = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "include", "included", "relevant"), "include"),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "exclude", "excluded", "irrelevant"), "exclude"),
    **dict.fromkeys(("maybe", "m", "?"), "maybe"),
    **dict.fromkeys(("", "-1", "-1.0", "not seen"), None),
}
"""Words for decisions in tables; None for no decision."""
DECIDED = ("relevant", "asreview_label", "included", "label_included", "label", "decision")
COLUMNS: Mapping[str, Sequence[str]] = {
    "id": ("id", "paper_id"),
    "doi": ("doi",),
    "pmid": ("pmid", "pubmed_id", "pubmed id"),
    "title": ("title", "primary_title"),
    "authors": ("authors", "author"),
    "year": ("year", "publication_year"),
    "reason": ("reason", "exclusion_reason", "exclusion reason", "reason for exclusion"),
    "note": ("note", "asreview_note"),
    "notes": ("notes",),
    "by": ("by", "reviewer", "asreview_user_name"),
}
"""Fields of a table, and the names that their columns may have, in order of preference."""
ASREVIEW: Mapping[str, Verdict | None] = {
    "ASReview_relevant": "include",
    "ASReview_irrelevant": "exclude",
    "ASReview_not_seen": None,
}
RAYYAN = re.compile(r"RAYYAN-INCLUSION:\s*\{(.*?)\}")
RAYYAN_VOTE = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=>\s*"?(included|excluded|maybe|true|false)"?', re.IGNORECASE)
RAYYAN_REASONS = re.compile(r"RAYYAN-EXCLUSION-REASONS:\s*([^|]*)")
RAYYAN_NOTES = re.compile(r"USER-NOTES:\s*\{(.*)\}")
RAYYAN_NOTE = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=>\s*\[(.*?)\]')
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
RIS_NOTE = re.compile(r"^N1  - (.*(?:\n(?![A-Z][A-Z0-9]  -).*)*)", re.MULTILINE)
RIS_ACCESSION = re.compile(r"^AN  - (.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """A file's record on a paper.

    Attributes:
        paper: the paper, as far as the file describes it.
        votes: verdict by reviewer, "" for an unnamed one; empty if nobody decided.
        reason: why it is excluded.
        note: further text.
        where: its place in the file.
        decision: the decision of another session, of which this session may be a copy; None for other files.
    """

    paper: Paper
    votes: Mapping[str, Verdict] = field(default_factory=dict)
    reason: str = ""
    note: str = ""
    where: str = ""
    decision: Decision | None = None

    @property
    def line(self) -> Mapping[str, Any]:
        """The fields of a session's line for this record, besides the paper's id."""
        reason = self.reason if "exclude" in self.votes.values() else ""
        if len(self.votes) == 1:
            ((name, verdict),) = self.votes.items()
            return decided(verdict, reason, self.note, name)
        texts = {name: text for name, text in (("reason", reason), ("note", self.note)) if text}
        return {"votes": {name: WRITTEN[verdict] for name, verdict in self.votes.items()}, **texts} if self.votes else texts


@dataclass(frozen=True, slots=True)
class TakenOver:
    """The result of an import: the number of papers that got decisions, and the records that match no paper here."""

    decisions: int
    unmatched: tuple[str, ...]


def records_of(path: Path) -> list[ImportedRecord]:
    """Records of a file with a decision or a note.

    Raises:
        NotFound: the file does not exist.
        InvalidRequest: columns for papers and decisions are missing, or a row has an invalid value; the message names the row.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    records = list(_of_session(path) if path.suffix.lower() == ".jsonl" else _of_table(path))
    return [record for record in records if record.votes or record.note]


def matched(records: Sequence[ImportedRecord], index: Index, units: Units) -> list[int | None]:
    """The unit of each record; None if it has none, or could have several.

    Matching is by id; else by PubMed id; else by DOI, or by title, first author and year, as in `papers.duplicates.same_works`. A record
    with one paper's DOI and another's title has no unit.
    """
    places = [units.place_of.get(record.paper.id) if record.paper.id else None for record in records]
    if all(place is not None for place in places):
        return places
    papers = naming(index, np.sort(index.snapshot.rows(list(units.place_of))))
    with_number, with_doi = dict[str, set[int]](), dict[str, set[int]]()
    for paper in papers:
        if number := identifiers.pmid(str(paper.extra.get("pmid", ""))):
            with_number.setdefault(number, set()).add(units.place_of[paper.id])
        if doi := identifiers.doi(paper.doi or ""):
            with_doi.setdefault(doi, set()).add(units.place_of[paper.id])
    unplaced = [number for number, place in enumerate(places) if place is None]
    candidates: dict[int, set[int]] = {}
    for place in unplaced:
        pmid = identifiers.pmid(str(records[place].paper.extra.get("pmid", "")))
        candidates[place] = with_number.get(pmid, set()) if pmid else set()
    for work in same_works([*papers, *(records[place].paper for place in unplaced)]):
        found = {units.place_of[papers[place].id] for place in work.places if place < len(papers)}
        for place in (unplaced[place - len(papers)] for place in work.places if place >= len(papers)):
            named = with_doi.get(identifiers.doi(records[place].paper.doi or "") or "", set())
            # a DOI of several papers belongs to a book, and says less than a chapter's title
            candidates[place] = candidates[place] or (found | named if len(named) == 1 else found)
    for place, found in candidates.items():
        places[place] = next(iter(found)) if len(found) == 1 else None
    return places


def _of_session(path: Path) -> Iterator[ImportedRecord]:
    file = DecisionFile(path)
    file.close()
    last = {decision.id: decision for decision in file.decisions}
    for id in dict.fromkeys([*last, *file.notes]):
        decision = last.get(id)
        votes: Mapping[str, Verdict] = {}
        if decision is not None:
            votes = dict.fromkeys(decision.by or ("",), decision.verdict) if decision.verdict else file.votes[id]
        yield ImportedRecord(Paper(id), votes, decision.reason if decision else "", file.notes.get(id, ""), f"paper {id}", decision)


def _of_table(path: Path) -> Iterator[ImportedRecord]:
    suffix = path.suffix.lower()
    format = RIS if suffix == ".ris" else EXCEL if suffix == ".xlsx" else CSV
    is_empty = True
    for batch in format.read(path):
        is_empty = False
        if batch.rejected:
            raise InvalidRequest(f"{path}, row {batch.rejected[0].row}: {batch.rejected[0].reason}; correct the row, or remove it")
        columns = {name.strip().lower(): batch.table[name].to_pylist() for name in batch.table.column_names}
        chosen = {name: next((columns[other] for other in names if other in columns), None) for name, names in COLUMNS.items()}
        decided = next((columns[name] for name in DECIDED if name in columns), None)
        has_notes = suffix == ".ris" or any(RAYYAN.search(_text(note)) for note in chosen["notes"] or ())
        if all(chosen[name] is None for name in ("id", "doi", "pmid", "title")) or (decided is None and not has_notes):
            raise InvalidRequest(
                f"{path} needs a column id, doi, pmid or title, and a column relevant (or included, label, decision), or to be an export "
                "of ASReview or Rayyan"
            )
        for place, row in enumerate(batch.rows):
            values = {name: column[place] for name, column in chosen.items() if column is not None}
            notes = "\n".join(RIS_NOTE.findall(columns[RECORD][place])) if suffix == ".ris" else _text(values.get("notes"))
            if suffix == ".ris" and (number := RIS_ACCESSION.search(columns[RECORD][place])):
                values["pmid"] = number[1]
            word = _text(decided[place]).lower() if decided is not None else ""
            if word not in WORDS:
                raise InvalidRequest(f"{path}, row {row}: {word!r} is no decision; write 1, 0 or maybe, yes or no, or leave it empty")
            yield _record(values, notes, WORDS[word], f"row {row}")
    if is_empty:
        raise InvalidRequest(f"{path} has no rows; give a .csv, .tsv or .xlsx file with a header and decisions, or a .ris file")


def _record(values: Mapping[str, Any], notes: str, verdict: Verdict | None, where: str) -> ImportedRecord:
    """The record of a row. `verdict` comes from the decision column; notes may add more."""
    authors = values.get("authors")
    year = re.search(r"\b[12]\d{3}\b", _text(values.get("year")))
    pmid = _text(values.get("pmid"))
    paper = Paper(
        unguarded(_text(values.get("id"))),
        unguarded(_text(values.get("title"))),
        year=int(year[0]) if year else None,
        authors=tuple(map(str, authors)) if isinstance(authors, list) else _names(unguarded(_text(authors))),
        doi=identifiers.doi(_text(values.get("doi"))),
        extra={"pmid": pmid} if pmid else {},
    )
    name, reason, note = (unguarded(_text(values.get(column))) for column in ("by", "reason", "note"))
    votes: Mapping[str, Verdict] = {name: verdict} if verdict else {}
    if rayyan := RAYYAN.search(notes):
        votes = {_unescaped(who): verdict for who, said in RAYYAN_VOTE.findall(rayyan[1]) if (verdict := WORDS[said.lower()])}
        if reasons := RAYYAN_REASONS.search(notes):
            reason = "; ".join(filter(None, (one.strip() for one in reasons[1].split(","))))
        if written := RAYYAN_NOTES.search(notes):
            said = [(who, ", ".join(map(_unescaped, QUOTED.findall(texts)))) for who, texts in RAYYAN_NOTE.findall(written[1])]
            note = "; ".join(f"{_unescaped(who)}: {text}" for who, text in said if text)
    elif not verdict:
        marks = re.findall(r"\bASReview_(?:relevant|irrelevant|not_seen)\b", notes)
        if marks and (marked := ASREVIEW[marks[-1]]):
            votes = {name: marked}
    return ImportedRecord(paper, votes, reason, note, where)


def _names(text: str) -> tuple[str, ...]:
    """Authors of a paper, separated by semicolons or "and". Commas alone may be part of a name, so the first name suffices."""
    return tuple(filter(None, (name.strip() for name in re.split(r";|\band\b", text))))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text).strip()


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
