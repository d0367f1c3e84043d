"""Passages: whole sentences of a section, of about one size, whose ranges are those of the document's text."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.papers.fulltext.document import Document, Part, document_of
from sciretrieve.papers.fulltext.reading import passages
from sciretrieve.papers.sentences import sentences

WORDS = st.sampled_from(["ice", "bird", "counts", "we", "e.g.", "Fig.", "3", "of", "1,377", "(Maker", "et", "al.)", "naïve", "dark"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=30).map(lambda words: f"So {' '.join(words)} it is.")
TEXTS = st.lists(SENTENCES, min_size=1, max_size=8).map(" ".join)
PARTS = st.builds(Part, st.sampled_from(["text", "text", "text", "caption", "table", "note", "head", "reference"]), TEXTS)
DOCUMENTS = st.lists(PARTS, max_size=12).map(
    lambda parts: document_of(
        [Part(part.kind, part.text, ((0, 1 + number // 3), (len(part.text) // 2, 2 + number // 3))) for number, part in enumerate(parts)]
    )
)


@given(DOCUMENTS)
def test_blocks_are_the_text_in_order_and_pages_are_found(document: Document) -> None:
    pieces = []
    for section in document.sections:
        pieces += [section.head] * bool(section.head)
        pieces += [document.text[block.start : block.end] for block in section.blocks]
    assert "\n\n".join(pieces) == document.text
    assert all(page == document.page_at(place) for place, page in document.page_starts)
    assert all(first[0] < second[0] for first, second in pairwise(document.page_starts))


@given(DOCUMENTS, st.integers(20, 120), st.integers(0, 1))
def test_passages_cover_all_text_and_cut_no_sentence(document: Document, words: int, overlap: int) -> None:
    found = passages(document, words, overlap)
    for passage in found:
        assert passage.text == " ".join(document.text[passage.start : passage.end].split())
        assert passage.page == document.page_at(passage.start)
    whole = {sentence for section in document.sections for block in section.blocks for sentence in sentences(_text(document, block))}
    ends = [block.end for section in document.sections for block in section.blocks if block.kind == "text"]
    for passage in found:
        within = document.text[passage.start : max([end for end in ends if passage.start < end <= passage.end], default=passage.end)]
        assert all(sentence in whole for sentence in sentences(" ".join(within.split())))
    for section in document.sections:
        blocks = [block for block in section.blocks if block.kind == "text"]
        covered = [place for place in found if blocks and blocks[0].start <= place.start < blocks[-1].end]
        told = " ".join(_text(document, block) for block in blocks)
        if not overlap:  # after the text there may be captions and notes
            assert " ".join(passage.text for passage in covered).startswith(" ".join(told.split()))
        for sentence in sentences(told):
            assert any(sentence in passage.text for passage in covered)


@given(DOCUMENTS)
def test_passages_of_a_section_are_of_about_one_size(document: Document) -> None:
    blocks = [block for section in document.sections for block in section.blocks]
    most = max((_words(sentence) for block in blocks for sentence in sentences(_text(document, block))), default=0)
    sizes = [_words(passage.text) for passage in passages(document, words=100)]
    assert all(size <= 150 + most for size in sizes)


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def _text(document: Document, block: object) -> str:
    return document.text[block.start : block.end]  # type: ignore[attr-defined]


def test_captions_and_notes_follow_the_text_or_are_passages_of_their_own_and_tables_are_none() -> None:
    parts = [
        Part("head", "1 Birds"),
        Part("text", "We saw"),
        Part("caption", "Figure 1:"),
        Part("table", "3 4 5"),
        Part("note", "2 Or so."),
        Part("caption", "Birds."),
    ]
    document = document_of([*parts, Part("text", "them all."), Part("reference", "Maker 1998")], title="On Birds")
    assert [passage.text for passage in passages(document)] == ["We saw them all. Figure 1: Birds. 2 Or so."]
    assert [passage.text for passage in passages(document, words=8)] == ["We saw them all.", "Figure 1: Birds. 2 Or so."]
    assert {passage.section for passage in passages(document)} == {"1 Birds"}
    assert {passage.page for passage in passages(document)} == {0}
    assert document.references == ("Maker 1998",)


def test_what_has_no_end_is_cut() -> None:
    document = document_of([Part("text", "word " * 1000 + "end")])
    found = passages(document, words=100)
    assert " ".join(passage.text for passage in found) == document.text
    assert max(len(passage.text.split()) for passage in found) <= 300


def test_two_characters_of_chinese_are_a_word() -> None:
    document = document_of([Part("text", "我们在冬天数冰上的鸟。" * 100)])
    found = passages(document, words=100)
    assert len(found) == 5
    assert "".join(passage.text for passage in found) == document.text


def test_a_document_without_text_has_no_passages() -> None:
    assert passages(document_of([])) == []
    assert passages(document_of([Part("head", "1 Birds"), Part("reference", "Maker 1998")])) == []
