"""Excel's spreadsheets: openpyxl writes them, and what it wrote comes back."""

import io
import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest
from tests.made_up import read_corpus

HEADER: list[Any] = ["id", "title", "abstract", "year", "authors", "cited", "added"]
ROWS: list[list[Any]] = [
    ["a", "A title", "Of\ntwo lines", 2019, "Ada Lovelace; Alan Turing", 3, date(2020, 1, 2)],
    [None, None, None, None, None, None, None],
    [17, "1984", None, datetime(2020, 5, 6), None, 2.5, None],
    ["c", "図の検索 & <b>", "x", "2018a", "Li, Wei", None, None],
]


def written(path: Path, *sheets: list[list[Any]], names: tuple[str, ...] = ()) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(names[number] if names else f"Sheet{number}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    papers, rejected = read_corpus(written(tmp_path / "p.xlsx", [[], HEADER, *ROWS]))
    assert rejected == []
    assert papers["id"].to_pylist() == ["a", "17", "c"]
    assert papers["title"].to_pylist() == ["A title", "1984", "図の検索 & <b>"]
    assert papers["abstract"].to_pylist() == ["Of\ntwo lines", "", "x"]
    assert papers["year"].to_pylist() == [2019, 2020, 2018]
    assert papers["authors"].to_pylist() == [["Ada Lovelace", "Alan Turing"], [], ["Wei Li"]]
    assert papers["cited"].to_pylist() == [3, 2.5, None]
    assert str(papers["added"][0]).startswith("2020-01-02")


def test_rows_that_are_no_papers_are_named(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["id", "title", "at"], ["a", "A", time(1, 2)], ["b"], ["c", "C", None, "beyond"], ["a", "Again"]]
    papers, rejected = read_corpus(written(tmp_path / "p.xlsx", rows))
    assert papers.select(["id", "at"]).to_pylist() == [{"id": "a", "at": "01:02:00"}]
    assert [(item.row, item.reason) for item in rejected] == [
        (2, "no title and no abstract"),
        (3, "4 cells where the header has 3"),
        (4, "duplicate id"),
    ]


def test_further_sheets_with_the_same_header_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sheets: list[list[list[Any]]] = [[], [["id", "title"], ["a", "A"]], [["Notes"], ["of mine"]], [["id", "title"], ["b", "B"]]]
    path = written(tmp_path / "p.xlsx", *sheets, names=("Empty", "First", "Notes", "Second"))
    papers, _ = read_corpus(path)
    assert papers["id"].to_pylist() == ["a", "b"]
    assert f"{path}: the sheet 'Notes' is not read" in caplog.text
    assert "Empty" not in caplog.text


def test_a_csv_of_zotero_that_was_saved_as_a_spreadsheet(tmp_path: Path) -> None:
    header = ["Key", "Item Type", "Publication Year", "Author", "Title", "Abstract Note", "Publication Title", "Manual Tags"]
    row = ["ABCD2345", "journalArticle", 2019, "Lovelace, Ada; Turing, Alan", "A title", "Of it.", "Nature", "a; b"]
    (paper,) = read_corpus(written(tmp_path / "p.xlsx", [header, row]))[0].to_pylist()
    assert (paper["authors"], paper["year"], paper["venue"], paper["tags"]) == (["Ada Lovelace", "Alan Turing"], 2019, "Nature", ["a", "b"])


def test_it_is_known_by_its_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(tmp_path / "p.xlsx", [HEADER, *ROWS]).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert len(read_corpus("-")[0]) == 3
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("p.xlsx", data)
        archive.writestr("q.csv", "id,title\nq,Q\n")
    assert len(read_corpus(tmp_path / "two.zip")[0]) == 4
    assert len(read_corpus(tmp_path)[0]) == 4  # the two spreadsheets are of the same papers


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda _: b"PK\x03\x04 not at all", lambda _: b"id,title\n"])
def test_what_is_no_spreadsheet_is_refused_in_one_line(tmp_path: Path, damage: Any) -> None:
    path = written(tmp_path / "p.xlsx", [HEADER, *ROWS])
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InvalidRequest, match=r"p\.xlsx cannot be read") as caught:
        read_corpus(path)
    assert "\n" not in str(caught.value)


def test_more_text_than_memory_should_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(written(tmp_path / "p.xlsx", [HEADER, *ROWS]), "a") as parts:
        parts.writestr("xl/sharedStrings.xml", b" " * (2 << 20))
    monkeypatch.setattr("sciretrieve.papers.corpora.spreadsheet.LARGEST_TEXT", 1 << 20)
    with pytest.raises(InvalidRequest, match=r"MB of text, more than the 1 MB that are read; save it as \.csv"):
        read_corpus(tmp_path / "p.xlsx")
