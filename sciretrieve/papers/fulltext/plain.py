"""A full text in a text file: paragraphs between empty lines, pages where it has form feeds, and heads as PDFs have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..corpora.encodings import read_text
from .document import Document, Kind, Part, document_of
from .heads import AFTER_REFERENCES, REFERENCES, RUN_IN, LineLook, bare, is_head, level_of
from .hyphens import Hyphens, unbroken

MARKDOWN = re.compile(r"#{1,6}\s+(?=\S)")
SET_APART = LineLook(is_bold=False, is_large=False, above=2.0, below=2.0, width=0.5)
"""How a line looks between empty ones."""
LABEL = re.compile(r"(?m)^(?=\[[\w+.,\- ]{1,24}\]|\d{1,3}[.)]\s)")
LONGEST_TITLE = 300
PAGE_NUMBER = re.compile(r"\W*\d{1,4}\W*")


def read_plain(path: Path) -> Document:
    """A text file as a document. Raises InvalidRequest: it cannot be decompressed, or is too large."""
    return plain_document(read_text(path))


def plain_document(text: str) -> Document:
    """A text as a document."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    pages = text.split("\f")
    has_pages = len(pages) > 1
    hyphens = Hyphens(line.strip() for line in text.splitlines())
    parts = list(_parts(pages, hyphens, has_pages=has_pages))
    title = parts.pop(0).text if _has_title(parts) else ""
    return document_of(parts, title=title, front=" ".join(pages[0][:2000].split()), page_count=len(pages) if has_pages else 0)


def _has_title(parts: Sequence[Part]) -> bool:
    """Whether the first part is the title: a short line that is no sentence, or a head before another."""
    if len(parts) < 2 or len(parts[0].text) > LONGEST_TITLE:
        return False
    return not parts[0].text.endswith(".") if parts[0].kind == "text" else parts[0].kind == parts[1].kind == "head"


def _parts(pages: list[str], hyphens: Hyphens, *, has_pages: bool) -> Iterator[Part]:
    kind: Kind = "text"
    for number, page in enumerate(pages, 1):
        starts = ((0, number),) if has_pages else ()
        for block in re.split(r"\n[ \t]*(?:\n[ \t]*)+", page.strip("\n")):
            lines = [line.strip() for line in block.splitlines() if line.strip()]
            if not lines or (has_pages and len(lines) == 1 and PAGE_NUMBER.fullmatch(lines[0])):
                continue
            mark = MARKDOWN.match(lines[0])
            head = lines[0][mark.end() :] if mark else lines[0]
            is_marked = mark is not None or (len(lines) == 1 and is_head(head, SET_APART))
            if is_marked and REFERENCES.fullmatch(bare(head)):
                kind = "reference"
                lines = lines[1:]
            elif is_marked and (kind == "text" or mark is not None or AFTER_REFERENCES.match(head)):
                kind = "text"
                yield Part("head", head, starts, mark[0].count("#") if mark else level_of(head))
                lines = lines[1:]
            elif kind == "text" and (run_in := RUN_IN.match(lines[0])):
                yield Part("head", run_in[1], starts)
                lines[0] = lines[0][run_in.end() :]
            if kind == "reference":
                entries = filter(str.strip, LABEL.split("\n".join(lines)))
                yield from (Part("reference", unbroken(entry.splitlines(), hyphens)) for entry in entries)
            elif lines:
                yield Part("text", unbroken(lines, hyphens), starts)
