"""What the columns of a corpus say of its papers, read with their ids: fields, keywords, whatever is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ...base.errors import InvalidRequest
from ...base.types import Mask
from ...files.schema import letters
from .corpus import Corpus
from .rejections import accepted

FIELD_KEYS = ("display_name", "category", "name", "field")


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a column may say of a paper.

    Attributes:
        about: what it is called in messages.
        names: the columns that it is recognised by, by their letters, best first.
        read: what is made of a column's value; something empty where it says nothing.
    """

    about: str
    names: tuple[str, ...]
    read: Callable[[Any], Any]


def fields_in(value: Any) -> tuple[str, ...]:
    """The fields that a value names, each once: a text, a list, or objects with a name."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value) if value.lstrip()[:1] in ("[", "{") else value.strip()
        except (ValueError, RecursionError):
            parsed = value.strip()
        return tuple(filter(None, (parsed,))) if isinstance(parsed, str) else fields_in(parsed)
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(name for part in value for name in fields_in(part)))
    if isinstance(value, Mapping):
        field = value.get("field")
        inner = field if isinstance(field, Mapping) else value
        return tuple(filter(None, [next((str(inner[key]).strip() for key in FIELD_KEYS if isinstance(inner.get(key), str)), "")]))
    return () if value is None else tuple(filter(None, [str(value).strip()]))


FIELDS = Attribute("fields", ("field", "fieldofstudy", "magfieldofstudy", "fieldsofstudy", "s2fieldsofstudy", "primarytopic"), fields_in)
"""A paper's fields, the main one first; OpenAlex names the field within a topic."""


@dataclass(frozen=True, slots=True)
class AttributedPapers:
    """The papers of a corpus, by row.

    Attributes:
        ids: (n,), in the corpus's order.
        full: which have a title and an abstract, (n,).
        columns: the corpus's columns.
        column: the one that says most of the attribute that was asked for; "" for none.
        values: what it says of each, (n,), something empty or None where it says nothing; empty without a column.
    """

    ids: list[str]
    full: Mask
    columns: list[str]
    column: str
    values: list[Any]


def read_attributed(corpus: Corpus, attribute: Attribute | None, column: str | None, see: Callable[[pa.Table], None]) -> AttributedPapers:
    """Read a corpus once, with what a column of it says of each paper.

    Args:
        corpus: the corpus.
        attribute: what is read of each paper besides.
        column: the column with that; by default the best of those that are recognised by name and say anything.
        see: what else is to be read of each batch.

    Raises:
        InvalidRequest: there are no papers.
    """
    ids: list[str] = []
    full: list[bool] = []
    found: dict[str, list[Any]] = {}
    columns: dict[str, None] = {}
    for table in accepted(corpus):
        columns |= dict.fromkeys(table.column_names if len(table) else ())
        for name in table.column_names if attribute is not None else ():
            if attribute is not None and (name == column or (column is None and letters(name) in attribute.names)):
                values = found.setdefault(name, [])
                values += [None] * (len(ids) - len(values))
                values += map(attribute.read, table[name].to_pylist())
        ids += table["id"].to_pylist()
        texts = zip(table["title"].to_pylist(), table["abstract"].to_pylist(), strict=True)
        full += [bool(title.strip() and abstract.strip()) for title, abstract in texts]
        see(table)
    if not ids:
        raise InvalidRequest(f"{corpus.name} holds no papers")
    filled = [name for name, values in found.items() if any(value not in (None, ()) for value in values)]
    if attribute is None or not filled:
        return AttributedPapers(ids, np.array(full), list(columns), "", [])
    best = min(filled, key=lambda name: attribute.names.index(letters(name)) if column is None else 0)
    return AttributedPapers(ids, np.array(full), list(columns), best, found[best] + [None] * (len(ids) - len(found[best])))
