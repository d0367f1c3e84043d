"""PubMed's XML, of its yearly baseline, its updates and its searches: `PubmedArticle`, `PubmedBookArticle`, MEDLINE's citations.

Elements as in NLM's "MEDLINE/PubMed XML Data Elements".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from .raw import Row, Withdrawn, filled
from .xml import first_text, records, rest_of, text_of

ROOTS = {"PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "PubmedBookArticle", "MedlineCitationSet", "MedlineCitation"}
TAGS = frozenset({"PubmedArticle", "PubmedBookArticle", "MedlineCitation", "DeleteCitation", "DeleteDocument"})
YEARS = (".//JournalIssue/PubDate/Year", ".//JournalIssue/PubDate/MedlineDate", ".//Book/PubDate/Year", ".//ArticleDate/Year")


def rows(path: Path) -> Iterator[tuple[int, Row | Withdrawn]]:
    """Yield the citations; a list of deleted ones is a rejected row. Raises as `records`."""
    return ((number, _row(path, number, record)) for number, (record, _) in enumerate(records(path, TAGS), 1))


def _row(path: Path, number: int, record: Element) -> Row | Withdrawn:
    if record.tag.startswith("Delete"):
        ids = " ".join(text_of(element) for element in record.iter("PMID"))
        return Withdrawn(str(path), number, f"PubMed has deleted what had the ids {ids[:200]}")
    article = record.find(".//Article")
    body = record if article is None else article
    id = text_of(record.find(".//PMID"))
    row = {
        "id": id,
        "title": first_text(body, ".//ArticleTitle", ".//VernacularTitle", ".//BookTitle"),
        "abstract": _abstract(body.find("Abstract") if article is not None else record.find(".//Abstract")),
        "year": first_text(record, *YEARS),
        "venue": first_text(record, ".//Journal/Title", ".//MedlineJournalInfo/MedlineTA", ".//Book/BookTitle"),
        "authors": [name for author in record.iterfind(".//AuthorList/Author") if (name := _name(author))],
        "doi": next(filter(None, map(text_of, record.iterfind(".//ELocationID[@EIdType='doi']"))), None) or _id_of_kind(record, "doi"),
        "pmid": id,
        "type": [text_of(kind) for kind in record.iterfind(".//PublicationType")],
        "volume": first_text(record, ".//JournalIssue/Volume"),
        "number": first_text(record, ".//JournalIssue/Issue"),
        "pages": first_text(record, ".//Pagination/MedlinePgn", ".//Pagination/StartPage"),
        "issn": first_text(record, ".//Journal/ISSN"),
        "language": first_text(record, ".//Language"),
        "keywords": [text_of(word) for word in record.iterfind(".//KeywordList/Keyword")],
        "mesh": [text_of(heading) for heading in record.iterfind(".//MeshHeading/DescriptorName")],
        "pmcid": _id_of_kind(record, "pmc"),
        "references": [text_of(id) for id in record.iterfind(".//ReferenceList//ArticleId[@IdType='pubmed']")],
    }
    # the rest has affiliations, grants, chemicals, dates
    return {**filled(row), "pubmed": rest_of(record, ".//ArticleTitle", ".//AbstractText")}


def _abstract(abstract: Element | None) -> str:
    """Its parts in paragraphs, each after its label."""
    parts = []
    for part in abstract.iterfind("AbstractText") if abstract is not None else ():
        label, text = part.get("Label"), text_of(part)
        parts.append(f"{label}: {text}" if label and text else text)
    return "\n\n".join(filter(None, parts))


def _name(author: Element) -> str:
    """A name in its natural order; a group's as it is."""
    parts = (author.find("ForeName"), author.find("LastName"), author.find("Suffix"))
    if parts[0] is None:
        parts = (author.find("Initials"), *parts[1:])
    return " ".join(filter(None, map(text_of, parts))) if parts[1] is not None else text_of(author.find("CollectiveName"))


def _id_of_kind(record: Element, kind: str) -> str | None:
    """An id of the citation itself; those of its references are elsewhere."""
    ids = (id for path in ("PubmedData", "PubmedBookData", ".//BookDocument") for id in record.iterfind(f"{path}/ArticleIdList/ArticleId"))
    return next((text_of(id) for id in ids if id.get("IdType") == kind), None)
