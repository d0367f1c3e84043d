"""What is attached to a paper as its full text: a file, or a text that stands in a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ...base.errors import SciretrieveError
from .bounded import read_all
from .document import Document
from .plain import plain_document
from .reading import read_document

BLOCK = 1 << 20
"""Bytes of a file that are hashed at a time."""


@dataclass(frozen=True, slots=True)
class AttachedText:
    """A paper's full text as it is found.

    Attributes:
        path: its file; None for a text in a column.
        text: the text of a column.
        key: the key of Zotero's attachment; "" for others.
        cache: a file with its text, in case that the file is missing or unreadable.
    """

    path: Path | None
    text: str = ""
    key: str = ""
    cache: Path | None = None

    @property
    def name(self) -> str:
        """The whole path of its file; "" for a text in a column."""
        return "" if self.path is None else str(self.path.absolute())

    def digest(self) -> str | None:
        """A digest of its content, which changes with it; None if it cannot be read."""
        for path in filter(None, (self.path, self.cache)):
            digest = sha256()
            with suppress(OSError), path.open("rb") as file:
                while block := file.read(BLOCK):
                    digest.update(block)
                return digest.hexdigest()
        return None if self.path else sha256(self.text.encode()).hexdigest()


def documents_of(attached: Iterable[AttachedText]) -> Iterator[Document | str]:
    """The document of each full text, or the reason in one line why there is none. Files are read as `read_all` reads them."""
    texts = list(attached)
    outcomes = read_all([one.path for one in texts if one.path is not None])
    for one in texts:
        outcome = plain_document(one.text) if one.path is None else next(outcomes)[1]
        if isinstance(outcome, str) and one.cache is not None:
            with suppress(SciretrieveError):
                outcome = read_document(one.cache)
        yield outcome
