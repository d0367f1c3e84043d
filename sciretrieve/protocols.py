"""The interfaces of sciretrieve, each a protocol with several implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .base.choices import Metric
from .base.types import Paper, Query, Rows, Vectors

Advance: TypeAlias = Callable[[int], None]
"""Is told how many more papers are done."""


def unheard(papers: int) -> None:
    """An `Advance` that does nothing."""


class AdvanceCounter:
    """An `Advance` that counts what it passes on."""

    def __init__(self, advance: Advance) -> None:
        self.papers = 0
        self._advance = advance

    def __call__(self, papers: int) -> None:
        """Count, and pass on."""
        self.papers += papers
        self._advance(papers)


class Encoder(Protocol):
    """Turns papers and queries into vectors, each side as its model was trained."""

    @property
    def name(self) -> str:
        """Its name in manifests and error messages."""

    @property
    def dim(self) -> int:
        """The vectors' dimension."""

    @property
    def metric(self) -> Metric:
        """The similarity that it was trained for."""

    @property
    def precision(self) -> str:
        """The arithmetic that it runs in, as recorded in a manifest."""

    @property
    def ran_in(self) -> tuple[str, ...]:
        """The runtimes that encoded papers, such as "OpenVINO bf16": several if one failed; empty before the first paper."""

    @property
    def window(self) -> int:
        """The best number of papers to encode at once."""

    @property
    def symmetric(self) -> bool:
        """Whether a paper as query is encoded like a paper of the corpus."""

    def expect(self, papers: int) -> None:  # noqa: ARG002
        """Say how many papers are to be encoded in all: for many, it may take seconds to find out how that is quickest here."""
        return

    def identity(self) -> dict[str, Any]:
        """All that determines the vectors, as plain JSON values: equal identities give comparable vectors."""

    def truncated(self, tokens: Any) -> int | None:  # noqa: ARG002
        """How many of the tokenised papers exceed the model's input length; None if it has none, or does not say."""
        return None

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        """Encode papers of the corpus: shape (n, dim), float32."""
        return self.encode(self.tokenise(papers))

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Encode queries, texts or papers: shape (n, dim), float32."""

    def tokenise(self, papers: Sequence[Paper]) -> Any:
        """The first half of `encode_papers`: may run in another thread, ahead of the second."""

    def encode(self, tokens: Any, advance: Advance = unheard) -> Vectors:
        """The second half of `encode_papers`, on the result of the first. `advance` may be told of some papers before all are done."""


class OwnEncoder(Protocol):
    """An encoder of a user's own, in any library or behind any web service: all that `build(encoder=…)`, `open(encoder=…)` and `add` need.

    It may have an attribute `metric`, too, by which its vectors are compared: "cosine", which is taken without one, "ip" or "l2". A paper
    in place of a query, as in `similar`, has the vector that it has in the corpus.
    """

    @property
    def dim(self) -> int:
        """The vectors' dimension."""

    @property
    def identity(self) -> str:
        """What tells it from every other encoder: its model, the version, and how texts are read. An index keeps it, and takes no other."""

    def encode_papers(self, papers: Sequence[Paper]) -> Any:
        """Encode papers of the corpus: (n, dim) numbers, as an array or as lists."""

    def encode_queries(self, queries: Sequence[Query]) -> Any:
        """Encode queries by their `text`: (n, dim) numbers, as an array or as lists."""


AnyEncoder: TypeAlias = Encoder | OwnEncoder | Mapping[str, Any] | str
"""What is taken as an encoder: one that is loaded, one of a user's own, the vectors themselves by the ids of papers, or a name."""

Result = TypeVar("Result")
Task: TypeAlias = Callable[[Advance], Result]
"""Work on files of an index that can be done by any process that sees them, and be done again if that process ends too soon."""


class Workers(Protocol):
    """Other processes, on this machine or on many, that do tasks."""

    def run(self, directory: Path, tasks: Iterable[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:
        """Do all tasks on the index in `directory`: each one's number and its result, in the order in which they end.

        Raises what a task raises; Unavailable if no process can do them.
        """


class Reranker(Protocol):
    """Scores papers for a query one by one, which is too slow for a whole corpus."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    def score(self, query: Query, papers: Sequence[Paper]) -> npt.NDArray[np.float64]:
        """A score for each paper, greater is better: shape (n,)."""


class PaperSource(Protocol):
    """Gives papers by row, so that a run can show more than ids."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        """The papers at the given rows, in that order."""


class Progress(Protocol):
    """Is told of the progress of long work."""

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Work on `total` papers, or another unit, begins (None if unknown); `done` of them were done before."""

    def advance(self, papers: int) -> None:
        """`papers` more are done."""

    def note(self, text: str) -> None:
        """Print a line."""
