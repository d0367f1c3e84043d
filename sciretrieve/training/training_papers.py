"""The papers, columns and settings of a training set to be made, and the set as it is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ..base.errors import InvalidRequest, NotFound, UnknownName
from ..base.once import once
from ..base.types import Mask
from ..files.schema import texts_of
from ..options import CiteSettings
from ..papers.bibliographies import keywords
from ..papers.corpora import FIELDS, Attribute, ColumnMap, Corpus, Sources, fields_in, open_corpus, read_attributed
from ..protocols import Progress
from .forms import Doc
from .held_out import HeldOut
from .mining import Mining

CITATION_COUNTS = ("citations", "ncitations", "citationcount", "citedbycount", "timescited", "numcitedby", "incitationscount")
"""Names of columns with a paper's number of citations, letters only, best first."""


def _keywords(value: Any) -> tuple[str, ...]:
    """Keywords in lower case, each once, from a list or from a text with semicolons or commas."""
    if isinstance(value, str) and value.lstrip()[:1] not in ("[", "{"):
        names = keywords.listed(value)
    else:
        names = [" ".join(name.split()) for name in fields_in(value)]
    return tuple(dict.fromkeys(filter(None, (name.lower() for name in names))))


def _venue(value: Any) -> tuple[str, ...]:
    return fields_in(str(value)) if value is not None else ()


def _number(value: Any) -> float | None:
    """A finite number, or None."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


KEYWORDS = Attribute("keywords", keywords.COLUMNS, _keywords)
LABELS = Attribute("keywords or fields", (*keywords.COLUMNS, *FIELDS.names), _keywords)
VENUE = Attribute("a venue", ("venue",), _venue)
YEAR = Attribute("a year", ("year",), _number)
CITATIONS = Attribute("a number of citations", CITATION_COUNTS, _number)
NUMBER = Attribute("a number", (), _number)


Item = TypeVar("Item")


@dataclass(frozen=True)
class SetRequest:
    """The settings of a training set, see `building.build_set`; the benchmarks to leave out; and the folder to make it in."""

    recipe: str
    source: Sources | Corpus
    settings: CiteSettings
    column: str | None
    shares: str | None
    without: Sequence[str]
    held_out: HeldOut
    mining: Mining | None
    columns: ColumnMap | None
    folder: Path
    progress: Progress

    @once
    def corpus(self) -> Corpus:
        """The source as a corpus. Raises as `open_corpus`."""
        return self.source if isinstance(self.source, Corpus) else open_corpus(self.source, self.columns)

    def path(self, what: str) -> Path:
        """The source as one path. Raises InvalidRequest if it is anything else, NotFound if nothing is there."""
        source: Any = self.source
        paths = [source] if isinstance(source, str | Path) else list(source) if isinstance(source, list | tuple) else []
        if len(paths) != 1 or not isinstance(paths[0], str | Path):
            raise InvalidRequest(f"name one {what}, and nothing else, as the source")
        path = Path(paths[0])
        if not path.exists():
            raise NotFound(f"there is no {what} at {path}")
        return path

    def library(self, attribute: Attribute | None = None) -> TrainingPapers:
        """The source's papers, read once, with their values in a column.

        Raises:
            UnknownName: there is no such column.
            InvalidRequest: there are no papers, or no column has usable values.
        """
        column = self.column if attribute else None
        tested: list[bool] = []

        def see(table: pa.Table) -> None:
            tested.extend(map(self.held_out.has_paper, table["id"].to_pylist(), table["title"].to_pylist()))

        papers = read_attributed(self.corpus, attribute, column, see)
        if attribute is not None and not papers.column:
            if column is None:
                among = ", ".join(papers.columns[:16])
                raise InvalidRequest(f"no column has {attribute.about}, among {among}; name it with `column`")
            if column not in papers.columns:
                raise UnknownName("column", column, papers.columns)
            raise InvalidRequest(f"the column {column!r} gives no paper {attribute.about}")
        is_tested = np.array(tested)
        return TrainingPapers(self.corpus, papers.ids, papers.full & ~is_tested, is_tested, papers.values, papers.column)

    def some(self, items: Sequence[Item]) -> list[Item]:
        """A random sample of the wanted size, in the given order."""
        if self.settings.queries is None or self.settings.queries >= len(items):
            return list(items)
        places = Random(f"{self.settings.seed} queries").sample(range(len(items)), self.settings.queries)
        return [items[place] for place in sorted(places)]

    def report_left_out(self, left_out: int, what: str = "papers of the corpus are test queries") -> int:
        """Returns the number left out as tested, and prints it if benchmarks were named."""
        if self.without:
            self.progress.note(f"{left_out:,} {what}, and are left out")
        return left_out


@dataclass(frozen=True)
class DrawnSet:
    """A training set before it is written.

    Attributes:
        rows: the rows of its table.
        docs: its papers.
        texts: ids, titles and abstracts of all papers of the source, which set the papers' order.
        made: how it was made, to be recorded.
        left_out: the number of papers and queries left out as tested.
        queries: the texts of text queries, by id; None for a form without them.
        labels: labels in the place of papers, by id.
    """

    rows: Sequence[Sequence[str]]
    docs: Iterable[Doc]
    texts: Iterable[tuple[str, str, str]]
    made: Mapping[str, object]
    left_out: int
    queries: Mapping[str, str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe: its source, and its function, which raises InvalidRequest or UnknownName if there is nothing to draw."""

    source: str
    draw: Callable[[SetRequest], DrawnSet]


def texts_in(corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """Reads the corpus: id, title and abstract of each paper."""
    for batch in corpus.batches():
        yield from ((paper.id, paper.title, paper.abstract) for paper in texts_of(batch.papers))


@dataclass(frozen=True)
class TrainingPapers:
    """The papers of a corpus, by row.

    Attributes:
        corpus: has their texts.
        ids: (n,), in the corpus's order.
        is_usable: papers with a title and an abstract that are not held out, (n,).
        is_tested: papers that are held out, (n,).
        values: the column's value of each paper, (n,); empty without a column.
        column: that column's name; "" for none.
    """

    corpus: Corpus
    ids: list[str]
    is_usable: Mask
    is_tested: Mask
    values: list[Any]
    column: str

    @property
    def left_out(self) -> int:
        """The number of held-out papers."""
        return int(self.is_tested.sum())
