"""What a draft cites already: the papers of the library that its citations mean, around each sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..base.types import Rows
from ..papers.bibliographies import bibtex_entries
from ..papers.drafts.draft import DraftSentence, Manuscript
from ..papers.drafts.markers import NAMES, plain_names
from ..query.index import Index

AROUND = 3
"""Sentences before and after one whose citations are nearby, beside those of its paragraph."""
MADE_KEY = re.compile(r"([a-z]+)(\d{4})[a-z]*", re.IGNORECASE)
"""A citation key that was made of a family name, a year and a word of the title."""
SAYING = (
    r"(?:show|prove|propose|introduce|find|found|argue|report|demonstrate|suggest|describe|develop|present|observe|derive|study|studie|"
)
SAYING += r"investigate|conclude|note|establish|use|apply|applie)(?:e?s|e?d|ed)?"
NAMED = re.compile(rf"(?P<names>{NAMES})(?P<says>\s+(?:have\s+|has\s+|first\s+|also\s+)*{SAYING}\b)?")
OF_NAMES = re.compile(r"\bet\.?\s+al\b|\s(?:and|&|und|et)\s|['’]s$")


class DraftContext:
    """The citations of a draft as papers of an index."""

    def __init__(self, index: Index, draft: Manuscript) -> None:
        self._index, self._sentences = index, draft.sentences
        self._rows_of: dict[tuple[str, bool], Rows] = {}
        self._cited = [self._rows_cited(sentence) for sentence in draft.sentences]

    def cited(self, place: int) -> Rows:
        """Rows of the papers that the sentence at a place cites, ascending."""
        return self._cited[place]

    def nearby(self, place: int) -> Rows:
        """Rows of the papers that are cited near the sentence at a place, ascending: in its paragraph, or a few sentences from it."""
        paragraph = self._sentences[place].paragraph
        first, last = max(place - AROUND, 0), min(place + AROUND, len(self._sentences) - 1)
        while first > 0 and self._sentences[first - 1].paragraph == paragraph:
            first -= 1
        while last + 1 < len(self._sentences) and self._sentences[last + 1].paragraph == paragraph:
            last += 1
        return np.unique(np.concatenate(self._cited[first : last + 1]))

    def named(self, text: str) -> Rows:
        """Rows of the papers whose authors a sentence names: "Randall and Sundrum showed…", "the parser of Collins et al."."""
        found = [self._rows(plain_names(match["names"]), False) for match in NAMED.finditer(text) if _are_names(match)]
        return np.unique(np.concatenate([np.empty(0, np.int64), *found]))

    def _rows_cited(self, sentence: DraftSentence) -> Rows:
        works = [(name, False) for mention in sentence.mentions for name in mention.names]
        works += [(key, True) for mention in sentence.mentions for key in mention.keys]
        return np.unique(np.concatenate([np.empty(0, np.int64), *(self._rows(*work) for work in works)]))

    def _rows(self, name: str, is_key: bool) -> Rows:
        """Rows of the papers that a key or names mean; looked up once."""
        if (name, is_key) not in self._rows_of:
            self._rows_of[name, is_key] = self._with_key(name) if is_key else self._by(name)
        return self._rows_of[name, is_key]

    def _by(self, names: str) -> Rows:
        return self._index.snapshot.lookup.by_names(names, self._index.snapshot.scope)

    def _with_key(self, key: str) -> Rows:
        rows = self._index.snapshot.lookup.identified(key).rows
        if len(rows) or (match := MADE_KEY.fullmatch(key)) is None:
            return rows
        rows = self._by(f"{match[1]} {match[2]}")
        made = [bibtex_entries.keys([paper])[0] for paper in self._index.papers_at(rows)]
        return rows[[each.lower() == key.lower() for each in made]] if len(rows) else rows


def _are_names(match: re.Match[str]) -> bool:
    """Whether words that begin with capitals are told to be names by what is between them or follows."""
    return bool(OF_NAMES.search(match["names"]) or match["says"])


def similarity(index: Index, rows: Rows, others: Rows) -> Sequence[float]:
    """How near each paper at some rows is to the nearest of others by its vector, as a cosine, (n,); 0 without vectors."""
    if not len(rows) or not len(others) or not index.snapshot.has_vectors:
        return [0.0] * len(rows)
    first, second = (_unit(index.snapshot.vectors_at(each)) for each in (rows, others))
    nearest: list[float] = (first @ second.T).max(axis=1).tolist()
    return nearest


def _unit(vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = vectors / np.maximum(lengths, 1e-12)
    return unit
