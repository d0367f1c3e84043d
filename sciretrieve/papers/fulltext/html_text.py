"""A full text as a web page: of publishers, of arXiv, of PubMed Central."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from ..corpora.encodings import read_text
from ..corpora.markup import script
from .document import Document, Kind, Part, document_of
from .heads import REFERENCES, RUN_IN, bare

HEADS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset(HEADS) | {"address", "article", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset"}
BLOCKS |= {"figcaption", "figure", "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "th", "tr", "ul"}
"""Elements at whose beginning and end no sentence goes on."""
LEFT_OUT = frozenset({"annotation", "annotation-xml", "aside", "audio", "button", "canvas", "footer", "form", "head", "header", "iframe"})
LEFT_OUT |= {"nav", "noscript", "script", "select", "style", "svg", "template", "textarea", "video"}
"""Elements that are not read, with all that is in them."""
EMPTY = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"])
NOTES = ("footnote", "ltx_note_content")
"""What classes and roles of footnotes have in them."""
MARK = re.compile(r"^[\d¹²³⁰-⁹*†‡]+\s*")
"""What stands before a footnote."""
NAMES = ("citation_doi", "citation_arxiv_id", "dc.identifier", "prism.doi", "citation_pmid")
TITLES = ("citation_title", "dc.title", "og:title")


def read_html(path: Path) -> Document:
    """A web page as a document. Raises InvalidRequest: it cannot be decompressed, or is too large."""
    page = _Page()
    page.feed(read_text(path))
    page.close()
    parts = list(page.parts())
    title = next((page.facts[name] for name in TITLES if page.facts.get(name)), "")
    if not title and parts and parts[0].kind == "head" and parts[0].level == 1:
        title = parts[0].text
    if parts and parts[0].kind == "head" and parts[0].text == title:
        parts = parts[1:]
    front = [_said(name, page.facts[name]) for name in NAMES if page.facts.get(name)]
    return document_of(parts, title=title or " ".join(page.title.split()), front=" ".join([*front, title]))


def _said(name: str, value: str) -> str:
    return f"{'arxiv' if 'arxiv' in name else 'pmid' if 'pmid' in name else 'doi'}:{value}" if ":" not in value else value


class _Page(HTMLParser):
    """Gathers the blocks of a page: each with the kind of what it is in."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.facts: dict[str, str] = {}
        self.title = ""
        self._blocks: list[tuple[Kind, int, str]] = []
        self._notes: list[str] = []
        self._strings: list[str] = []
        self._open: list[tuple[str, str]] = []
        self._saved: list[list[str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """See HTMLParser."""
        facts = {name: value or "" for name, value in attributes}
        if tag == "meta":
            name = (facts.get("name") or facts.get("property") or "").lower()
            self.facts.setdefault(name, " ".join(facts.get("content", "").split()))
        if tag in BLOCKS:
            self._end_block()
        if tag in EMPTY:
            return
        marks = f"{facts.get('class', '')} {facts.get('role', '')}".lower()
        is_note = any(mark in marks for mark in NOTES) and not any(kind == "note" for _, kind in self._open)
        if is_note or tag in ("sub", "sup"):
            self._saved.append(self._strings)
            self._strings = []
        self._open.append((tag, "note" if is_note else "bib" if "bibitem" in marks else ""))

    def handle_endtag(self, tag: str) -> None:
        """See HTMLParser."""
        if tag in BLOCKS:
            self._end_block()
        if not any(name == tag for name, _ in self._open[-100:]):
            return
        while self._open:
            name, kind = self._open.pop()
            if kind == "note":
                self._notes.append("".join(self._strings))
                self._strings = self._saved.pop()
            elif name in ("sub", "sup"):
                text = "".join(self._strings)
                self._strings = self._saved.pop()
                self._strings.append(script(text, is_low=name == "sub"))
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        """See HTMLParser."""
        names = {name for name, _ in self._open}
        if "title" in names and "svg" not in names:
            self.title += data
        if not names & LEFT_OUT:
            self._strings.append(data)

    def _end_block(self) -> None:
        if self._saved:  # within a note, or what stands high
            self._strings.append(" ")
            return
        text = " ".join("".join(self._strings).split())
        self._strings = []
        if text:
            names = [name for name, _ in self._open]
            level = next((HEADS[name] for name in reversed(names) if name in HEADS), 0)
            kind: Kind = "head" if level else "text"
            if "figcaption" in names or "caption" in names:
                kind = "caption"
            elif "table" in names:
                kind = "table"
            elif any(kind == "bib" for _, kind in self._open):
                kind = "reference"
            self._blocks.append((kind, level or 1, text))
        self._blocks += [("note", 1, note) for text in self._notes if (note := MARK.sub("", " ".join(text.split())))]
        self._notes = []

    def parts(self) -> Iterator[Part]:
        """The parts of the page, once all of it was fed."""
        while self._saved:
            self._strings = [*self._saved.pop(), *self._strings]
        self._end_block()
        are_references = False
        for kind, level, text in self._blocks:
            if kind == "head":
                are_references = REFERENCES.fullmatch(bare(text)) is not None
                if are_references:
                    continue
            elif kind == "text" and are_references:
                kind = "reference"
            elif kind == "text" and (match := RUN_IN.match(text)):
                yield Part("head", match[1])
                text = text[match.end() :]
            yield Part(kind, text, level=level)
