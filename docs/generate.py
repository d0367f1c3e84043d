"""Writes docs/cli.md and the man page from the commands' own help, and sciretrieve/options/keywords.py from the options; a test fails
when they are stale."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import typer.main

from sciretrieve import options as options_module
from sciretrieve.base import choices as choices_module
from sciretrieve.commands import __doc__ as commands_about
from sciretrieve.commands.app import app
from sciretrieve.commands.help import ADVANCED, SETTINGS, Rows, parameters
from sciretrieve.config import SETTINGS as SETTINGS_KEPT
from sciretrieve.options import BuildSettings, EvaluationOptions, SearchOptions, TrainingOptions

TARGET = Path(__file__).parent / "cli.md"
KEYWORDS_TARGET = Path(__file__).parents[1] / "sciretrieve" / "options" / "keywords.py"
MAN_TARGET = Path(__file__).parent / "sciretrieve.1"


@contextmanager
def no_settings() -> Iterator[None]:
    """Defaults as they are where nobody has set anything."""
    kept = {name: text for name, text in os.environ.items() if name not in {setting.variable for setting in SETTINGS_KEPT.values()}}
    with mock.patch.dict(os.environ, kept | {"SCIRETRIEVE_CONFIG": os.devnull}, clear=True):
        yield


@dataclass(frozen=True)
class Command:
    """A command or a group of commands, and what it takes."""

    path: str
    """The words that are typed, without arguments."""
    usage: str
    about: str
    example: str
    panel: str
    """The heading of the commands that it stands with; a command in a group has none."""
    lists: dict[str, Rows]
    """Arguments, options and settings by their headings."""


def every(command: Any, context: Any, path: str, panel: str = "") -> Iterator[Command]:
    """A command, and after it each command in it."""
    usage = " ".join((path, *command.collect_usage_pieces(context)))
    yield Command(path, usage, command.help or "", command.epilog or "", panel, parameters(command, context))
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        member = command.get_command(context, name)
        inside = member.rich_help_panel if context.parent is None and isinstance(member.rich_help_panel, str) else ""
        with type(context)(member, info_name=name, parent=context) as inner:
            yield from every(member, inner, f"{path} {name}", inside)


def all_commands() -> list[Command]:
    """The command line as a whole, and then each command."""
    root: Any = typer.main.get_command(app)
    return list(every(root, root.make_context("sciretrieve", [], resilient_parsing=True), "sciretrieve"))


Shared: TypeAlias = dict[tuple[str, str], list[str]]
"""What is described once: a kind (the heading that it gets) and names, with one description or several, the commonest first."""
KINDS = {"Arguments": "Arguments", "Options": "Options", ADVANCED: "Options", SETTINGS: "Settings"}
"""The headings of a command's lists, with those of what is described once."""
PLAIN_FORMAT = "table|json"
"""The values of `-f` in most commands, which need not be said."""
DEFAULT = re.compile(r" ?\[(default: .*|required)\]$")


def shared_by(commands: list[Command]) -> Shared:
    """The descriptions that two commands or more have of a name, with the default where that is always the same."""
    found: dict[tuple[str, str], list[str]] = {}
    for command in commands:
        for title, rows in command.lists.items():
            for names, about in rows:
                found.setdefault((KINDS[title], names), []).append(about)
    shared: Shared = {}
    for key, abouts in found.items():
        for base, count in Counter(DEFAULT.sub("", about) for about in abouts).most_common():
            whole = {about for about in abouts if DEFAULT.sub("", about) == base}
            if count > 1 and base:
                shared.setdefault(key, []).append(whole.pop() if len(whole) == 1 else base)
    return shared


def own(kind: str, row: tuple[str, str], shared: Shared) -> tuple[str, str]:
    """A row with what its command says beyond what is said once for all; the second description of a name has an asterisk."""
    names, about = row
    bases = [base for base in shared.get((kind, names), []) if about.startswith(base)]
    if not bases:
        return row
    base = max(bases, key=len)
    return marked(names, shared[kind, names].index(base)), about.removeprefix(base).strip()


def marked(names: str, number: int) -> str:
    """Names, with as many asterisks as other descriptions come before this one."""
    return re.sub(r"(?<=\w)(?=$| [^-]*$)", "*" * number, names, count=1)


def in_short(names: str, about: str, shared: Shared) -> str:
    """The shortest name of a shared option, its default, and what stands for its value if that tells two options apart."""
    first, (_, _, value) = names.split(",")[0].split(" ")[0].rstrip("*"), names.rpartition(", ")[2].partition(" ")
    alone = len({other for _, other in shared if other.partition(" ")[0].rstrip(",") == first}) == 1
    default = re.sub(r"\[(?:default: )?(.*)\]", r" (\1)", about)
    return f"`{first}{'*' * names.count('*')}{'' if alone or value in ('', PLAIN_FORMAT) else f' {value}'}`{default}"


def once(shared: Shared, kind: str) -> Rows:
    """What is described once of a kind, in the order of the alphabet."""
    rows = [(marked(names, number), about) for (its, names), abouts in shared.items() if its == kind for number, about in enumerate(abouts)]
    return sorted(rows, key=lambda row: row[0].lstrip("-").lower())


def listed(rows: Rows) -> list[str]:
    """Rows as a list in Markdown, one a line."""
    return [f"- `{names}`" + (f": {prose(about)}" if about else "") for names, about in rows]


def prose(text: str) -> str:
    """A help text in a line of Markdown, in which a star or an angle outside code means nothing."""
    return re.sub(r"`[^`]*`|[*<]", lambda match: {"*": r"\*", "<": "&lt;"}.get(match[0], match[0]), " ".join(text.split()))


def section(command: Command, shared: Shared) -> str:
    """A command's part of the page; what else its help says is in the guides."""
    parts = [[prose(command.about.split("\n\n")[0])]]
    kinds: dict[str, Rows] = {}
    for title, rows in command.lists.items():
        kinds.setdefault(KINDS[title], []).extend(own(KINDS[title], row, shared) for row in rows)
    words = [word for word in command.usage.removeprefix(command.path).split() if word not in PLAIN]
    rows = [row for row in kinds["Arguments"] if row[1] or "*" in row[0]]
    if len(words) == len(rows) == 1:
        parts += [[f"Argument `{words[0].replace(rows[0][0].rstrip('*'), rows[0][0])}`: {prose(rows[0][1])}".removesuffix(": ")]]
    elif words:
        parts += [[f"Arguments: `{' '.join(words)}`"], listed(rows)]
    for kind in ("Options", "Settings"):
        above = [
            row
            for row in kinds[kind]
            if re.fullmatch(r"(\[(default: .*|required)\])?", row[1]) and (kind, row[0].replace("*", "")) in shared
        ]
        names = ", ".join(in_short(*row, shared) for row in above)
        rows = [row for row in kinds[kind] if row not in above]
        if rows or names:
            parts += [[f"{kind}: {names}".strip()], listed(rows)]
    return "\n\n".join("\n".join(part) for part in [[f"## {command.path.removeprefix('sciretrieve ')}"], *parts] if part) + "\n"


PLAIN = ("[OPTIONS]", "COMMAND", "[ARGS]...")
"""Words of a usage that say nothing of one command."""


@no_settings()
def reference() -> str:
    """The whole page: an overview, what several commands have, and each command."""
    commands = all_commands()
    shared = shared_by(commands)
    parts = [INTRODUCTION]
    panels: dict[str, list[str]] = {}
    for command in commands:
        name = command.path.removeprefix("sciretrieve ")
        if command.panel and " " not in name:
            panels.setdefault(command.panel, []).append(f"[{name}](#{name})")
    parts += ["| to | commands | guides |\n| --- | --- | --- |"]
    parts += [f"| {panel.lower()} | {', '.join(links)} | {GUIDES[panel]} |" for panel, links in panels.items()]
    parts += ["\nExit codes:\n", *(f"- {code}" for code in exit_codes().rstrip(".").split("; ")), "", SHARED]
    for kind in ("Options", "Arguments", "Settings"):
        parts += [f"### {kind}\n", *listed(once(shared, kind)), ""]
    return "\n".join([*parts, *(section(command, shared) for command in commands)])


INTRODUCTION = """# Commands

Every command with its arguments, options and settings. `make docs` writes this page from the commands' own help. At a terminal,
`sciretrieve COMMAND --help` shows what most people need. `--help-all` shows the rest, with more words and an example.
"""
GUIDES = {
    "Find papers": "[searching](search.md), [queries](query-language.md), [ranking](ranking.md)",
    "Keep an index": "[corpora](corpora.md), [keeping an index](updating.md), [scale](scale.md)",
    "Look inside": "[keeping an index](updating.md)",
    "Serve papers": "[a service](service.md), [assistants](assistants.md)",
    "Review the literature": "[strategies](strategies.md), [a review](systematic-review.md)",
    "Measure, train and set up": "[evaluation](evaluation.md), [benchmarks](own-benchmarks.md), [training](training.md), "
    "[encoders](encoders.md), [settings](configuration.md)",
}
"""Heading of commands -> the pages that show them at work."""
SHARED = """## Shared by commands

Several commands have these. Below, a command lists their names, with its own default in parentheses.
A text beside a name adds to the text here, or replaces it. An asterisk tells two meanings of a name apart.
Every command also has `-h` (`--help`) and `--help-all`. `--set NAME=VALUE`, which may be repeated, gives a setting.
"""


def exit_codes() -> str:
    """What the exit codes mean, in a sentence."""
    codes = re.search(r"Exit codes: (.*)", str(commands_about), re.DOTALL)
    assert codes is not None
    return " ".join(codes[1].split())


@no_settings()
def man_page() -> str:
    """The man page: the same of all commands, and what they read of the environment, in the language of roff."""
    root, *commands = all_commands()
    shared = shared_by([root, *commands])
    lines = [
        f'.TH SCIRETRIEVE 1 "" "sciretrieve {version("sciretrieve")}" "User Commands"',
        *(".SH NAME", r"sciretrieve \- search scholarly papers by meaning and by words"),
        *(".SH SYNOPSIS", ".B sciretrieve", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]"),
        *(".SH DESCRIPTION", roff(root.about), ".PP", roff(root.example)),
        *(".SH OPTIONS", *options(root, {})),
        *(".SH SHARED OPTIONS", "Several commands have these, and name them below."),
        *(line for kind in ("Options", "Arguments", "Settings") for row in once(shared, kind) for line in option(*row)),
        ".SH COMMANDS",
    ]
    for command in commands:
        lines += [f'.SS "{roff(command.usage)}"', roff("\n".join(line.strip() for line in command.about.splitlines()))]
        lines += options(command, shared)
        if command.example:
            lines += [".PP", roff(command.example)]
    lines += [".SH ENVIRONMENT", "An option comes before its variable, that before the config file, and that before the default."]
    for setting in SETTINGS_KEPT.values():
        lines += option(setting.variable, setting.about[0].upper() + setting.about[1:] + ".")
    lines += option("SCIRETRIEVE_CONFIG", "The config file, instead of the one below.")
    lines += [".SH FILES", ".TP", r"\fI$XDG_CONFIG_HOME/sciretrieve/config.toml\fR", "The settings, by default in ~/.config."]
    return "\n".join([*lines, ".SH EXIT STATUS", roff(exit_codes())]) + "\n"


def options(command: Command, shared: Shared) -> Iterator[str]:
    """A command's arguments, options and settings: those of its own, and the names of the others."""
    for title, rows in command.lists.items():
        shown = [own(KINDS[title], row, shared) for row in rows]
        for names, about in shown:
            if about:
                yield from option(names, about)
        if above := ", ".join(names for names, about in shown if not about):
            yield from (".PP", roff(f"{KINDS[title]} from above: {above}."))


def option(names: str, about: str) -> tuple[str, ...]:
    """A name, and what it is."""
    return ".TP", rf"\fB{roff(names)}\fR", roff(about) or r"\&"


def roff(text: str) -> str:
    """Plain text in roff: nothing in it is a request, and a blank line begins a paragraph."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    escaped = [re.sub(r"^(?=[.\'])", r"\\&", part.replace("\\", r"\e").replace("-", r"\-")) for part in paragraphs]
    return "\n.PP\n".join(escaped).replace('"', r"\(dq")


KEYWORDS = '''"""The fields of the classes of options as keyword arguments, for type checkers. Written by `make docs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..base.choices import (
    {choices},
)

if TYPE_CHECKING:
    from ..protocols import AnyEncoder, IndexPlace, OwnReranker
    from . import Bm25Parameters
'''
ELSEWHERE = ("Any", "Mapping", "Path", "Sequence")
"""Names in types that options.keywords does not import from `choices`."""
OBJECTS = {"index": "IndexPlace | None", "encoder": "AnyEncoder | None"}
"""Fields of evaluations that are more in Python: a request names an index and an encoder that are given as objects."""


def keywords() -> str:
    """The whole module."""
    tree = ast.parse(Path(options_module.__file__).read_text(encoding="utf-8"))
    aliases = {node.target.id: node.value for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    parts, used = [], set()
    for kind in (BuildSettings, SearchOptions, EvaluationOptions, TrainingOptions):
        declared = {name: text for each in reversed(kind.__mro__) for name, text in vars(each).get("__annotations__", {}).items()}
        lines = [f"class {re.sub('Settings|Options', 'Keywords', kind.__name__)}(TypedDict, total=False):"]
        lines.append(f'    """The fields of `{kind.__name__}`."""\n')
        for field in fields(kind):
            hint = ast.parse(declared[field.name], mode="eval").body
            hint = aliases.get(hint.id, hint) if isinstance(hint, ast.Name) else hint
            if isinstance(hint, ast.Subscript) and isinstance(hint.slice, ast.Tuple) and ast.unparse(hint.value) == "Annotated":
                hint = hint.slice.elts[0]
            text = (OBJECTS if kind is EvaluationOptions else {}).get(field.name) or ast.unparse(hint)
            used |= {name for name in re.findall(r"[A-Z]\w+", text) if hasattr(choices_module, name) and name not in ELSEWHERE}
            lines.append(f"    {field.name}: {text}")
        parts.append("\n".join(lines))
    return "\n\n\n".join([KEYWORDS.format(choices=",\n    ".join(sorted(used))).rstrip(), *parts]) + "\n"


if __name__ == "__main__":
    KEYWORDS_TARGET.write_text(keywords(), encoding="utf-8")
    TARGET.write_text(reference(), encoding="utf-8")
    MAN_TARGET.write_text(man_page(), encoding="utf-8")
