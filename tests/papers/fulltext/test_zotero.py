"""Attachments of Zotero's library, whose files are beside its database, and the text that Zotero took from them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.corpora.zotero_library import TABLES
from sciretrieve.papers.fulltext.document import Document
from sciretrieve.papers.fulltext.zotero import attachments_of, read_attachments
from tests.papers.fulltext.made_pdfs import Put, column, pdf, wrapped

COLUMNS = {
    "items": "itemID INTEGER PRIMARY KEY, libraryID INT, key TEXT",
    "itemAttachments": "itemID INTEGER PRIMARY KEY, parentItemID INT, path TEXT",
    "deletedItems": "itemID INTEGER PRIMARY KEY",
}
ITEMS = [(1, 1, "PAPERONE"), (2, 1, "FILEONE1"), (3, 1, "FILETWO2"), (4, 7, "PAPERTWO")]
ITEMS += [(5, 7, "FILETHRE"), (6, 1, "FILEFOUR"), (7, 1, "FILEFIVE")]
FILES = [
    (2, 1, "storage:maker.pdf"),
    (3, 1, "storage:snapshot.epub"),
    (5, 4, "storage:gone.pdf"),
    (6, 1, "storage:deleted.pdf"),
    (7, 1, "attachments:linked.pdf"),
]


def write_library(path: Path) -> None:
    """Write the tables of a library that its attachments are read from."""
    with closing(sqlite3.connect(path)) as connection:
        for table in sorted(TABLES):
            connection.execute(f"CREATE TABLE {table} ({COLUMNS.get(table, 'x')})")
        connection.executemany("INSERT INTO items VALUES (?, ?, ?)", ITEMS)
        connection.executemany("INSERT INTO itemAttachments VALUES (?, ?, ?)", FILES)
        connection.execute("INSERT INTO deletedItems VALUES (6)")
        connection.commit()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "zotero.sqlite"
    write_library(path)
    return path


def test_attachments_have_keys_and_files(library: Path) -> None:
    storage = library.parent / "storage"
    found = [(attachment.paper, attachment.key, attachment.path) for attachment in attachments_of(library)]
    assert found == [
        ("PAPERONE", "FILEONE1", storage / "FILEONE1" / "maker.pdf"),
        ("7:PAPERTWO", "FILETHRE", storage / "FILETHRE" / "gone.pdf"),
    ]


def test_linked_files_have_whole_paths(library: Path) -> None:
    with closing(sqlite3.connect(library)) as connection:
        connection.execute("UPDATE itemAttachments SET path = ? WHERE itemID = 2", (str(library.parent / "linked.pdf"),))
        connection.execute("UPDATE itemAttachments SET path = 'storage:../../secret.pdf' WHERE itemID = 5")
        connection.commit()
    first, second = attachments_of(library)
    assert first.path == library.parent / "linked.pdf"
    assert second.path == library.parent / "storage" / "FILETHRE" / "secret.pdf"


def test_zoteros_own_text_is_taken_where_the_file_is_not(library: Path) -> None:
    attachments = attachments_of(library)
    for attachment in attachments:
        attachment.cache.parent.mkdir(parents=True)
        attachment.cache.write_text("1 Introduction\n\nWhat Zotero saw.", encoding="utf-8")
    text = wrapped("What is in the file itself, of which there is more than a little to be read by all who care for birds. " * 3)
    attachments[0].path.write_bytes(pdf([[Put("On Birds", 200, 740, 16), *column(["#1 Introduction", *text])]]))
    (_, own), (_, zoteros) = read_attachments(attachments, processes=1)
    assert isinstance(own, Document)
    assert "What is in the file itself" in own.text
    assert own.page_count == 1
    assert isinstance(zoteros, Document)
    assert "What Zotero saw." in zoteros.text
    assert zoteros.page_count == 0
    attachments[1].cache.unlink()
    [(_, reason)] = read_attachments(attachments[1:], processes=1)
    assert reason == f"{attachments[1].path} is no file"


def test_what_is_no_library_is_said(tmp_path: Path) -> None:
    (tmp_path / "zotero.sqlite").write_bytes(b"SQLite format 3\0 and nothing else")
    with pytest.raises(InvalidRequest, match="cannot be read as a library of Zotero"):
        attachments_of(tmp_path / "zotero.sqlite")
