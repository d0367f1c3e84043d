"""RIS: what rispy writes comes back; the tags of the exporters that people use."""

from pathlib import Path

import pytest
import rispy

from tests.made_up import read_corpus

RECORDS = [
    {
        "type_of_reference": "JOUR",
        "id": "zotero-1",
        "title": "Über Wärme",
        "authors": ["Müller, Jörg", "Curie, Marie"],
        "year": "1905",
        "journal_name": "Annalen der Physik",
        "abstract": "On heat.",
        "doi": "10.1002/andp.1",
        "urls": ["https://example.org/1"],
        "keywords": ["heat", "physics"],
    },
    {
        "type_of_reference": "CONF",
        "title": "No id here",
        "first_authors": ["Lovelace, Ada"],
        "year": "2019/05/01/",
        "secondary_title": "ACL",
    },
]


def test_what_rispy_writes_comes_back(tmp_path: Path) -> None:
    (tmp_path / "p.ris").write_text(rispy.dumps(RECORDS), encoding="utf-8")
    papers, rejected = read_corpus(tmp_path / "p.ris")
    first, second = papers.to_pylist()
    assert rejected == []
    expected = {"id": "zotero-1", "title": "Über Wärme", "year": 1905, "venue": "Annalen der Physik", "abstract": "On heat."}
    assert {name: first[name] for name in expected} == expected
    assert first["authors"] == ["Jörg Müller", "Marie Curie"]
    assert (first["doi"], first["url"], first["keywords"]) == ("10.1002/andp.1", "https://example.org/1", ["heat", "physics"])
    assert second["id"].startswith("ris:")
    assert (second["year"], second["venue"], second["authors"]) == (2019, "ACL", ["Ada Lovelace"])
    assert read_corpus(tmp_path / "p.ris")[0]["id"].to_pylist() == papers["id"].to_pylist()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_as_databases_write_it(tmp_path: Path, ending: str) -> None:
    lines = ["", "TY  - JOUR", "T1  - A title", "  that goes on", "A1  - Lovelace, Ada", "Y1  - 1843//", "JF  - Memoirs"]
    lines += ["N2  - An abstract.", "SP  - 1", "XX  - a tag of its own", "ER  - ", ""]
    (tmp_path / "p.ris").write_bytes(b"\xef\xbb\xbf" + ending.join(lines).encode())
    (paper,) = read_corpus(tmp_path / "p.ris")[0].to_pylist()
    assert paper["title"].startswith("A title")
    assert (paper["year"], paper["venue"], paper["authors"], paper["abstract"]) == (1843, "Memoirs", ["Ada Lovelace"], "An abstract.")


def test_an_empty_record_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "p.ris").write_text("TY  - JOUR\nER  - \nTY  - JOUR\nT1  - fine\nER  - \n")
    papers, rejected = read_corpus(tmp_path / "p.ris")
    assert papers["title"].to_pylist() == ["fine"]
    assert [item.reason for item in rejected] == ["no title and no abstract (the record of line 1)"]


def test_a_record_without_an_end_is_kept(tmp_path: Path) -> None:
    (tmp_path / "p.ris").write_text("TY  - JOUR\nT1  - first\n\nTY  - JOUR\nT1  - second\nER  - \n")
    assert read_corpus(tmp_path / "p.ris")[0]["title"].to_pylist() == ["first", "second"]
