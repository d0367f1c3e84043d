"""Papers read otherwise than they are written, so that an encoder learns what does not matter: reordered, cut, or in part.

Encoders of papers answer such texts with other neighbours (Singh and Singh 2022, tables 1 and 7: the classes of abstracts rotated and
deleted by thirds).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Protocol

from ..base.types import Paper


class Readers(Protocol):
    """Says how papers and text queries are read."""

    def format_of(self, task: str, *, is_text: bool) -> str:
        """The format by which a task reads a text query, or a paper."""

    def of_paper(self, format: str, paper: Paper) -> str:
        """A paper's text as a format reads it."""

    def of_query(self, format: str, text: str) -> str:
        """A text query's text as a format reads it."""


ALTERATIONS: tuple[Callable[[Paper], Paper], ...] = (
    lambda paper: replace(paper, title=paper.abstract, abstract=paper.title),
    lambda paper: replace(paper, abstract=" ".join(paper.abstract.split()[: (len(paper.abstract.split()) + 1) // 2])),
    lambda paper: replace(paper, abstract=""),
    lambda paper: replace(paper, title=""),
)
"""The abstract before the title; its first half; the title alone; the abstract alone. Each is as likely."""


class Altering:
    """Reads a share of papers altered; which and how depends on the key, and on the order in which they are read, alone."""

    def __init__(self, reader: Readers, share: float, *key: object) -> None:
        self._reader, self._share, self._chance = reader, share, Random(repr(key))

    def format_of(self, task: str, *, is_text: bool) -> str:
        """See `Readers`."""
        return self._reader.format_of(task, is_text=is_text)

    def of_paper(self, format: str, paper: Paper) -> str:
        """See `Readers`. A paper that has but a title or an abstract is read as it is."""
        is_altered, alter = self._chance.random() < self._share, self._chance.choice(ALTERATIONS)
        return self._reader.of_paper(format, alter(paper) if is_altered and paper.title and paper.abstract else paper)

    def of_query(self, format: str, text: str) -> str:
        """See `Readers`: texts are as people type them."""
        return self._reader.of_query(format, text)
