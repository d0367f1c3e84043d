"""XML read record by record: only the record at hand is in memory, nothing outside the file is fetched, and no entity is expanded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ...base.errors import InvalidRequest
from ...files.streams import LONGEST_LINE, blocks
from .markup import plain_text

DEEPEST = 200
"""Levels of elements; records have some ten."""
BLOCK = 1 << 16
"""Bytes that are parsed at once: the elements that they hold are what is in memory."""


def root_of(head: bytes) -> str:
    """The name of the outermost element of a document that begins so, without its namespace; "" if it does not begin like XML."""
    tags: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, _: tags.append(tag)
    with suppress(expat.ExpatError, ValueError):  # what follows the first element does not matter; an encoding may be unknown
        parser.Parse(head.lstrip())
    return tags[0].rpartition(":")[2] if tags else ""


def records(path: Path, tags: frozenset[str], content: Iterable[bytes] | None = None) -> Iterator[tuple[Element, list[Mapping[str, str]]]]:
    """Yield each element with one of these tags that is not within another, with the attributes of all around it, outermost first.
    `content` are the bytes to parse if they are not the file's own, but of a file within it.
    Raises InvalidRequest: the file is not XML to its end, declares entities, is nested too deeply, or has a record that is too large.
    """
    parser = _Parser(tags)
    count = 0
    try:
        for block in blocks(path) if content is None else content:
            for place in range(0, len(block), BLOCK):
                parser.feed(block[place : place + BLOCK])
                count += len(parser.records)
                yield from parser.records
                parser.records.clear()
        parser.feed(b"", is_last=True)
        yield from parser.records
    except (expat.ExpatError, ValueError, _Refused) as error:
        raise InvalidRequest(f"{path} cannot be read as XML after record {count + len(parser.records)}: {error}") from error


def text_of(element: Element | None) -> str:
    """All text within an element, markup left out, with single blanks; "" for None."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def plain_of(element: Element | None) -> str:
    """The text within an element, of which markup is made plain, as `markup.plain_text` does: H₂O; "" for None."""
    return plain_text(" ".join(_marked(element).split())) if element is not None else ""


def _marked(element: Element) -> str:
    children = (f"<{child.tag}>{_marked(child)}</{child.tag}>{escape(child.tail or '', quote=False)}" for child in element)
    return escape(element.text or "", quote=False) + "".join(children)


def first_text(record: Element, *paths: str) -> str:
    """The text of the first of some elements within a record that has one; "" if none has."""
    return next(filter(None, (text_of(record.find(path)) for path in paths)), "")


def rest_of(record: Element, *paths: str) -> str:
    """A whole record as JSON, less the elements at these paths."""
    gone = {element for path in paths for element in record.iterfind(path)}
    for parent in list(record.iter()):
        parent[:] = [child for child in parent if child not in gone]
    return json.dumps(tree_of(record), ensure_ascii=False)


def tree_of(element: Element) -> Any:
    """An element as JSON has it: its text, or an object of attributes (with an `@`), children, and text; several alike are a list."""
    members: dict[str, Any] = {f"@{name}": value for name, value in element.attrib.items()}
    for child in element:
        value = tree_of(child)
        if child.tag in members:
            values = members[child.tag]
            members[child.tag] = [*values, value] if isinstance(values, list) else [values, value]
        else:
            members[child.tag] = value
    text = " ".join((element.text or "").split())
    if not members:
        return text
    tails = " ".join("".join(child.tail or "" for child in element).split())
    return {**members, "#text": text_of(element)} if text or tails else members


class _Refused(Exception):
    """What is well-formed and nevertheless not read."""


class _Parser:
    """Expat with a tree for the record at hand alone.

    Attributes:
        records: those that were completed since the list was last cleared.
    """

    def __init__(self, tags: frozenset[str]) -> None:
        self.records: list[tuple[Element, list[Mapping[str, str]]]] = []
        self._tags = tags
        self._around: list[Mapping[str, str]] = []
        self._depth = 0
        self._tree: TreeBuilder | None = None
        self._size = 0
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._data
        self._expat.EntityDeclHandler = self._declared

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        """Parse the next bytes. Raises ExpatError or _Refused."""
        self._size += len(block)
        if self._size > LONGEST_LINE:
            raise _Refused(f"more than {LONGEST_LINE >> 20} MB in one record")
        self._expat.Parse(block, is_last)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]  # prefixes of namespaces differ from file to file
        if self._tree is None and tag not in self._tags:
            self._around.append(attributes)
            depth = len(self._around)
        else:
            self._tree = self._tree or TreeBuilder()
            self._tree.start(tag, attributes)
            self._depth += 1
            depth = len(self._around) + self._depth
        if depth > DEEPEST:
            raise _Refused("nested too deeply")

    def _end(self, tag: str) -> None:
        if self._tree is None:
            self._around.pop()
            return
        self._tree.end(tag.rpartition(":")[2])
        self._depth -= 1
        if not self._depth:
            self.records.append((self._tree.close(), list(self._around)))
            self._tree, self._size = None, 0

    def _data(self, text: str) -> None:
        if self._tree is not None:
            self._tree.data(text)

    def _declared(self, name: str, *_: Any) -> None:
        raise _Refused(f"it declares the entity {name!r}, and such files are not read")
