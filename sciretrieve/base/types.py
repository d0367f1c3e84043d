"""The values that every part of sciretrieve passes around: papers, queries and hits. All immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .characters import clean
from .choices import SideName
from .errors import InvalidRequest
from .wording import as_json, plain

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Encoded texts, shape (n, dim)."""

Rows: TypeAlias = npt.NDArray[np.int64]
"""Positions of papers in an index, counted over all its shards in order."""

Scores: TypeAlias = npt.NDArray[np.float64]
"""One score per paper, greater is better, shape (n,)."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One truth value per paper, by row: whether it passes a filter."""

Half: TypeAlias = Literal["meaning", "words"]
"""A half of hybrid search: by vectors, or by BM25."""

TotalIs: TypeAlias = Literal["has all words", "meets demands", "is named", "passes filters"]
"""What each of the papers is that a search's total counts, see `runs.Ranking`."""


def floats_of(given: Any, dtype: type[Any]) -> npt.NDArray[Any]:
    """What a user's code gave as numbers, arrays and nested lists alike, as an array of its own; infinite where they are too large for it.

    A masked value becomes NaN, and so does None. Raises TypeError for all else, texts of digits and complex numbers among it.
    """
    try:
        with np.errstate(over="ignore"):
            array = given.astype(dtype).filled(np.nan) if hasattr(given, "filled") else np.asarray(given)
            texts = array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.flat)
            if texts or array.dtype.kind in "SUcmM" or array.dtype.names is not None:
                raise TypeError(f"{'texts' if texts or array.dtype.kind in 'SU' else array.dtype} are no real numbers")
            return np.array(array, dtype)
    except (OverflowError, RuntimeError, ValueError) as error:
        raise TypeError(" ".join(str(error).split())) from error


@dataclass(frozen=True, slots=True)
class Paper:
    """A scholarly paper. `extra` holds every column of the corpus that has no field of its own."""

    id: str
    title: str = ""
    abstract: str = ""
    year: int | None = None
    venue: str | None = None
    authors: tuple[str, ...] = ()
    doi: str | None = None
    url: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Paper {self.id}: {self.headline()}>"

    def headline(self, width: int = 80) -> str:
        """The title (or the first words, where there is none) on one line of at most `width` characters, and the year."""
        year = f" ({self.year})" if self.year is not None else ""
        return shorten(self.title or self.abstract or "(no title)", max(width - len(year), 10), placeholder="…") + year

    def to_dict(self) -> dict[str, Any]:
        """The paper as JSON has it, see `sciretrieve.schema("paper")`: dates in `extra` are texts, and numbers that are not finite None."""
        return {
            "id": self.id,
            "title": self.title,
            "year": self.year,
            "venue": self.venue,
            "authors": list(self.authors),
            "abstract": self.abstract,
            "doi": self.doi,
            "url": self.url,
            "extra": plain(self.extra),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON on one line."""
        return as_json(self.to_dict())


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query: a text, a paper in its place (`paper`), or a vector, alone or beside a text.

    With a vector, (dim,) numbers, that is what dense search compares, and nothing is encoded; the text is for BM25. The vector is copied,
    and is then float32 that cannot be written to. Queries without an id are numbered as they are searched for, from "1".

    Raises:
        InvalidRequest: the vector is no list of numbers.
    """

    id: str = ""
    text: str = ""
    paper: Paper | None = None
    vector: npt.NDArray[Any] | Sequence[float] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.text, str):  # what else it may be is refused when it is read
            object.__setattr__(self, "text", clean(self.text))
        if self.vector is None:
            return
        try:
            vector = floats_of(self.vector, np.float32)
        except TypeError as error:
            raise InvalidRequest(f"a query's vector is a list of numbers, not {type(self.vector).__name__}") from error
        if vector.ndim != 1 or not len(vector):
            raise InvalidRequest(f"a query's vector has the shape (dimension,), not {vector.shape}; give each query its own")
        vector.flags.writeable = False
        object.__setattr__(self, "vector", vector)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)

    @property
    def _facts(self) -> tuple[str, str, Paper | None, bytes | None]:
        return self.id, self.text, self.paper, None if self.vector is None else np.asarray(self.vector).tobytes()

    @property
    def side(self) -> SideName:
        """The encoder's side that reads it."""
        return "query" if self.paper is None else "paper_as_query"

    @property
    def words(self) -> str:
        """The text that keyword search sees: the query's own, or the paper's title and abstract."""
        return self.text if self.paper is None else f"{self.paper.title} {self.paper.abstract}".strip()


@dataclass(frozen=True, slots=True)
class Hit:
    """One paper of an answer. `scores` has the paper's score in each part of the search that scored it, `also` the ids
    of its near-duplicates, if they are grouped. Where several indexes were searched, `index` is the name of the one that the paper stands
    in, and `also_in` has those of `also`."""

    rank: int
    score: float
    paper: Paper
    scores: Mapping[str, float | None]
    also: tuple[str, ...] = ()
    index: str | None = None
    also_in: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Hit {self.rank}, {self.score:.3f}: {self.paper.headline()} · {self.name}>"

    @property
    def id(self) -> str:
        """The paper's id."""
        return self.paper.id

    @property
    def name(self) -> str:
        """What names the paper where it was searched for: its id, or INDEX:ID where that was in several indexes."""
        return name_in(self.index, self.id)

    @property
    def also_names(self) -> list[str]:
        """What names its near-duplicates, likewise."""
        return [name_in(*pair) for pair in zip(self.also_in or [None] * len(self.also), self.also, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """The hit as JSON has it, a line of `--format jsonl`, see `sciretrieve.schema("hit")`."""
        paper = self.paper.to_dict()
        extra = paper.pop("extra")
        where = {} if self.index is None else {"index": self.index, "also_in": list(self.also_in)}
        scores, also = dict(self.scores), list(self.also)
        return {"rank": self.rank, "score": self.score, **paper, **where, "scores": scores, "also": also, "extra": extra}

    def to_json(self) -> str:
        """`to_dict` as JSON on one line."""
        return as_json(self.to_dict())


def name_in(index: str | None, id: str) -> str:
    """What names a paper among those of several indexes: INDEX:ID; without an index its id."""
    return id if index is None else f"{index}:{id}"
