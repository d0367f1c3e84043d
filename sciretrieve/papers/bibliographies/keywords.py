"""A paper's keywords, and lists of keywords as one text, which is what BibTeX and CSL have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...base.types import Paper
from ..printed import printed
from .further_columns import columns_of

COLUMNS = ("keywords", "keyword", "authorkeywords", "tags")
"""Columns that may hold keywords, by their letters alone, best first."""
NAMES = ("display_name", "name", "keyword")
"""What a keyword's text is called where a source has objects, such as OpenAlex."""


def keywords_of(paper: Paper) -> list[str]:
    """The keywords of a paper in their order, each once; none holds a semicolon."""
    columns = columns_of(paper)
    return next(filter(None, (_read(columns.get(name)) for name in COLUMNS)), [])


def listed(text: str) -> list[str]:
    """The keywords of a text: semicolons are between them if it has any, else commas."""
    parts = (" ".join(part.split()) for part in text.split(";" if ";" in text else ","))
    return list(dict.fromkeys(filter(None, parts)))


def joined(keywords: Sequence[str]) -> str:
    """Keywords without semicolons as a text that `listed` reads: commas between them, or semicolons where one of them has a comma.

    >>> joined(["graphs", "trees"]), joined(["graphs, directed", "trees"]), joined(["graphs, directed"])
    ('graphs, trees', 'graphs, directed; trees', 'graphs, directed;')
    """
    if not any("," in keyword for keyword in keywords):
        return ", ".join(keywords)
    return "; ".join(keywords) + ";" * (len(keywords) == 1)


def _read(value: Any) -> list[str]:
    if isinstance(value, str):
        items = printed(value)
        return listed(value) if items is None else _read(items)
    items = value if isinstance(value, list | tuple) else []
    texts = (next((item[name] for name in NAMES if item.get(name)), None) if isinstance(item, Mapping) else item for item in items)
    # a semicolon keeps a comma from being taken for an end
    return list(dict.fromkeys(keyword for text in texts if isinstance(text, str) for keyword in listed(f"{text};")))
