"""What a page's address asks for: every state of the search page is one address, and back again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import quote, urlencode

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
"""Answers on a page."""
NEWEST_OF = 100
"""How many of the best answers are there to be seen newest first."""
YEARS = re.compile(r"(?P<first>\d{1,4})?(?P<dash>-)?(?P<last>\d{1,4})?")
STEP = re.compile(r"(?:^|/)\.{0,2}(?:/|$)")
"""A segment of a path that is empty, or leads to the same place or up."""
LISTS = ("venue", "author", "like", "unlike", "extra")
"""What may be asked for several times."""
OPPOSITE = {"like": "unlike", "unlike": "like"}


@dataclass(frozen=True, slots=True)
class State:
    """What a page is asked for.

    Attributes:
        q: the query as it was typed.
        index: the name of the one index that is searched; "" for all of them.
        filter: a condition in the filter language.
        year: a year, or the first and the last with a dash between, either of which may be missing.
        venue, author: papers have one of these venues, and one of these authors.
        sort: "year" for the newest first.
        like, unlike: papers that the query is moved towards, and away from.
        page: which page of the answers, from 1.
        extra: what is wanted besides, which takes longer: "facets", counts to narrow the answer down by, and "why", each paper's reasons.
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
        """The state that an address asks for. Raises InvalidRequest."""
        texts = {field.name: params.get(field.name, "").strip() for field in fields(cls) if field.name not in LISTS}
        lists = {name: tuple(dict.fromkeys(filter(None, map(str.strip, params.getlist(name))))) for name in LISTS}
        page = texts.pop("page") or "1"
        if not texts["year"] and (ends := [params.get(name, "").strip() for name in ("since", "until")]) != ["", ""]:
            texts["year"] = "-".join(ends)  # as a form has them
        if not page.isdecimal() or len(page) > 4 or int(page) < 1:
            raise InvalidRequest(f"there is no page {page!r}; the first is page=1")
        values: dict[str, Any] = {**texts, **lists, "page": int(page)}
        return cls(**values)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return not (self.q or self.like)

    @property
    def conditions(self) -> list[str]:
        """What papers must meet, in the filter language, but for their year."""
        chosen = [Condition(column, "in", values) for column, values in (("venue", self.venue), ("authors", self.author)) if values]
        return [*filter(None, [self.filter]), *map(str, chosen)]

    @property
    def years(self) -> tuple[int | None, int | None]:
        """The first and the last year. Raises InvalidRequest."""
        match = YEARS.fullmatch(self.year)
        if match is None:
            raise InvalidRequest(f"{self.year!r} is no range of years; write year=2010-2015, or year=2010- for these and later")
        first, last = (int(match[name]) if match[name] else None for name in ("first", "last"))
        return (first, last) if match["dash"] else (first, first)

    @property
    def depth(self) -> int:
        """How many papers must be ranked for this page, and to know whether there is a next."""
        return NEWEST_OF if self.sort else self.page * SHOWN + 1

    def request(self, k: int, **views: Any) -> Request:
        """What it asks of an index, for k papers. Raises InvalidRequest."""
        since, until = self.years
        options = SearchOptions(filter=self.conditions or None, since=since, until=until)
        like, unlike = (tuple(map(self._within, names)) for names in (self.like, self.unlike))
        sort: Any = self.sort or None
        return Request(self.q or None, like, unlike, k=k, options=options, sort=sort, **views)

    def name_of(self, id: str) -> str:
        """What names a paper among all indexes that stands under an id in what is searched."""
        return name_in(self.index or None, id)

    def _within(self, name: str) -> str:
        """What names a paper in the index that is searched: INDEX:ID where these are all, else its id."""
        return name.removeprefix(f"{self.index}:") if self.index else name

    def to(self, path: str = "/", **changes: Any) -> str:
        """The address of this state with some changes, of its first page if nothing else is said."""
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
        """The address with one more of what may be asked for several times; a paper is either liked or disliked."""
        changes: dict[str, Any] = {name: (*_without(getattr(self, name), value), value)}
        if name in OPPOSITE:
            changes[OPPOSITE[name]] = _without(getattr(self, OPPOSITE[name]), value)
        return self.to(**changes)

    def minus(self, name: str, value: str) -> str:
        """The address with one less of it."""
        changes: dict[str, Any] = {name: _without(getattr(self, name), value)}
        return self.to(**changes)


def state_of(http: HttpRequest) -> State:
    """What a request's address asks for; the only index need not be named. Raises InvalidRequest."""
    state = State.of(http.query_params)
    return replace(state, index="") if service_of(http).library.names == (state.index,) else state


def index_of(service: Service, state: State) -> Index:
    """The index that is asked. Raises UnknownName, and InvalidRequest, NotFound where an address asks for more than the service answers."""
    check_query(state.q, service)
    if (state.page - 1) * SHOWN >= service.settings.most:
        raise NotFound(f"there are no answers beyond the first {service.settings.most:,}; narrow the query down")
    return service.library.index(state.index or None)


def _without(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return tuple(other for other in values if other != value)


def paper_path(name: str) -> str:
    """The address of the paper of that name. Slashes stay as they are, since some proxies refuse them encoded, but where a browser would
    take their segments for steps."""
    return f"/paper/{quote(name, safe=':' if STEP.search(name) else ':/')}"


def author_path(name: str) -> str:
    """The address of an author's papers."""
    return f"/author?{urlencode({'name': name})}"


def shelf_path(names: Sequence[str]) -> str:
    """The address of a list of papers."""
    return f"/shelf?{urlencode([('id', name) for name in names])}"
