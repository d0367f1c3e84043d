"""The interfaces of sciretrieve, each a protocol with several implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from .base.choices import Metric
from .base.types import Paper, Passage, Query, Rows, Vectors

Advance: TypeAlias = Callable[[int], None]
"""Called with the number of papers just finished."""


def ignore_advance(papers: int) -> None:
    """Ignores the number: an `Advance` that does nothing."""


class AdvanceCounter:
    """An `Advance` that counts the papers and passes the numbers on."""

    def __init__(self, advance: Advance) -> None:
        self.papers = 0
        self._advance = advance

    def __call__(self, papers: int) -> None:
        """Count, and pass the number on."""
        self.papers += papers
        self._advance(papers)


class Encoder(Protocol):
    """Turns papers and queries into vectors, by the two sides of its model."""

    @property
    def name(self) -> str:
        """The encoder's name in manifests and error messages."""

    @property
    def dim(self) -> int:
        """The vectors' dimension."""

    @property
    def metric(self) -> Metric:
        """The similarity that the model was trained for."""

    @property
    def precision(self) -> str:
        """The arithmetic of the model, as recorded in a manifest."""

    @property
    def ran_in(self) -> tuple[str, ...]:
        """The runtimes that encoded papers so far, such as "OpenVINO bf16": none before the first paper, several if one failed."""

    @property
    def window(self) -> int:
        """The best number of papers to encode at once."""

    @property
    def symmetric(self) -> bool:
        """Whether a paper as query is encoded like a paper of the corpus."""

    def expect(self, papers: int) -> None:  # noqa: ARG002
        """Announce how many papers will be encoded; for many, the encoder may spend seconds on finding the quickest runtime."""
        return

    def identity(self) -> dict[str, Any]:
        """Everything that determines the vectors, as plain JSON values. Encoders with equal identities give comparable vectors."""

    def truncated(self, tokens: Any) -> int | None:  # noqa: ARG002
        """The number of tokenised papers that exceed the model's input length; None if there is no limit, or if it is unknown."""
        return None

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        """Encode papers of the corpus: shape (n, dim), float32."""
        return self.encode(self.tokenise(papers))

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Encode queries, texts or papers: shape (n, dim), float32."""

    def tokenise(self, papers: Sequence[Paper]) -> Any:
        """The first half of `encode_papers`. It may run in another thread, ahead of the second half."""

    def encode(self, tokens: Any, advance: Advance = ignore_advance) -> Vectors:
        """The second half of `encode_papers`, on the result of `tokenise`. `advance` may be called before all papers are done."""


class OwnEncoder(Protocol):
    """A user's own encoder, in any library or behind any web service, for `build(encoder=…)`, `open(encoder=…)` and `add`.

    An attribute `metric` may say how its vectors are compared: "cosine" (the default), "ip" or "l2". A paper used as a query, as in
    `similar`, gets the same vector as in the corpus.

    >>> class Lengths:
    ...     dim, identity = 2, "lengths of title and abstract, 1"
    ...     def encode_papers(self, papers):
    ...         return [[len(paper.title), len(paper.abstract)] for paper in papers]
    ...     def encode_queries(self, queries):
    ...         return [[len(query.text), 1] for query in queries]
    >>> encoder: sr.OwnEncoder = Lengths()
    >>> sr.build("papers.jsonl", into="indexes/lengths", encoder=encoder).search("star dust", k=1).mode
    'hybrid'
    """

    @property
    def dim(self) -> int:
        """The vectors' dimension."""

    @property
    def identity(self) -> str:
        """A string that no other encoder shares: model, version, and how texts are read. An index stores it and rejects other encoders."""

    def encode_papers(self, papers: Sequence[Paper]) -> Any:
        """Encode papers of the corpus: (n, dim) numbers, as an array or as lists."""

    def encode_queries(self, queries: Sequence[Query]) -> Any:
        """Encode queries by their `text`: (n, dim) numbers, as an array or as lists."""


AnyEncoder: TypeAlias = Encoder | OwnEncoder | Mapping[str, Any] | str
"""Any form of an encoder: a loaded one, a user's own, vectors by paper id, or a name."""


class OpenIndex(Protocol):
    """An open index, see `query.index.Index`."""

    path: Path
    names: tuple[str, ...]


IndexPlace: TypeAlias = str | PathLike[str] | OpenIndex
"""An index in a folder: the folder, its name as on the command line, or the index itself, open."""

Result = TypeVar("Result")
Task: TypeAlias = Callable[[Advance], Result]
"""Work on an index's files. Any process that sees the files can do it, and can repeat it if the first process dies."""


class Workers(Protocol):
    """Other processes, here or on several machines, that do tasks."""

    def run(self, directory: Path, tasks: Iterable[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:
        """Do all tasks on the index in `directory`. Yields each task's number and result, in order of completion.

        Raises:
            Unavailable: no process can do the tasks; a task's own errors pass through.
        """


class OwnReranker(Protocol):
    """A user's own reranker, for `search(reranker=…)`: scores candidate papers for a query, which is too slow for a whole corpus.

    >>> class Newest:
    ...     def score(self, query, papers):
    ...         return [paper.year or 0 for paper in papers]
    >>> reranker: sr.OwnReranker = Newest()
    >>> [hit.scores["rerank"] == hit.paper.year for hit in index.search("graph networks", k=2, reranker=reranker).hits]
    [True, True]
    """

    def score(self, query: Query, papers: Sequence[Paper]) -> Any:
        """A finite number for each paper, greater is better: shape (n,), as an array or a list."""


class Reranker(OwnReranker, Protocol):
    """One with a name, as `open_reranker` gives."""

    @property
    def name(self) -> str:
        """The reranker's name in reports."""


class PaperSource(Protocol):
    """Reads papers by row, so that a run can show more than ids."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        """The papers at the given rows, in the given order."""


@runtime_checkable
class PassageSource(PaperSource, Protocol):
    """Reads papers, and passages of their full texts."""

    def passages_at(self, rows: Rows) -> Sequence[Passage | None]:
        """The passages of full texts at the given rows, which count passages; None for the row -1."""


class Progress(Protocol):
    """Receives the progress of long work, as `progress=`.

    >>> class Notes:
    ...     def start(self, total, done, unit): print(total, unit)
    ...     def advance(self, papers): pass
    ...     def note(self, text): pass
    >>> progress: sr.Progress = Notes()
    >>> checked = sr.health(index, progress=progress)
    100 papers
    """

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Begin work on `total` papers, or on another unit; None if unknown. `done` of them were done before."""

    def advance(self, papers: int) -> None:
        """Count `papers` more as done."""

    def note(self, text: str) -> None:
        """Print a line."""
