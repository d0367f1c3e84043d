"""Plug-ins: formats, encoders, rerankers and measures that other packages bring, by entry points such as `sciretrieve.encoders`.

They are looked for where a name is not built in, so what is built in costs nothing and is never replaced. A plug-in's faults become one
line with its package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from .errors import InvalidRequest, PluginFailed, SciretrieveError
from .wording import enumerated

PluginKind: TypeAlias = Literal["format", "encoder", "reranker", "measure"]
NAME = re.compile(r"\w[\w.-]*", re.ASCII)
"""What a plug-in may be called: what no path, model's id or list of encoders looks like."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plug-in that is installed: its kind, its name, the package that brings it with its version, and the object that it is, as in
    `module:object`. Nothing of it is imported yet."""

    kind: PluginKind
    name: str
    package: str
    value: str

    def loaded(self) -> Any:
        """The object. Raises PluginFailed if it cannot be imported."""
        from importlib.metadata import EntryPoint

        with self.answering():
            return EntryPoint(self.name, self.value, _group(self.kind)).load()

    def made(self) -> Any:
        """What the object gives when it is called, as a class or a function. Raises PluginFailed."""
        make = self.loaded()
        with self.answering():
            return make()

    @contextmanager
    def answering(self, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
        """Within it, a fault is the plug-in's: it becomes PluginFailed, `but` for one kind. What is abandoned stays so."""
        try:
            yield
        except (Exception, SystemExit) as error:
            if isinstance(error, but) or (isinstance(error, SciretrieveError) and not isinstance(error, InvalidRequest)):
                raise
            said = (str(error) or repr(error)).splitlines()[0]
            what = said if isinstance(error, InvalidRequest) else f"{type(error).__name__}: {said}"
            raise PluginFailed(self.kind, self.name, self.package, what) from error


def found(kind: PluginKind, name: str) -> Plugin | None:
    """The plug-in of a name that is not built in. Raises InvalidRequest if several packages bring one."""
    plugins = _installed(kind, tuple(sys.path)).get(name, ()) if NAME.fullmatch(name) else ()
    if len(plugins) > 1:
        packages = enumerated([plugin.package for plugin in plugins])
        raise InvalidRequest(f"{packages} each bring the {kind} {name!r}; keep one of them, and uninstall the rest")
    return plugins[0] if plugins else None


def installed(kind: PluginKind, built_in: Collection[str] = ()) -> list[Plugin]:
    """The plug-ins of a kind, by name, but those that have a built-in name."""
    by_name = _installed(kind, tuple(sys.path))
    return [plugin for name in sorted(by_name) if NAME.fullmatch(name) and name not in built_in for plugin in by_name[name]]


def names(kind: PluginKind, built_in: Collection[str]) -> list[str]:
    """The built-in names of a kind, then those of plug-ins."""
    return [*built_in, *dict.fromkeys(plugin.name for plugin in installed(kind, built_in))]


@cache
def _installed(kind: PluginKind, path: tuple[str, ...]) -> dict[str, tuple[Plugin, ...]]:  # noqa: ARG001 - another path, other packages
    from importlib.metadata import entry_points

    by_name: dict[str, tuple[Plugin, ...]] = {}
    for point in entry_points(group=_group(kind)):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else point.module
        by_name[point.name] = (*by_name.get(point.name, ()), Plugin(kind, point.name, package, point.value))
    return by_name


def _group(kind: PluginKind) -> str:
    return f"sciretrieve.{kind}s"
