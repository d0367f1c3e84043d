"""JATS, the XML of journals and of PubMed Central: the front matter of an article is a paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from .raw import Row, filled
from .xml import first_text, plain_of, records, text_of

ROOTS = {"article", "pmc-articleset", "articles"}
TAGS = frozenset({"front", "front-stub"})


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the articles. Raises as `records`."""
    for number, (record, around) in enumerate(records(path, TAGS), 1):
        yield number, _row(path, record, next((attributes["article-type"] for attributes in around if "article-type" in attributes), ""))


def _row(path: Path, front: Element, kind: str) -> Row:
    meta = front.find("article-meta")
    meta = front if meta is None else meta
    ids = {id.get("pub-id-type", ""): text_of(id) for id in meta.iterfind("article-id")}
    date = _date(meta)
    return filled(
        {
            "id": ids.get("pmc") or ids.get("pmcid") or ids.get("doi") or ids.get("pmid") or path.name.partition(".")[0],
            "title": plain_of(meta.find("title-group/article-title")),
            "abstract": _abstract(meta),
            "year": date[:4],
            "date": date,
            "venue": first_text(front, ".//journal-title"),
            "authors": [name for person in meta.iterfind("contrib-group/contrib") if _is(person, "author") and (name := _name(person))],
            "editors": [name for person in meta.iterfind("contrib-group/contrib") if _is(person, "editor") and (name := _name(person))],
            "doi": ids.get("doi"),
            "pmid": ids.get("pmid"),
            "pmcid": (number := ids.get("pmc") or ids.get("pmcid")) and f"PMC{number.removeprefix('PMC')}",
            "volume": text_of(meta.find("volume")),
            "number": text_of(meta.find("issue")),
            "pages": "-".join(filter(None, map(text_of, map(meta.find, ("fpage", "lpage"))))) or text_of(meta.find("elocation-id")),
            "issn": first_text(front, ".//issn"),
            "publisher": first_text(front, ".//publisher-name"),
            "keywords": [plain_of(word) for word in meta.iterfind("kwd-group/kwd")],
            "type": kind.replace("research-article", "article").replace("-article", ""),
        }
    )


def _abstract(meta: Element) -> str:
    """The abstract's paragraphs, those of a section after its title; not a graphical one, nor one in another language."""
    abstracts = [abstract for abstract in meta.iterfind("abstract") if abstract.get("abstract-type") in (None, "summary", "section", "")]
    parts = []
    for section in [part for abstract in abstracts[:1] for part in (abstract, *abstract.iterfind(".//sec"))]:
        text = " ".join(filter(None, map(plain_of, section.iterfind("p"))))
        title = plain_of(section.find("title"))
        parts.append(f"{title}: {text}" if text and title and section.tag == "sec" else text)
    return "\n\n".join(filter(None, parts)) or (plain_of(abstracts[0]) if abstracts else "")


def _is(person: Element, role: str) -> bool:
    return person.get("contrib-type", "author") == role


def _name(person: Element) -> dict[str, str]:
    name = person.find(".//name")
    if name is None:
        return {"literal": text} if (text := first_text(person, ".//string-name", "collab")) else {}
    return {part: text_of(name.find(tag)) for part, tag in {"family": "surname", "given": "given-names", "suffix": "suffix"}.items()}


def _date(meta: Element) -> str:
    """The earliest date of publication, with month and day where it has them."""
    dates = []
    for date in meta.iterfind("pub-date"):
        numbers = [text_of(date.find(part)) for part in ("year", "month", "day")]
        if numbers[0].isdecimal():
            known = numbers[: next((place for place, number in enumerate(numbers) if not number.isdecimal()), 3)]
            dates.append("-".join(number.zfill(2) for number in known))
    return min(dates, default="")
