"""The state of the search page as an address, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request as HttpRequest

from ...answers.answering import Request
from ...base.errors import InvalidRequest, NotFound
from ...base.types import name_in
from ...options import SearchOptions
from ...query.index import Index
from ...query.narrowing.filters import Condition
from ..parameters import check_query
from ..service import Service, service_of

SHOWN = 20
"""Hits per page."""
NEWEST_OF = 100
"""The number of best hits to show newest first."""
YEARS = re.compile(r"(?P<first>\d{1,4})?(?P<dash>-)?(?P<last>\d{1,4})?")
STEP = re.compile(r"(?:^|/)\.{0,2}(?:/|$)")
"""A segment of a path that is empty, or leads to the same or the parent folder."""
LISTS = ("venue", "author", "like", "unlike", "extra")
"""Parameters with several values."""
OPPOSITE = {"like": "unlike", "unlike": "like"}


@dataclass(frozen=True, slots=True)
class State:
    """The state of a page.

    Attributes:
        q: the query as typed.
        index: the name of the only index to search; "" for all.
        filter: a condition in the filter language.
        year: a year, or the first and the last with a dash between, either of which may be missing.
        venue, author: papers have one of these venues, and one of these authors.
        sort: "year" for the newest first.
        like, unlike: papers that the query is moved towards, and away from.
        page: the number of the page, from 1.
        extra: slower views: "facets", counts to narrow the answer, and "why", the reasons for each paper.
    """

    q: str = ""
    index: str = ""
    filter: str = ""
    year: str = ""
    venue: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    sort: str = ""
    like: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    page: int = 1
    extra: tuple[str, ...] = ()

    @classmethod
    def of(cls, params: QueryParams) -> State:
        """The state in an address. Raises InvalidRequest."""
        texts = {field.name: params.get(field.name, "").strip() for field in fields(cls) if field.name not in LISTS}
        lists = {name: tuple(dict.fromkeys(filter(None, map(str.strip, params.getlist(name))))) for name in LISTS}
        page = texts.pop("page") or "1"
        if not texts["year"] and (ends := [params.get(name, "").strip() for name in ("since", "until")]) != ["", ""]:
            texts["year"] = "-".join(ends)  # from a form
        if not page.isdecimal() or len(page) > 4 or int(page) < 1:
            raise InvalidRequest(f"there is no page {page!r}; the first is page=1")
        values: dict[str, Any] = {**texts, **lists, "page": int(page)}
        return cls(**values)

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a query nor a condition."""
        return not (self.q or self.like)

    @property
    def conditions(self) -> list[str]:
        """The conditions on papers, in the filter language, without the year."""
        chosen = [Condition(column, "in", values) for column, values in (("venue", self.venue), ("authors", self.author)) if values]
        return [*filter(None, [self.filter]), *map(str, chosen)]

    @property
    def years(self) -> tuple[int | None, int | None]:
        """The first and the last year. Raises InvalidRequest."""
        match = YEARS.fullmatch(self.year)
        if match is None:
            raise InvalidRequest(f"{self.year!r} is not a range of years; write year=2010-2015, or year=2010- for these and later")
        first, last = (int(match[name]) if match[name] else None for name in ("first", "last"))
        return (first, last) if match["dash"] else (first, first)

    @property
    def depth(self) -> int:
        """How many papers to rank for this page, and to know whether there is a next."""
        return NEWEST_OF if self.sort else self.page * SHOWN + 1

    def request(self, k: int, **views: Any) -> Request:
        """The library's request for k papers. Raises InvalidRequest."""
        since, until = self.years
        options = SearchOptions(filter=self.conditions or None, since=since, until=until)
        like, unlike = (tuple(map(self._within, names)) for names in (self.like, self.unlike))
        sort: Any = self.sort or None
        return Request(self.q or None, like, unlike, k=k, options=options, sort=sort, **views)

    def name_of(self, id: str) -> str:
        """The name, among all indexes, of a paper with this id in the searched index."""
        return name_in(self.index or None, id)

    def _within(self, name: str) -> str:
        """The name of a paper in the searched index: INDEX:ID if these are all, else its id."""
        return name.removeprefix(f"{self.index}:") if self.index else name

    def to(self, path: str = "/", **changes: Any) -> str:
        """The address of this state with some changes, at the first page unless they say otherwise."""
        pairs = self.pairs(**changes)
        return f"{path}?{urlencode(pairs)}" if pairs else path

    def pairs(self, **changes: Any) -> list[tuple[str, str]]:
        """The names and values of that address, for a form."""
        state = replace(self, **{"page": 1, **changes})
        pairs: list[tuple[str, str]] = []
        for field in fields(state):
            value = getattr(state, field.name)
            if value != field.default:
                pairs += [(field.name, str(item)) for item in (value if field.name in LISTS else (value,))]
        return pairs

    def plus(self, name: str, value: str) -> str:
        """The address with another value of a parameter with several; a paper is either liked or disliked."""
        changes: dict[str, Any] = {name: (*_without(getattr(self, name), value), value)}
        if name in OPPOSITE:
            changes[OPPOSITE[name]] = _without(getattr(self, OPPOSITE[name]), value)
        return self.to(**changes)

    def minus(self, name: str, value: str) -> str:
        """The address without one of the values."""
        changes: dict[str, Any] = {name: _without(getattr(self, name), value)}
        return self.to(**changes)


def state_of(http: HttpRequest) -> State:
    """The state in a request's address; a single index need not be named. Raises InvalidRequest."""
    state = State.of(http.query_params)
    return replace(state, index="") if service_of(http).library.names == (state.index,) else state


async def values_of(http: HttpRequest) -> dict[str, list[str]]:
    """The values of a request, from its address and its form."""
    body = parse_qs((await http.body()).decode(errors="replace")) if http.method == "POST" else {}
    address = {name: http.query_params.getlist(name) for name in http.query_params}
    return {name: [*address.get(name, []), *body.get(name, [])] for name in address.keys() | body.keys()}


def index_of(service: Service, state: State) -> Index:
    """The index to search. Raises UnknownName, and InvalidRequest or NotFound for more than the service's limits."""
    check_query(state.q, service)
    if (state.page - 1) * SHOWN >= service.settings.most:
        raise NotFound(f"there are no answers beyond the first {service.settings.most:,}; narrow the query down")
    return service.library.index(state.index or None)


def _without(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return tuple(other for other in values if other != value)


def paper_path(name: str) -> str:
    """The address of a paper by name. Slashes stay, since some proxies reject encoded ones, unless a browser would take their segments for
    `.` or `..`.
    """
    return f"/paper/{quote(name, safe=':' if STEP.search(name) else ':/')}"


def passages_path(name: str, query: str) -> str:
    """The address of a paper's best passages for a query."""
    return f"{paper_path(name)}?{urlencode({'q': query})}#passages"


def author_path(name: str) -> str:
    """The address of an author's papers."""
    return f"/author?{urlencode({'name': name})}"


def shelf_path(names: Sequence[str]) -> str:
    """The address of a list of papers."""
    return f"/shelf?{urlencode([('id', name) for name in names])}"
