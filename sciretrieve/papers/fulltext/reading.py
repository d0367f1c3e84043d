"""Full texts of any format, as documents.

A file's name and its content must agree: a page that asks for a password, saved as paper.pdf, is no paper.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...base.errors import InvalidRequest, NotFound
from ...files.streams import bare_name, beginning
from ..corpora.xml import root_of
from .document import Document
from .html_text import read_html
from .latex_source import read_latex
from .passages import passages
from .pdf import read_pdf
from .plain import read_plain
from .s2orc import read_s2orc
from .xml_texts import ROOTS, read_xml

__all__ = ["SUFFIXES", "passages", "read_document"]

PDF_HEAD, PDF_WITHIN = b"%PDF-", 1024
"""How a PDF begins, and within how many bytes: some programs put others before it."""
OTHER_KINDS = {b"\xd0\xcf\x11\xe0": "an old Office file", b"PK\x03\x04": "a .zip or an Office file", b"%!PS": "PostScript", b"AT&T": "DjVu"}
OTHER_KINDS |= {b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture"}
ZOTEROS = ".zotero-ft-cache"
"""What Zotero calls the text that it took from a file."""
READERS: dict[str, Callable[[Path], Document]] = {
    **dict.fromkeys((".pdf",), read_pdf),
    **dict.fromkeys((".xml", ".nxml", ".tei"), read_xml),
    **dict.fromkeys((".json",), read_s2orc),
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
    **dict.fromkeys((".tex", ".ltx"), read_latex),
    **dict.fromkeys((".txt", ".text", ".md"), read_plain),
}
SUFFIXES = tuple(READERS)
"""What files of full texts are called."""


def read_document(path: Path) -> Document:
    """Read a full text. The process that does so may end, or need any amount of memory, if a PDF wants it so: `bounded` reads in others.

    Args:
        path: a file, of one of `SUFFIXES`.

    Returns:
        The document.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: it cannot be read, is of another format than its name says, or has no text. The message is one line.
    """
    if not path.is_file():
        raise NotFound(f"{path} is no file")
    try:
        head = beginning(path)
        suffix = ".txt" if path.name == ZOTEROS else Path(bare_name(path)).suffix.lower()
        is_pdf = PDF_HEAD in head[:PDF_WITHIN]
        if suffix == ".pdf" and not is_pdf:
            raise InvalidRequest(f"{path} is no PDF, but {_kind_of(head)}; download it again")
        if suffix != ".pdf" and is_pdf:
            raise InvalidRequest(f"{path} is a PDF by its content; rename it")
        reader = READERS.get(suffix)
        if reader is None:
            raise InvalidRequest(f"{path} is of no format of full texts that is read here ({', '.join(SUFFIXES)})")
        if reader is not read_pdf and b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InvalidRequest(f"{path} is no text, but {_kind_of(head)}")
        if reader is read_xml and root_of(head) not in ROOTS:
            raise InvalidRequest(f"{path} is no XML of a full text that is read here (JATS, TEI)")
        document = reader(path)
    except RecursionError as error:
        raise InvalidRequest(f"{path} is nested too deeply") from error
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror or error}") from error
    if not document.text:
        raise InvalidRequest(f"{path} has no text")
    return document


def _kind_of(head: bytes) -> str:
    start = head.lstrip()[:512].lower()
    if not head.strip():
        return "empty"
    if start.startswith((b"<!doctype html", b"<html")) or b"<html" in start:
        return "a web page, such as one that asks for a login"
    return next((name for magic, name in OTHER_KINDS.items() if head.startswith(magic)), "something else")
