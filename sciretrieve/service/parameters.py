"""Parameters of requests: options with the help, bounds and default of their declaration, and the check that a route knows each parameter,
once. Ignoring one silently would answer another question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isclass
from typing import TYPE_CHECKING, Any, get_origin

from pydantic import BaseModel, Field
from starlette.requests import Request as HttpRequest

from ..answers.answering import Request
from ..base.choices import Help, kinds_of, options_of, parted
from ..base.errors import InvalidRequest, UnknownName
from ..options import SearchOptions
from .settings import MOST, MOST_LISTED

if TYPE_CHECKING:  # assistants' tools take their options from here, and do not need FastAPI
    from fastapi.routing import APIRoute

    from .service import Service

USUAL, USUAL_SEARCH = Request(), SearchOptions()
"""The defaults of requests."""
REPEATED = " May be repeated."
"""The end of a help text for lists on the command line; elsewhere the type says it."""


def described(name: str, more: str = "", **facts: Any) -> Any:
    """The description of an option: its help, extended by `more`, its bounds, and further facts."""
    kind, help = _declared(name)
    texts = help.text.removesuffix(REPEATED), more
    lists = {"max_length": MOST} if _is_listed(kind) else {}
    return Field(description=" ".join(filter(None, texts)), **{"ge": help.least, "le": help.most, **lists, **facts})


def option(name: str, **facts: Any) -> Any:
    """An option as a field of a form, with its default."""
    if _is_listed(_declared(name)[0]):
        return described(name, default_factory=list, max_length=MOST_LISTED, **facts)
    return described(name, default=getattr(USUAL if hasattr(USUAL, name) else USUAL_SEARCH, name), **facts)


def _is_listed(kind: Any) -> bool:
    """Whether an option takes a list, of texts or of papers: so it has a bound."""
    return any(get_origin(one) in (Sequence, Iterable) for one in kinds_of(kind))


def _declared(name: str) -> tuple[Any, Help]:
    """The type of an option, and its help."""
    kind, help = parted({**options_of(SearchOptions), **options_of(Request)}[name])
    assert help is not None
    return kind, help


def taken(form: BaseModel, options_class: type) -> dict[str, Any]:
    """The values of a form for the fields of a class of options."""
    given = ((name, value) for name, value in form if name in options_of(options_class))
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given}


def check_query(text: str, service: Service, of: str = "query") -> None:
    """Raise InvalidRequest for too long a query, or text."""
    if len(text) > (most := service.settings.query):
        raise InvalidRequest(f"the {of} has {len(text):,} characters, and the limit is {most:,}; shorten it")


def check_count(k: int, service: Service, of: str = "papers") -> None:
    """Raise InvalidRequest for too many papers, or passages."""
    if k > (most := service.settings.most):
        raise InvalidRequest(f"k is {k:,}, and this service answers with {most:,} {of} at most; ask for fewer, or narrow the query")


@dataclass(frozen=True, eq=False)
class KnownParameters:
    """A dependency of routes that rejects unknown parameters.

    Attributes:
        refused: parameters of other services, and the reasons why they are rejected here.
        left_out: by the paths of routes, parameters that their clients send needlessly.
        strict: names that need a value; another name without one may be the rest of a query that its client did not escape: `a & b`. None
            if all names must be known.
    """

    refused: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, Collection[str]] = field(default_factory=dict)
    strict: Collection[str] | None = None
    _taken: dict[str, dict[str, bool]] = field(default_factory=dict)

    async def __call__(self, http: HttpRequest) -> None:
        """Raise InvalidRequest for a parameter that the route does not know, and for a repeated one.

        It awaits nothing: FastAPI would call a plain function in a thread, and requests would reach the desk one by one."""
        route: APIRoute = http.scope["route"]
        if (taken := self._taken.get(route.unique_id)) is None:
            taken = self._taken[route.unique_id] = dict(parameters_of(route))
        given = http.query_params.multi_items()
        for name, value in given:
            is_rest = self.strict is not None and not value and name not in self.strict
            if name in taken or is_rest or name in self.left_out.get(route.path, ()):
                continue
            if name in self.refused:
                raise InvalidRequest(f"`{name}` is not supported here, since {self.refused[name]}; leave it out")
            raise UnknownName("parameter", name[:100], taken)
        for name, count in Counter(name for name, _ in given).items():
            if count > 1 and not taken.get(name, True):
                raise InvalidRequest(f"`{name}` is given {count} times; give it once")


def parameters_of(route: APIRoute) -> Iterator[tuple[str, bool]]:
    """The parameters of a route, and whether each may be repeated."""
    for parameter in route.dependant.query_params:
        kind: Any = parameter.field_info.annotation
        if not (isclass(kind) and issubclass(kind, BaseModel)):
            yield parameter.alias, get_origin(kind) is list
            continue
        for name, value in kind.model_fields.items():
            yield value.alias or name, get_origin(value.annotation) is list
