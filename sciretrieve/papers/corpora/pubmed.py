"""PubMed's XML, of its yearly baseline, its updates and its searches: `PubmedArticle`, `PubmedBookArticle`, MEDLINE's citations.

Elements as in NLM's "MEDLINE/PubMed XML Data Elements".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ..bibliographies.author_names import MORE_AUTHORS
from ..dates import publication
from .nbib import bare_title
from .raw import Row, Withdrawn, filled
from .tagged_values import group, medline_name, pages
from .xml import first_text, plain_of, records, rest_of, text_of

ROOTS = {"PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "PubmedBookArticle", "MedlineCitationSet", "MedlineCitation"}
TAGS = frozenset({"PubmedArticle", "PubmedBookArticle", "MedlineCitation", "DeleteCitation", "DeleteDocument"})


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
    titles = [bare_title(plain_of(body.find(path))) for path in (".//ArticleTitle", ".//BookTitle", ".//VernacularTitle")]
    title = next(filter(None, titles), "")
    year, date = publication(_dates(record))
    abstracts = (body.find("Abstract") if article is not None else record.find(".//Abstract"), record.find(".//OtherAbstract"))
    authors = [author for authors in body.iterfind(".//AuthorList") if authors.get("Type") != "editors" for author in authors]
    row = {
        "id": id,
        "title": title,
        "abstract": next(filter(None, map(_abstract, abstracts)), ""),
        "year": year,
        "date": date,
        "venue": first_text(record, ".//Journal/Title", ".//MedlineJournalInfo/MedlineTA", ".//Book/BookTitle"),
        "authors": [name for author in authors if (name := _name(author))],
        MORE_AUTHORS: any(authors.get("CompleteYN") == "N" for authors in body.iterfind(".//AuthorList")),
        "editors": [name for author in record.iterfind(".//AuthorList[@Type='editors']/Author") if (name := _name(author))],
        "doi": next(filter(None, map(text_of, record.iterfind(".//ELocationID[@EIdType='doi']"))), None) or _id_of_kind(record, "doi"),
        "pmid": id,
        "type": [text_of(kind) for kind in record.iterfind(".//PublicationType")],
        "volume": first_text(record, ".//JournalIssue/Volume"),
        "number": first_text(record, ".//JournalIssue/Issue"),
        "pages": first_text(record, ".//Pagination/MedlinePgn") or _pages(record.find(".//Pagination")),
        "publisher": first_text(record, ".//Book/Publisher/PublisherName"),
        "address": first_text(record, ".//Book/Publisher/PublisherLocation"),
        "edition": first_text(record, ".//Book/Edition"),
        "isbn": first_text(record, ".//Book/Isbn"),
        "issn": ", ".join(dict.fromkeys(filter(None, map(text_of, record.iterfind(".//Journal/ISSN"))))),
        "journal_abbreviation": first_text(record, ".//Journal/ISOAbbreviation"),
        "language": ", ".join(map(text_of, body.iterfind("Language"))),
        "original_title": titles[2] if titles[2] != title else "",
        "keywords": [text_of(word) for word in record.iterfind(".//KeywordList/Keyword")],
        "mesh": [text_of(heading) for heading in record.iterfind(".//MeshHeading/DescriptorName")],
        "pmcid": _id_of_kind(record, "pmc"),
        "references": [text_of(id) for id in record.iterfind(".//ReferenceList//ArticleId[@IdType='pubmed']")],
    }
    # the rest has affiliations, grants, chemicals, dates
    return {**filled(row), "pubmed": rest_of(record, ".//ArticleTitle", ".//AbstractText")}


def _dates(record: Element) -> Iterator[str]:
    """When a citation was published: in print, else in the web."""
    for path in (".//JournalIssue/PubDate", ".//Book/PubDate", ".//ArticleDate"):
        if (date := record.find(path)) is not None:
            parts = [text_of(date.find(part)) for part in ("Year", "Month", "Day")]
            is_of_numbers = parts[1].isdecimal()
            yield text_of(date.find("MedlineDate")) or ("-" if is_of_numbers else " ").join(filter(None, parts))


def _pages(pagination: Element | None) -> str:
    return pages(text_of(pagination.find("StartPage")), text_of(pagination.find("EndPage"))) if pagination is not None else ""


def _abstract(abstract: Element | None) -> str:
    """Its parts in paragraphs, each after its label."""
    parts = []
    for part in abstract.iterfind("AbstractText") if abstract is not None else ():
        label, text = part.get("Label"), plain_of(part)
        parts.append(f"{label}: {text}" if label and text else text)
    return "\n\n".join(filter(None, parts))


def _name(author: Element) -> str:
    """A name with commas between family name, given names and suffix; that of a group, or a single one, with a comma at its end."""
    family, suffix = text_of(author.find("LastName")), text_of(author.find("Suffix"))
    given = first_text(author, "ForeName", "Initials")
    if not family or not given:
        return group(name) if (name := family or text_of(author.find("CollectiveName"))) else ""
    return medline_name(f"{family}, {given} {suffix}" if suffix else f"{family}, {given}")


def _id_of_kind(record: Element, kind: str) -> str | None:
    """An id of the citation itself; those of its references are elsewhere."""
    ids = (id for path in ("PubmedData", "PubmedBookData", ".//BookDocument") for id in record.iterfind(f"{path}/ArticleIdList/ArticleId"))
    return next((text_of(id) for id in ids if id.get("IdType") == kind), None)
