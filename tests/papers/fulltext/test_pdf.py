"""PDFs read: what is text, in which order, and what is none."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.papers.fulltext import glyphs
from sciretrieve.papers.fulltext.document import Document
from sciretrieve.papers.fulltext.reading import passages, read_document
from tests.made_up import shared
from tests.papers.fulltext.made_pdfs import RIGHT, Put, column, pdf, raw_page, wrapped

FILLER = "Every morning one of us walked along the shore and wrote down what was there, near or far, in flight or not. "


def read(folder: Path, pages: list[list[Put]], **options: object) -> Document:
    path = folder / "paper.pdf"
    path.write_bytes(pdf(pages, **options))  # type: ignore[arg-type]
    return read_document(path)


def blocks(document: Document, kind: str = "text") -> list[str]:
    return [document.text[block.start : block.end] for section in document.sections for block in section.blocks if block.kind == kind]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """A paper of three pages in two columns, with all that a paper has."""
    first = [
        Put("Counting Birds on Ice", 180, 740, 16, bold=True),
        Put("Ada Maker and Ben Taker", 200, 722, 11),
        *column(
            [
                "#Abstract",
                *wrapped("We count birds on ice in winter. Nobody has done so before us. " + FILLER * 3),
                "",
                "#1 Introduction",
                *wrapped(FILLER * 4 + "Birds that live on"),
            ],
            y=690,
        ),
        *column(["ice are rarely counted in winter, as the", "dark-", *wrapped("ness hinders observers. " + FILLER * 3)], RIGHT, y=690),
        *column(["1We thank the keepers of the light house.", "They know why."], RIGHT, y=80, size=7, leading=8),
        Put("Proceedings of the 3rd Meeting on Counting, pages 1-3, 2021", 150, 40, 8),
        Put("1", 300, 20),
    ]
    second = [
        Put("Maker and Taker", 240, 770),
        *column(
            [
                "1999    1,204  17.5",
                "2000    1,377  18.9",
                "",
                "Table 1: Birds counted by season, in thou-",
                "sands. All seasons are winters.",
                "",
                *wrapped(FILLER * 3),
                "#2 Results",
                *wrapped("The first result is that there are more than one"),
            ]
        ),
        *column(["would think. " + "Results are", *wrapped("shown below. " + FILLER * 5), "In the end we saw that this well-"], RIGHT),
        Put("2", 300, 20),
    ]
    third = [
        Put("Counting Birds on Ice", 220, 770),
        *column(
            [
                "known method holds. The well-known number",
                *wrapped("of 1,377 is right. " + FILLER * 2),
                "",
                "#References",
                "A. Maker. 1998. Birds of the ice, and how",
                "  to see them in the dark. Polar Notes 3.",
                "B. Taker. 2001. Winter counts of gulls,",
                "  terns and others. In Proc. of Counting.",
            ]
        ),
        Put("3", 300, 20),
    ]
    fourth = [Put("Maker and Taker", 240, 770), *column(["#A Places", *wrapped("We stood at seven places. " + FILLER)]), Put("4", 300, 20)]
    return read(tmp_path_factory.mktemp("paper"), [first, second, third, fourth])


def test_title_sections_and_pages(paper: Document) -> None:
    assert paper.title == "Counting Birds on Ice"
    assert [section.head for section in paper.sections] == ["Abstract", "1 Introduction", "2 Results", "A Places"]
    assert paper.page_count == 4
    assert paper.page_at(paper.text.index("The first result")) == 2
    assert paper.page_at(paper.text.index("known method holds")) == 3
    assert paper.page_at(paper.text.index("seven places")) == 4


def test_sentences_go_on_in_the_next_column_and_page_and_past_tables(paper: Document) -> None:
    text = " ".join(blocks(paper))
    assert "Birds that live on ice are rarely counted in winter, as the darkness hinders observers." in text
    assert "The first result is that there are more than one would think. Results are shown below." in text
    assert "In the end we saw that this well-known method holds." in text  # its hyphen is its own: it is so elsewhere
    assert text.startswith("We count birds on ice in winter.")


def test_what_is_around_the_text_is_kept_apart(paper: Document) -> None:
    assert not any(word in paper.text for word in ("Maker", "Proceedings", "pages 1-3"))
    assert "Proceedings of the 3rd Meeting" in paper.front
    assert "Ada Maker" in paper.front
    assert blocks(paper, "caption") == ["Table 1: Birds counted by season, in thousands. All seasons are winters."]
    assert blocks(paper, "note") == ["1We thank the keepers of the light house. They know why."]
    assert "1,204" in " ".join(blocks(paper, "table"))
    assert "1,204" not in " ".join(blocks(paper))
    assert paper.references == (
        "A. Maker. 1998. Birds of the ice, and how to see them in the dark. Polar Notes 3.",
        "B. Taker. 2001. Winter counts of gulls, terns and others. In Proc. of Counting.",
    )


def test_passages_have_sections_and_pages(paper: Document) -> None:
    found = passages(paper, words=60)
    assert all(passage.text == " ".join(paper.text[passage.start : passage.end].split()) for passage in found)
    assert [passage.page for passage in found if passage.section == "A Places"] == [4]
    crossing = next(passage for passage in found if "well-known method holds" in passage.text)
    assert (crossing.section, crossing.page) == ("2 Results", 2)
    assert not any("Polar Notes" in passage.text or "1,204" in passage.text for passage in found)
    assert any("Table 1" in passage.text for passage in found)


def test_a_hyphen_is_a_lines_unless_the_word_has_it(tmp_path: Path) -> None:
    lines = [
        "The long-term view of inter-",
        "national and short-",
        "term plans has a state-of-the-",
        "art look. Short-term is what",
        "we call it in 2001-",
        "2002.",
    ]
    text = read(tmp_path, [column(["#1 Introduction", *lines, *wrapped(FILLER * 3)])]).text
    assert "view of international and short-term plans has a state-of-the-art look." in text
    assert "in 2001-2002." in text


def test_ligatures_and_old_accents(tmp_path: Path) -> None:
    meanings = {code: chr(code) for code in range(32, 127)} | {1: "\ufb01", 2: "\ufb02", 0xB4: "´", 0xA8: "¨"}
    lines = ["#1 Introduction", "A \x01rst \x02ood came to M¨unchen and Saint-´Etienne.", *wrapped(FILLER * 3)]
    text = read(tmp_path, [column(lines)], unicode=meanings).text
    assert "A first flood came to München and Saint-Étienne." in text


def test_marks_of_footnotes_are_left_out_and_exponents_are_high(tmp_path: Path) -> None:
    marks = [
        Put("Birds are many.", 60, 650),
        Put("3", 60 + 15 * 5.4, 653, 5),
        Put("They weigh 10", 146, 650),
        Put("3", 146 + 13 * 5.4, 653, 5),
    ]
    marks += [Put("grams, or so it is said by some of us.", 228, 650)]
    text = read(tmp_path, [[*column(["#1 Introduction", *wrapped(FILLER * 3)]), *marks, *column(wrapped(FILLER * 3), y=620)]]).text
    assert "Birds are many. They weigh 10³ grams" in text


def test_text_from_right_to_left_is_kept(tmp_path: Path) -> None:
    hebrew = "שלום לכולם"
    codes = {char: code for code, char in enumerate(sorted(set(hebrew) - {" "}), 0xC0)}
    meanings = {code: chr(code) for code in range(32, 127)} | {code: char for char, code in codes.items()}
    shown = "".join(chr(codes[char]) if char in codes else char for char in reversed(hebrew))
    text = read(
        tmp_path, [column(["#1 Introduction", *wrapped(FILLER * 3), "", shown, shown, "", *wrapped(FILLER * 2)])], unicode=meanings
    ).text
    assert hebrew in text


def test_turned_stamps_are_no_text_but_say_what_paper_it_is(tmp_path: Path) -> None:
    stamp = Put("arXiv:2101.00001v2 [cs.DL] 3 Jan 2021", 20, 200, 14, turned=True)
    document = read(tmp_path, [[stamp, Put("On Birds", 200, 740, 16), *column(["#1 Introduction", *wrapped(FILLER * 5)])]])
    assert "arXiv:2101.00001v2" in document.front
    assert "arXiv" not in document.text


def test_turned_pages_are_read_as_they_are_seen(tmp_path: Path) -> None:
    lines = ["Introduction", *wrapped(FILLER * 4)]
    puts = [Put(line, 100 + 11 * number, 50, 9, turned=True) for number, line in enumerate(lines)]
    text = read(tmp_path, [puts], rotate=90).text
    assert FILLER.strip() in text


def test_a_page_in_one_column_is_not_divided_at_gaps(tmp_path: Path) -> None:
    lines = wrapped(FILLER * 12, 80)
    text = read(tmp_path, [column(["#1 Introduction", *lines])]).text
    assert text.count(FILLER.strip()) == 12


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is no PDF, but empty"),
        (b"<html><body>Please log in</body></html>", "is no PDF, but a web page"),
        (b"\xd0\xcf\x11\xe0 word", "is no PDF, but an old Office file"),
        (b"%PDF-1.4 and nothing else", "is broken"),
        (pdf([column(["#1 Introduction", FILLER])])[:300], "is broken"),
        (pdf([column(["#1 Introduction", FILLER])], password=True), "is encrypted"),
        (pdf([[], [Put("3", 300, 20)]]), "has no text, only pictures of 2 pages"),
        (raw_page(b"no compressed data"), "has no text"),
        (pdf([[]]).replace(b"[8 0 R]", b"[3 0 R]"), "is broken, and none of its pages can be read"),
        (pdf([[]]).replace(b"/Count 1", b"/Count 0").replace(b"[8 0 R]", b"[     ]"), "is broken, and cannot be read"),
        (pdf([column([FILLER * 3])], unicode=dict.fromkeys(range(32, 127), "�")), "does not say which letters its fonts show"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(data)
    with pytest.raises(InvalidRequest) as caught:
        read_document(path)
    assert f"{path} {reason}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_and_contents_must_agree(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is no file"):
        read_document(tmp_path / "missing.pdf")
    (tmp_path / "paper.txt").write_bytes(pdf([column([FILLER])]))
    with pytest.raises(InvalidRequest, match="is a PDF by its content"):
        read_document(tmp_path / "paper.txt")
    (tmp_path / "paper.docx").write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidRequest, match="of no format of full texts"):
        read_document(tmp_path / "paper.docx")


def test_more_pages_than_any_paper_has_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glyphs, "MOST_PAGES", 3)
    with pytest.raises(InvalidRequest, match="has 4 pages, more than the 3 that are read"):
        read(tmp_path, [column([FILLER])] * 4)
    monkeypatch.setattr(glyphs, "LARGEST", 100)
    with pytest.raises(InvalidRequest, match="has 0 MB, more than"):
        read(tmp_path, [column([FILLER])])


def test_the_library_of_pdfs_is_imported_when_one_is_read() -> None:
    code = "import sys, sciretrieve, sciretrieve.papers.fulltext.reading; assert 'pypdfium2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_sentences_of_a_real_paper_are_whole() -> None:
    """Compared without blanks and hyphens, which its corpus lost or left at the ends of lines."""
    with gzip.open(shared("fulltext", "papers.jsonl.gz"), "rt", encoding="utf-8") as file:
        paper = next(paper for paper in map(json.loads, file) if paper["id"] == "E03-1020")
    document = read_document(shared("fulltext", "pdf", "E03-1020.pdf"))
    text = re.sub(r"[\s-]", "", " ".join(blocks(document)))
    sentences = [re.sub(r"[\s-]", "", sentence) for section in paper["sections"] for _, sentence in section["sentences"]]
    assert sum(sentence in text for sentence in sentences) > 0.9 * len(sentences)


def test_a_real_paper() -> None:
    document = read_document(shared("fulltext", "pdf", "D10-1083.pdf"))
    assert document.title == "Simple Type-Level Unsupervised POS Tagging"
    assert [section.head for section in document.sections][:4] == ["Abstract", "1 Introduction", "2 Related Work", "3 Generative Story"]
    assert len(document.references) == 13
    assert document.page_count == 9
