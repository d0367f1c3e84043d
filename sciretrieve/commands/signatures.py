"""Turns the library's classes of options in a command's signature into options of the command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from ..base.choices import Help, check_choice, check_value, kinds_of, options_of, parted
from ..base.errors import InvalidRequest
from . import completing
from .help import ADVANCED, choices_of, with_choices

LONGEST_UNIT = 20
"""The most letters of choices that stand in place of an option's value; longer ones are part of its help."""


@dataclass(frozen=True, slots=True)
class Without:
    """Names fields of a class that are not options of a command: `settings: Annotated[BuildSettings, Without("memory")]`."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


@dataclass(frozen=True, slots=True)
class FineSetting:
    """A setting for `--set NAME=VALUE`: its types, its help and its default."""

    kinds: tuple[Any, ...]
    help: Help
    default: Any


def takes_options(run: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters become options by the `Help` of their types. A class of options becomes one option per field, and the
    command is called with an object of it. Typer's arguments are unchanged.
    """
    hints = get_type_hints(run, include_extras=True)
    parameters: list[inspect.Parameter] = []
    settings: dict[str, FineSetting] = {}
    gathered: dict[str, tuple[type, dict[str, str]]] = {}
    fine_settings: dict[str, Mapping[str, FineSetting]] = {}
    options: list[str] = []

    def take(name: str, hint: Any, default: Any) -> None:
        kind, help = parted(hint)
        if help is not None and help.setting:
            settings[name] = FineSetting(kinds_of(kind), help, default)
        elif help is not None:
            options.append(_word(name, help))
            parameters.append(_option(name, kind, help, default))
        else:
            parameters.append(_parameter(name, hint, default))

    for parameter in inspect.signature(run).parameters.values():
        hint = hints[parameter.name]
        options_class, chosen, help = _options_of(hint)
        if options_class is None:
            take(parameter.name, hint, parameter.default)
            continue
        types = options_of(options_class)
        defaults = {field.name: field.default for field in fields(options_class)}
        if help is not None:  # the whole class is one option
            known = {field: FineSetting(kinds_of(parted(types[field])[0]), Help(""), defaults[field]) for field in chosen}
            fine_settings[parameter.name] = known
            parameters.append(_option(parameter.name, list[str] | None, help, None))
            gathered[parameter.name] = options_class, {}
            continue
        names = {field: _typed(field, parted(types[field])[1]) for field in chosen}
        gathered[parameter.name] = options_class, names
        for field, name in names.items():
            take(name, types[field], defaults[field])
    if settings:
        parameters.append(_option("set", list[str] | None, Help("", "NAME=VALUE", advanced=True), None))

    @wraps(run)
    def run_with_objects(**arguments: Any) -> None:
        arguments |= {name: setting.default for name, setting in settings.items()}
        arguments |= pairs(arguments.pop("set", None), settings, options)
        for name, (options_class, names) in gathered.items():
            if name in fine_settings:
                arguments[name] = options_class(**pairs(arguments[name], fine_settings[name]))
            else:
                arguments[name] = options_class(**{field: arguments.pop(option) for field, option in names.items()})
        run(**arguments)

    places = dict.fromkeys(settings, "--set") | {field: f"--{name}" for name, known in fine_settings.items() for field in known}
    vars(run_with_objects).update(__signature__=inspect.Signature(parameters), settings=settings, pairs=places)
    run_with_objects.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run_with_objects


def pairs(given: Sequence[str] | None, known: Mapping[str, FineSetting], options: Sequence[str] = ()) -> dict[str, Any]:
    """The values in texts such as "k1=0.9,b=0.4", by name. A comma that no known name follows is part of a value.

    Raises UnknownName for an unknown name; InvalidRequest for a name of `options`, a text that is not a pair, a repeated name, and an
    invalid value.
    """
    values: dict[str, Any] = {}
    for text in given or ():
        for pair in re.split(rf",\s*(?=(?:{'|'.join(known)})\s*=)", text):
            name, is_pair, value = (part.strip() for part in pair.partition("="))
            if not is_pair:
                raise InvalidRequest(f"{pair!r} is not a setting; write NAME=VALUE, with a NAME of {', '.join(known)}")
            if (word := name.replace("_", "-")) in options:
                raise InvalidRequest(f"{name} is an option: write {_dashed(word)}, not --set")
            name = name.replace("-", "_")
            check_choice("setting", name, list(known))
            if name in values:
                raise InvalidRequest(f"{name} is given twice; give it once")
            values[name] = _value(value, known[name].kinds)
            check_value(name, values[name], known[name].kinds, known[name].help)
    return values


def _value(text: str, kinds: Sequence[Any]) -> Any:
    """A text as a value of one of some types, or unchanged if it fits none."""
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if Path in kinds:
        return Path(text)
    for kind in (int, float):
        with suppress(ValueError):
            if kind in kinds:
                return kind(text)
    return text


def _typed(field: str, help: Help | None) -> str:
    """The name of a field's parameter, from its name on the command line."""
    return field if help is None or help.name is None else help.name.replace("-", "_")


def _options_of(hint: Any) -> tuple[Any, Sequence[str], Help | None]:
    """A parameter's class of options, the names of its fields that become options, and the help of the single option that it becomes
    instead, if it does.
    """
    options_class, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not is_dataclass(options_class):
        return None, (), None
    left_out = {name for extra in extras if isinstance(extra, Without) for name in extra.names}
    chosen = [field.name for field in fields(options_class) if field.name not in left_out]
    return options_class, chosen, next((extra for extra in extras if isinstance(extra, Help)), None)


def _option(name: str, kind: Any, help: Help, default: Any) -> inspect.Parameter:
    """A parameter from which typer makes an option."""
    annotated: Any = Annotated
    return _parameter(name, annotated[_on_the_command_line(kind), _described(name, kind, help)], default)


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _word(name: str, help: Help) -> str:
    """An option's name on the command line, without dashes."""
    return help.name or name.rstrip("_").replace("_", "-")


def _dashed(word: str) -> str:
    """An option as it is typed."""
    return "-k" if word == "k" else f"--{word}"


def _described(name: str, kind: Any, help: Help) -> Any:
    """An option for typer."""
    text, unit = help.text, help.unit or "|".join(choices_of(kinds_of(kind))) or "VALUE"
    if len(unit) > LONGEST_UNIT:
        text, unit = with_choices(text, kinds_of(kind)), _word(name, help).upper()
    return typer.Option(
        _dashed(_word(name, help)),
        *([help.short] if help.short else []),
        help=text,
        metavar=unit,
        min=help.least,
        max=help.most,
        autocompletion=getattr(completing, help.completes) if help.completes else None,
        rich_help_panel=ADVANCED if help.advanced else None,
    )


def _on_the_command_line(kind: Any) -> Any:
    """The type of the typed value: a list for one or several texts, a path for a path or its text, a name for a value that otherwise only
    Python can give, else the type itself.
    """
    kinds = kinds_of(kind)
    if {str, object} <= set(kinds):
        return str | None
    if Sequence[str] in kinds:
        return list[str] | None
    if Path in kinds:
        return Path | None if type(None) in kinds else Path
    return kind
