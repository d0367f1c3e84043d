"""A document cut into passages of whole sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from ..sentences import sentence_ranges
from .document import Block, Document, Excerpt, Section

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""A word: of Chinese, Japanese and Korean two characters."""
LONGEST = 3
"""How many times as long as a passage a sentence may be. What is longer is none, but a table or a list without marks, and is cut."""
ASIDE = ("caption", "note")
"""Kinds of blocks that stand aside of the text. The cells of tables are in no passage."""
FEW = 0.5
"""Share of a passage below which a section's captions and notes go with the end of its text: alone, a line would say little."""

Range: TypeAlias = tuple[int, int, int]
"""A sentence: where it starts and ends, and how many words it has."""


def passages(document: Document, words: int = 150, overlap: int = 0) -> list[Excerpt]:
    """Cut a document into passages. Each has whole sentences of one section, and about as many words as the others of it.

    Args:
        document: what is cut.
        words: about how many words a passage has.
        overlap: how many sentences a passage shares with the one before it.

    Returns:
        The passages in reading order; of each section those of its text first, then those of its captions and notes.
    """
    return [
        Excerpt(section.head, document.page_at(start), start, end, " ".join(document.text[start:end].split()))
        for section in document.sections
        for start, end in _ranges(document, section, words, overlap)
    ]


def _ranges(document: Document, section: Section, words: int, overlap: int) -> list[tuple[int, int]]:
    """The ranges of a section's passages. In a document, captions and notes follow the text of their section."""
    text, aside = _sentences(document, section, ("text",), words), _sentences(document, section, ASIDE, words)
    if not text or sum(count for _, _, count in aside) >= FEW * words:
        return [*_cut(text, words, overlap), *_cut(aside, words, overlap)]
    return [*_cut([*text, *aside], words, overlap)]


def _sentences(document: Document, section: Section, kinds: Sequence[str], words: int) -> list[Range]:
    return [found for block in section.blocks if block.kind in kinds for found in _sentences_of(document.text, block, words)]


def _sentences_of(text: str, block: Block, words: int) -> Iterator[Range]:
    for start, end in sentence_ranges(text[block.start : block.end]):
        places = [match.start() for match in WORD.finditer(text, block.start + start, block.start + end)]
        cuts = [block.start + start, *places[LONGEST * words :: LONGEST * words], block.start + end]
        for number, (first, last) in enumerate(pairwise(cuts)):
            yield first, last, min(len(places) - number * LONGEST * words, LONGEST * words)


def _cut(sentences: Sequence[Range], words: int, overlap: int) -> Iterator[tuple[int, int]]:
    """The ranges of passages: as many as make them nearest to the size that is wanted, cut where each is nearest to its share."""
    total = sum(count for _, _, count in sentences)
    passage_count = max(round(total / words), 1)
    first, done, cut_count = 0, 0, 1
    for place, (_, end, count) in enumerate(sentences):
        done += count
        following = sentences[place + 1][2] if place + 1 < len(sentences) else 0
        share = total * cut_count / passage_count
        is_last = place + 1 == len(sentences)
        if is_last or (done + following / 2 > share and cut_count < passage_count):
            yield sentences[max(first - overlap, 0)][0], end
            first = place + 1
            cut_count = max(cut_count + 1, int(done * passage_count / max(total, 1)) + 1)
