"""JSON documents, read value by value: an array of records, one record, records one after another on many lines, or a service's answer.

An answer of OpenAlex, Semantic Scholar, Crossref, Zotero, Europe PMC, ADS, DBLP or Scopus has its records in a list within an object.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...files.streams import LONGEST_LINE, blocks
from .dialects import plain
from .raw import Rejected, Row

LISTS = {"results", "result", "data", "items", "docs", "hit", "records", "entry", "publications", "articles", "works"}
"""Where answers have their records, if there is a list."""
WRAPPINGS = {"message", "resultList", "response", "result", "hits", "search-results"}
"""Where answers have the object with the list, or the one record."""
BLANKS = re.compile(r"[ \t\n\r]+")


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records; one that is no object is rejected. Raises InvalidRequest: the document cannot be read to its end."""
    for number, value in enumerate(_Reader(path).records(), 1):
        if isinstance(value, dict) and value:
            yield number, plain(value)
        else:
            yield number, Rejected(str(path), number, "an empty object" if value == {} else "not a JSON object")


class _Reader:
    """A document of which only what is needed for the next value is in memory."""

    def __init__(self, path: Path) -> None:
        self._path, self._blocks = path, blocks(path)
        self._decode = codecs.getincrementaldecoder("utf-8-sig")(errors="surrogateescape").decode
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._place, self._is_whole = "", 0, False
        self._count = 0

    def records(self) -> Iterator[Any]:
        """The records of all values that follow each other."""
        while self._next():
            yield from self._records_here(outermost=True)

    def _records_here(self, *, outermost: bool) -> Iterator[Any]:
        sign = self._next()
        if sign == "[" and outermost:
            yield from self._list()
        elif sign == "{":
            yield from self._object()
        else:
            yield self._value()

    def _list(self) -> Iterator[Any]:
        self._take("[")
        while self._next() != "]":
            self._count += 1
            yield self._value()
            if self._next() != "]":
                self._take(",")
        self._take("]")

    def _object(self) -> Iterator[Any]:
        """The records of an answer's list, or the object itself if it has none."""
        members: dict[str, Any] = {}
        is_answer = False
        self._take("{")
        while self._next() != "}":
            name = self._value()
            if not isinstance(name, str):
                raise self._wrong("a member without a name")
            self._take(":")
            sign = self._next()
            if name in LISTS and sign == "[":
                is_answer = True
                yield from self._list()
            elif name in WRAPPINGS and sign == "{":
                is_answer = True
                yield from self._records_here(outermost=False)
            else:
                members[name] = self._value()
            if self._next() != "}":
                self._take(",")
        self._take("}")
        if not is_answer:
            self._count += 1
            yield members

    def _value(self) -> Any:
        """The value that comes next. What is cut off where the text in memory ends is tried again with twice as much of it."""
        self._next()
        while True:
            try:
                value, end = self._scan(self._text, self._place)
            except json.JSONDecodeError as error:
                if self._is_whole:
                    raise self._wrong(error.msg) from error
            except RecursionError as error:
                raise self._wrong("nested too deeply") from error
            except ValueError as error:  # Python reads whole numbers of up to 4,300 digits
                raise self._wrong("a number with too many digits") from error
            else:
                if end < len(self._text) or self._is_whole:  # a number at the end may go on
                    self._place = end
                    return value
            size = len(self._text) - self._place
            if size > LONGEST_LINE:
                raise self._wrong(f"a value of more than {LONGEST_LINE >> 20} MB, or an error in it")
            while len(self._text) - self._place < 2 * size and self._more():
                pass

    def _next(self) -> str:
        """The next sign that is not blank, which is not taken; "" at the end."""
        while True:
            if blanks := BLANKS.match(self._text, self._place):
                self._place = blanks.end()
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def _take(self, sign: str) -> None:
        if self._next() != sign:
            raise self._wrong(f"expected {sign!r}" if self._next() else "it is cut short")
        self._place += 1

    def _more(self) -> bool:
        """Read a block; False at the end."""
        if self._is_whole:
            return False
        block = next(self._blocks, b"")
        self._is_whole = not block
        self._text = self._text[self._place :] + self._decode(block, final=not block)
        self._place = 0
        return True

    def _wrong(self, reason: str) -> InvalidRequest:
        return InvalidRequest(f"{self._path} cannot be read as JSON after record {self._count}: {reason}")
