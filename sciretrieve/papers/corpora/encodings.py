"""The encoding of a text file: Unicode as it says itself, or the likeliest of those that programs write without saying so."""

from __future__ import annotations

import codecs
import io
import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

from ...base.errors import InvalidRequest
from ...files.streams import LONGEST_LINE, blocks, open_binary, read_bytes

LOG = logging.getLogger(__name__)
UNICODE = {"utf-8-sig": codecs.BOM_UTF8, "utf-16": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
"""Encodings that are known for certain, and how files in them may begin."""
DEFAULT = "cp1252"
OF_OLD_MACS = "mac_roman"
"""The encoding of systems that ended lines with a carriage return alone."""
LEGACY = [DEFAULT, "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "mac_roman"]
LEGACY += ["shift_jis", "euc_jp", "gb18030", "big5", "cp949"]
"""The other encodings that programs write: of Windows and the Mac, of Russia, Japan, China and Korea."""
SAMPLE = 1 << 16
"""Bytes by which an encoding is known."""
READ_AT_ONCE = 1 << 20
"""Characters that are decoded at once."""
ESCAPED = "sciretrieve.escaped"
"""How to decode a text whose broken bytes become lone surrogates, so that the rest can be used. Python's own way for this,
`surrogateescape`, refuses bytes below 128, which are among the broken ones in encodings of several bytes a letter."""


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(ESCAPED, _escaped)


def read_text(path: Path) -> str:
    """All of a source as text. Broken bytes become lone surrogates.
    Raises InvalidRequest: the source cannot be decompressed, or is too large.
    """
    data = read_bytes(path)
    if data.isascii() and not _unicode_of(data):
        return data.decode()
    telling = data if _unicode_of(data) else b"\n".join([b"", *(line for line in data.split(b"\n") if not line.isascii())])
    return data.decode(encoding_of(path, telling[:SAMPLE]), errors=ESCAPED)


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a source as texts without their ends, which may be those of any system, and without marks of byte order. Broken bytes
    become lone surrogates. Raises InvalidRequest: the source cannot be decompressed, or has a line that is too long.
    """
    encoding = encoding_of(path, _telling(path))
    number, rest = 0, ""
    try:
        with io.TextIOWrapper(open_binary(path), encoding=encoding, errors=ESCAPED) as text:
            while block := text.read(READ_AT_ONCE):
                *lines, rest = (rest + block).replace("\n\ufeff", "\n").split("\n")
                number += len(lines)
                if len(rest) > LONGEST_LINE:
                    raise InvalidRequest(f"{path}, line {number + 1}: more than {LONGEST_LINE >> 20} MB in one line")
                yield from lines
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read after line {number}: {error}") from error
    if rest:
        yield rest


def _telling(path: Path) -> bytes:
    """The bytes of a source that tell its encoding: its beginning if that has a mark, else some lines that are not ASCII."""
    telling = b"\n"  # a mark within the source is none at its beginning
    for number, block in enumerate(blocks(path)):
        if number == 0 and _unicode_of(block):
            return block[:SAMPLE]
        if not block.isascii():
            telling += b"\n".join(line for line in block.split(b"\n") if not line.isascii())[: SAMPLE - len(telling)]
        if len(telling) >= SAMPLE:
            break
    return telling


def _unicode_of(head: bytes) -> str | None:
    """The encoding that a beginning says itself: by a mark, or by the zeros that plain letters have in two bytes."""
    marked = next((encoding for encoding, mark in UNICODE.items() if head.startswith(mark)), None)
    if marked is None and len(head) > 3 and head[1] == head[3] == 0 != head[0]:
        return "utf-16-le"
    return "utf-16" if marked == "utf-16-be" else marked


def in_utf8(head: bytes) -> bytes:
    """The beginning of a source in UTF-8 and without a mark, if it says itself that it is Unicode; else as it is."""
    encoding = _unicode_of(head)
    return head.decode(encoding, errors="ignore").encode() if encoding else head


def encoding_of(path: Path, head: bytes) -> str:
    """The encoding of a source that has these bytes; one that is not Unicode is named in a warning."""
    encoding = _likeliest(head)
    if encoding not in UNICODE:
        LOG.warning("%s is not UTF-8, and is read as %s; if its letters are wrong, convert it to UTF-8", path, encoding)
    return encoding


def _likeliest(head: bytes) -> str:
    """The encoding of a text that begins so: UTF-8 unless it has more broken bytes than letters beyond ASCII, else the likeliest one."""
    if encoding := _unicode_of(head):
        return encoding
    text = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape").decode(head)
    broken_count = sum("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else 0
    if broken_count <= sum(char > "\x7f" for char in text) - broken_count:
        return "utf-8-sig"
    from charset_normalizer import from_bytes

    matches = from_bytes(head, cp_isolation=LEGACY)
    best = matches.best()
    # where several make sense, the most common one
    good = [match.could_be_from_charset for match in matches if match.percent_chaos <= best.percent_chaos] if best else []
    common = OF_OLD_MACS if b"\r" in head and b"\n" not in head else DEFAULT
    return best.encoding if best and common not in itertools.chain(*good) else common
