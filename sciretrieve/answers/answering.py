"""Requests and answers: a request's search, its hits, and the views of them. The commands, Python and saved searches share this."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any

import pyarrow as pa

from ..base.arguments import checked
from ..base.choices import check_types
from ..base.errors import InvalidRequest
from ..base.forms import AsJson, AsTable
from ..base.types import Hit, Papers, TotalIs, names_of
from ..base.wording import counted
from ..matching.search import Probe
from ..options import FACETS, LIKE, PAPER_TEXT, UNLIKE, Clustered, Count, Explained, Offset, SearchOptions, SimilarByWhat, Sorted
from ..query.index import Index
from ..query.narrowing import filters, operators
from ..query.narrowing.combining import leaves
from ..query.narrowing.demands import Demand
from ..query.opening import AnyIndex, opened
from ..runs import SCHEMA, Ranking, Run
from . import overview
from .explaining import Explanation, explain_rows, unmet
from .overview import FACET_DEPTH, Facet, Group

FEWEST_COUNTED = 10
"""Fewest papers with all words of a query for facets to count these papers. Most papers lack a word of a long question, so facets then
count the best matches."""


@dataclass(frozen=True, slots=True)
class Request(AsJson):
    """A request to an index.

    Attributes:
        query: the query as typed, with its operators; None to find papers similar to `like`.
        like: ids of papers that the query is moved towards, or that the hits should be similar to.
        unlike: ids of papers that the query is moved away from. Papers in `like` and `unlike` are never hits.
        text: title and abstract of a further example, which need not be in the index; only without a query.
        k: number of papers wanted.
        options: how to search.
        facets: columns whose values are counted, optionally with the number of values to keep, by default 10: "year:50".
        cluster: whether to group the first papers.
        explain: whether to explain each hit's rank.
        sort: "year" sorts the hits by year, newest first, papers without a year last; None keeps the search's order.
        by: how papers are compared, see `Index.similar`; only without a query.
        offset: number of first papers to leave out, those of the pages before.

    Raises:
        InvalidRequest: a query with `text` or `by`, or a value of a wrong type.

    >>> request = sr.Request("graph networks", k=5, facets=["year"], options=sr.SearchOptions(mode="bm25"))
    """

    query: str | None = None
    like: Annotated[Papers, LIKE] = ()
    unlike: Annotated[Papers, UNLIKE] = ()
    text: Annotated[str | None, PAPER_TEXT] = None
    k: Count = 10
    options: SearchOptions = SearchOptions()
    facets: Annotated[Sequence[str], FACETS] = ()
    cluster: Clustered = False
    explain: Explained = False
    sort: Sorted = None
    by: SimilarByWhat = None
    offset: Offset = 0

    def __post_init__(self) -> None:
        for name in ("like", "unlike"):
            if not isinstance(papers := getattr(self, name), str):
                object.__setattr__(self, name, names_of(papers))
        check_types(self)
        if self.query is not None and self.text is not None:
            raise InvalidRequest("`text` finds papers similar to a text, so it excludes a query; leave out one of them")
        if self.query is not None and self.by is not None:
            raise InvalidRequest("`by` compares papers, so it excludes a query; leave out one of them")
        if self.explain and (self.options.k1 is not None or self.options.b is not None):
            raise InvalidRequest("`explain` uses the index's own k1 and b; leave out `k1` and `b`")


@dataclass(frozen=True, slots=True, repr=False)
class Answer(AsJson, AsTable):
    """An index's answer to a request.

    Attributes:
        request: the request.
        run: the search's run for one query, with its mode and its ranking.
        hits: the ranking's papers, in its order unless the request sorts them. Their ranks are those of the ranking.
        explanations: an explanation of each hit's rank, if requested.
        facets: counts of values, for each requested column, over all papers that `total` counts. If the query demands nothing, or fewer
            than 10 papers have all of its words, they cover the matches among the first 1,000 papers instead.
        groups: groups of the first 200 matching papers, if requested.
        unmet: demands of the query that no paper in the index meets, if there are no hits.
        seconds: duration of the search, without the views.
        lacks_meaning: why BM25 alone answered although the index has vectors; "" if both halves did.
        remarks: notes for the user on how the query was read, and how several indexes were searched, one sentence each.

    >>> answer = sr.answer(index, sr.Request("graph networks", k=3))  # an sr.Answer
    >>> len(answer.hits)
    3
    """

    request: Request
    run: Run
    hits: Sequence[Hit]
    explanations: Sequence[Explanation] = ()
    facets: Sequence[Facet] = ()
    groups: Sequence[Group] = ()
    unmet: Sequence[str] = ()
    seconds: float = field(default=0.0, compare=False)
    lacks_meaning: str = ""
    remarks: Sequence[str] = ()

    def __reduce__(self) -> tuple[type[Answer], tuple[Any, ...]]:
        """Without the request's reranker, which has done its work and may be a loaded model."""
        request = replace(self.request, options=replace(self.request.options, reranker=None))
        return Answer, (request, *(getattr(self, one.name) for one in fields(self)[1:]))

    def __copy__(self) -> Answer:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Answer:
        return replace(self, run=deepcopy(self.run, memo), hits=list(self.hits))

    def __repr__(self) -> str:
        note = f" ({self.ranking.note})" * bool(self.ranking.note)
        return "\n".join(
            [
                f"<Answer to {self.query!r} in mode {self.run.mode}: {counted(len(self.hits), 'hit')}{note}>",
                *self.run.lines_of(self.ranking),
            ]
        )

    def _repr_html_(self) -> str:
        """The first hits as HTML for notebooks."""
        return self.run._repr_html_()

    @property
    def ranking(self) -> Ranking:
        """The papers in the search's order, with the answer's strength and the corrected words."""
        return self.run.rankings[0]

    @property
    def places(self) -> list[int]:
        """The hits' places in the ranking, from 0."""
        return [hit.rank - 1 - self.ranking.offset for hit in self.hits]

    @property
    def total(self) -> int:
        """Number of papers in the index that satisfy the request, whatever k is; `total_is` says in what way."""
        return self.ranking.total

    @property
    def total_is(self) -> TotalIs:
        """In what way each of the `total` papers satisfies the request, see `Ranking`."""
        return self.ranking.total_is

    @property
    def query(self) -> str:
        """The query as typed; or the ids of the example papers; or the example text."""
        asked = self.request
        if asked.query is not None:
            return asked.query
        return self.ranking.query.id if asked.like else asked.text or ""

    def to_dict(self) -> dict[str, Any]:
        """The answer as `--format json` prints it, see `sciretrieve.schema("answer")`.

        >>> answer.to_dict()["mode"]
        'hybrid'
        """
        hits = [hit.to_dict() for hit in self.hits]
        for hit, why in zip(hits, self.explanations, strict=False):
            hit["explanation"] = asdict(why)
        value = {"schema": SCHEMA, "query": self.query, "mode": self.run.mode, "total_time_ms": round(1000 * self.seconds, 3)}
        value |= {**self.run.facts_of(self.ranking), "remarks": list(self.remarks), "unmet": list(self.unmet), "hits": hits}
        if self.facets:
            value["facets"] = [asdict(facet) for facet in self.facets]
        if self.groups:
            value["clusters"] = [
                {"label": list(group.label), "papers": [{"id": paper.id, "title": paper.title} for paper in group.papers]}
                for group in self.groups
            ]
        return value

    def to_arrow(self) -> pa.Table:
        """The hits in the answer's order, with the columns of `Run.to_arrow`.

        >>> answer.to_arrow().column_names[:3]
        ['query_id', 'rank', 'paper_id']
        """
        return self.run.to_arrow().take(pa.array(self.places, pa.int64()))


@checked
def answer(index: AnyIndex, request: Request | str) -> Answer:
    """Search an index, and compute the views that the request, or a query alone, asks for.

    Raises as `Index.search` and `Index.similar`, and UnknownName if a facet's column is missing.

    >>> sr.answer(index, sr.Request("graph networks", facets=["year"])).facets[0].column
    'year'
    """
    asked = request if isinstance(request, Request) else Request(request)
    with opened(index) as library:
        start = time.perf_counter()
        run = searched(library, asked, asked.k, asked.options, asked.offset)
        given = _looked_into(library, asked, run, run.hits, start)
        return given if library is index else replace(given, run=run.with_papers())


def can_share(request: Request) -> Hashable | None:
    """A key that is equal for requests that `answers` can search together; None if the request must be searched alone."""
    if request.query is None or request.like or request.unlike or request.options.reranker is not None:
        return None
    views = request.explain, request.cluster, tuple(request.facets)
    return None if any(views) else (request.k, request.offset, repr(request.options))


def answers(index: Index, requests: Sequence[Request]) -> list[Answer]:
    """Answer several requests together: their queries are encoded and compared in one batch.

    All requests must have the same `can_share`, not None. Scores may differ in their last digits from those of a single search, as an
    encoder's vectors do between batches. Raises as `answer`, for any of them.
    """
    start = time.perf_counter()
    texts = [request.query for request in requests if request.query is not None]
    run = index.search(texts, requests[0].k, requests[0].options, offset=requests[0].offset)
    own_runs = [replace(run[place : place + 1], mode=run.mode_of(run[place])) for place in range(len(run))]
    parts = zip(requests, own_runs, run.hits_of_each, strict=True)
    return [_looked_into(index, request, own_run, hits, start) for request, own_run, hits in parts]


def _looked_into(index: Index, request: Request, run: Run, hits: list[Hit], start: float) -> Answer:
    """Build the answer from a run and its hits, with the requested views. `start` is when the search began."""
    seconds = time.perf_counter() - start
    explanations: Sequence[Explanation] = ()
    if request.explain:
        explanations = explanations_of(index, request, run.rankings[0])
    plain = plainly(request.options)  # groups cover more papers than the hits
    facets = _facets(index, request, run.rankings[0]) if request.facets else ()
    groups = overview.clusters_of(index, searched(index, request, overview.CLUSTER_DEPTH, plain)) if request.cluster else ()
    unanswered = None if hits or request.offset else request.query
    failed = () if unanswered is None else unmet(index, unanswered)
    if request.sort is not None:
        places = sorted(range(len(hits)), key=lambda place: -(hits[place].paper.year or -math.inf))
        hits, explanations = [hits[place] for place in places], [explanations[place] for place in places] if explanations else ()
    remarks = [*run[0].remarks, *(index.snapshot.remarks(_columns(index, request)) if len(index.names) > 1 else ())]
    if unanswered is not None and (words := run[0].query.words.strip()) not in ("", unanswered.strip()):
        remarks.append(f"without its operators the query is: {words}")
    return Answer(request, run, hits, explanations, facets, groups, failed, seconds, lacks_meaning(index, request, run), remarks)


def lacks_meaning(index: Index, request: Request, run: Run) -> str:
    """The value of `Answer.lacks_meaning`."""
    return index.reader.query_encoder.lack("paper_as_query" if request.query is None else "query") if run[0].lacks == "meaning" else ""


def _columns(index: Index, request: Request) -> list[str]:
    """Columns that a request uses in filters, in its query and in facets."""
    names = [name for condition in request.options.filters for name in sorted(filters.columns(filters.parse(condition)))]
    if request.query is not None and ":" in request.query:
        with suppress(InvalidRequest):  # pasted text may not parse
            demands = operators.parse(request.query, index.snapshot.typed_fields).demands
            names += [leaf.column for demand in demands for leaf in leaves(demand) if isinstance(leaf, Demand) and leaf.column is not None]
    return [*names, *request.facets]


def _facets(index: Index, request: Request, ranking: Ranking) -> list[Facet]:
    """Facets over every paper that the answer's total counts. Without demands, or with too few such papers, over the matches among the
    first `FACET_DEPTH` papers."""
    if ranking.total_is == "meets demands" or (ranking.total_is == "has all words" and ranking.total >= FEWEST_COUNTED):
        assert request.query is not None
        rows = index.reader.matching(request.query, request.options.filters, insists=False)[1].places
        return [replace(facet, papers_are=ranking.total_is) for facet in overview.facets_at(index, rows, request.facets)]
    return overview.facets_of(index, searched(index, request, FACET_DEPTH, plainly(request.options)), request.facets)


def plainly(options: SearchOptions) -> SearchOptions:
    """Options without reranking, grouping and diversifying: the same papers in the search's own order."""
    return replace(options, reranker=None, group=False, diversify=False)


def searched(index: Index, request: Request, k: int, options: SearchOptions, offset: int = 0) -> Run:
    """The run of a request with another depth and other options. Raises as `answer`."""
    if request.query is None:
        return index.similar(request.like, k, options, offset=offset, text=request.text, negatives=request.unlike, by=request.by)
    return index.search(request.query, k, options, offset=offset, like=request.like, unlike=request.unlike)


def explanations_of(index: Index, request: Request, ranking: Ranking) -> list[Explanation]:
    """Explanations for all papers of a ranking, which may be part of a request's ranking."""
    options = request.options
    if request.query is None:
        likeness = index.reader.likeness(
            request.like, text=request.text, negatives=request.unlike, mode=options.mode, filter=options.filters
        )
        explanations = explain_rows(index, _answerable(index, request, likeness), ranking.rows)
        if "citations" not in ranking.parts:
            return explanations
        given = index.named_rows(request.like).tolist()
        return [
            replace(why, link=index.snapshot.citations.link(given, row))
            for why, row in zip(explanations, ranking.rows.tolist(), strict=True)
        ]
    # with all halves of the index, whatever the mode, so that both can be explained
    probes = index.reader.probes(
        [request.query], index.modes[0], options.filters, late=options.late, like=request.like, unlike=request.unlike
    )
    return explain_rows(index, _answerable(index, request, probes[0]), ranking.rows)


def _answerable(index: Index, request: Request, probe: Probe) -> Probe:
    """A request's probe, limited to the papers that may be in its answer."""
    return index.reader.without_copies(probe, request.like, request.unlike) if request.options.group else probe
