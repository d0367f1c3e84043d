"""The text of a Word document, as Markdown: a paragraph a block, and heads with their signs."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Element

from ...base.errors import InvalidRequest
from ...files.archives import member
from ..corpora.xml import records

BODY = "word/document.xml"
HEADING = re.compile(r"(?:heading|berschrift|titre)\D*([1-6])$", re.IGNORECASE)
BETWEEN = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def docx_text(path: Path) -> str:
    """The paragraphs of a .docx, with empty lines between them; no notes, tables' cells as paragraphs, and of changes the text as it
    is after them. Raises InvalidRequest: it is no .docx."""
    try:
        with member(path, BODY) as stream:
            blocks = iter(lambda: stream.read(1 << 16), b"")
            paragraphs = [_paragraph(element) for element, _ in records(path, frozenset({"p"}), blocks)]
    except OSError as error:
        raise InvalidRequest(f"{path} is no Word document (.docx): {error}") from error
    return "\n\n".join(filter(None, paragraphs))


def _paragraph(element: Element) -> str:
    style = element.find("pPr/pStyle")
    name = next((value for key, value in style.attrib.items() if key.endswith("val")), "") if style is not None else ""
    parts = (node.text or "" if node.tag == "t" else BETWEEN.get(node.tag, "") for node in element.iter())
    text = " ".join("".join(parts).split())
    if not text:
        return ""
    match = HEADING.search(name)
    return f"{'#' * int(match[1])} {text}" if match else text
