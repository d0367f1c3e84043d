"""Sentences that a reader meets first have thirty words at most: those of README, of help screens and of each document's first screen."""

import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "sentences.py"))


def test_no_sentence_that_one_meets_first_is_long() -> None:
    first = [sentence for sentence in (*SCRIPT["of_pages"](), *SCRIPT["of_help"]()) if sentence.is_first]
    assert {sentence.kind for sentence in first} == {"README", "docs", "help"}
    assert [f"{sentence.place}: {sentence.text}" for sentence in first if sentence.words > 30] == []


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("As e.g. Here (see it). `code` begins one.", ["As e.g. Here (see it).", "Code begins one."]),
        ("bm25s is [linked](page.md). bm25s begins none", ["bm25s is linked. bm25s begins none"]),
    ],
)
def test_sentences_are_cut_where_they_end(text: str, sentences: list[str]) -> None:
    assert SCRIPT["cut"](SCRIPT["plain"](text)) == sentences


def test_items_and_cells_are_texts_of_their_own() -> None:
    page = "# Title\n\nA text\nof two lines.\n\n- an item\n- another\n\n| a | b |\n| --- | --- |\n\n```\nno text\n```\n"
    assert [(line, " ".join(text.split())) for line, text in SCRIPT["paragraphs"](page) if text] == [
        (3, "A text of two lines."),
        (6, "an item"),
        (7, "another"),
        (9, "a"),
        (9, "b"),
    ]
