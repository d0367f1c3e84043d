"""The encoding of a text file: Unicode as it says itself, or the likeliest of those that programs write without saying so."""

from __future__ import annotations

import codecs
import itertools
import logging
from pathlib import Path

from ...files.streams import read_bytes

LOG = logging.getLogger(__name__)
UNICODE = {"utf-8-sig": codecs.BOM_UTF8, "utf-16": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
"""Encodings that are known for certain, and how files in them may begin."""
DEFAULT = "cp1252"
LEGACY = [DEFAULT, "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "mac_roman"]
LEGACY += ["shift_jis", "euc_jp", "gb18030", "big5", "cp949"]
"""The other encodings that programs write: of Windows and the Mac, of Russia, Japan, China and Korea."""
SAMPLE = 1 << 16
"""Bytes by which an encoding is known."""
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
    if data.isascii():
        return data.decode()
    has_mark = any(data.startswith(mark) for mark in UNICODE.values())
    telling = data if has_mark else b"\n".join(line for line in data.split(b"\n") if not line.isascii())
    return data.decode(encoding_of(path, telling[:SAMPLE]), errors=ESCAPED)


def encoding_of(path: Path, head: bytes) -> str:
    """The encoding of a source that has these bytes; one that is not Unicode is named in a warning."""
    encoding = _likeliest(head)
    if encoding not in UNICODE:
        LOG.warning("%s is not UTF-8, and is read as %s; if its letters are wrong, convert it to UTF-8", path, encoding)
    return encoding


def _likeliest(head: bytes) -> str:
    """The encoding of a text that begins so: UTF-8 unless it has more broken bytes than letters beyond ASCII, else the likeliest one."""
    for encoding, mark in UNICODE.items():
        if head.startswith(mark):
            return "utf-16" if encoding == "utf-16-be" else encoding
    text = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape").decode(head)
    broken_count = sum("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else 0
    if broken_count <= sum(char > "\x7f" for char in text) - broken_count:
        return "utf-8-sig"
    from charset_normalizer import from_bytes

    matches = from_bytes(head, cp_isolation=LEGACY)
    best = matches.best()
    # where several make sense, the most common one
    good = [match.could_be_from_charset for match in matches if match.percent_chaos <= best.percent_chaos] if best else []
    return best.encoding if best and DEFAULT not in itertools.chain(*good) else DEFAULT
