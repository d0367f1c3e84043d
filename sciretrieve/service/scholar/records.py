"""Papers and authors in Semantic Scholar's form, with the requested fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

import numpy as np

from ...answers.authors import Author, authors_in, authors_of
from ...answers.citation_counts import citation_counts
from ...base.errors import InvalidRequest
from ...base.once import once
from ...base.types import Paper, Rows
from ...base.wording import plain
from ...papers.bibliographies.bibtex_entries import entries
from ...papers.references import Reference, reference_columns, references_of
from ...query.index import Index
from ...query.ranking.linking import GRAPHED
from . import columns
from .fields import Fields

Record: TypeAlias = dict[str, Any]

MOST_NESTED = 1000
"""The most papers in a list within a paper or an author; their own pages have all."""
FEW = frozenset({"paperId", "title", "url", "abstract", "year", "venue", "authors"})
"""Fields that need no further columns."""
PLAIN_COLUMNS = ("id", "title", "abstract", "year", "venue", "authors")
NAMED = frozenset({"authorId", "name", "url"})
"""Fields of an author that follow from the name alone."""
EMBEDDINGS: Mapping[str, tuple[str, str]] = {"specter2": ("specter_v2", "specter_v2"), "specter": ("specter_v1", "specter@v0.1.1")}
"""Encoders whose vectors Semantic Scholar also has, with its names in requests and in answers."""


@dataclass(frozen=True)
class Cited:
    """A cited work: the row of its paper, or a reference to a work outside the index."""

    row: int | None
    reference: Reference | None = None


@dataclass(frozen=True)
class Records:
    """Makes records of an index's papers and authors; `base` is the service's address, without a final slash."""

    index: Index
    base: str

    def papers(self, rows: Sequence[int] | Rows, wanted: Fields) -> list[Record]:
        """The papers at some rows, in the given order."""
        places = np.asarray(rows, np.int64)
        names = PLAIN_COLUMNS if FEW.issuperset(wanted.names) else None
        found = zip(places.tolist(), self.index.snapshot.papers_at(places, names), self.index.snapshot.whole_names(places), strict=True)
        cases = [_Case(self, row, paper, name, wanted) for row, paper, name in found]
        lists = {name: self._linked(name, cases, wanted) for name in ("citations", "references") if name in wanted}
        records: list[Record] = []
        for place, case in enumerate(cases):
            records.append({name: lists[name][place] if name in lists else PAPER[name](case) for name in wanted.names})
        return records

    def _linked(self, name: str, cases: Sequence[_Case], wanted: Fields) -> list[list[Record]]:
        """The cited or citing papers of each paper, read together."""
        works = [(self.citing(case.row) if name == "citations" else self.cited(case.row, case.paper))[:MOST_NESTED] for case in cases]
        inner = wanted.within(name, "paperId", "title")
        flat = iter(self.works([work for group in works for work in group], inner))
        return [[next(flat) for _ in group] for group in works]

    def works(self, works: Sequence[Cited], wanted: Fields) -> list[Record]:
        """Papers, and works outside the index with the facts of their references."""
        rows = sorted({work.row for work in works if work.row is not None})
        known = dict(zip(rows, self.papers(rows, wanted), strict=True))
        return [known[work.row] if work.row is not None else _outside(work.reference, wanted) for work in works]

    def cited(self, row: int, paper: Paper) -> list[Cited]:
        """The works that a paper cites, in its own order; the paper must have all its columns."""
        values = {"id": paper.id, "doi": paper.doi, **paper.extra}
        found: dict[int | str, Cited] = {}
        for reference in references_of(values, self._reference_columns):
            known = self.index.snapshot.citations.names.row(reference.names)
            if known is None:
                found.setdefault(str(reference), Cited(None, reference))
            elif known != row:
                found.setdefault(known, Cited(known))
        return list(found.values())

    def citing(self, row: int) -> list[Cited]:
        """The papers that cite a paper, the latest first."""
        if not self.index.snapshot.has_references:
            return []
        rows = self.index.snapshot.citations.graph.cited_by(row)
        return [Cited(int(each)) for each in self.latest_first(rows)]

    def latest_first(self, rows: Rows) -> Rows:
        """The rows of papers, the latest first, then by id."""
        papers = self.index.snapshot.papers_at(rows, ("id", "year"))
        order = sorted(range(len(rows)), key=lambda place: (-(papers[place].year or 0), papers[place].id))
        return rows[np.array(order, np.int64)]

    @once
    def _reference_columns(self) -> Sequence[str]:
        return reference_columns(self.index.snapshot.columns)

    @property
    def is_graphed(self) -> bool:
        """Whether the citation graph is used to count the citations of each paper in a list."""
        return self.index.snapshot.has_references and len(self.index) <= GRAPHED

    def address(self, name: str) -> str:
        """The address of a paper's page."""
        return f"{self.base}/paper/{quote(name, safe='/:')}"

    def works_by(self, author: Author) -> Rows:
        """The rows of an author's papers, each work once even if several indexes have it."""
        return self.index.snapshot.distinct(author.rows) if len(self.index.names) > 1 else author.rows

    def authors(self, authors: Sequence[Author], wanted: Fields) -> list[Record]:
        """Some authors, in the given order; their papers are read together."""
        authors, papers = [replace(author, rows=self.works_by(author)) for author in authors], dict[int, Record]()
        if "papers" in wanted:
            rows = np.unique(np.concatenate([np.empty(0, np.int64), *(author.rows for author in authors)]))
            papers = dict(zip(rows.tolist(), self.papers(rows, wanted.within("papers", "paperId", "title")), strict=True))
        return [{name: AUTHOR[name](_Person(self, author, papers)) for name in wanted.names} for author in authors]

    def authors_of(self, paper: Paper, wanted: Fields) -> list[Record]:
        """The authors of a paper."""
        named = list(authors_in(paper.authors))
        if NAMED.issuperset(wanted.names):
            values = ({"authorId": id, "name": name, "url": self.author_address(id)} for id, name in named)
            return [{field: known[field] for field in wanted.names} for known in values]
        every = authors_of(self.index)
        return [
            record | {"name": name} for record, (_, name) in zip(self.authors([every[id] for id, _ in named], wanted), named, strict=True)
        ]

    def author_address(self, id: str) -> str:
        """The address of the page of an author's papers."""
        return f"{self.base}/author?{urlencode({'name': id})}"


def _outside(reference: Reference | None, wanted: Fields) -> Record:
    """A work outside the index."""
    record: Record = dict.fromkeys(wanted.names)
    record |= {name: [] for name in ("authors", "citations", "references") if name in wanted}
    if reference is None:
        return record
    if "title" in wanted:
        record["title"] = reference.label or None
    if "externalIds" in wanted:
        kinds = {"doi": "DOI", "arxiv": "ArXiv", "pmid": "PubMed", "corpusid": "CorpusId"}
        pairs = [name.partition(":") for name in reference.names]
        found = {kinds[kind]: value for kind, colon, value in pairs if colon and kind in kinds}
        record["externalIds"] = found | ({"CorpusId": int(found["CorpusId"])} if "CorpusId" in found else {}) or None
    return record


@dataclass(frozen=True)
class _Case:
    """A paper to make a record of."""

    records: Records
    row: int
    paper: Paper
    name: str
    wanted: Fields

    @once
    def columns(self) -> columns.Columns:
        """Its further columns by their letters."""
        return columns.columns_of(self.paper)


def _reference_count(case: _Case) -> int | None:
    """The number of references in the corpus, else the number of known ones."""
    known = columns.count(case.columns, *columns.REFERENCED)
    if known is not None or not case.records.is_graphed:
        return known
    return len(case.records.cited(case.row, case.paper))


def _embedding(case: _Case) -> Record | None:
    """The paper's vector, if the index has vectors of the requested encoder."""
    encoder = case.records.index.snapshot.encoder
    model_names = case.wanted.names["embedding"] or {"specter_v1"}
    name, model = EMBEDDINGS.get(str((encoder or {}).get("name")), ("", ""))
    if name not in model_names or encoder is None or not case.records.index.snapshot.vectors:
        return None
    request_facts = encoder.get("asked") or {}
    if any(request_facts.get(option) for option in ("adapter", "pooling", "template", "bare_titles")):
        return None
    try:
        vector = case.records.index.snapshot.vectors_at(np.array([case.row], np.int64))[0]
    except InvalidRequest:  # several indexes with different encoders
        return None
    return {"model": model, "vector": vector.tolist()}


PAPER: Mapping[str, Callable[[_Case], Any]] = {
    "paperId": lambda case: case.name,
    "corpusId": lambda case: columns.external_ids(case.paper, case.columns).get("CorpusId"),
    "externalIds": lambda case: columns.external_ids(case.paper, case.columns),
    "url": lambda case: case.records.address(case.name),
    "title": lambda case: case.paper.title,
    "abstract": lambda case: case.paper.abstract or None,
    "venue": lambda case: case.paper.venue or "",
    "publicationVenue": lambda case: plain(columns.venue_of_publication(case.columns)),
    "year": lambda case: case.paper.year,
    "referenceCount": _reference_count,
    "citationCount": lambda case: citation_counts(case.records.index).of(case.row),
    "influentialCitationCount": lambda case: columns.count(case.columns, columns.INFLUENTIAL),
    "isOpenAccess": lambda case: columns.is_open_access(case.paper, case.columns),
    "openAccessPdf": lambda case: columns.open_access_pdf(case.paper, case.columns),
    "fieldsOfStudy": lambda case: columns.fields_of_study(case.columns),
    "s2FieldsOfStudy": lambda case: columns.s2_fields_of_study(case.columns),
    "publicationTypes": lambda case: columns.publication_types(case.columns),
    "publicationDate": lambda case: columns.publication_date(case.columns),
    "journal": lambda case: columns.journal(case.paper, case.columns),
    "citationStyles": lambda case: {"bibtex": "".join(entries([case.paper]))},
    "authors": lambda case: case.records.authors_of(case.paper, case.wanted.within("authors", "authorId", "name")),
    "embedding": _embedding,
    "tldr": lambda case: columns.tldr(case.columns),
    "textAvailability": lambda case: "abstract" if case.paper.abstract else "none",
}
"""The fields of a paper, except its linked papers, and their sources."""


@dataclass(frozen=True)
class _Person:
    """An author to make a record of, with the records of papers by row."""

    records: Records
    author: Author
    papers: Mapping[int, Record]

    def own_papers(self) -> Iterable[Record]:
        """The author's papers, the latest first."""
        return [self.papers[row] for row in self.records.latest_first(self.author.rows)[:MOST_NESTED].tolist()]


AUTHOR: Mapping[str, Callable[[_Person], Any]] = {
    "authorId": lambda person: person.author.id,
    "externalIds": lambda _: {},
    "url": lambda person: person.records.author_address(person.author.id),
    "name": lambda person: person.author.name,
    "aliases": lambda person: list(person.author.names),
    "affiliations": lambda _: [],
    "normalizedAffiliations": lambda _: [],
    "homepage": lambda _: None,
    "paperCount": lambda person: len(person.author),
    "citationCount": lambda person: citation_counts(person.records.index).total(person.author.rows),
    "hIndex": lambda person: citation_counts(person.records.index).h_index(person.author.rows),
    "papers": lambda person: list(person.own_papers()),
}
"""The fields of an author, and their sources."""
