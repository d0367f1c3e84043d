"""Full texts are read into an index within the index, change with it in the same commits, and are read again where they changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.storage.fulltext import FULLTEXT
from sciretrieve.storage.manifest import read_manifest
from tests.papers.fulltext.made_pdfs import Put, column, pdf, wrapped
from tests.papers.fulltext.test_zotero import write_library
from tests.toy_encoder import LetterEncoder

WORDS = ("tagging", "parsing", "translation", "grammar", "smoothing", "beam", "search", "lattice", "corpus", "entropy")


def body(number: int, word: str = "") -> str:
    """A full text of several passages, of which those of its methods have a word of their own."""
    own = word or f"zebra{number}"
    parts = [
        "1 Introduction",
        *(f"We study {WORDS[(number + place) % 10]} in sentence {place} of a long text. " * 20 for place in range(3)),
    ]
    return "\n\n".join([*parts, "2 Methods", f"The method takes {own} for {WORDS[number % 10]}. " * 30])


def papers(count: int = 12) -> list[dict[str, Any]]:
    """Papers of which two in three have a full text, in a column."""
    return [
        {
            "id": f"p{number:02}",
            "title": f"Paper {number} on {WORDS[number % 10]}",
            "abstract": f"An abstract about {WORDS[number % 7]}.",
            "year": 2000 + number,
            "text": body(number) if number % 3 else None,
        }
        for number in range(count)
    ]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    sr.build(papers(), path, encoder=LetterEncoder(), shard_size=5).close()
    sr.add_full_texts("text", path, encoder=LetterEncoder())
    return path


def count(index: Path, query: str) -> int:
    with sr.open(index, encoder=LetterEncoder()) as opened:
        return opened.count(query)


def faults(index: Path) -> tuple[Any, ...]:
    return sr.verify(index, encoder=LetterEncoder()).faults


def test_full_texts_of_a_column_are_read_once(index: Path) -> None:
    result = sr.add_full_texts("text", index, encoder=LetterEncoder())
    assert (result.papers, result.read, result.unchanged, result.rejections) == (8, 0, 8, [])
    assert (count(index, "zebra4"), count(index, "zebra3"), faults(index)) == (1, 0, ())
    with sr.open(index, encoder=LetterEncoder()) as opened:
        passages = opened.full_text("p04")
        assert [passage.number for passage in passages] == list(range(len(passages)))
        assert list(dict.fromkeys(passage.section for passage in passages)) == ["1 Introduction", "2 Methods"]
        assert opened.full_text("p03") == []
    with sr.open(index, encoder=LetterEncoder(), generation=1) as before:  # before they were read
        assert before.count("zebra4") == 0


def test_passages_go_and_come_back_with_their_papers(index: Path) -> None:
    sr.delete(index, ["p04"])
    assert (count(index, "zebra4"), count(index, "zebra5"), faults(index)) == (0, 1, ())
    sr.restore(index, 2)
    assert (count(index, "zebra4"), faults(index)) == (1, ())
    sr.sync(papers()[:6], index, encoder=LetterEncoder(), allow_deletions=True)
    assert (count(index, "zebra4"), count(index, "zebra7"), faults(index)) == (1, 0, ())
    sr.merge(index)
    assert (count(index, "zebra4"), count(index, "zebra7"), faults(index)) == (1, 0, ())
    sr.delete(index, ["p01", "p02", "p04", "p05"])
    assert read_manifest(index).fulltext is None
    assert not (index / FULLTEXT).exists() or (index / FULLTEXT / "manifest.json").exists()  # kept for the generations before
    sr.merge(index)
    assert not (index / FULLTEXT).exists()


def test_a_changed_paper_keeps_its_full_text_and_a_changed_full_text_is_read_again(index: Path) -> None:
    rows = papers()
    rows[4] |= {"title": "Another title", "text": body(4, "quagga")}
    sr.add(rows, index, encoder=LetterEncoder())
    assert (count(index, "zebra4"), count(index, "quagga")) == (1, 0)
    result = sr.add_full_texts("text", index, encoder=LetterEncoder())
    assert (result.read, result.unchanged, result.papers) == (1, 7, 8)
    assert (count(index, "zebra4"), count(index, "quagga"), faults(index)) == (0, 1, ())
    rows[4]["text"] = "1 Introduction\n\nA short quagga."  # fewer passages than before
    sr.add(rows, index, encoder=LetterEncoder())
    sr.add_full_texts("text", index, encoder=LetterEncoder())
    with sr.open(index, encoder=LetterEncoder()) as opened:
        assert [passage.text for passage in opened.full_text("p04")] == ["A short quagga."]
    assert faults(index) == ()


def test_after_a_killed_run_its_passages_are_never_seen(index: Path) -> None:
    """It had changed the passages, and was killed before the index named the change."""
    before = shutil.copytree(index, index.parent / "before")
    rows = papers()
    rows[4]["text"] = body(4, "quagga")
    sr.add(rows, index, encoder=LetterEncoder())
    sr.add_full_texts("text", index, encoder=LetterEncoder())
    shutil.rmtree(before / FULLTEXT)
    shutil.copytree(index / FULLTEXT, before / FULLTEXT)
    assert (count(before, "quagga"), count(before, "zebra4")) == (0, 1)
    sr.delete(before, ["p05"])
    assert (count(before, "quagga"), count(before, "zebra4"), count(before, "zebra5"), faults(before)) == (0, 1, 0, ())


def test_damage_in_full_texts_is_found_and_mended(index: Path) -> None:
    shard = read_manifest(index / FULLTEXT).shards[0].name
    path = index / FULLTEXT / "shards" / shard / "postings.arrow"
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    assert [fault.file for fault in faults(index)] == [f"{FULLTEXT}/shards/{shard}/postings.arrow"]
    assert sr.repair(index, encoder=LetterEncoder()).faults == ()
    assert (count(index, "zebra4"), faults(index)) == (1, ())
    shutil.rmtree(index / FULLTEXT)
    assert [fault.file for fault in faults(index)] == [FULLTEXT]
    assert sr.repair(index, encoder=LetterEncoder()).faults == ()
    assert (count(index, "zebra4"), count(index, "tagging")) == (0, 3)  # papers are there without
    assert sr.add_full_texts("text", index, encoder=LetterEncoder()).read == 8


def test_other_settings_hold_for_both(index: Path) -> None:
    sr.reindex(index, lexical={"k1": 0.5})
    assert read_manifest(index / FULLTEXT).bm25 == read_manifest(index).bm25
    assert (count(index, "zebra4"), faults(index)) == (1, ())
    sr.build(papers(), index, encoder=LetterEncoder(), overwrite=True).close()
    assert (read_manifest(index).fulltext, count(index, "zebra4")) == (None, 0)
    assert not (index / FULLTEXT).exists()


def test_a_folder_of_files(tmp_path: Path) -> None:
    rows = [{**row, "text": None, "doi": f"10.1000/{row['id']}"} for row in papers()]
    path, folder = tmp_path / "index", tmp_path / "texts"
    sr.build(rows, path, encoder=None).close()
    folder.mkdir()
    (folder / "p04.txt").write_text(body(4))
    (folder / "scan.txt").write_text(f"Some journal, doi:10.1000/p05\n\n{body(5)}")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (folder / "other.txt").write_text("1 Introduction\n\nOf something else.")
    result = sr.add_full_texts(folder, path)
    assert (result.papers, result.read) == (2, 2)
    reasons = sorted(row.reason for row in result.rejections)
    assert [reason.partition(" is ")[0].removeprefix(f"{folder}/") for reason in reasons][1:] == ["other.txt"]
    assert "broken.pdf" in reasons[0]
    with sr.open(path) as opened:
        (hit,) = opened.search("zebra5").hits
        assert hit.passage is not None
        assert (hit.id, hit.passage.file, hit.passage.section) == ("p05", str(folder / "scan.txt"), "2 Methods")
        assert hit.passage.address == f"{(folder / 'scan.txt').as_uri()}#page=1"
        assert "file" not in hit.to_dict()["passage"]
    (folder / "p04.txt").write_text("")
    assert sr.add_full_texts(folder, path).read == 0
    assert count(path, "zebra4") == 1  # what was read before stays


def test_bad_sources_are_said(index: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is no folder, and no column"):
        sr.add_full_texts(tmp_path / "missing", index, encoder=LetterEncoder())
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidRequest, match=r"no full text in .* belongs to a paper"):
        sr.add_full_texts(tmp_path / "empty", index, encoder=LetterEncoder())
    with sr.open(tmp_path / "index", encoder=LetterEncoder()) as opened:
        assert opened.count("zebra4") == 1


def test_zoteros_attachments_are_of_its_papers_or_of_those_of_an_export(tmp_path: Path) -> None:
    """An index of Zotero's data has its keys as ids, one of an exported .bib citation keys: then what a file says counts."""
    write_library(tmp_path / "zotero.sqlite")
    for key, number in (("FILEONE1", 4), ("FILETHRE", 5)):
        file = tmp_path / "storage" / key / {"FILEONE1": "maker.pdf", "FILETHRE": "gone.pdf"}[key]
        file.parent.mkdir(parents=True)
        lines = wrapped(f"The method takes zebra{number} for a test of many words that fill a line. " * 20, 60)
        file.write_bytes(pdf([[Put(f"Paper {number} on its very own matter", 72, 740, 18), *column(lines, 72, 700)]]))
    rows = [{"id": "PAPERONE", "title": "Paper 4 on its very own matter"}, {"id": "other2020", "title": "Paper 5 on its very own matter"}]
    sr.build(rows, tmp_path / "index", encoder=None).close()
    assert sr.add_full_texts(tmp_path, tmp_path / "index").read == 2
    with sr.open(tmp_path / "index") as index:
        found = {word: index.search(word).hits[0].passage for word in ("zebra4", "zebra5")}
    assert {word: passage and (passage.paper, passage.address) for word, passage in found.items()} == {
        "zebra4": ("PAPERONE", "zotero://open-pdf/library/items/FILEONE1?page=1"),
        "zebra5": ("other2020", "zotero://open-pdf/library/items/FILETHRE?page=1"),
    }
