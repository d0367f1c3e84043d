"""Options that the library describes become options of a command: of each class of options in its signature, all or some of the fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from ..choices import Help, options_of, parted
from . import completing
from .help import ADVANCED

LONGEST_UNIT = 20
"""Letters that an option's choices may have in place of a value; more of them stand in its help."""


@dataclass(frozen=True, slots=True)
class Without:
    """Which fields of a class a command does not have as options: `settings: Annotated[BuildSettings, Without("memory")]`."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


def takes_options(run: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters become options by the `Help` of their types; one of a class of options stands for an option for each
    field, and these make the object that the command is called with. Arguments, which typer describes, stay.
    """
    hints = get_type_hints(run, include_extras=True)
    parameters: list[inspect.Parameter] = []
    gathered: dict[str, tuple[type, dict[str, str]]] = {}
    for parameter in inspect.signature(run).parameters.values():
        options_class, chosen = _chosen(hints[parameter.name])
        if options_class is None:
            parameters.append(_option(parameter.name, hints[parameter.name], parameter.default))
            continue
        types = options_of(options_class)
        names = {field: _typed(field, parted(types[field])[1]) for field in chosen}
        gathered[parameter.name] = options_class, names
        defaults = {field.name: field.default for field in fields(options_class)}
        parameters += [_option(name, types[field], defaults[field]) for field, name in names.items()]

    @wraps(run)
    def run_with_objects(**arguments: Any) -> None:
        for name, (options_class, names) in gathered.items():
            arguments[name] = options_class(**{field: arguments.pop(option) for field, option in names.items()})
        run(**arguments)

    vars(run_with_objects)["__signature__"] = inspect.Signature(parameters)
    run_with_objects.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run_with_objects


def _typed(field: str, help: Help | None) -> str:
    """The parameter that stands for a field: by its name on the command line."""
    return field if help is None or help.name is None else help.name.replace("-", "_")


def _chosen(hint: Any) -> tuple[Any, Sequence[str]]:
    """The class of options that a parameter is of, if it is one, and those of its fields that the command has."""
    options_class, *choices = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not is_dataclass(options_class):
        return None, ()
    left_out = {name for choice in choices if isinstance(choice, Without) for name in choice.names}
    return options_class, [field.name for field in fields(options_class) if field.name not in left_out]


def _option(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """A parameter of the command: what typer makes an option of, if the type has a help, else as it is."""
    kind, help = parted(hint)
    if help is not None:
        annotated: Any = Annotated
        hint = annotated[_on_the_command_line(kind), _described(name, kind, help, default)]
    default = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _described(name: str, kind: Any, help: Help, default: Any) -> Any:
    """What typer is told of an option."""
    word = help.name or name.rstrip("_").replace("_", "-")
    option = "-k" if word == "k" else f"--{word}"
    can_be_off = bool in (kind, *get_args(kind)) and default is not False
    choices = [choice for one in (kind, *get_args(kind)) if get_origin(one) is Literal for choice in get_args(one)]
    text, unit = help.text, help.unit or "|".join(choices) or "VALUE"
    if len(unit) > LONGEST_UNIT:
        text, unit = f"{text.rstrip('.')}: {', '.join(choices)}.", word.upper()
    return typer.Option(
        f"{option}/--no-{word}" if can_be_off else option,
        *([help.short] if help.short else []),
        help=text,
        metavar=unit,
        min=help.least,
        max=help.most,
        autocompletion=getattr(completing, help.completes) if help.completes else None,
        rich_help_panel=ADVANCED if help.advanced else None,
    )


def _on_the_command_line(kind: Any) -> Any:
    """The type of what is typed: a list for one or several texts, a path for a path or its text, a name for what only Python can give
    otherwise, else the type itself."""
    kinds = (kind, *get_args(kind))
    if {str, object} <= set(kinds):
        return str | None
    if Sequence[str] in kinds:
        return list[str] | None
    if Path in kinds:
        return Path | None if type(None) in kinds else Path
    return kind
