"""Numbers in words, and safe display of foreign texts."""

from __future__ import annotations

import json
import math
import re
import reprlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

CONTROLS = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters, which terminals obey: all but tabs and line ends."""
OBEYED = re.compile(rf"{CONTROLS.pattern}|\r|[\u202a-\u202e\u2066-\u2069]")
"""The same with all carriage returns, and with characters that change the writing direction."""
BREAKS = re.compile(r"[^\S\xa0]+")
"""Blanks at which a line may be broken."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: 1 paper, 1,200 papers, 2 queries."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def shortened(value: object) -> str:
    """A foreign value in a message: its `repr`, cut to a few words on one line."""
    return " ".join(reprlib.repr(value).split())


def shortlist(names: Sequence[str], count: int) -> str:
    """The names, followed by an ellipsis if `count` is greater: a, b, c, …"""
    return ", ".join(names) + (", …" if count > len(names) else "")


def enumerated(names: Sequence[str]) -> str:
    """Names in a sentence: a; a and b; a, b and c."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def duration_text(seconds: float) -> str:
    """A duration: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, remaining_seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {remaining_seconds} s" if minutes else f"{remaining_seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


def size_text(size: int) -> str:
    """A size: 812 B, 3.2 MB, 1.4 GB."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def columns(text: str) -> int:
    """Width of a text in columns: wide characters count twice, combining ones not at all."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a text to lines of at most `width` columns, between words, or within a longer word such as a title without blanks."""
    lines = [""]
    for word in filter(None, BREAKS.split(text)):
        if lines[-1] and columns(lines[-1]) + 1 + columns(word) <= width:
            lines[-1] += f" {word}"
            continue
        if lines[-1]:
            lines.append("")
        for char in word:
            if columns(lines[-1] + char) > width:
                lines.append("")
            lines[-1] += char
    return lines


def without_controls(text: str) -> str:
    """Replace control characters: by a blank if they are white space, else by a replacement character."""
    return CONTROLS.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def printable(text: str) -> str:
    """Replace every character that a terminal would obey by a replacement character."""
    return OBEYED.sub("\ufffd", text)


def plain(value: Any) -> Any:
    """`value` for JSON output: dates and bytes become text, NaN and infinity null, results of this package what their `to_dict` gives."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return plain(value.tolist()) if hasattr(value, "tolist") else str(value)  # NumPy's arrays and numbers


def as_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON with unescaped text, except control characters."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # most texts have none, and this test takes a third of the time
    return text if text.isprintable() else escaped(text)


def escaped(text: str) -> str:
    """JSON with its control characters escaped."""
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def cell(value: Any) -> Any:
    """A plain value as a table cell: lists of texts joined by semicolons, other lists and objects as JSON."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "; ".join(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
