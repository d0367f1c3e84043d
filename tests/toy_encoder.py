"""A test encoder that counts letters: quick, exact, and it records the texts that it encodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from sciretrieve import encoders
from sciretrieve.base.choices import Metric
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.encoders.stored import StoredVectors
from sciretrieve.protocols import Advance, ignore_advance

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LetterEncoder:
    """See `protocols.Encoder`. Its vectors count letters, and say in two more places which side and which field they are of."""

    def __init__(
        self, name: str = "letters", *, precision: str = "fp32", metric: Metric = "ip", layout: str = "plain", scale: int = 1
    ) -> None:
        self.name, self.precision, self.metric = name, precision, metric
        self._layout, self._scale = layout, scale
        self.asked: list[str] = []
        """Every text that was encoded, in order."""

    dim = len(LETTERS) + 2
    window = 512
    ran_in = ("letters",)
    symmetric = False

    def expect(self, papers: int) -> None:
        """It is always as quick."""

    def identity(self) -> dict[str, Any]:
        """All that decides the vectors."""
        return {"name": self.name, "asked": {"encoder": self.name}, "layout": self._layout, "scale": self._scale, "dim": self.dim}

    def truncated(self, tokens: Any) -> int | None:
        """It reads texts of any length."""
        return 0

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        """Vectors of papers of the corpus."""
        return self.encode(self.tokenise(papers))

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Vectors of queries; a paper in place of a text has another than the text has."""
        rows = [self._vector(query.paper or Paper("", query.text), 1 if query.paper is None else 2) for query in queries]
        return np.array(rows, np.float32).reshape(len(queries), self.dim)

    def tokenise(self, papers: Sequence[Paper]) -> Any:
        """Nothing is done ahead."""
        return list(papers)

    def encode(self, tokens: Any, advance: Advance = ignore_advance) -> Vectors:
        """Vectors of papers of the corpus."""
        return np.array([self._vector(paper, 0) for paper in tokens], np.float32).reshape(len(tokens), self.dim)

    def _vector(self, paper: Paper, side: int) -> list[float]:
        text = f"{paper.title} {paper.abstract}".strip()
        self.asked.append(text)
        return [self._scale * float(text.count(letter)) for letter in LETTERS] + [float(side), len(paper.title) / 8]


NAMED = {"letters": LetterEncoder()}
"""What is opened by these names, and for indexes that were built with them, in all tests; one may give a name to another."""


@contextmanager
def letters_by_name() -> Iterator[None]:
    """While this lasts, the names in `NAMED` are those of encoders."""
    originals: Any = encoders
    open_encoder, from_identity = originals.open_encoder, originals.from_identity

    def opened(request: Any, *options: Any, **others: Any) -> Any:
        return NAMED.get(request.encoder) or open_encoder(request, *options, **others)

    def reopened(identity: Any, *options: Any) -> Any:
        return NAMED.get(identity.get("name")) or from_identity(identity, *options)

    with mock.patch.multiple(encoders, open_encoder=opened, from_identity=reopened):
        yield


class OwnLetters:
    """An encoder of a user's own, see `protocols.OwnEncoder`: how often each letter stands in a text, as lists of numbers."""

    def __init__(self, identity: str = "letters of titles, 1", dim: int = len(LETTERS), fails_at: int | None = None) -> None:
        self.identity, self.dim, self._fails_at = identity, dim, fails_at
        self.papers: list[str] = []
        """The ids of the papers that were encoded, in order."""

    def encode_papers(self, papers: Sequence[Paper]) -> list[list[int]]:
        """Vectors of titles. Its service is down at the call number `fails_at`."""
        if self._fails_at is not None:
            self._fails_at -= 1
            if self._fails_at < 0:
                raise ConnectionError("the service is down")
        self.papers += [paper.id for paper in papers]
        return [letter_counts(paper.title)[: self.dim] for paper in papers]

    def encode_queries(self, queries: Sequence[Query]) -> list[list[int]]:
        """Vectors of texts, which have a letter more, so that they are not those of papers."""
        assert all(query.text and query.paper is None for query in queries)
        return [letter_counts(f"{query.text}z")[: self.dim] for query in queries]


def letter_counts(text: str) -> list[int]:
    """How often each letter is there."""
    return [text.count(letter) for letter in LETTERS]


class StandIn:
    """Vectors in a file that stand for an encoder: the n-th text that is typed has the vector of the id n."""

    def __init__(self, path: Path) -> None:
        self._stored = StoredVectors(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)
