"""Full texts of any format, as documents.

A file's name and its content must agree: a page that asks for a password, saved as paper.pdf, is no paper.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...base.errors import InvalidRequest, NotFound
from ...files.streams import bare_name, beginning
from .document import Document
from .passages import passages
from .pdf import read_pdf
from .plain import read_plain

__all__ = ["SUFFIXES", "passages", "read_document"]

PDF_HEAD, PDF_WITHIN = b"%PDF-", 1024
"""How a PDF begins, and within how many bytes: some programs put others before it."""
OTHER_KINDS = {b"\xd0\xcf\x11\xe0": "an old Office file", b"PK\x03\x04": "a .zip or an Office file", b"%!PS": "PostScript", b"AT&T": "DjVu"}
OTHER_KINDS |= {b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture"}
READERS: dict[str, Callable[[Path], Document]] = {".pdf": read_pdf, ".txt": read_plain, ".text": read_plain, ".md": read_plain}
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
        suffix = Path(bare_name(path)).suffix.lower()
        is_pdf = PDF_HEAD in head[:PDF_WITHIN]
        if suffix == ".pdf" and not is_pdf:
            raise InvalidRequest(f"{path} is no PDF, but {_kind_of(head)}; download it again")
        if suffix != ".pdf" and is_pdf:
            raise InvalidRequest(f"{path} is a PDF by its content; rename it")
        reader = READERS.get(suffix)
        if reader is None:
            raise InvalidRequest(f"{path} is of no format of full texts that is read here ({', '.join(SUFFIXES)})")
        if reader is read_plain and b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InvalidRequest(f"{path} is no text, but {_kind_of(head)}")
        document = reader(path)
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
