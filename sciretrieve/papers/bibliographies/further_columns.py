"""A paper's further columns by their letters, whatever a source calls them: "Start Page", "start_page" and "StartPage" are one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...base.types import Paper
from ...files.schema import letters
from ..printed import printed

NESTED = ("biblio", "journal")
"""Objects in which OpenAlex and Semantic Scholar have such columns."""


def columns_of(paper: Paper) -> dict[str, Any]:
    """A paper's further columns by their letters only; those within `NESTED` yield to the others."""
    columns: dict[str, Any] = {}
    for name, value in [*paper.extra.items(), *_nested(paper)]:
        if value is not None and value != "":
            columns.setdefault(letters(name), value)
    return columns


def first_text(columns: Mapping[str, Any], names: Iterable[str]) -> str:
    """The text of the first of some columns that has one; "" if none has."""
    return next((text for name in names if (text := text_of(columns.get(name)))), "")


def text_of(value: Any) -> str:
    """A text, a number, or a list of such as a text in one line; "" of anything else."""
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(text_of, value)))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return line(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def line(text: str) -> str:
    """A text in one line, with single blanks."""
    return " ".join(text.split())


def _nested(paper: Paper) -> Iterator[tuple[str, Any]]:
    for name in NESTED:
        value = paper.extra.get(name)
        value = printed(value) if isinstance(value, str) else value
        if isinstance(value, Mapping):
            yield from value.items()
