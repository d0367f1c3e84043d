"""Immutable values that all parts share: papers, queries and hits; and lists of them, and of rows, from user code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .characters import clean
from .choices import SideName, is_iterable
from .errors import InvalidRequest
from .forms import AsJsonLine
from .frozen import FrozenDict, frozen
from .wording import plain, shortened

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Encoded texts, shape (n, dim)."""

Rows: TypeAlias = npt.NDArray[np.int64]
"""Positions of papers in an index, counted over all its shards."""

Scores: TypeAlias = npt.NDArray[np.float64]
"""One score per paper, greater is better, (n,)."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One boolean per paper, by row, for example whether it passes a filter."""

Half: TypeAlias = Literal["meaning", "words"]
"""A half of hybrid search: vectors ("meaning") or BM25 ("words")."""

TotalIs: TypeAlias = Literal["has all words", "meets demands", "is named", "passes filters"]
"""In what way the papers in a search's total satisfy the query, see `runs.Ranking`."""


def floats_of(given: Any, dtype: type[Any]) -> npt.NDArray[Any]:
    """Copy numbers from user code, as arrays or nested lists, into an array. Numbers too large for the type become infinite.

    Masked values and None become NaN. Raises TypeError for anything else, such as texts of digits and complex numbers.
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
class Paper(AsJsonLine):
    """A scholarly paper. `extra` holds the corpus's columns without a field here; it cannot be changed either, at any depth.

    >>> sr.Paper("p1", "Graph networks", year=2020, extra={"topics": ["graphs"]})
    <Paper p1: Graph networks (2020)>
    """

    id: str
    title: str = ""
    abstract: str = ""
    year: int | None = None
    venue: str | None = None
    authors: tuple[str, ...] = ()
    doi: str | None = None
    url: str | None = None
    extra: Mapping[str, Any] = FrozenDict()

    def __post_init__(self) -> None:
        if type(self.extra) is not FrozenDict:
            object.__setattr__(self, "extra", frozen(self.extra))
        if type(self.authors) is not tuple and not isinstance(self.authors, str) and is_iterable(self.authors):
            object.__setattr__(self, "authors", tuple(self.authors))

    def __repr__(self) -> str:
        return f"<Paper {self.id}: {self.headline()}>"

    def headline(self, width: int = 80) -> str:
        """The title, or without one the first words, on one line of at most `width` characters, and the year."""
        year = f" ({self.year})" if self.year is not None else ""
        return shorten(self.title or self.abstract or "(no title)", max(width - len(year), 10), placeholder="…") + year

    def to_dict(self) -> dict[str, Any]:
        """The paper as for JSON, see `sciretrieve.schema("paper")`. In `extra`, dates become texts, and numbers that are not finite
        None."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Query(AsJsonLine):
    """A query: a text, a paper (`paper`), or a vector, alone or beside a text.

    With a vector, (dim,) numbers, dense search uses it and encodes nothing; the text is for BM25. The vector is copied to read-only
    float32. Queries without an id are numbered from "1" when searched.

    InvalidRequest: the vector is no list of numbers.

    >>> query = sr.Query(text="graph networks"), sr.Query(vector=[0.1, 0.9])
    """

    id: str = ""
    text: str = ""
    paper: Paper | None = None
    vector: npt.NDArray[Any] | Sequence[float] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.text, str):  # reading reports other types
            object.__setattr__(self, "text", clean(self.text))
        if self.vector is None:
            return
        try:
            vector = floats_of(self.vector, np.float32)
        except TypeError as error:
            raise InvalidRequest(f"a query's vector is a list of numbers, not {type(self.vector).__name__}") from error
        if vector.ndim != 1 or not len(vector):
            raise InvalidRequest(f"a query's vector has the shape (dimension,), not {vector.shape}; give each query its own")
        object.__setattr__(self, "vector", np.frombuffer(vector.tobytes(), np.float32))  # which nobody can make writable

    def __reduce__(self) -> tuple[type[Query], tuple[Any, ...]]:
        return Query, (self.id, self.text, self.paper, self.vector)  # a copied array could be written

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)

    @property
    def _facts(self) -> tuple[str, str, Paper | None, bytes | None]:
        return self.id, self.text, self.paper, None if self.vector is None else np.asarray(self.vector).tobytes()

    def to_dict(self) -> dict[str, Any]:
        """The query as in `sciretrieve.schema("run")`: `has_vector` stands for its vector, whose many numbers the caller has."""
        paper = None if self.paper is None else self.paper.to_dict()
        return {"id": self.id, "text": self.text, "paper": paper, "has_vector": self.vector is not None}

    @property
    def side(self) -> SideName:
        """The encoder's side for this query."""
        return "query" if self.paper is None else "paper_as_query"

    @property
    def words(self) -> str:
        """The text for keyword search: the query's text, or the paper's title and abstract."""
        return self.text if self.paper is None else f"{self.paper.title} {self.paper.abstract}".strip()


@dataclass(frozen=True, slots=True)
class Passage(AsJsonLine):
    """A passage of a paper's full text.

    Attributes:
        paper: the paper's id.
        number: its place among the paper's passages, from 0.
        text: its sentences.
        section: the head of its section; "" if unknown.
        page: the page on which it begins, from 1; None where the text has no pages.
        start, end: its characters in the text that was read, from 0.
        file: the file that was read.
        attachment: the key of Zotero's attachment, if it is one.
        index: if several indexes were searched, the name of the paper's.

    >>> sr.Passage("p1", 0, "A sentence.", section="Methods", page=3).place
    'p. 3, Methods'
    """

    paper: str
    number: int
    text: str
    section: str = ""
    page: int | None = None
    start: int = 0
    end: int = 0
    file: str | None = None
    attachment: str | None = None
    index: str | None = None

    @property
    def name(self) -> str:
        """What `sciretrieve show` takes: PAPER#NUMBER, or INDEX:PAPER#NUMBER if several indexes were searched."""
        return f"{self.paper_name}#{self.number}"

    @property
    def paper_name(self) -> str:
        """The paper's name in the search: its id, or INDEX:ID."""
        return name_in(self.index, self.paper)

    @property
    def address(self) -> str | None:
        """Where programs open its page: in Zotero, or the file itself; None without a file."""
        if self.attachment:
            return f"zotero://open-pdf/library/items/{self.attachment}?page={self.page or 1}"
        path = Path(self.file or "")
        return f"{path.as_uri()}#page={self.page or 1}" if path.is_absolute() else None

    @property
    def place(self) -> str:
        """Page and section in words; "" if neither is known."""
        return ", ".join(filter(None, (f"p. {self.page}" if self.page else "", self.section)))

    def to_dict(self) -> dict[str, Any]:
        """The passage as for JSON, see `sciretrieve.schema("passage")`. It does not say where files are on this machine."""
        where = {} if self.index is None else {"index": self.index}
        return where | {name: getattr(self, name) for name in ("paper", "number", "text", "section", "page", "start", "end")}


@dataclass(frozen=True, slots=True)
class Hit(AsJsonLine):
    """A paper in an answer. `scores` has its score in each part of the search, `also` the ids of its grouped near-duplicates. If several
    indexes were searched, `index` names the paper's index, and `also_in` those of `also`. `passage` is the best of its full text.

    >>> hit = index.search("graph networks", k=1).hits[0]  # an sr.Hit
    >>> hit.rank, hit.id == hit.paper.id
    (1, True)
    """

    rank: int
    score: float
    paper: Paper
    scores: Mapping[str, float | None]
    also: tuple[str, ...] = ()
    index: str | None = None
    also_in: tuple[str, ...] = ()
    passage: Passage | None = None

    def __post_init__(self) -> None:
        if type(self.scores) is not FrozenDict:
            object.__setattr__(self, "scores", frozen(self.scores))
        for name in ("also", "also_in"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))

    def __repr__(self) -> str:
        return f"<Hit {self.rank}, {self.score:.3f}: {self.paper.headline()} · {self.name}>"

    @property
    def id(self) -> str:
        """The paper's id."""
        return self.paper.id

    @property
    def name(self) -> str:
        """The paper's name in the search: its id, or INDEX:ID if several indexes were searched."""
        return name_in(self.index, self.id)

    @property
    def also_names(self) -> list[str]:
        """Names of its near-duplicates, likewise."""
        return [name_in(*pair) for pair in zip(self.also_in or [None] * len(self.also), self.also, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """The hit as for JSON, a line of `--format jsonl`, see `sciretrieve.schema("hit")`."""
        paper = self.paper.to_dict()
        extra = paper.pop("extra")
        where = {} if self.index is None else {"index": self.index, "also_in": list(self.also_in)}
        scores, also = dict(self.scores), list(self.also)
        passage = {} if self.passage is None else {"passage": self.passage.to_dict()}
        return {"rank": self.rank, "score": self.score, **paper, **where, "scores": scores, "also": also, **passage, "extra": extra}


Papers: TypeAlias = str | Paper | Hit | Passage | Iterable[str | Paper | Hit | Passage]
"""One paper or several of an index: ids or other names, or objects, also in an array or a column of a table."""


def names_of(papers: Papers) -> list[str]:
    """The names of papers, in order. Raises InvalidRequest for other values."""
    return [_name_of(paper) for paper in listed(papers)]


def listed(given: Any, what: str = "ids of papers are a string or a list of strings") -> list[Any]:
    """Papers or queries as a list, of values that may be none. A single text is one, not its letters. Raises InvalidRequest for others."""
    if isinstance(given, str | Paper | Hit | Passage | Query):
        return [given]
    column = getattr(given, "to_pylist", None) or getattr(given, "tolist", None)  # of Arrow, NumPy or pandas
    try:
        return list(given) if column is None else listed(column(), what)
    except TypeError as error:
        raise InvalidRequest(f"{what}, not {shortened(given)}") from error


def _name_of(paper: str | Paper | Hit | Passage) -> str:
    if isinstance(paper, Paper):
        return paper.id
    name = paper.name if isinstance(paper, Hit) else paper.paper_name if isinstance(paper, Passage) else paper
    if not isinstance(name, str):
        raise InvalidRequest(f"the id must be a string, not {shortened(name)}")
    return name


def rows_in(given: Any, beyond: int) -> Rows:
    """Rows from user code, as an array. Raises InvalidRequest unless they are a list of whole numbers from 0 and below `beyond`."""
    rows = np.empty(())
    with suppress(ValueError):  # of lists of different lengths
        rows = np.asarray(given)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise InvalidRequest(f"rows are a list of whole numbers, as from `index.matching`, not {shortened(given)}")
    if len(wrong := rows[(rows < 0) | (rows >= beyond)]):
        raise InvalidRequest(f"there is no row {wrong[0]}; rows are counted from 0, and the last is {beyond - 1:,}")
    return rows.astype(np.int64, copy=False)


def name_in(index: str | None, id: str) -> str:
    """A paper's name among several indexes, INDEX:ID; without an index its id."""
    return id if index is None else f"{index}:{id}"
