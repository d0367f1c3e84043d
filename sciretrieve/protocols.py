"""The seams of sciretrieve, each a protocol with more than one thing behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from .types import Metric, Paper, Rows, Vectors


class Encoder(Protocol):
    """Turns papers and queries into vectors, each side in the way its model was trained for."""

    @property
    def name(self) -> str:
        """What a manifest and an error message call it."""

    @property
    def dim(self) -> int:
        """The vectors' dimension."""

    @property
    def metric(self) -> Metric:
        """The similarity that it was trained for."""

    @property
    def precision(self) -> str:
        """The arithmetic that it runs in, as a manifest records it."""

    @property
    def symmetric(self) -> bool:
        """Whether a paper in place of a query is encoded just as a paper of the corpus is."""

    def identity(self) -> dict[str, Any]:
        """All that decides the vectors, as plain JSON values: equal identities give comparable vectors."""

    def encode_papers(self, titles: Sequence[str], abstracts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Encode papers, of the corpus or in place of queries: shape (n, dim), float32."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Encode text queries: shape (n, dim), float32."""


class PaperSource(Protocol):
    """Gives papers by row: what a run needs to show more than ids."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        """The papers at the given rows, in that order."""


class Progress(Protocol):
    """Hears of the progress of long work."""

    def start(self, total: int | None, done: int = 0) -> None:
        """Work on `total` papers begins, or None where that is not known; `done` of them were done before."""

    def advance(self, papers: int) -> None:
        """So many more papers are done."""

    def note(self, text: str) -> None:
        """Something worth a line."""
