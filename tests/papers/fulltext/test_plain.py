"""Plain text and Markdown as full texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.fulltext.document import Document
from sciretrieve.papers.fulltext.reading import read_document


def read(folder: Path, text: str, name: str = "paper.txt") -> Document:
    (folder / name).write_bytes(text.encode("utf-8"))
    return read_document(folder / name)


def test_paragraphs_heads_and_references(tmp_path: Path) -> None:
    text = "On Birds\n\nAbstract. We count birds.\n\n1 Introduction\n\nBirds on ice are inter-\nesting. They\nlive there.\n\n"
    document = read(tmp_path, text + "2.1 Results\n\nMany are seen.\n\nReferences\n\n[1] A. Maker. Birds.\n[2] B. Taker. More\nbirds.\n")
    assert document.title == "On Birds"
    assert [(section.head, section.level) for section in document.sections] == [("Abstract", 1), ("1 Introduction", 1), ("2.1 Results", 2)]
    assert "Birds on ice are interesting. They live there." in document.text
    assert document.references == ("[1] A. Maker. Birds.", "[2] B. Taker. More birds.")
    assert document.page_count == 0
    assert document.page_at(3) == 0


def test_form_feeds_are_pages(tmp_path: Path) -> None:
    document = read(tmp_path, "1 Introduction\r\n\r\nBirds live.\r\n\r\n1\f\r\nThey fly.\r\n\r\n2\f")
    assert document.text == "1 Introduction\n\nBirds live.\n\nThey fly."
    assert document.page_at(document.text.index("They")) == 2
    assert document.page_count == 3


def test_markdown(tmp_path: Path) -> None:
    document = read(tmp_path, "# On Birds\n\n## Where they live\n\nOn ice.\n\n### How\n\nWell.\n\n# References\n\nMaker 1998", "paper.md")
    assert document.title == "On Birds"
    assert [(section.head, section.level) for section in document.sections] == [("Where they live", 2), ("How", 3)]
    assert document.references == ("Maker 1998",)


def test_other_encodings_and_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_bytes("Vögel leben auf dem Eis.".encode("utf-16"))
    assert read_document(tmp_path / "paper.txt").text == "Vögel leben auf dem Eis."
    (tmp_path / "paper.txt").write_bytes(b"a\0b\0\0\0\1\2 nothing")
    with pytest.raises(InvalidRequest, match="is no text"):
        read_document(tmp_path / "paper.txt")
    (tmp_path / "paper.txt").write_bytes(b" \n ")
    with pytest.raises(InvalidRequest, match="has no text"):
        read_document(tmp_path / "paper.txt")
