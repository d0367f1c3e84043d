"""One request, one answer: the hits, and all that can be said of them. The commands, Python and saved searches share it."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

import pyarrow as pa

from ..base.choices import check_types
from ..base.errors import InvalidRequest
from ..base.types import Hit, TotalIs
from ..base.wording import as_json, counted
from ..matching.search import Probe
from ..options import FACETS, LIKE, PAPER_TEXT, UNLIKE, Clustered, Count, Explained, SearchOptions, SimilarByWhat, Sorted
from ..query.index import Index
from ..query.narrowing import filters, operators
from ..query.narrowing.combining import leaves
from ..query.narrowing.demands import Demand
from ..runs import SCHEMA, Ranking, Run, as_pandas
from . import overview
from .explaining import Explanation, explain_rows, unmet
from .overview import FACET_DEPTH, Facet, Group

FEWEST_COUNTED = 10
"""Papers with all words of a query below which facets count those that match: a question has more words than most papers share."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of an index.

    Attributes:
        query: the query as it was typed, with its operators; None to ask for papers like those of `like`.
        like: ids of papers that the query is moved towards, or that the answer is to be like.
        unlike: ids of papers that it is moved away from. Neither these nor those of `like` are among the answers.
        text: title and abstract of one more paper to be like, which need not be in the index; only without a query.
        k: how many papers are wanted.
        options: how to search.
        facets: columns whose values are counted, each with how many values are kept, if these are not 10: "year:50".
        cluster: whether the first papers are put into groups.
        explain: whether each hit's place is explained.
        sort: "year" has the papers that the search chose newest first, and those without a year last; None leaves them in its order.
        by: by what papers are similar, see `Index.similar`; only without a query.

    Raises:
        InvalidRequest: a query and a `text` or a `by` at once, or a value of another type.
    """

    query: str | None = None
    like: Annotated[str | Sequence[str], LIKE] = ()
    unlike: Annotated[str | Sequence[str], UNLIKE] = ()
    text: Annotated[str | None, PAPER_TEXT] = None
    k: Count = 10
    options: SearchOptions = SearchOptions()
    facets: Annotated[Sequence[str], FACETS] = ()
    cluster: Clustered = False
    explain: Explained = False
    sort: Sorted = None
    by: SimilarByWhat = None

    def __post_init__(self) -> None:
        check_types(self)
        if self.query is not None and self.text is not None:
            raise InvalidRequest("a text of a paper to be like has no place beside a query; leave out one of them")
        if self.query is not None and self.by is not None:
            raise InvalidRequest("by what papers are similar has no place beside a query; leave out one of them")
        if self.explain and (self.options.k1 is not None or self.options.b is not None):
            raise InvalidRequest("`explain` tells what words count by the index's own k1 and b; leave out `k1` and `b`")


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What an index answers to a request.

    Attributes:
        request: what was asked.
        run: the search's run of one query: its mode, and the ranking with what is known of it as a whole.
        hits: the papers of the ranking, in its order unless the request sorts them; their ranks are the ranking's.
        explanations: of each hit why it has its place, if that was asked for.
        facets: counts of values of each column that was asked for, among all papers that `total` counts; for a query that demands nothing
            of papers, or words that fewer than 10 have all of, among those of the first 1,000 that match.
        groups: groups of the first 200 papers that match, if these were asked for.
        unmet: what the query demands and no paper of the index has, where there is no hit.
        seconds: how long the search took, without its views.
        lacks_meaning: why words alone answered, where the index has vectors; "" if that is not so.
        remarks: what a person should know of how the query was read, and how several indexes were searched, a sentence each.
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

    def __repr__(self) -> str:
        note = f" ({self.ranking.note})" * bool(self.ranking.note)
        return "\n".join(
            [
                f"<Answer to {self.query!r} in mode {self.run.mode}: {counted(len(self.hits), 'hit')}{note}>",
                *self.run.lines_of(self.ranking),
            ]
        )

    def _repr_html_(self) -> str:
        """The first hits, as a notebook shows them."""
        return self.run._repr_html_()

    @property
    def ranking(self) -> Ranking:
        """The papers in the search's order, with how strong the answer is, and the words that were corrected."""
        return self.run.rankings[0]

    @property
    def total(self) -> int:
        """How many papers of the index meet what is demanded, whatever k is; `total_is` says what that is."""
        return self.ranking.total

    @property
    def total_is(self) -> TotalIs:
        """What each of the `total` papers is, see `Ranking`."""
        return self.ranking.total_is

    @property
    def query(self) -> str:
        """The query as it was typed, or the ids of the papers that the hits are like, or the text of one that is in no index."""
        asked = self.request
        if asked.query is not None:
            return asked.query
        return self.ranking.query.id if asked.like else asked.text or ""

    def to_dict(self) -> dict[str, Any]:
        """The answer as `--format json` prints it, see `sciretrieve.schema("answer")`."""
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

    def to_json(self) -> str:
        """`to_dict` as JSON, with line breaks."""
        return as_json(self.to_dict(), indent=2)

    def to_arrow(self) -> pa.Table:
        """The hits in the answer's order, with the columns of `Run.to_arrow`."""
        return self.run.to_arrow().take(pa.array([hit.rank - 1 for hit in self.hits], pa.int64()))

    def to_pandas(self) -> Any:
        """`to_arrow` as a pandas data frame. Raises MissingExtra if pandas is not installed."""
        return as_pandas(self.to_arrow())


def answer(index: Index, request: Request) -> Answer:
    """Search an index, and look into the answer as far as the request wants.

    Raises: as `Index.search` and `Index.similar`; UnknownName for a facet that is no column of the index.
    """
    start = time.perf_counter()
    run = searched(index, request, request.k, request.options)
    return _looked_into(index, request, run, run.hits, start)


def can_share(request: Request) -> Hashable | None:
    """What is the same of all requests that `answers` can take together with this one; None if it is searched for by itself."""
    if request.query is None or request.like or request.unlike or request.options.reranker is not None:
        return None
    views = request.explain, request.cluster, tuple(request.facets)
    return None if any(views) else (request.k, repr(request.options))


def answers(index: Index, requests: Sequence[Request]) -> list[Answer]:
    """`answer` of several requests, which are searched for together: their queries are encoded and compared in one batch.

    All of them have one `can_share`, and it is not None. Scores may differ in their last digits from those of a search by itself, as an
    encoder's do between batches. Raises as `answer`, for any of them.
    """
    start = time.perf_counter()
    texts = [request.query for request in requests if request.query is not None]
    run = index.search(texts, requests[0].k, requests[0].options)
    own_runs = [replace(run[place : place + 1], mode=run.mode_of(run[place])) for place in range(len(run))]
    parts = zip(requests, own_runs, run.hits_of_each, strict=True)
    return [_looked_into(index, request, own_run, hits, start) for request, own_run, hits in parts]


def _looked_into(index: Index, request: Request, run: Run, hits: list[Hit], start: float) -> Answer:
    """The answer that a request's run and its hits are, with the views that the request wants; the search began at `start`."""
    seconds = time.perf_counter() - start
    explanations: Sequence[Explanation] = ()
    if request.explain:
        explanations = explanations_of(index, request, run.rankings[0])
    plain = plainly(request.options)  # groups cover more papers than the hits
    facets = _facets(index, request, run.rankings[0]) if request.facets else ()
    groups = overview.clusters_of(index, searched(index, request, overview.CLUSTER_DEPTH, plain)) if request.cluster else ()
    failed = unmet(index, request.query) if request.query is not None and not hits else ()
    if request.sort is not None:
        places = sorted(range(len(hits)), key=lambda place: -(hits[place].paper.year or -math.inf))
        hits, explanations = [hits[place] for place in places], [explanations[place] for place in places] if explanations else ()
    remarks = [*run[0].remarks, *(index.snapshot.remarks(_columns(index, request)) if len(index.names) > 1 else ())]
    if not hits and request.query is not None and (words := run[0].query.words.strip()) not in ("", request.query.strip()):
        remarks.append(f"without its operators the query is: {words}")
    return Answer(request, run, hits, explanations, facets, groups, failed, seconds, lacks_meaning(index, request, run), remarks)


def lacks_meaning(index: Index, request: Request, run: Run) -> str:
    """See `Answer`."""
    return index.reader.query_encoder.lack("paper_as_query" if request.query is None else "query") if run[0].lacks == "meaning" else ""


def _columns(index: Index, request: Request) -> list[str]:
    """The columns that a request asks for in filters, in its query and in facets."""
    names = [name for condition in request.options.filters for name in sorted(filters.columns(filters.parse(condition)))]
    if request.query is not None and ":" in request.query:
        with suppress(InvalidRequest):  # what was pasted may have anything in it
            demands = operators.parse(request.query, index.snapshot.columns.names).demands
            names += [leaf.column for demand in demands for leaf in leaves(demand) if isinstance(leaf, Demand) and leaf.column is not None]
    return [*names, *request.facets]


def _facets(index: Index, request: Request, ranking: Ranking) -> list[Facet]:
    """Counts over all papers that the answer's total counts; where nothing is demanded of these, or so few have all of the words that
    counts of them say little, over those of the first papers that match."""
    if ranking.total_is == "meets demands" or (ranking.total_is == "has all words" and ranking.total >= FEWEST_COUNTED):
        assert request.query is not None
        rows = index.reader.matching(request.query, request.options.filters, insists=False)[1].places
        return [replace(facet, papers_are=ranking.total_is) for facet in overview.facets_at(index, rows, request.facets)]
    return overview.facets_of(index, searched(index, request, FACET_DEPTH, plainly(request.options)), request.facets)


def plainly(options: SearchOptions) -> SearchOptions:
    """Options with which the same papers come in the search's own order."""
    return replace(options, reranker=None, group=False, diversify=False)


def searched(index: Index, request: Request, k: int, options: SearchOptions) -> Run:
    """The run of a request, to another depth and with other options than it says. Raises as `answer`."""
    if request.query is None:
        return index.similar(request.like, k, options, text=request.text, negatives=request.unlike, by=request.by)
    return index.search(request.query, k, options, like=request.like, unlike=request.unlike)


def explanations_of(index: Index, request: Request, ranking: Ranking) -> list[Explanation]:
    """Why papers of a request's answer have their places: all those of the ranking, or of a part that was taken of it."""
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
    # with all that the index has, whatever the mode, so that both halves can be told of
    probes = index.reader.probes(
        [request.query], index.modes[0], options.filters, late=options.late, like=request.like, unlike=request.unlike
    )
    return explain_rows(index, _answerable(index, request, probes[0]), ranking.rows)


def _answerable(index: Index, request: Request, probe: Probe) -> Probe:
    """A request's probe with those papers that may answer it."""
    return index.reader.without_copies(probe, request.like, request.unlike) if request.options.group else probe
