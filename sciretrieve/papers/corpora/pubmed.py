"""PubMed's XML, of its yearly baseline, its updates and its searches: `PubmedArticle`, `PubmedBookArticle`, MEDLINE's citations.

Elements as in NLM's "MEDLINE/PubMed XML Data Elements".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from .raw import RawBatch, Row, Withdrawn, batches_of_rows
from .xml import records, text_of, tree_of

ROOTS = {"PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "PubmedBookArticle", "MedlineCitationSet", "MedlineCitation"}
TAGS = frozenset({"PubmedArticle", "PubmedBookArticle", "MedlineCitation", "DeleteCitation", "DeleteDocument"})
YEARS = (".//JournalIssue/PubDate/Year", ".//JournalIssue/PubDate/MedlineDate", ".//Book/PubDate/Year", ".//ArticleDate/Year")


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the citations in batches; row n is the n-th. A list of deleted citations is a rejected row.

    Raises:
        InvalidRequest: the file cannot be read to its end.
    """
    return batches_of_rows(str(path), ((number, _row(path, number, record)) for number, (record, _) in enumerate(records(path, TAGS), 1)))


def _row(path: Path, number: int, record: Element) -> Row | Withdrawn:
    if record.tag.startswith("Delete"):
        ids = " ".join(text_of(element) for element in record.iter("PMID"))
        return Withdrawn(str(path), number, f"PubMed has deleted what had the ids {ids[:200]}")
    article = record.find(".//Article")
    body = record if article is None else article
    id = text_of(record.find(".//PMID"))
    titles = (text_of(body.find(name)) for name in (".//ArticleTitle", ".//VernacularTitle", ".//BookTitle"))
    row = {
        "id": id,
        "title": next(filter(None, titles), ""),
        "abstract": _abstract(body.find("Abstract") if article is not None else record.find(".//Abstract")),
        "year": next(filter(None, (text_of(record.find(path)) for path in YEARS)), None),
        "venue": _first(record, ".//Journal/Title", ".//MedlineJournalInfo/MedlineTA", ".//Book/BookTitle"),
        "authors": [name for author in record.iterfind(".//AuthorList/Author") if (name := _name(author))],
        "doi": _doi(record),
        "pmid": id,
        "type": [text_of(kind) for kind in record.iterfind(".//PublicationType")],
        "volume": _first(record, ".//JournalIssue/Volume"),
        "number": _first(record, ".//JournalIssue/Issue"),
        "pages": _first(record, ".//Pagination/MedlinePgn", ".//Pagination/StartPage"),
        "issn": _first(record, ".//Journal/ISSN"),
        "language": _first(record, ".//Language"),
        "keywords": [text_of(word) for word in record.iterfind(".//KeywordList/Keyword")],
        "mesh": [text_of(heading) for heading in record.iterfind(".//MeshHeading/DescriptorName")],
        "pmcid": _id_of_kind(record, "pmc"),
        "references": [text_of(id) for id in record.iterfind(".//ReferenceList//ArticleId[@IdType='pubmed']")],
    }
    return {**{name: value for name, value in row.items() if value}, "pubmed": _rest(record)}


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


def _doi(record: Element) -> str | None:
    places = record.findall(".//ELocationID[@EIdType='doi']")
    return next(filter(None, map(text_of, places)), None) or _id_of_kind(record, "doi")


def _id_of_kind(record: Element, kind: str) -> str | None:
    """An id of the citation itself; those of its references are elsewhere."""
    ids = (id for path in ("PubmedData", "PubmedBookData", ".//BookDocument") for id in record.iterfind(f"{path}/ArticleIdList/ArticleId"))
    return next((text_of(id) for id in ids if id.get("IdType") == kind), None)


def _first(record: Element, *paths: str) -> str:
    return next(filter(None, (text_of(record.find(path)) for path in paths)), "")


def _rest(record: Element) -> str:
    """The whole citation as JSON, without the texts of title and abstract: affiliations, grants, chemicals, dates."""
    for element in record.iter():
        for child in [child for child in element if child.tag in ("ArticleTitle", "AbstractText")]:
            element.remove(child)
    return json.dumps(tree_of(record), ensure_ascii=False)
