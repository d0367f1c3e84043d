"""Zotero's own library, made here with the tables that Zotero makes."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.corpora import open_corpus
from tests.made_up import read_corpus

TABLES = """
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  dateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL,
  creatorTypeID INT NOT NULL DEFAULT 1, orderIndex INT NOT NULL DEFAULT 0,
  PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex));
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL, parentCollectionID INT DEFAULT NULL,
  clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL);
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT NOT NULL DEFAULT 0,
  PRIMARY KEY (collectionID, itemID));
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, charsetID INT, path TEXT);
"""
ROWS = """
INSERT INTO itemTypes (itemTypeID, typeName) VALUES (1, 'note'), (3, 'attachment'), (22, 'journalArticle'), (7, 'case');
INSERT INTO items (itemID, itemTypeID, dateAdded, dateModified, libraryID, key) VALUES
  (1, 22, '2020-01-01 10:00:00', '2021-01-01 10:00:00', 1, 'AAAA1111'), (2, 3, '2020-01-01', '2020-01-01', 1, 'BBBB2222'),
  (3, 1, '2020-01-01', '2020-01-01', 1, 'CCCC3333'), (4, 22, '2020-01-01', '2020-01-01', 1, 'DDDD4444'),
  (5, 7, '2020-01-01', '2020-01-01', 2, 'AAAA1111');
INSERT INTO fields (fieldID, fieldName) VALUES (1, 'title'), (2, 'abstractNote'), (3, 'date'), (4, 'DOI'), (5, 'publicationTitle'),
  (6, 'url'), (7, 'extra'), (8, 'caseName'), (9, 'volume');
INSERT INTO itemDataValues VALUES (1, 'Notes on the Engine'), (2, 'On numbers.'), (3, '1843-09-00 September 1843'), (4, '10.1000/ABC'),
  (5, 'Memoirs'),
  (6, 'https://example.org'), (7, 'PMID: 5'), (8, 'A v. B'), (9, 3);
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3), (1, 4, 4), (1, 5, 5), (1, 6, 6), (1, 7, 7), (1, 9, 9), (4, 1, 1), (5, 8, 8);
INSERT INTO creators VALUES (1, 'Ada', 'Lovelace', 0), (2, '', 'The Engine Team', 1), (3, 'Luigi', 'Menabrea', 0);
INSERT INTO creatorTypes VALUES (1, 'author'), (3, 'editor');
INSERT INTO itemCreators VALUES (1, 2, 1, 1), (1, 1, 1, 0), (1, 3, 3, 2);
INSERT INTO tags VALUES (1, 'to read'), (2, 'engines');
INSERT INTO itemTags VALUES (1, 1, 0), (1, 2, 1);
INSERT INTO collections (collectionID, collectionName, parentCollectionID, libraryID, key)
  VALUES (1, 'Thesis', NULL, 1, 'X'), (2, 'Chapter 1', 1, 1, 'Y');
INSERT INTO collectionItems VALUES (2, 1, 0), (1, 1, 0);
INSERT INTO deletedItems (itemID) VALUES (4);
INSERT INTO itemNotes VALUES (3, 1, '<p>mine</p>', 'mine');
INSERT INTO itemAttachments VALUES (2, 1, 0, 'application/pdf', NULL, 'storage:a.pdf');
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "zotero.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES + ROWS)
    return path


def test_items_become_papers_with_tags_and_collections(library: Path) -> None:
    table, rejected = read_corpus(library)
    paper, case = table.to_pylist()
    expected = {
        "id": "AAAA1111",
        "title": "Notes on the Engine",
        "abstract": "On numbers.",
        "year": 1843,
        "venue": "Memoirs",
        "authors": ["Ada Lovelace", "The Engine Team"],
        "editors": ["Luigi Menabrea"],
        "doi": "10.1000/abc",
        "url": "https://example.org",
        "type": "journalArticle",
        "tags": ["engines", "to read"],
        "collections": ["Thesis", "Thesis / Chapter 1"],
        "notes": ["<p>mine</p>"],
        "attachments": ["storage:a.pdf"],
        "extra": "PMID: 5",
        "volume": 3,
        "date": "1843-09-00 September 1843",
        "dateAdded": "2020-01-01 10:00:00",
        "dateModified": "2021-01-01 10:00:00",
    }
    assert {name: paper[name] for name in expected} == expected
    assert (case["id"], case["title"], case["type"]) == ("2:AAAA1111", "A v. B", "case")
    assert [(item.row, item.reason, item.id) for item in rejected] == [(2, "in Zotero's trash", "DDDD4444")]


def test_the_library_is_read_while_zotero_has_it_locked_and_stays_as_it_was(library: Path) -> None:
    before = library.read_bytes()
    with closing(sqlite3.connect(library, isolation_level=None)) as zotero:
        zotero.execute("PRAGMA locking_mode = EXCLUSIVE")
        zotero.execute("BEGIN EXCLUSIVE")
        assert len(read_corpus(library)[0]) == 2
    assert library.read_bytes() == before
    assert sorted(path.name for path in library.parent.iterdir()) == ["zotero.sqlite"]


def test_other_and_damaged_databases_are_refused_in_one_line(library: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE items (x)")
    views = tmp_path / "views.sqlite"
    with closing(sqlite3.connect(views)) as connection:
        connection.executescript(TABLES + "DROP TABLE tags; CREATE VIEW tags AS SELECT 1 AS tagID, 'x' AS name;")
    columns = tmp_path / "columns.sqlite"
    with closing(sqlite3.connect(columns)) as connection:
        connection.executescript(TABLES + "DROP TABLE tags; CREATE TABLE tags (other);" + ROWS.replace("INSERT INTO tags", "-- "))
    data = library.read_bytes()
    (tmp_path / "cut.sqlite").write_bytes(data[: len(data) // 3])
    (tmp_path / "holes.sqlite").write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    for name, reason in (
        ("other", "is no library of Zotero: it has no table 'collectionItems'"),
        ("views", "it has no table 'tags'"),
        ("columns", "cannot be read as a library of Zotero after item 0: "),
        ("cut", "cannot be read as a library of Zotero after item 0: "),
        ("holes", "cannot be read as a library of Zotero after item 0: "),
    ):
        with pytest.raises(InvalidRequest, match=reason) as caught:
            read_corpus(tmp_path / f"{name}.sqlite")
        assert "\n" not in str(caught.value)


def test_what_zotero_has_written_last_is_read_and_changes_the_corpus(library: Path) -> None:
    """While Zotero runs, that is in a file beside its library."""
    before = open_corpus(library).fingerprint()
    with closing(sqlite3.connect(library)) as zotero:
        zotero.execute("PRAGMA journal_mode = WAL")
        zotero.execute("UPDATE itemDataValues SET value = 'Notes, written anew' WHERE value = 'Notes on the Engine'")
        zotero.commit()
        table, _ = read_corpus(library)
        assert table["title"][0].as_py() == "Notes, written anew"
        first = open_corpus(library).fingerprint()
        zotero.execute("UPDATE itemDataValues SET value = 'And again' WHERE value = 'Notes, written anew'")
        zotero.commit()
        assert len({before, first, open_corpus(library).fingerprint()}) == 3


def test_of_zoteros_folder_the_library_alone_is_read(library: Path) -> None:
    """Beside it are copies, databases of plug-ins, styles in XML, settings in JSON, and the attachments."""
    folder = library.parent
    for name in ("zotero.sqlite.bak", "better-bibtex.sqlite", "styles/apa.csl", "locate/engines.json", "storage/ABCD/page.xml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(library.read_bytes() if "sqlite" in name else b'[{"name": "no paper"}]')
    table, _ = read_corpus(folder)
    assert table.equals(read_corpus(library)[0])
    assert open_corpus(folder).name == folder.name


def test_items_of_feeds_are_nobody_s_papers_and_trash_is_no_loss(library: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(library)) as connection:
        connection.executescript(
            "CREATE TABLE feeds (libraryID INTEGER PRIMARY KEY, name TEXT); INSERT INTO feeds VALUES (3, 'News');"
            "INSERT INTO items VALUES (6, 22, '2020-01-01', '2020-01-01', '2020-01-01', 3, 'EEEE5555', 0, 0);"
            "INSERT INTO itemData VALUES (6, 1, 1);"
        )
        connection.commit()
    assert read_corpus(library)[0]["id"].to_pylist() == ["AAAA1111", "2:AAAA1111"]
    with sr.build(library, tmp_path / "index", encoder=None, progress=False) as index:
        assert (len(index), index.rejected) == (2, 0)
    assert sr.sync(library, tmp_path / "index", progress=False).rejected == 0
