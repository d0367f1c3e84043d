"""A PDF's full text."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import InvalidRequest
from .columns import lines_of
from .document import Document, document_of
from .furniture import without_furniture
from .glyphs import title_and_pages
from .layout import layout_of

FEWEST_LETTERS = 100
"""Letters below which a file has no text: pictures of pages may have a stamp."""


def read_pdf(path: Path) -> Document:
    """A PDF as a document. Raises InvalidRequest: it is broken, encrypted or too large, or has pictures of pages without text."""
    said_title, pages = title_and_pages(path)
    kept, stamps = without_furniture(pages)
    layout = layout_of([line for page in kept for line in lines_of(page)])
    front = " ".join(filter(None, (layout.front, stamps, pages[0].turned if pages else "")))
    document = document_of(layout.parts, title=layout.title or said_title, front=front, page_count=len(pages))
    if not pages:
        raise InvalidRequest(f"{path} is broken, and none of its pages can be read")
    if sum(map(str.isalpha, document.text)) + sum(map(str.isalpha, front)) < FEWEST_LETTERS:
        raise InvalidRequest(f"{path} has no text, only pictures of {len(pages)} pages; recognise the text first, as OCRmyPDF does")
    return document
