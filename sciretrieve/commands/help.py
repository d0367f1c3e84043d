"""Help screens: a short one for `--help`, with what most people need, and a complete one for `--help-all`."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args, get_origin

Rows: TypeAlias = list[tuple[str, str]]
"""The rows of a list: names, each with its description."""

WHOLE = "sciretrieve.whole_help"
"""A key of a context's `meta`, shared within a group: whether the whole help was requested."""
ADVANCED = "More options"
"""The section of rarely needed options."""
SETTINGS = "Settings, by --set NAME=VALUE, which may be repeated"
COMPLETING = {"install_completion", "show_completion"}
"""Options that typer adds."""
WIDEST = 80
"""The widest screen, even on wider terminals: longer lines are hard to read."""
NAMES = 24
"""The widest column of names; a longer name gets its own line."""
LONGEST_SUMMARY = 200
"""The most characters of a command's first sentence in a list of commands, over several lines if necessary."""


def screen(command: Any, ctx: Any) -> str:
    """The help screen of a command or group."""
    whole = ctx.meta.get(WHOLE, False)
    width = ctx.terminal_width or max(50, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))
    usage = " ".join((ctx.command_path, *command.collect_usage_pieces(ctx)))
    paragraphs = (command.help or "").split("\n\n")
    lines = _wrapped(f"Usage: {usage}", width, "", " " * 7)
    for paragraph in paragraphs if whole else paragraphs[:1]:
        lines += ["", *_wrapped(paragraph, width, "  ", "  ")]
    for title, rows in sections(command, ctx, whole):
        names = min(NAMES, max(len(name) for name, _ in rows))
        lines += ["", f"{title}:", *(line for row in rows for line in _listed(*row, names, width))]
    if command.epilog:
        lines += ["", *_wrapped(command.epilog, width, "  ", "  ")]
    return "\n".join(lines)


def sections(command: Any, ctx: Any, whole: bool) -> Iterator[tuple[str, Rows]]:
    """The lists of a screen, each with its title and rows: arguments, options and commands."""
    shown = parameters(command, ctx)
    count = len(shown[ADVANCED]) + len(shown[SETTINGS])
    more = f"This help; the whole one has {count} more options." if count and not whole else "This help, in short or as a whole."
    shown["Options"].append(("-h, --help, --help-all", more))
    if not whole:
        del shown[ADVANCED], shown[SETTINGS]
    for name in command.list_commands(ctx) if hasattr(command, "list_commands") else ():
        member = command.get_command(ctx, name)
        if whole or not member.is_rare:
            title = member.rich_help_panel if isinstance(member.rich_help_panel, str) else "Commands"
            shown.setdefault(title, []).append((name, member.get_short_help_str(LONGEST_SUMMARY)))
    return ((title, rows) for title, rows in shown.items() if rows)


def parameters(command: Any, ctx: Any) -> dict[str, Rows]:
    """A command's arguments and options, common and rare, as rows of lists."""
    shown: dict[str, Rows] = {"Arguments": [], "Options": [], ADVANCED: []}
    shown[SETTINGS] = [_setting(name, setting) for name, setting in settings_of(command).items()]
    for param in command.params:
        if param.name != "set":  # the settings' title already names it
            title = "Arguments" if param.param_type_name == "argument" else ADVANCED if is_advanced(param) else "Options"
            shown[title].append(row(param, ctx))
    return shown


def is_advanced(param: Any) -> bool:
    """Whether the short help omits a parameter."""
    return not param.required and (param.rich_help_panel == ADVANCED or param.name in COMPLETING)


def settings_of(command: Any) -> Mapping[str, Any]:
    """The settings of `--set`, by name."""
    settings: Mapping[str, Any] = getattr(command.callback, "settings", {})
    return settings


def _setting(name: str, setting: Any) -> tuple[str, str]:
    """The row of a setting."""
    extra = "" if setting.default in (None, False) else f" [default: {setting.default}]"
    return name, f"{with_choices(setting.help.text, setting.kinds)}{extra}"


def with_choices(text: str, kinds: Sequence[Any]) -> str:
    """A help text with the option's choices, if it has any."""
    choices = choices_of(kinds)
    return f"{text.rstrip('.')}: {', '.join(choices)}." if choices else text


def choices_of(kinds: Sequence[Any]) -> list[str]:
    """The choices among some types."""
    return [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]


def row(param: Any, ctx: Any) -> tuple[str, str]:
    """A row for a parameter: its names, the placeholder of its value, and its help."""
    default = param.get_default(ctx)
    extra = ""
    if param.param_type_name == "argument":
        names = param.metavar or param.name.upper()
    else:
        names = ", ".join(sorted(param.opts, key=len))
        if not param.is_flag:
            names = f"{names} {param.metavar}"
        if param.required:
            extra = " [required]"
        elif default not in (None, False, "", [], ()):
            extra = f" [default: {default}]"
    return names, f"{param.help or ''}{extra}"


def _listed(name: str, text: str, names: int, width: int) -> list[str]:
    """A row of a list, over as many lines as necessary."""
    indent = " " * (names + 4)
    lines = _wrapped(text, width, indent, indent) or [indent]
    if len(name) > names:
        return [f"  {name}", *lines]
    return [f"  {name}".ljust(len(indent)) + lines[0][len(indent) :], *lines[1:]]


def _wrapped(text: str, width: int, first: str, others: str) -> list[str]:
    """A text in lines, with no word broken, not even at a hyphen."""
    words = " ".join(text.split())
    return textwrap.wrap(words, width, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False)


def asked_whole(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for the whole help."""
    return "--help-all" in arguments[: arguments.index("--") if "--" in arguments else None]
