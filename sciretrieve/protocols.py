"""The seams of sciretrieve, each a protocol with more than one thing behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .choices import Metric
from .types import Paper, Query, Rows, Vectors


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
    def ran_in(self) -> tuple[str, ...]:
        """What papers were encoded in, as in "OpenVINO bf16": more than one where a runtime failed; empty before the first."""

    @property
    def window(self) -> int:
        """How many papers are best encoded at once."""

    @property
    def symmetric(self) -> bool:
        """Whether a paper in place of a query is encoded just as a paper of the corpus is."""

    def identity(self) -> dict[str, Any]:
        """All that decides the vectors, as plain JSON values: equal identities give comparable vectors."""

    def truncated(self, tokens: Any) -> int | None:
        """How many of the papers that `tokenise` read are longer than the model's input; None where that means nothing."""

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        """Encode papers of the corpus: shape (n, dim), float32."""

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Encode queries, texts or papers in place of texts: shape (n, dim), float32."""

    def tokenise(self, papers: Sequence[Paper]) -> Any:
        """The first half of `encode_papers`: may run in another thread, ahead of the second."""

    def encode(self, tokens: Any) -> Vectors:
        """The second half of `encode_papers`, on what the first gave."""


class Reranker(Protocol):
    """Scores papers for a query by looking at each of them, which is too slow for a whole corpus."""

    @property
    def name(self) -> str:
        """What a report calls it."""

    def score(self, query: Query, papers: Sequence[Paper]) -> npt.NDArray[np.float64]:
        """A score for each paper, greater is better: shape (n,)."""


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


class Silent:
    """Progress that nobody hears."""

    def start(self, total: int | None, done: int = 0) -> None:
        """Hear nothing."""

    def advance(self, papers: int) -> None:
        """Hear nothing."""

    def note(self, text: str) -> None:
        """Hear nothing."""
