"""Suggestions while typing: papers by words of their titles, authors by words of their names. The last word may be unfinished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.choices import check_count
from ..base.types import Paper, Rows
from ..files.schema import integers, texts
from ..matching.lexical.words import spaced
from ..papers.folding import fold
from ..query.index import Index
from .authors import WORD, Author, authors_of
from .remembering import once_for_each
from .word_index import WordIndex

LONGEST = 300
"""Longest text, in characters, that gets suggestions. Longer text was pasted."""
FEWEST_LETTERS = 2
"""Fewest letters for suggestions. Nearly every title has a word with any given letter."""
SHOWN = ("id", "title", "authors", "year", "venue", "doi")
"""Columns of suggested papers."""
PLAIN = r"^[ -#%-\[\]-~]*$"
"""Titles that need no folding: ASCII without LaTeX."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggestions for a text.

    Attributes:
        papers: with id, title, authors, year, venue and DOI.
        names: each paper's id, or INDEX:ID if several indexes are searched.
        authors: authors whose names contain the same words.
    """

    papers: Sequence[Paper] = ()
    names: Sequence[str] = ()
    authors: Sequence[Author] = ()


def suggest(index: Index, text: str, k: int = 8) -> Suggestions:
    """Suggest papers and authors for an unfinished text, up to k of each, best first.

    Titles must contain all words; the last word may be unfinished. Titles that begin with the text come first, then titles that contain it
    literally; ties go to the shortest. Fewer than two letters give no suggestions. Raises InvalidRequest for a k below 1.
    """
    check_count(k)
    words = WORD.findall(spaced(fold(text[:LONGEST])))
    if sum(map(len, words)) < FEWEST_LETTERS:
        return Suggestions()
    rows = titles_of(index).having(words, k * len(index.names), is_unfinished=text[-1:].isalnum())
    if len(index.names) > 1:
        rows = rows[np.isin(rows, index.snapshot.distinct(np.sort(rows)))]
    rows, authors = rows[:k], authors_of(index)
    return Suggestions(
        index.snapshot.papers_at(rows, SHOWN), index.snapshot.whole_names(rows), authors.at(authors.search(text[:LONGEST])[:k])
    )


@once_for_each
def titles_of(index: Index) -> TitleWords:
    """Title index of an index's papers. The first call reads one column of all papers."""
    return TitleWords(index)


class TitleWords:
    """Titles in plain letters, such as "graph neural networks", indexed by word."""

    def __init__(self, index: Index) -> None:
        titles = [_in_words(shard.columns(["title"])["title"].combine_chunks()) for shard in index.snapshot.shards]
        self._titles = pa.concat_arrays(titles) if titles else pa.array([], pa.string())
        self._live = index.snapshot.scope.mask
        self._words = WordIndex(self._titles, " ")

    def having(self, words: Sequence[str], k: int, *, is_unfinished: bool) -> Rows:
        """Rows of the papers whose titles contain all of the words: the best k, best first. The last word may be unfinished."""
        fits = np.ones(len(self._titles), bool) if self._live is None else self._live.copy()
        for place, word in enumerate(words, 1):
            fits &= self._words.having(word, is_whole=place < len(words) or not is_unfinished)
        rows = np.flatnonzero(fits)
        titles = pc.binary_join_element_wise(" ", self._titles.take(integers(rows)), " ", "")
        start = f" {' '.join(words)}" + " " * (not is_unfinished)
        masks = pc.match_substring(titles, start), pc.starts_with(titles, start)
        is_there, is_first = (flags.to_numpy(zero_copy_only=False) for flags in masks)
        lengths = pc.binary_length(titles).to_numpy()
        return rows[np.lexsort((rows, lengths, ~is_there, ~is_first))[:k]]


def _in_words(titles: pa.StringArray) -> pa.StringArray:
    """Titles as words in plain letters. Arrow converts ASCII titles, which are most."""
    is_ascii = pc.match_substring_regex(titles, PLAIN)
    plain = pc.replace_substring_regex(pc.ascii_lower(titles), "[^a-z0-9]+", " ")
    others = texts([" ".join(WORD.findall(spaced(fold(title)))) for title in titles.filter(pc.invert(is_ascii)).to_pylist()])
    return pc.replace_with_mask(pc.ascii_trim_whitespace(plain), pc.invert(is_ascii), others)
