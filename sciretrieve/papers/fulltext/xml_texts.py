"""Full texts in XML: JATS, of journals and PubMed Central, and TEI, as GROBID writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ...base.errors import InvalidRequest
from ..corpora.markup import TAG
from ..corpora.xml import first_text, plain_of, records, text_of
from .document import Document, Part, document_of

ROOTS = {"article": "JATS", "pmc-articleset": "JATS", "articles": "JATS", "TEI": "TEI", "teiCorpus": "TEI"}
"""The outermost elements of such files."""
FLOATS = frozenset({"fig", "fig-group", "table-wrap", "table-wrap-group", "fn", "fn-group", "boxed-text", "supplementary-material"})
FLOATS |= {"media", "figure", "table", "note"}
"""What stands within paragraphs of either, and is no part of a sentence."""
MARKS = frozenset({"fn", "table-fn", "aff", "corresp", "author-notes"})
"""What a reference of JATS leads to if it is a mark that stands high."""
HIGH_AND_LOW = {"superscript": "sup", "subscript": "sub"}
COORDINATES = re.compile(r"\s*(\d+)\s*,")
"""Where GROBID says that an element is: its page first."""


def read_xml(path: Path) -> Document:
    """The first article of a file as a document. Raises InvalidRequest: it is not XML to its end, declares entities, or has no article."""
    for element, _ in records(path, frozenset({"article", "TEI"})):
        return _tei(element) if element.tag == "TEI" else _jats(element)
    raise InvalidRequest(f"{path} has no full text as JATS or TEI")


def _jats(article: Element) -> Document:
    meta = article.find("front/article-meta")
    title = plain_of(meta.find("title-group/article-title")) if meta is not None else ""
    ids = [f"{id.get('pub-id-type', '')}:{text_of(id)}" for id in (meta.iterfind("article-id") if meta is not None else ())]
    people = [text_of(person) for person in article.iterfind("front//contrib/name")]
    return document_of(_parts_of_jats(article, meta), title=title, front=" ".join([*ids, title, *people]))


def _parts_of_jats(article: Element, meta: Element | None) -> Iterator[Part]:
    abstracts = meta.findall("abstract") if meta is not None else []
    own = [abstract for abstract in abstracts if abstract.get("abstract-type") in (None, "", "summary", "section")]
    for abstract in own[:1]:
        yield Part("head", "Abstract")
        for section in (abstract, *abstract.iterfind(".//sec")):
            name = plain_of(section.find("title")) if section.tag == "sec" else ""
            for number, paragraph in enumerate(section.iterfind("p")):
                yield from _block(paragraph, prefix=f"{name}: " if name and not number else "")
    for place in ("body", "back", "floats-group"):
        if (element := article.find(place)) is not None:
            yield from _content(element, 1)


def _content(element: Element, level: int) -> Iterator[Part]:
    """The parts of a section, in order; and of all else that has paragraphs."""
    for child in element:
        if child.tag in ("sec", "app", "ack", "notes", "glossary", "bio"):
            head = " ".join(filter(None, (text_of(child.find("label")), plain_of(child.find("title")))))
            name = {"ack": "Acknowledgements", "app": "Appendix"}.get(child.tag, "")
            if head or name:
                yield Part("head", head or name, level=level)
            yield from _content(child, level + 1)
        elif child.tag in ("p", "disp-formula", "disp-quote", "verse-group", "list", "def-list", "statement", "speech"):
            yield from _block(child)
        elif child.tag in FLOATS:
            yield from _float(child)
        elif child.tag == "ref-list":
            yield from (Part("reference", text) for ref in child.iter("ref") if (text := _reference(ref)))
        elif child.tag not in ("title", "label", "sec-meta"):
            yield from _content(child, level)


def _block(element: Element, prefix: str = "") -> Iterator[Part]:
    """A paragraph, and what stands within it apart from its sentences, after it."""
    floats = list(_taken_out(element))
    _without_marks(element)
    page = _page(element)
    if text := plain_of(element):
        yield Part("text", prefix + text, page)
    for part in floats:
        yield from _float(part)


def _float(element: Element) -> Iterator[Part]:
    """The caption of a figure or table, a footnote, or all that a box has."""
    tag = element.tag
    if tag in ("fn", "note"):
        if text := plain_of(element):
            yield Part("note", text, _page(element))
    elif tag in ("fig", "table-wrap", "supplementary-material", "media"):
        label, caption = text_of(element.find("label")), element.find("caption")
        said = [plain_of(piece) for piece in caption] if caption is not None and len(caption) else [plain_of(caption)]
        if text := _named(label, said):
            yield Part("caption", text)
        yield from (Part("table", text) for table in element.iter("table") if (text := _cells(table)))
        yield from (Part("note", text) for note in element.iterfind("table-wrap-foot//p") if (text := plain_of(note)))
    elif tag == "figure":
        if text := _named(text_of(element.find("head")), [plain_of(element.find("figDesc"))]):
            yield Part("caption", text, _page(element))
        yield from (Part("table", text, _page(element)) for table in element.iter("table") if (text := _cells(table)))
    else:
        yield from _content(element, 9)


def _named(label: str, texts: list[str]) -> str:
    text = " ".join(filter(None, texts))
    return f"{label.rstrip('.:')}: {text}" if label and text else label or text


def _cells(table: Element) -> str:
    return " ".join(filter(None, (text_of(cell) for cell in table.iter() if cell.tag in ("td", "th", "cell"))))


def _taken_out(element: Element) -> Iterator[Element]:
    """Take the floats out of an element, wherever they are in it, and leave what follows each."""
    for parent in list(element.iter()):
        for place, child in reversed(list(enumerate(parent))):
            if child.tag in FLOATS and parent.tag not in FLOATS:
                yield child
                _remove(parent, place)


def _without_marks(element: Element) -> None:
    """Take out the marks of footnotes, and numbers of references that stand high: they are no parts of words. What is marked up otherwise
    than `plain_of` knows is text."""
    for parent in list(element.iter()):
        for place, child in reversed(list(enumerate(parent))):
            if (child.tag == "xref" and child.get("ref-type") in MARKS) or (child.tag == "sup" and child.find(".//xref") is not None):
                _remove(parent, place)
                continue
            if child.tag == "s" and not (child.tail or "").startswith((" ", "\n")):
                child.tail = f" {child.tail or ''}"  # sentences of GROBID
            if child.tag == "hi" and child.get("rend") in HIGH_AND_LOW:
                child.tag = HIGH_AND_LOW[child.get("rend", "")]
            elif not TAG.fullmatch(f"<{child.tag}>"):
                child.tag = "span"


def _remove(parent: Element, place: int) -> None:
    tail = parent[place].tail or ""
    if place:
        parent[place - 1].tail = (parent[place - 1].tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    del parent[place]


def _reference(ref: Element) -> str:
    for kind in ("mixed-citation", "citation", "note"):
        if (mixed := ref.find(kind)) is not None and (mixed.text or "").strip():
            return plain_of(mixed)
    return ", ".join(filter(None, (text_of(leaf) for leaf in ref.iter() if not len(leaf) and leaf.tag != "label")))


def _tei(tei: Element) -> Document:
    header = tei.find("teiHeader")
    title = plain_of(header.find("fileDesc/titleStmt/title")) if header is not None else ""
    numbers = [f"{number.get('type', '')}:{text_of(number)}" for number in tei.iterfind("teiHeader/fileDesc/sourceDesc//idno")]
    people = [first_text(person, ".") for person in tei.iterfind("teiHeader//sourceDesc//analytic/author/persName")]
    pages = [page for element in tei.iter() for _, page in _page(element)]
    front = " ".join([*numbers, title, *people])
    return document_of(_parts_of_tei(tei, header), title=title, front=front, page_count=max(pages, default=0))


def _parts_of_tei(tei: Element, header: Element | None) -> Iterator[Part]:
    abstract = header.find("profileDesc/abstract") if header is not None else None
    if abstract is not None and text_of(abstract):
        paragraphs = list(abstract.iter("p")) or [abstract]
        yield Part("head", "Abstract", _page(paragraphs[0]))
        for paragraph in paragraphs:
            yield from _block(paragraph)
    for place in ("text/body", "text/back"):
        if (element := tei.find(place)) is not None:
            yield from _divisions(element, 1)


def _divisions(element: Element, level: int) -> Iterator[Part]:
    for child in element:
        if child.tag == "div":
            head = child.find("head")
            name = " ".join(filter(None, (head.get("n", ""), plain_of(head)))) if head is not None else ""
            if name:
                yield Part(
                    "head", name, _page(child.find("head")), (head.get("n", "") if head is not None else "").strip(".").count(".") + level
                )
            yield from _divisions(child, level)
        elif child.tag == "listBibl":
            yield from (Part("reference", text) for entry in child.iter("biblStruct") if (text := _entry(entry)))
        elif child.tag in ("p", "formula", "list", "quote"):
            yield from _block(child)
        elif child.tag in ("figure", "note", "table"):
            yield from _float(child)


def _entry(entry: Element) -> str:
    raw = next((note for note in entry.iter("note") if note.get("type") == "raw_reference"), None)
    if raw is not None:
        return text_of(raw)
    names = (" ".join(text_of(part) for part in person) for person in entry.iter("persName"))
    rest = (text_of(element) or element.get("when", "") for element in entry.iter() if element.tag in ("title", "date", "idno"))
    return ", ".join(filter(None, (*names, *rest)))


def _page(element: Element | None) -> tuple[tuple[int, int], ...]:
    """Where an element begins, as a part says it, if it says so."""
    match = COORDINATES.match(element.get("coords", "")) if element is not None else None
    return ((0, int(match[1])),) if match else ()
