"""`sciretrieve config`: shows and changes the user's settings, and their origins."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import InvalidRequest, Unavailable, UnknownName
from ..config import SETTINGS, Value, check, config_file, parsed, setting, with_setting
from .console import say, say_json
from .parameters import PlainFormatOption, argument

Key = Annotated[str, argument("KEY", "A setting that `sciretrieve config` lists.", "settings")]


def config(format: PlainFormatOption = "table") -> None:
    """Show your settings, and where each comes from, or change them.

    An option precedes its environment variable, then the config file, then the default.
    """
    rows = {key: setting(key) for key in SETTINGS}
    if format == "json":
        facts = {
            key: {"value": row.value, "origin": row.origin, "place": row.place or None, "variable": SETTINGS[key].variable}
            for key, row in rows.items()
        }
        say_json({"schema": 1, "file": str(config_file()), "settings": facts})
        return
    for key, row in rows.items():
        say([f"{key:<8}  {_as_text(row.value)}  ({row.place or row.origin})", f"{'':<8}  {SETTINGS[key].about}; ${SETTINGS[key].variable}"])
    say(["", f"the file is {config_file()}" + ("" if config_file().exists() else ", which does not exist yet")])


def change(key: Key, values: Annotated[list[str], argument("VALUE", "Its value; for folders, one or more.", "values")]) -> None:
    """Write a setting to the config file."""
    if key == "index" and len(values) == 1:
        from ..storage.finding import chosen, is_index

        path = chosen(values[0]).path
        if not is_index(path):
            raise InvalidRequest(f"there is no index at {path}; `sciretrieve info indexes` lists those that there are")
        values = [str(path.absolute())]
    value = parsed(key, values)
    if key == "encoder":
        from ..encoders import EncoderRequest
        from ..encoders.resolving import is_plugged, resolve

        if Path(str(value)).is_dir():
            value = str(Path(str(value)).absolute())
        if not is_plugged(str(value)):
            resolve(EncoderRequest(str(value)))
    if SETTINGS[key].kind == "folders" and (missing := next((path for path in values if not Path(path).is_dir()), None)):
        raise InvalidRequest(f"there is no folder {missing}")
    _write(with_setting(_read(), key, value))
    _print_setting(key, value)


def unset(key: Key) -> None:
    """Remove a setting from the config file."""
    if key not in SETTINGS:
        raise UnknownName("setting", key, SETTINGS)
    text = _read()
    if key not in check(text, config_file()):
        raise InvalidRequest(f"{key} is not set in {config_file()}")
    _write(with_setting(text, key, None))
    _print_setting(key, SETTINGS[key].default())


def path() -> None:
    """Print the config file's path."""
    say([str(config_file())])


def edit() -> None:
    """Open the config file in your editor, $VISUAL or $EDITOR.

    An unreadable setting is an error afterwards, with its line.
    """
    file = config_file()
    if not file.exists():
        _write("".join(f"# {key}: {row.about}\n" for key, row in SETTINGS.items()))
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise Unavailable(f"the editor {editor} cannot be started; name one in $EDITOR, or use `sciretrieve config set`") from error
    if ended != 0:
        raise Unavailable(f"the editor {editor} failed with exit code {ended}")
    _read()


def _read() -> str:
    """The file's text. Raises if it or a setting in it is invalid; then only an editor helps."""
    file = config_file()
    if not file.exists():
        return ""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{file} is not in UTF-8") from error
    check(text, file)
    return text


def _write(text: str) -> None:
    from ..files.writing import make_folder, write_whole

    file = config_file().resolve()  # the target of a link, which dotfiles often are
    if file.exists() and not file.is_file():
        raise InvalidRequest(f"{file} is not a writable file")
    make_folder(file.parent)
    write_whole(file, text.encode())


def _print_setting(key: str, value: Value) -> None:
    """Print a setting's new value, and any environment variable that overrides it."""
    hidden = f", but ${SETTINGS[key].variable} comes before it" if os.environ.get(SETTINGS[key].variable) else ""
    typer.echo(f"{key} is {_as_text(value)} in {config_file()}{hidden}", err=True)


def _as_text(value: Value) -> str:
    if value is None or value == ():
        return "-"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
