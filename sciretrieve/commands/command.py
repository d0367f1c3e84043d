"""Common to all commands and groups: options are given once, settings are their defaults, and errors name options."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from inspect import signature
from typing import Any

from typer import Typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from ..base.errors import InvalidRequest, SciretrieveError
from .console import as_options
from .help import screen, settings_of
from .signatures import takes_options

DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "index": ("encoder",),
    "encode": ("encoder",),
    "search": ("k", "format"),
    "similar": ("k", "format"),
}
"""By command: the options whose default is the user's setting of that name."""

ARGUMENT = re.compile(r"`(?P<name>[a-z][a-z_0-9]*)(?:=(?P<value>[^`]*))?`")
"""An argument in a message of the library, in Python's notation: `alpha`, `dense='none'`."""
MEANT: Mapping[str, tuple[str, ...]] = {
    "--year": ("--since", "--until", "--filter"),
    "--from": ("--since",),
    "--to": ("--until",),
    "--author": ("--filter",),
    "--venue": ("--filter",),
    "--limit": ("-n",),
    "--top": ("-n",),
}
"""By a guessed option, with or without its command: the options and commands that are meant."""
RENAMED = {"into": "output", "take_over": "import", "reranker": "rerank", "types": "dense", "workers": "ray"}
"""Parameters of commands that differ from the library's arguments."""


def as_typed(message: str, command: Any) -> str:
    """A message of the library in terms of the command's options: `limit` becomes --limit, `k1=1` becomes --set k1=1, `lexical=None`
    becomes --set lexical=false.
    """
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    pairs: Mapping[str, str] = getattr(command.callback, "pairs", {})
    parameter_of = {name.lstrip("-").replace("-", "_"): one for one in options for name in one.opts} | {one.name: one for one in options}

    def option(match: re.Match[str]) -> str:
        typed, value = match["name"], (match["value"] or "").strip("'\"")
        parameter = parameter_of.get(typed) or parameter_of.get(RENAMED.get(typed, ""))
        if parameter is not None:
            name = max(parameter.opts, key=len)
            return name if value in ("", "True") else f"{name} {value}"
        if typed not in pairs:
            return match[0]
        value = {"True": "true", "False": "false", "None": "false"}.get(value, value)
        return f"{pairs[typed]} {typed}={value}" if value else f"{pairs[typed]} {typed}"

    return ARGUMENT.sub(option, message)


CONTEXT = {"help_option_names": ["-h", "--help", "--help-all"]}
"""The help options of all groups and commands."""


class CommandFailure(Exception):
    """An error of the library, in the words of the command line."""

    def __init__(self, error: SciretrieveError, message: str) -> None:
        super().__init__(message)
        self.exit_code = error.exit_code


class _Common:
    """Common to commands and groups: settings as defaults, help screens, and errors that name options."""

    name: Any
    params: Any
    make_parser: Any
    callback: Any

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Make the context, with the user's settings as defaults. Raises InvalidRequest for an unreadable setting."""
        if keys := () if extra.get("resilient_parsing") else DEFAULTS.get(info_name or "", ()):
            from ..config import setting

            extra["default_map"] = {key: found.value for key in keys if (found := setting(key)).origin != "default"}
        command: Any = super()
        return command.make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the command line. Raises InvalidRequest for repeated options, and for unknown ones with a known meaning."""
        command: Any = super()
        if not ctx.resilient_parsing:
            try:
                _, _, options = self.make_parser(ctx).parse_args(args=list(args))
            except Exception as error:
                # by name, since typer may use its own click or the installed one
                if type(error).__name__ == "NoSuchOption":
                    self._explain(error, args)
                raise
            _check_given_once(options)
        try:
            return command.parse_args(ctx, args)
        except Exception as error:
            if hasattr(error, "message"):
                error.message = error.message.removeprefix("Value error, ")  # the prefix of pydantic, which checks choices for typer
            raise

    def _explain(self, error: Any, args: list[str]) -> None:
        """Suggest options for an unknown one. Raises InvalidRequest for a setting, a command, or a query that looks like an option because
        it begins with a minus.
        """
        option = error.option_name
        pairs: Mapping[str, str] = getattr(self.callback, "pairs", {})
        word, settings = option.strip("-"), settings_of(self)
        name = word.replace("-", "_")
        is_switch = name in settings and bool in settings[name].kinds
        for setting, value in ((name, "true" if is_switch else "…"), (name.removeprefix("no_"), "false")):
            if setting in pairs:
                raise InvalidRequest(f"there is no option {option}; write {pairs[setting]} {setting}={value}")
        if word in getattr(self, "commands", ()):
            raise InvalidRequest(f"there is no option {option}; write sciretrieve {self.name} {word}")
        names = [name for param in self.params for name in param.opts if name.startswith("-")]
        near = get_close_matches(word, [name.strip("-") for name in names], cutoff=0.7)
        error.possibilities = [name for name in MEANT.get(option, ()) if name in names] or [f"--{name}" for name in near]
        if any(param.name == "query" and param.param_type_name == "argument" for param in self.params):
            text = next((arg for arg in args if arg.startswith(option) and not arg.startswith("--") and len(arg) > 2), None)
            if text is not None:
                query = f"sciretrieve {self.name} -- {shlex.quote(text)}"
                raise InvalidRequest(f"there is no option {option}; a query that begins with a minus goes after --, at the end: {query}")

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises CommandFailure for an error of the library."""
        command: Any = super()
        typed = partial(as_typed, command=ctx.command)
        token = as_options.set(typed)
        try:
            return command.invoke(ctx)
        except SciretrieveError as error:
            raise CommandFailure(error, typed(str(error))) from error
        finally:
            as_options.reset(token)

    def get_help(self, ctx: Any) -> str:
        """The help screen."""
        return screen(self, ctx)


class Command(_Common, TyperCommand):
    """The class of all commands. Options with several values (`--filter`, `--facets`, `--not`) may be repeated."""


class CommandGroup(_Common, TyperGroup):
    """A group of commands whose help lists them in sections. It may itself be a command, which runs if no other is named."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command. Raises InvalidRequest for options before the name of a group's command, which would not receive them."""
        own = self.params if ctx.parent else ()  # the program's options may stand anywhere
        given = [param.opts[0] for param in own if ctx.get_parameter_source(param.name).name == "COMMANDLINE"]
        if given and args and args[0] in self.commands:
            raise InvalidRequest(f"{given[0]} stands before {args[0]}; write: sciretrieve {ctx.info_name} {args[0]} {given[0]} …")
        return super().resolve_command(ctx, args)


def _check_given_once(options: Iterable[Any]) -> None:
    """Raise InvalidRequest if an option of one value is repeated."""
    for option, times in Counter(options).items():
        if times > 1 and isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
            raise InvalidRequest(f"{option.opts[0]} is given {times} times; give it once")


def made(run: Callable[..., None], name: str, epilog: str, members: Mapping[str, Any]) -> Any:
    """The command of a function. With members it is a group, and also runs by itself if the function has parameters."""
    app = Typer(add_completion=False, rich_markup_mode=None, context_settings=CONTEXT)
    if not members:
        app.command(name, cls=Command, epilog=epilog)(takes_options(run))
        return get_command(app)
    is_group = not signature(run).parameters
    app.callback(cls=CommandGroup, invoke_without_command=not is_group, no_args_is_help=is_group, epilog=epilog)(takes_options(run))
    group: Any = get_command(app)
    group.name, group.commands = name, members
    # allows options after the arguments of a command, as everywhere
    group.allow_interspersed_args = not is_group
    return group
