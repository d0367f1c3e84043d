"""Zotero's own library, zotero.sqlite: read from a copy, so that Zotero may be running, and nothing of it changes."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...files.streams import as_file
from .people import people_in
from .raw import Row, Withdrawn, filled, free_name

NAME = "zotero.sqlite"
"""What the library is called in Zotero's own folder, among settings, styles and attachments."""
SIGNATURE = b"SQLite format 3\0"
TABLES = {"items", "itemTypes", "itemData", "itemDataValues", "fields", "creators", "itemCreators", "creatorTypes", "tags", "itemTags"}
TABLES |= {"collections", "collectionItems", "deletedItems", "itemNotes", "itemAttachments"}
PARTS = ("attachment", "note", "annotation")
"""Kinds of items that belong to others."""
OWNER = 1
"""The library of the user; others are groups', whose items may have the same keys."""
MOST_LEVELS = 100
VENUES = ("publicationTitle", "proceedingsTitle", "bookTitle", "conferenceName", "repository", "university", "institution", "publisher")
FIELDS = {
    "title": ("title", "caseName", "nameOfAct", "subject"),
    "abstract": ("abstractNote",),
    "year": ("date", "dateDecided", "dateEnacted", "issueDate"),
    "venue": VENUES,
    "doi": ("DOI",),
    "date": ("date", "dateDecided", "dateEnacted", "issueDate"),
}
"""Columns, and Zotero's fields that they come from, best first; every other field is a column by its own name."""

ITEMS = """
    SELECT items.itemID, items.key, items.libraryID, itemTypes.typeName, items.dateAdded, items.dateModified, deletedItems.itemID
    FROM items JOIN itemTypes USING (itemTypeID) LEFT JOIN deletedItems ON deletedItems.itemID = items.itemID ORDER BY items.itemID"""
VALUES = "SELECT fieldName, value FROM itemData JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID) WHERE itemID = ?"
PEOPLE = """
    SELECT creatorType, firstName, lastName, fieldMode
    FROM itemCreators JOIN creators USING (creatorID) JOIN creatorTypes USING (creatorTypeID)
    WHERE itemID = ? ORDER BY orderIndex"""
LISTS = {
    "tags": "SELECT name FROM itemTags JOIN tags USING (tagID) WHERE itemID = ? ORDER BY name",
    "notes": "SELECT note FROM itemNotes WHERE parentItemID = ?",
    "attachments": "SELECT path FROM itemAttachments WHERE parentItemID = ?",
}
COLLECTIONS = "SELECT collectionID FROM collectionItems WHERE itemID = ?"


def journal_of(path: Path) -> Path:
    """The file beside a library that has what Zotero has written last."""
    return path.with_name(f"{path.name}-wal")


def rows(path: Path) -> Iterator[tuple[int, Row | Withdrawn]]:
    """Yield the items that are no parts of others, with tags and the paths of collections as lists; those in the trash are rejected.
    Raises InvalidRequest: the file is no library of Zotero, or is damaged.
    """
    number = 0
    with opened(path, lambda: f" after item {number}") as library:
        for number, item in enumerate(_items(path, library), 1):
            yield number, item


@contextmanager
def opened(path: Path, place: Callable[[], str] = lambda: "") -> Iterator[sqlite3.Connection]:
    """A copy of a library to read from. Raises InvalidRequest: the file is no library of Zotero, or is damaged, as `place` says where."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, as_file(path) as library_file:
        copy = Path(folder) / NAME
        shutil.copyfile(library_file, copy)
        if (journal := journal_of(path)).is_file():
            shutil.copyfile(journal, journal_of(copy))
        try:
            with closing(sqlite3.connect(copy)) as library:
                _prepare(path, library)
                yield library
        except (sqlite3.Error, OverflowError) as error:
            raise InvalidRequest(f"{path} cannot be read as a library of Zotero{place()}: {error}") from error


def _prepare(path: Path, library: sqlite3.Connection) -> None:
    """Check that it is a library. Raises InvalidRequest: a view in place of a table could take for ever."""
    library.text_factory = lambda text: text.decode("utf-8", errors="surrogateescape")
    library.execute("PRAGMA trusted_schema = OFF")
    library.execute("PRAGMA query_only = ON")
    tables = {name for (name,) in library.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if missing_tables := TABLES - tables:
        raise InvalidRequest(f"{path} is no library of Zotero: it has no table {min(missing_tables)!r}")


def _items(path: Path, library: sqlite3.Connection) -> Iterator[Row | Withdrawn]:
    folders, feeds = _folders(library), _feeds(library)
    whole_items = (facts for facts in library.execute(ITEMS) if facts[3] not in PARTS and facts[2] not in feeds)
    for number, (item, key, owner, kind, added, modified, deleted) in enumerate(whole_items, 1):
        id = str(key) if owner == OWNER else f"{owner}:{key}"
        if deleted is not None:
            yield Withdrawn(str(path), number, "in Zotero's trash", id)
            continue
        row: dict[str, Any] = {"id": id, "type": kind}
        values = dict(library.execute(VALUES, (item,)))
        for column, names in FIELDS.items():
            row[column] = next((str(values[name]) for name in names if values.get(name)), None)
        for role, first, last, has_one_field in library.execute(PEOPLE, (item,)):
            name = {"literal": last} if has_one_field else {"family": last or first, "given": first if last else ""}
            row.setdefault(f"{role}s", []).append({part: str(text or "") for part, text in name.items()})
        for role in ("authors", "editors"):
            row |= {role: people_in(row[role]).rows} if role in row else {}
        for column, query in LISTS.items():
            row[column] = [str(value) for (value,) in library.execute(query, (item,)) if value]
        row["collections"] = sorted(folders[place] for (place,) in library.execute(COLLECTIONS, (item,)) if place in folders)
        for name, value in {**values, "dateAdded": added, "dateModified": modified}.items():
            if name not in ("title", "abstractNote", "DOI"):
                row[free_name(str(name), row)] = value
        yield filled(row)


def _feeds(library: sqlite3.Connection) -> set[int]:
    """The libraries that are feeds, of whose items nobody has taken any."""
    tables = {name for (name,) in library.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {id for (id,) in library.execute("SELECT libraryID FROM feeds")} if "feeds" in tables else set()


def _folders(library: sqlite3.Connection) -> dict[int, str]:
    """The path of each collection, from the outermost."""
    rows = library.execute("SELECT collectionID, collectionName, parentCollectionID FROM collections")
    facts = {id: (str(name), parent) for id, name, parent in rows}

    def path(id: int) -> str:
        names: list[str] = []
        place: int | None = id
        while place in facts and len(names) < MOST_LEVELS:
            name, place = facts[place]
            names.insert(0, name)
        return " / ".join(names)

    return {id: path(id) for id in facts}
