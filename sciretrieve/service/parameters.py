"""Which parameters an address may have: those that its route takes, each once. What is left out in silence answers another question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isclass
from typing import Any, get_origin

from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request as HttpRequest

from ..base.errors import InvalidRequest, UnknownName


@dataclass(frozen=True, eq=False)
class KnownParameters:
    """What routes depend on that take no other parameters.

    Attributes:
        refused: parameters that other services have, and why there is none here.
        left_out: by the paths of routes what their clients send without need.
        strict: all names that a parameter without a value may not have; others may be what a client left of a query: `a & b`. None for any.
    """

    refused: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, Collection[str]] = field(default_factory=dict)
    strict: Collection[str] | None = None
    _taken: dict[str, dict[str, bool]] = field(default_factory=dict)

    def __call__(self, http: HttpRequest) -> None:
        """Raise InvalidRequest for a parameter that the request's route does not take, and for one that is given twice."""
        route: APIRoute = http.scope["route"]
        if (taken := self._taken.get(route.unique_id)) is None:
            taken = self._taken[route.unique_id] = dict(_parameters(route))
        given = http.query_params.multi_items()
        for name, value in given:
            is_rest = self.strict is not None and not value and name not in self.strict
            if name in taken or is_rest or name in self.left_out.get(route.path, ()):
                continue
            if name in self.refused:
                raise InvalidRequest(f"`{name}` cannot be obeyed here, since {self.refused[name]}; leave it out")
            raise UnknownName("parameter", name[:100], taken)
        for name, count in Counter(name for name, _ in given).items():
            if count > 1 and not taken.get(name, True):
                raise InvalidRequest(f"`{name}` is given {count} times; give it once")


def _parameters(route: APIRoute) -> Iterator[tuple[str, bool]]:
    """The parameters that a route takes, and whether each may be given several times."""
    for parameter in route.dependant.query_params:
        kind: Any = parameter.field_info.annotation
        if not (isclass(kind) and issubclass(kind, BaseModel)):
            yield parameter.alias, get_origin(kind) is list
            continue
        for name, value in kind.model_fields.items():
            yield value.alias or name, get_origin(value.annotation) is list
