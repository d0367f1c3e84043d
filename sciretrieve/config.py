"""The user's settings: from an environment variable, else the config file, else the default.

The file is a flat TOML file in the user's config directory. Options of a command override all of these.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from platformdirs import user_cache_path, user_config_path, user_data_path

from .base.choices import DEFAULT_ENCODER, FORMATS
from .base.errors import InvalidRequest, UnknownName

Value: TypeAlias = str | int | tuple[str, ...] | None
Kind: TypeAlias = Literal["text", "count", "choice", "index", "folder", "folders"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, its kind and its default.

    Attributes:
        kind: "text"; "count", a whole number from 1; "choice" of `choices`; "index", the name of an index or its folder; a "folder", or
            several "folders".
        default: gives the value of an unset setting.
        about: its purpose, in a line.
    """

    key: str
    kind: Kind
    default: Callable[[], Value]
    about: str
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return f"SCIRETRIEVE_{self.key.upper()}"


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting's value and its origin: "default", "environment" or "file". `place` names the variable, or the file and line."""

    value: Value
    origin: Literal["default", "environment", "file"]
    place: str = ""


SETTINGS: Mapping[str, Setting] = {
    each.key: each
    for each in (
        Setting("index", "index", lambda: None, "the index to use if none is named: its name or folder"),
        Setting("indexes", "folders", lambda: (), "further folders with indexes, which have names everywhere"),
        Setting("encoder", "text", lambda: DEFAULT_ENCODER, "what `index` and `encode` make vectors with"),
        Setting("k", "count", lambda: 10, "how many papers `search` and `similar` answer with"),
        Setting("format", "choice", lambda: "table", "how `search` and `similar` print them", FORMATS),
        Setting(
            "cache", "folder", lambda: str(user_cache_path("sciretrieve", appauthor=False)), "compiled encoders and what is remembered"
        ),
        Setting(
            "models", "folder", lambda: str(Path(str(setting("cache").value)) / "models"), "encoders' weights that are put there by hand"
        ),
        Setting("data", "folder", lambda: str(user_data_path("sciretrieve", appauthor=False)), "saved searches"),
    )
}


def config_file() -> Path:
    """The config file, which need not exist: $SCIRETRIEVE_CONFIG, else config.toml in the user's config directory."""
    if path := os.environ.get("SCIRETRIEVE_CONFIG"):
        return Path(path)
    return user_config_path("sciretrieve", appauthor=False) / "config.toml"


def home() -> Path:
    """The user's home directory, with links followed; the root if the system knows none, as in some containers."""
    try:
        return Path.home().resolve()
    except RuntimeError:
        return Path("/")


def setting(key: str) -> SettingValue:
    """The value of a setting, and its origin.

    Raises:
        InvalidRequest: the value is invalid, or the config file cannot be read. The message names the variable, or the file and line.
    """
    known = SETTINGS[key]
    if text := os.environ.get(known.variable):
        place = f"${known.variable}"
        return SettingValue(
            _checked(known, _parsed(known, text.split(os.pathsep) if known.kind == "folders" else [text]), place), "environment", place
        )
    path = config_file()
    if key in (values := _read(path)):
        value, line = values[key]
        return SettingValue(value, "file", f"{path}, line {line}")
    return SettingValue(known.default(), "default")


def parsed(key: str, texts: list[str]) -> Value:
    """The value that a user typed for a setting; relative folders become absolute. Raises InvalidRequest."""
    known = SETTINGS.get(key)
    if known is None:
        raise UnknownName("setting", key, SETTINGS)
    if len(texts) > 1 and known.kind != "folders":
        raise InvalidRequest(f"{key} takes one value, not {len(texts)}")
    if known.kind in ("folder", "folders"):
        texts = [str(Path(text).absolute()) for text in texts]
    return _checked(known, _parsed(known, texts), "")


def with_setting(text: str, key: str, value: Value) -> str:
    """The text of a config file with a setting changed, or removed for None. Everything else stays, comments included."""
    lines = text.split("\n")
    new_lines = [] if value is None else [f"{key} = {json.dumps(value, ensure_ascii=False)}"]
    for first, last, values in _statements(text):
        if key in values:
            return "\n".join((*lines[: first - 1], *new_lines, *lines[last:]))
    ending = "" if not text or text.endswith("\n") else "\n"
    return text + ending + "".join(line + "\n" for line in new_lines)


def check(text: str, path: Path) -> dict[str, tuple[Value, int]]:
    """The settings in a config file's text, each with its line. Raises InvalidRequest, which names `path` and the line."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = re.sub(r" ?\(at (?:end of document|line \d+, column \d+)\)", "", str(error))
        where = re.search(r"line (\d+)", str(error))
        line = int(where[1]) if where else text.rstrip().count("\n") + 1
        raise InvalidRequest(f'{path}, line {line}: {reason[:1].lower() + reason[1:]}; a line is: key = "value"') from error
    found: dict[str, tuple[Value, int]] = {}
    for line, _, values in _statements(text):
        for key, value in values.items():
            place = f"{path}, line {line}"
            if key not in SETTINGS:
                raise InvalidRequest(f"{place}: {UnknownName('setting', key, SETTINGS)}")
            found[key] = _checked(SETTINGS[key], tuple(value) if isinstance(value, list) else value, place), line
    return found


def _read(path: Path) -> dict[str, tuple[Value, int]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidRequest(f"{path}, line {line}: the file is not in UTF-8") from error
    return check(text, path)


def _statements(text: str) -> Iterator[tuple[int, int, dict[str, object]]]:
    """The statements of a TOML text, as far as it can be read: first line, last line, counted from 1, and the values.

    A statement of several lines, such as a list, ends with the first line that makes it readable.
    """
    lines = text.split("\n")
    first = 0
    while first < len(lines):
        for end in range(first + 1, len(lines) + 1):
            try:
                values = tomllib.loads("\n".join(lines[first:end]) + "\n")
            except tomllib.TOMLDecodeError:
                continue
            if values:
                yield first + 1, end, values
            first = end
            break


def _parsed(known: Setting, texts: list[str]) -> object:
    if known.kind == "folders":
        return tuple(text for text in texts if text)
    if known.kind == "count" and texts[0].isdecimal():
        return int(texts[0])
    return texts[0]


def _checked(known: Setting, value: object, place: str) -> Value:
    """The value, if it is valid for the setting. Folders in the file must be absolute, since the file holds wherever one works."""
    kind, at = known.kind, f"{place}: " if place else ""
    texts = value if isinstance(value, tuple) else (value,)
    if kind == "count":
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        raise InvalidRequest(f"{at}{known.key} is a whole number from 1, not {_shown(value)}")
    if (kind == "folders") != isinstance(value, tuple) or not all(isinstance(text, str) and text and text.isprintable() for text in texts):
        what = "a list of folders" if kind == "folders" else "a text"
        raise InvalidRequest(f"{at}{known.key} is {what}, not {_shown(value)}")
    if kind == "choice" and value not in known.choices:
        raise InvalidRequest(f"{at}{UnknownName(known.key, str(value), known.choices)}")
    paths = [Path(os.path.expanduser(str(text))) for text in texts]  # noqa: PTH111 (Path.expanduser fails for unknown users)
    if kind in ("folder", "folders") or (kind == "index" and any(mark in str(value) for mark in {os.sep, os.altsep or os.sep})):
        if not place.startswith("$") and (relative := next((path for path in paths if not path.is_absolute()), None)):
            raise InvalidRequest(f"{at}{known.key} must not depend on the current folder: write the whole path of {relative}, from / or ~")
        return tuple(map(str, paths)) if kind == "folders" else str(paths[0])
    return str(value)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def cache_directory() -> Path:
    """The cache's folder: the setting `cache`."""
    return Path(str(setting("cache").value))


def data_directory() -> Path:
    """The folder of the user's saved data: the setting `data`."""
    return Path(str(setting("data").value))
