"""TEI as GROBID writes it: the header of a document is a paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from .raw import Row, filled
from .xml import first_text, plain_of, records, text_of

TAGS = frozenset({"teiHeader"})
SOURCE = "fileDesc/sourceDesc/biblStruct"


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the documents. Raises as `records`."""
    return ((number, _row(path, record)) for number, (record, _) in enumerate(records(path, TAGS), 1))


def _row(path: Path, header: Element) -> Row:
    numbers = {number.get("type", "").lower(): text_of(number) for number in header.iterfind(f"{SOURCE}//idno")}
    extents = {scope.get("unit", ""): scope for scope in header.iterfind(f"{SOURCE}/monogr/imprint/biblScope")}
    pages = extents.get("page")
    date = next((date.get("when", "") for date in header.iter("date") if date.get("when")), "")
    return filled(
        {
            "id": numbers.get("doi") or numbers.get("arxiv") or numbers.get("md5") or path.name.partition(".")[0],
            "title": plain_of(header.find("fileDesc/titleStmt/title")),
            "abstract": "\n\n".join(filter(None, map(plain_of, header.iterfind("profileDesc/abstract//p"))))
            or plain_of(header.find("profileDesc/abstract")),
            "year": date or first_text(header, ".//imprint/date", ".//publicationStmt/date"),
            "date": date,
            "venue": first_text(header, f"{SOURCE}/monogr/title"),
            "authors": [name for author in header.iterfind(f"{SOURCE}/analytic/author") if (name := _name(author))],
            "doi": numbers.get("doi"),
            "arxiv": numbers.get("arxiv"),
            "volume": text_of(extents.get("volume")),
            "number": text_of(extents.get("issue")),
            "pages": "-".join(filter(None, (pages.get("from"), pages.get("to")))) or text_of(pages) if pages is not None else "",
            "publisher": first_text(header, ".//publicationStmt/publisher", f"{SOURCE}/monogr/imprint/publisher"),
            "keywords": [text_of(term) for term in header.iterfind("profileDesc/textClass/keywords//term")],
            "language": next((language.get("ident", "") for language in header.iter("language")), ""),
        }
    )


def _name(author: Element) -> dict[str, str]:
    person = author.find("persName")
    if person is None:
        return {"literal": text} if (text := first_text(author, "orgName", "name")) else {}
    given = " ".join(filter(None, map(text_of, person.iterfind("forename"))))
    family = text_of(person.find("surname"))
    return {"family": family or given, "given": given if family else "", "suffix": text_of(person.find("genName"))}
