"""What is attached to a paper as its full text: a file, or a text that stands in a column."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from .document import Document
from .plain import plain_document

BLOCK = 1 << 20
"""Bytes of a file that are hashed at a time."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A paper's full text as it is found.

    Attributes:
        path: its file; None for a text in a column.
        text: the text of a column.
        key: the key of Zotero's attachment; "" for others.
    """

    path: Path | None
    text: str = ""
    key: str = ""

    @property
    def name(self) -> str:
        """The whole path of its file; "" for a text in a column."""
        return "" if self.path is None else str(self.path.absolute())

    def digest(self) -> str:
        """A digest of its content, which changes with it. Raises OSError."""
        digest = sha256(self.text.encode())
        if self.path is not None:
            with self.path.open("rb") as file:
                while block := file.read(BLOCK):
                    digest.update(block)
        return digest.hexdigest()

    def document(self) -> Document | None:
        """The document of a text in a column; None for a file, which `bounded.read_all` reads."""
        return plain_document(self.text) if self.path is None else None
