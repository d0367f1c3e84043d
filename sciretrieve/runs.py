"""A run: the rankings of a search's queries, and its conversions to other forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import shorten
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from .base.errors import InvalidRequest, SciretrieveError
from .base.forms import AsJson, AsTable, as_pandas, as_polars
from .base.frozen import FrozenDict
from .base.types import Half, Hit, Paper, Passage, Query, Rows, Scores, TotalIs
from .base.wording import counted
from .metrics.trec import run_line
from .papers.bibliographies.addresses import address_of
from .protocols import PaperSource, PassageSource

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

NOTEBOOK_QUERIES, NOTEBOOK_HITS = 5, 10
"""The number of queries, and of hits for each, that a notebook shows."""
WEAK_NOTE = "no paper matches well"
LACKS_NOTES: Mapping[Half | None, str] = {"meaning": "answered by words alone", "words": "answered by the vector alone", None: ""}
SCHEMA = 1
"""The version of `to_dict` for runs and answers; it changes if a field is removed or changes its meaning."""
NAMED = 5
"""The number of incomparable papers that are named."""
SHOWN_QUERIES, SHOWN_HITS = 3, 3
"""The number of queries, and of hits for each, that a `repr` shows."""

WEAK = 0.4
"""Answers below this strength are called weak. The value was chosen with queries from other fields, see docs/search.md."""


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Ranking(AsJson):
    """The ranked papers of one query: ids by falling score, equal scores by rising id.

    A reranker, `diverse` and a listing order papers differently. Papers that the query names come first and share the best score.

    Attributes:
        rows: the papers' rows in the index, for faster reading.
        parts: the papers' scores in each half that ran ("dense", "bm25") and in a reranker ("rerank"), aligned with `ids`; NaN for none.
        also: for grouped near-duplicates, the ids of the others in each paper's group.
        corrections: rare or unknown words, with the words searched instead.
        strength: how well the best of the first papers match, from 0 to 1, see `matching.search.Searcher.strength`; None if unknown.
        listing: whether the query only has demands on columns, which all papers meet; their scores are 1.
        known: the ids of papers that the query names, even beyond the ranking's end, and how it names them, see `matching.search.Match`.
        undecided: the rows of papers that were left out because their value does not compare with the filter's: "n/a" with a number.
        lacks: the half of a hybrid search that did not run: "meaning" if nothing here encodes the query, so that BM25 alone answered;
            "words" if the query is a vector without a text; None if both ran.
        total: the number of the index's papers that match, whatever k is, papers of `like` and `unlike` included.
        total_is: what `total` counts. All counts apply the filters. "has all words": papers with all words of the query, in any form, which
            also meet its demands. "meets demands": the query has no words outside operators. "is named": papers that the query names.
            "passes filters": nothing else is demanded, or words cannot be counted without BM25.
        ranked: the number of papers that the search would rank for an endless k; None if these are only papers with a word of the query.
        remarks: how the query was read, a sentence each, for the user.
        passages: for an index with full texts, the row of each paper's best passage, aligned with `ids`; -1 without one.
        indexes: for several indexes, the name of each paper's index, aligned with `ids`.
        also_in: for several indexes, the names for `also`.
        offset: how many papers of the whole answer come before these.

    >>> ranking = index.search("graph networks", k=3)[0]  # an sr.Ranking
    >>> len(ranking.ids), ranking.scores.shape
    (3, (3,))
    """

    query: Query
    ids: Sequence[str]
    scores: Scores
    rows: Rows
    parts: Mapping[str, Scores] = field(default_factory=dict)
    also: Sequence[Sequence[str]] = ()
    corrections: Mapping[str, str] = field(default_factory=dict)
    strength: float | None = None
    listing: bool = False
    known: Mapping[str, str] = field(default_factory=dict)
    undecided: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    lacks: Half | None = None
    total: int = 0
    total_is: TotalIs = "passes filters"
    ranked: int | None = None
    indexes: Sequence[str] = ()
    also_in: Sequence[Sequence[str]] = ()
    remarks: Sequence[str] = ()
    passages: Rows | None = None
    offset: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The query, and ids with scores, as plain JSON values, without reading papers; `Run.to_dict` has all facts.

        >>> run[0].to_dict()["hits"][0]["rank"]
        1
        """
        hits = zip(self.ids, self.scores.tolist(), strict=True)
        found = [{"rank": rank, "id": id, "score": score} for rank, (id, score) in enumerate(hits, self.offset + 1)]
        return {"query": self.query.to_dict(), "total": self.total, "total_is": self.total_is, "hits": found}

    @property
    def weak(self) -> bool:
        """Whether no paper matches well."""
        return not self.known and self.strength is not None and self.strength < WEAK

    @property
    def note(self) -> str:
        """A short remark for readers of the hits; "" if there is none."""
        return "; ".join(filter(None, (LACKS_NOTES[self.lacks], WEAK_NOTE * self.weak)))

    @property
    def asked(self) -> str:
        """The query, shortened to a line of text."""
        name = self.query.id if self.query.vector is None else f"(vector {self.query.id})"
        return shorten(self.query.words, 80, placeholder="…") or name

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        first = ", ".join(f"{id} {score:.3f}" for id, score in zip(self.ids[:SHOWN_HITS], self.scores, strict=False))
        further = ", …" * (len(self) > SHOWN_HITS)
        return f"<Ranking of {counted(len(self), 'paper')} for {self.asked!r}: {first or 'none'}{further}>"

    def take(self, places: Sequence[int] | Rows, **others: Any) -> Ranking:
        """The papers at these places, counted from 0, in the given order, with all their facts, of which `others` are others.

        >>> first = run[0].take([0])
        """
        array = np.asarray(places, np.int64)
        numbers = array.tolist()
        taken: dict[str, Any] = {
            "ids": [self.ids[place] for place in numbers],
            "scores": self.scores[array],
            "rows": self.rows[array],
            "parts": {name: values[array] for name, values in self.parts.items()},
            "also": [self.also[place] for place in numbers] if self.also else (),
            "indexes": [self.indexes[place] for place in numbers] if self.indexes else (),
            "also_in": [self.also_in[place] for place in numbers] if self.also_in else (),
            "passages": None if self.passages is None else self.passages[array],
        }
        return replace(self, **taken | others)

    def after(self, offset: int) -> Ranking:
        """The papers after the first `offset`, whose ranks go on.

        >>> run[0].after(2).offset
        2
        """
        return self.take(range(offset, len(self)), offset=self.offset + int(offset))

    def followed_by(self, others: Ranking) -> Ranking:
        """This ranking, not yet grouped, followed by that of other papers, whose scores are lowered below its last one.

        >>> len(run[0].followed_by(run[1]))
        6
        """
        names = dict.fromkeys([*self.parts, *others.parts])
        parts = {name: np.concatenate([one.parts.get(name, np.full(len(one), np.nan)) for one in (self, others)]) for name in names}
        scores = np.concatenate([self.scores, _below(others.scores, float(self.scores[-1]))]) if len(self) else others.scores
        passages = None
        if self.passages is not None or others.passages is not None:
            none = (np.full(len(one), -1, np.int64) if one.passages is None else one.passages for one in (self, others))
            passages = np.concatenate([*none])
        rows = np.concatenate([self.rows, others.rows])
        return replace(self, ids=[*self.ids, *others.ids], scores=scores, rows=rows, parts=parts, passages=passages)


def _below(scores: Scores, last: float) -> Scores:
    """Scores, (n,), moved below `last` in their order, each by its distance from the first; above 0 if `last` is."""
    distances = scores[:1] - scores
    below: Scores = last / (2 + distances) if last > 0 else last - 1 - distances
    return below


@dataclass(frozen=True, eq=False, repr=False)
class Run(AsJson, AsTable, Sequence[Ranking]):
    """Rankings of a batch of queries, in the queries' order: a sequence of them, whose slices are runs, too.

    `mode` is the search's mode; `source` has the papers. A pickled run has its papers with it, so that its hits are there in another
    process, and after the index changed or was closed there; copies share the open index.

    >>> run = index.search(["graph networks", "star dust"], k=3)  # an sr.Run
    >>> [len(ranking) for ranking in run]
    [3, 3]
    """

    rankings: tuple[Ranking, ...]
    mode: str
    source: PaperSource

    def __len__(self) -> int:
        return len(self.rankings)

    def __iter__(self) -> Iterator[Ranking]:
        return iter(self.rankings)

    @overload
    def __getitem__(self, place: int) -> Ranking: ...
    @overload
    def __getitem__(self, place: slice) -> Run: ...
    def __getitem__(self, place: int | slice) -> Ranking | Run:
        """The ranking of one query, or a run of a slice of them."""
        return replace(self, rankings=self.rankings[place]) if isinstance(place, slice) else self.rankings[place]

    def __reduce__(self) -> tuple[type[Run], tuple[Any, ...]]:
        return Run, (self.rankings, self.mode, _PapersRead.of(self))

    def __copy__(self) -> Run:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Run:
        return replace(self, rankings=deepcopy(self.rankings, memo))

    def with_papers(self) -> Run:
        """The run with its papers read, so that its hits are there after the index was closed.

        >>> with sr.open("indexes/papers") as opened:
        ...     kept = opened.search("graph networks", k=2).with_papers()
        >>> len(kept.hits)
        2
        """
        return replace(self, source=_PapersRead.of(self))

    def after(self, offset: int) -> Run:
        """The run without the first papers of each ranking, whose ranks go on: a later page.

        >>> run.after(2).hits_of_each[0][0].rank
        3
        """
        return replace(self, rankings=tuple(ranking.after(offset) for ranking in self.rankings)) if offset else self

    def mode_of(self, ranking: Ranking) -> str:
        """The mode that answered one query: the run's, unless a half of a hybrid search did not run.

        >>> run.mode_of(run[0])
        'hybrid'
        """
        return self.mode if ranking.lacks is None else {"meaning": "bm25", "words": "dense"}[ranking.lacks]

    def __repr__(self) -> str:
        """The number of queries and hits, and the first few of them."""
        lines = [f"<Run of {counted(len(self), 'query', 'queries')} in mode {self.mode}, {counted(sum(map(len, self)), 'hit')}>"]
        for ranking in self.rankings[:SHOWN_QUERIES]:
            lines += [f"{ranking.asked!r}{f' ({ranking.note})' * bool(ranking.note)}", *self.lines_of(ranking)]
        if len(self) > SHOWN_QUERIES:
            lines.append(f"… {counted(len(self) - SHOWN_QUERIES, 'more query', 'more queries')}")
        return "\n".join(lines)

    def lines_of(self, ranking: Ranking) -> list[str]:
        """The first few hits of a ranking, a line each; ids alone if the papers can no longer be read.

        >>> len(run.lines_of(run[0]))
        3
        """
        excerpt = ranking.take(range(min(len(ranking), SHOWN_HITS)))
        try:
            names = [f"{hit.paper.headline()} · {hit.name}" for hit in self.hits_of(excerpt)]
        except (SciretrieveError, OSError, ValueError):  # a repr raises nothing
            names = list(excerpt.ids)
        lines = [
            f"{rank:>3}  {score:.3f}  {name}"
            for rank, (score, name) in enumerate(zip(excerpt.scores, names, strict=True), ranking.offset + 1)
        ]
        return lines + [f"     … {len(ranking) - SHOWN_HITS:,} more"] * (len(ranking) > SHOWN_HITS)

    def _repr_html_(self) -> str:
        """The first ten hits of the first queries in HTML, for notebooks; titles are links."""
        blocks = []
        for ranking in self.rankings[:NOTEBOOK_QUERIES]:
            lines = []
            for hit in self.hits_of(ranking.take(range(min(len(ranking), NOTEBOOK_HITS)))):
                title, address = escape(hit.paper.title or hit.paper.headline()), address_of(hit.paper)
                linked = f'<a href="{escape(address)}" target="_blank" rel="noopener">{title}</a>' if address else title
                cells = str(hit.rank), f"{hit.score:.3f}", str(hit.paper.year or ""), linked, escape(hit.name)
                lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
            head = "<tr><th></th><th>score</th><th>year</th><th>title</th><th>id</th></tr>"
            further = f"<p>… {len(ranking) - NOTEBOOK_HITS:,} more</p>" * (len(ranking) > NOTEBOOK_HITS)
            note = f"<br><em>{ranking.note}</em>" * bool(ranking.note)
            blocks.append(f"<p>{escape(ranking.query.words or ranking.asked)}{note}</p><table>{head}{''.join(lines)}</table>{further}")
        if len(self) > NOTEBOOK_QUERIES:
            blocks.append(f"<p>… {counted(len(self) - NOTEBOOK_QUERIES, 'more query', 'more queries')}</p>")
        return "".join(blocks)

    @property
    def hits(self) -> list[Hit]:
        """The hits, with their papers, of a run of one query. Raises InvalidRequest for several queries; use `hits_of` for one ranking."""
        if len(self) != 1:
            raise InvalidRequest(
                f"this run answers {counted(len(self), 'query', 'queries')}; take the hits of one, as in run.hits_of(run[0])"
            )
        return self.hits_of(self.rankings[0])

    def hits_of(self, ranking: Ranking) -> list[Hit]:
        """A ranking's hits, with their papers read from the index.

        >>> [hit.rank for hit in run.hits_of(run[0])]
        [1, 2, 3]
        """
        return self._hits(ranking, self.source.papers_at(ranking.rows))

    @property
    def hits_of_each(self) -> list[list[Hit]]:
        """The hits of every ranking, with their papers. One joint read takes a fraction of the time."""
        papers_of_each = papers_of(self.rankings, self.source.papers_at)
        return [self._hits(ranking, papers) for ranking, papers in zip(self.rankings, papers_of_each, strict=True)]

    def _hits(self, ranking: Ranking, papers: Sequence[Paper]) -> list[Hit]:
        hits = []
        passages: Sequence[Passage | None] = [None] * len(papers)
        if ranking.passages is not None and isinstance(self.source, PassageSource):
            passages = self.source.passages_at(ranking.passages)
        names = dict.fromkeys(("dense", "bm25", *ranking.parts))
        nothing = [None] * len(papers)
        parts = [_numbers(ranking.parts[name]) if name in ranking.parts else nothing for name in names]
        first, scores = ranking.offset + 1, ranking.scores.tolist()
        for place, (paper, passage, *of_parts) in enumerate(zip(papers, passages, *parts, strict=True)):
            also, also_in = (tuple(others[place]) if others else () for others in (ranking.also, ranking.also_in))
            index = ranking.indexes[place] if ranking.indexes else None
            in_parts = FrozenDict(zip(names, of_parts, strict=True))
            hits.append(Hit(first + place, scores[place], paper, in_parts, also, index, also_in, passage))
        return hits

    def facts_of(self, ranking: Ranking) -> dict[str, Any]:
        """The facts of a ranking for JSON, besides its hits: corrections, named papers, strength, counts of matching papers, and papers
        that could not be compared.

        >>> run.facts_of(run[0])["corrections"]
        []
        """
        undecided = self.source.papers_at(ranking.undecided[:NAMED])
        return {
            "corrections": [{"word": word, "meant": meant} for word, meant in ranking.corrections.items()],
            "known": [{"id": id, "by": by} for id, by in ranking.known.items()],
            "strength": ranking.strength,
            "weak": ranking.weak,
            "total": ranking.total,
            "total_is": ranking.total_is,
            "ranked": ranking.ranked,
            "undecided": {"papers": len(ranking.undecided), "ids": [paper.id for paper in undecided]},
            "lacks": ranking.lacks,
            "remarks": list(ranking.remarks),
        }

    def to_dict(self) -> dict[str, Any]:
        """The run with its papers as plain JSON values, see `sciretrieve.schema("run")`.

        >>> [ranking["query"]["text"] for ranking in run.to_dict()["rankings"]]
        ['graph networks', 'star dust']
        """
        rankings = []
        for ranking in self.rankings:
            hits = [hit.to_dict() for hit in self.hits_of(ranking)]
            rankings.append({"query": ranking.query.to_dict(), "listing": ranking.listing, **self.facts_of(ranking), "hits": hits})
        return {"schema": SCHEMA, "mode": self.mode, "rankings": rankings}

    def to_arrow(self, *, titles: bool = True) -> pa.Table:
        """All rankings as one table: query_id, rank, paper_id, score, dense and bm25 if those ran for any query, index where several
        were searched, title and year.

        `titles=False` leaves out title and year, which are slow to read for a long run.

        >>> run.to_arrow(titles=False).column_names
        ['query_id', 'rank', 'paper_id', 'score', 'dense', 'bm25']
        """
        lengths = [len(ranking) for ranking in self.rankings]
        columns: dict[str, Any] = {
            "query_id": pa.array(np.repeat([ranking.query.id for ranking in self.rankings], lengths).tolist(), pa.string()),
            "rank": pa.array([rank for one in self.rankings for rank in range(one.offset + 1, one.offset + len(one) + 1)], pa.int32()),
            "paper_id": pa.array([id for ranking in self.rankings for id in ranking.ids], pa.string()),
            "score": pa.array(np.concatenate([np.empty(0), *(ranking.scores for ranking in self)])),
        }
        for name in dict.fromkeys(name for ranking in self.rankings for name in ranking.parts):
            parts = np.concatenate([ranking.parts.get(name, np.full(len(ranking), np.nan)) for ranking in self.rankings])
            columns[name] = pa.array(parts, mask=np.isnan(parts))
        if any(ranking.indexes for ranking in self):
            columns["index"] = pa.array([name for ranking in self.rankings for name in ranking.indexes], pa.string())
        if titles:
            papers = self.source.papers_at(np.concatenate([np.empty(0, np.int64), *(ranking.rows for ranking in self)]))
            columns["title"] = pa.array([paper.title for paper in papers], pa.string())
            columns["year"] = pa.array([paper.year for paper in papers], pa.int32())
        return pa.table(columns)

    def to_pandas(self, *, titles: bool = True) -> pd.DataFrame:
        """`to_arrow` as a pandas data frame. Raises MissingExtra if pandas is not installed.

        >>> frame = run.to_pandas()
        """
        return as_pandas(self.to_arrow(titles=titles))

    def to_polars(self, *, titles: bool = True) -> pl.DataFrame:
        """`to_arrow` as a polars data frame. Raises MissingExtra if polars is not installed.

        >>> frame = run.to_polars()
        """
        return as_polars(self.to_arrow(titles=titles))

    def to_trec(self, tag: str = "sciretrieve") -> Iterator[str]:
        """The lines of a TREC run file: query, Q0, paper, rank, score, tag.

        trec_eval reads scores as float32, ignores ranks and breaks ties by falling id; so scores are written strictly
        falling in float32, which keeps our order. Ids that such a file cannot hold are percent-encoded, see `metrics.trec`.

        >>> len(list(run.to_trec(tag="mine")))
        6
        """
        for ranking in self.rankings:
            last = np.float32(np.inf)
            for rank, (id, score) in enumerate(zip(ranking.ids, ranking.scores.tolist(), strict=True), ranking.offset + 1):
                last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
                yield run_line(ranking.query.id, id, rank, f"{float(last):.9g}", tag)


@dataclass(frozen=True)
class _PapersRead:
    """The source of a pickled run: its papers and passages by row, read when it was pickled."""

    papers: Mapping[int, Paper]
    passages: Mapping[int, Passage | None]

    @classmethod
    def of(cls, run: Run) -> _PapersRead:
        """Read them: each once, and of the papers that could not be compared those that are named."""
        rows = np.unique(np.concatenate([np.empty(0, np.int64), *(part for one in run for part in (one.rows, one.undecided[:NAMED]))]))
        papers, passages = run.source.papers_at(rows), dict[int, Passage | None]()
        if isinstance(run.source, PassageSource):
            of_hits = np.unique(np.concatenate([np.empty(0, np.int64), *(one.passages for one in run if one.passages is not None)]))
            passages = dict(zip(of_hits.tolist(), run.source.passages_at(of_hits), strict=True))
        return cls(dict(zip(rows.tolist(), papers, strict=True)), passages)

    def papers_at(self, rows: Rows) -> list[Paper]:
        """The papers at the given rows, in the given order."""
        return [self.papers[row] for row in rows.tolist()]

    def passages_at(self, rows: Rows) -> list[Passage | None]:
        """The passages at the given rows; None for the row -1."""
        return [self.passages.get(row) for row in rows.tolist()]


def papers_of(rankings: Sequence[Ranking], read: Callable[[Rows], Sequence[Paper]]) -> list[list[Paper]]:
    """The papers of each ranking, from one joint read by `read`, which gives the papers at some rows."""
    rows = np.concatenate([np.empty(0, np.int64), *(ranking.rows for ranking in rankings)])
    distinct, places = np.unique(rows, return_inverse=True)
    papers = read(distinct)
    found = [papers[place] for place in places.tolist()]
    ends = np.cumsum([len(ranking) for ranking in rankings]).tolist()
    return [found[end - len(ranking) : end] for end, ranking in zip(ends, rankings, strict=True)]


def _numbers(values: Any) -> list[float | None]:
    return [None if math.isnan(value) else float(value) for value in values.tolist()]
