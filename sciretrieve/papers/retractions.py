"""Which papers were retracted, as far as their records say so.

- OpenAlex: `is_retracted` is true.
- PubMed: a publication type is "Retracted Publication" (NLM, "Publication Types"). Zotero: a tag says so.
- Crossref: `updated-by` has a retraction; a notice has one in `update-to`, with the DOI of what it retracts (Crossref, "Retractions,
  corrections, and other updates").
- Titles that publishers change: "RETRACTED: …", "… (Retracted Article. See vol. 1, pg. 2)".

A paper about retractions, or a notice of one, is not retracted itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.types import Mask
from ..files.schema import letters
from . import identifiers

FLAGS = ("isretracted", "retracted")
KINDS = ("type", "types", "publicationtype", "publicationtypes", "documenttype", "doctype", "tags", "manualtags", "automatictags")
"""Columns, by their letters, with kinds of publication, or with tags."""
RETRACTED = frozenset({"retracted", "retractedpublication", "retractedarticle", "retractedpaper"})
UPDATED_BY, UPDATE_TO = "updatedby", "updateto"
TITLE = (
    r"(?i)^\W*retracted(?: article| paper| publication| chapter)?\s*(?:[:\])]|[-\x{2013}\x{2014}] )"
    r"|\(retracted(?: article\b[^)]*)?\)\W*$"
)


def retraction_columns(schema: pa.Schema) -> list[str]:
    """The columns that may say that a paper was retracted."""
    return [name for name in schema.names if letters(name) in {*SAYS, UPDATE_TO}]


def retracted(table: pa.Table) -> Mask:
    """Which papers of a table, with titles, say that they were retracted, (n,)."""
    is_retracted: Mask = pc.match_substring_regex(table["title"], TITLE).to_numpy().astype(bool)
    for name in table.column_names:
        if (says := SAYS.get(letters(name))) is not None:
            is_retracted |= np.array([value is not None and says(value) for value in table[name].to_pylist()], bool)
    return is_retracted


def retracted_by_notices(table: pa.Table) -> Iterator[str]:
    """The DOIs, in their one form, of the papers that a table's notices retract."""
    for name in table.column_names:
        if letters(name) == UPDATE_TO:
            for update in (update for value in table[name].to_pylist() for update in _retractions(value)):
                doi = identifiers.doi(str(update.get("DOI") or update.get("doi") or ""))
                if doi is not None:
                    yield doi


def _is_true(value: Any) -> bool:
    return value is True or str(value).strip().lower() in ("true", "yes", "1", "1.0")


def _is_said(value: Any) -> bool:
    texts = value if isinstance(value, list) else re.split(r"[;|,]", value) if isinstance(value, str) else ()
    return any(isinstance(text, str) and letters(text) in RETRACTED for text in texts)


def _has_retraction(value: Any) -> bool:
    return any(True for _ in _retractions(value))


def _retractions(value: Any) -> Iterator[dict[str, Any]]:
    """The updates of a list, as objects or as JSON, that are retractions."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    for update in value if isinstance(value, list) else [value]:
        if isinstance(update, dict) and str(update.get("type", "")).lower() == "retraction":
            yield update


SAYS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(FLAGS, _is_true),
    **dict.fromkeys(KINDS, _is_said),
    UPDATED_BY: _has_retraction,
}
"""Columns, by their letters -> whether a value says that its paper was retracted."""
