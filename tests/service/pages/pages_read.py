"""A page as a test reads it: its elements, each with its attributes and all text within it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

EMPTY = {"meta", "link", "input", "br", "hr", "img"}
"""Elements without an end."""


@dataclass
class Element:
    """An element, and those within it."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    own: str = ""
    """The text that stands in it itself."""
    texts: str = ""
    """All text within it."""

    @property
    def text(self) -> str:
        """That with single blanks."""
        return " ".join(self.texts.split())

    @property
    def classes(self) -> list[str]:
        """Its classes."""
        return self.attributes.get("class", "").split()

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """The elements within it of a tag (any, by default), with these attributes; `kind` is one of their classes."""
        kind = attributes.pop("kind", None)
        return [
            element
            for element in self.within()
            if tag in ("", element.tag)
            and (kind is None or kind in element.classes)
            and all(element.attributes.get(name.strip("_").replace("_", "-")) == value for name, value in attributes.items())
        ]

    def one(self, tag: str = "", **attributes: str) -> Element:
        """The only such element."""
        found = self.all(tag, **attributes)
        assert len(found) == 1, (tag, attributes, len(found))
        return found[0]

    def is_in(self, *tags: str) -> bool:
        """Whether it has one of these tags, or is within an element that has."""
        return self.tag in tags or (self.parent is not None and self.parent.is_in(*tags))

    def within(self) -> Iterator[Element]:
        """All elements within it, in the page's order."""
        for child in self.children:
            yield child
            yield from child.within()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.here = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in EMPTY:
            self.here = self.here.children[-1]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Element(tag, {name: value or "" for name, value in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        assert self.here.tag == tag, f"{tag} ends where {self.here.tag} is open"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.own += data
        place: Element | None = self.here
        while place is not None:
            place.texts += data
            place = place.parent


def read(text: str) -> Element:
    """A page; every element that it begins, it ends."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.here is reader.root, f"{reader.here.tag} is not ended"
    return reader.root
