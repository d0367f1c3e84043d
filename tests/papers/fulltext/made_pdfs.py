"""PDFs made up for tests, written byte by byte: lines of Courier at given places, so that their widths are known."""

from __future__ import annotations

import hashlib
import textwrap
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 612, 792
ADVANCE = 0.6
"""The width of Courier's characters, as a share of its size."""
LEFT, RIGHT, TOP = 60.0, 320.0, 700.0
"""Where columns begin, and how high."""
COLUMN = 42
"""Characters of a line of a column, in 9 points."""
LEADING = 11.0


@dataclass(frozen=True)
class Put:
    """A text at a place: x from the left, y from the bottom, size, whether it is bold, and by how many degrees it is turned."""

    text: str
    x: float
    y: float
    size: float = 9.0
    bold: bool = False
    turned: bool = False


def column(lines: Iterable[str], x: float = LEFT, y: float = TOP, size: float = 9.0, leading: float = LEADING) -> list[Put]:
    """Lines below each other. "" is a gap, and what begins with `#` is a head in bold."""
    puts = []
    for line in lines:
        if line.startswith("#"):
            y -= 5
            puts.append(Put(line[1:], x, y, size, bold=True))
            y -= 3
        elif line:
            puts.append(Put(line, x, y, size))
        y -= leading
    return puts


def wrapped(text: str, width: int = COLUMN) -> list[str]:
    """A text in lines."""
    return textwrap.wrap(text, width, break_on_hyphens=False)


def pdf(
    pages: Sequence[Sequence[Put]], *, title: str = "", rotate: int = 0, unicode: dict[int, str] | None = None, password: bool = False
) -> bytes:
    """A PDF of these pages. `unicode` says what codes of the font mean, where it is not ASCII; with a password nobody can read it."""
    cmap = b""
    if unicode:
        rows = "\n".join(f"<{code:02X}> <{text.encode('utf-16-be').hex()}>" for code, text in unicode.items())
        cmap = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
            f"1 begincodespacerange <00> <FF> endcodespacerange\n{len(unicode)} beginbfchar\n{rows}\nendbfchar endcmap end end"
        ).encode()
    to_unicode = b" /ToUnicode 5 0 R" if cmap else b""
    encoding = b"/Encoding << /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 /fi /fl] >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier " + encoding + to_unicode + b" >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier-Bold " + encoding + to_unicode + b" >>",
        _stream(cmap),
        f"<< /Title ({title}) >>".encode("latin-1"),
    ]
    kids = []
    for puts in pages:
        objects.append(_stream(_content(puts)))
        content = len(objects)
        resources = b"<< /Font << /F1 3 0 R /F2 4 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {rotate} /Contents {content} 0 R /Resources ".encode()
            + resources
            + b" >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(kids)}] >>".encode()
    extra = b""
    if password:
        secret = hashlib.md5(b"nobody knows it").hexdigest() * 2
        extra = (
            f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{secret}> /U <{secret}> /P -4 >> /ID [<{secret[:32]}> <{secret[:32]}>]".encode()
        )
    return _file(objects, extra)


def raw_page(content: bytes) -> bytes:
    """A PDF of a page with this compressed content."""
    stream = b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"
    return _file([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page, stream, font], b"")


def bomb(megabytes: int) -> bytes:
    """A small PDF whose page unpacks to many megabytes of text."""
    packer = zlib.compressobj(9)
    block = b"BT /F1 1 Tf 1 0 0 1 9 9 Tm (" + b"a" * 1000 + b") Tj ET\n"
    parts = [packer.compress(block * 1000) for _ in range(megabytes)]
    return raw_page(b"".join([*parts, packer.flush()]))


def _content(puts: Sequence[Put]) -> bytes:
    operators = []
    for put in puts:
        text = put.text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        matrix = f"0 1 -1 0 {put.x} {put.y}" if put.turned else f"1 0 0 1 {put.x} {put.y}"
        operators.append(f"BT /F{2 if put.bold else 1} {put.size} Tf {matrix} Tm (".encode() + text + b") Tj ET")
    return b"\n".join(operators)


def _stream(data: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)


def _file(objects: Sequence[bytes], extra: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    info = b" /Info 6 0 R" if len(objects) > 5 else b""
    out += b"trailer\n<< /Size %d /Root 1 0 R%s %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, info, extra, start)
    return bytes(out)
