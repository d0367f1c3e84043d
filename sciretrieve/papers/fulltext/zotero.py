"""The full texts of Zotero's library: its attachments, and the text that Zotero itself took from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from ...base.errors import SciretrieveError
from ..corpora.zotero_library import OWNER, opened
from .bounded import MEMORY, PROCESSES, SECONDS, read_all
from .document import Document
from .reading import SUFFIXES, ZOTEROS, read_document

STORED, LINKED = "storage:", "attachments:"
"""How paths begin that are in Zotero's own folder, and those below the folder of linked files, which its settings name."""
STORAGE = "storage"
"""Zotero's folder of attachments."""
QUERY = """
    SELECT parents.key, parents.libraryID, items.key, itemAttachments.path
    FROM itemAttachments JOIN items USING (itemID) JOIN items AS parents ON parents.itemID = itemAttachments.parentItemID
    LEFT JOIN deletedItems ON deletedItems.itemID IN (items.itemID, parents.itemID)
    WHERE deletedItems.itemID IS NULL AND itemAttachments.path IS NOT NULL
    ORDER BY parents.itemID, items.itemID"""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that Zotero has for a paper.

    Attributes:
        paper: the paper's id, as `corpora.zotero_library` gives it.
        key: the attachment's key, by which `zotero://open-pdf/library/items/KEY?page=3` opens it.
        path: the file.
        cache: the file with the text that Zotero took from it.
    """

    paper: str
    key: str
    path: Path
    cache: Path


def attachments_of(database: Path) -> list[Attachment]:
    """The attachments of a Zotero database that are full texts by their names, in Zotero's order. Some may not be there: Zotero
    downloads files when they are opened. Raises InvalidRequest: the file is no library of Zotero, or is damaged.
    """
    found = []
    with opened(database) as library:
        for parent, owner, key, path in library.execute(QUERY):
            file = _path(database.parent, str(key), str(path))
            if file is not None and file.suffix.lower() in SUFFIXES:
                paper = str(parent) if owner == OWNER else f"{owner}:{parent}"
                found.append(Attachment(paper, str(key), file, database.parent / STORAGE / str(key) / ZOTEROS))
    return found


def _path(folder: Path, key: str, path: str) -> Path | None:
    """The file of an attachment; None if only Zotero's settings know where it is."""
    if path.startswith(STORED):
        name = PurePosixPath(path.removeprefix(STORED)).name
        return folder / STORAGE / key / name if name else None
    if path.startswith(LINKED):
        return None
    return Path(path) if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute() else None


def read_attachments(
    attachments: Iterable[Attachment], *, seconds: float = SECONDS, memory: int = MEMORY, processes: int = PROCESSES
) -> Iterator[tuple[Attachment, Document | str]]:
    """Read attachments as `bounded.read_all` does, in their order. Of a file that is not there, or cannot be read, Zotero's own text is
    taken, without sections and pages as it mostly is.

    Yields:
        The attachment, and its document, or the reason in one line why there is none.
    """
    own = list(attachments)
    outcomes = read_all((attachment.path for attachment in own), seconds=seconds, memory=memory, processes=processes)
    for attachment, (_, outcome) in zip(own, outcomes, strict=True):
        yield attachment, (_zoteros(attachment.cache) or outcome) if isinstance(outcome, str) else outcome


def _zoteros(cache: Path) -> Document | None:
    """The text that Zotero took from a file, which is plain; None if there is none."""
    try:
        return read_document(cache)
    except SciretrieveError:
        return None
