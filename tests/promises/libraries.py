"""The libraries of the people whom the pages of docs/ are for, made of the demo's papers in the formats of their programs."""

import gzip
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sciretrieve import demo
from tests.papers.corpora.test_zotero_library import TABLES

ALL = [json.loads(line) for line in demo.CORPUS.read_text(encoding="utf-8").splitlines()]
CITED = {
    "velickovic2018graph": ["kipf2017semisupervised", "vaswani2017attention", "hamilton2017inductive"],
    "xu2019powerful": ["kipf2017semisupervised", "velickovic2018graph", "hamilton2017inductive", "gilmer2017neural"],
    "hamilton2017inductive": ["kipf2017semisupervised"],
    "devlin2019bert": ["vaswani2017attention"],
    "beltagy2019scibert": ["devlin2019bert", "vaswani2017attention"],
    "cohan2020specter": ["beltagy2019scibert", "devlin2019bert", "kipf2017semisupervised"],
    "ostendorff2022neighborhood": ["cohan2020specter", "beltagy2019scibert", "reimers2019sentencebert"],
    "dosovitskiy2021image": ["vaswani2017attention", "he2016deep", "devlin2019bert"],
}
"""Some of what these papers do cite."""


def papers(*fields: str) -> list[dict[str, Any]]:
    """The demo's papers of some fields."""
    return [paper for paper in ALL if paper["field"] in fields]


def write_zotero(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Zotero's folder with a library of papers, each in a collection named after its field; further calls add to it."""
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as library, library:
        if not library.execute("SELECT name FROM sqlite_master").fetchall():
            library.executescript(TABLES)
            library.execute("INSERT INTO itemTypes (itemTypeID, typeName) VALUES (22, 'journalArticle')")
            library.execute("INSERT INTO creatorTypes VALUES (1, 'author')")
            names = ("title", "abstractNote", "date", "DOI", "publicationTitle", "citationKey")
            library.executemany("INSERT INTO fields (fieldID, fieldName) VALUES (?, ?)", enumerate(names, 1))
        for paper in rows:
            (number,) = library.execute("SELECT count(*) + 1 FROM items").fetchone()
            key = blake2b(paper["id"].encode(), digest_size=4).hexdigest().upper()
            library.execute("INSERT INTO items (itemID, itemTypeID, libraryID, key) VALUES (?, 22, 1, ?)", (number, key))
            values = (
                paper["title"],
                paper["abstract"],
                f"{paper['year']}-00-00 {paper['year']}",
                paper["doi"],
                paper["venue"],
                paper["id"],
            )
            for field, value in enumerate(values, 1):
                if value is not None:
                    library.execute("INSERT OR IGNORE INTO itemDataValues (value) VALUES (?)", (value,))
                    library.execute("INSERT INTO itemData SELECT ?, ?, valueID FROM itemDataValues WHERE value = ?", (number, field, value))
            for place, author in enumerate(paper["authors"]):
                first, _, last = author.rpartition(" ")
                (creator,) = library.execute("SELECT count(*) + 1 FROM creators").fetchone()
                library.execute("INSERT INTO creators VALUES (?, ?, ?, 0)", (creator, first, last))
                library.execute("INSERT INTO itemCreators VALUES (?, ?, 1, ?)", (number, creator, place))
            known = library.execute("SELECT collectionID FROM collections WHERE collectionName = ?", (paper["field"],)).fetchone()
            collection = (
                known[0]
                if known
                else library.execute(
                    "INSERT INTO collections (collectionName, libraryID, key) VALUES (?, 1, ?)", (paper["field"], key)
                ).lastrowid
            )
            library.execute("INSERT INTO collectionItems VALUES (?, ?, 0)", (collection, number))


def write_openalex(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    """A part of OpenAlex's snapshot: works as JSON Lines in a .gz file, with abstracts as words and their places."""
    folder.mkdir(parents=True)
    number = {paper["id"]: f"https://openalex.org/W{1000 + place}" for place, paper in enumerate(ALL)}
    with gzip.open(folder / "part_000.gz", "wt", encoding="utf-8") as file:
        for paper in rows:
            places: dict[str, list[int]] = {}
            for place, word in enumerate(paper["abstract"].split()):
                places.setdefault(word, []).append(place)
            work = {
                "id": number[paper["id"]],
                "doi": f"https://doi.org/{paper['doi']}" if paper["doi"] else None,
                "display_name": paper["title"],
                "title": paper["title"],
                "publication_year": paper["year"],
                "type": "article",
                "authorships": [{"author_position": "middle", "author": {"display_name": name}} for name in paper["authors"]],
                "primary_location": {"source": {"display_name": paper["venue"]}},
                "abstract_inverted_index": places,
                "referenced_works": [number[cited] for cited in CITED.get(paper["id"], [])],
            }
            file.write(json.dumps(work) + "\n")
