"""Bulk search: all papers that match a query, in a stable order, a thousand at a time."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...answers.citation_counts import citation_counts
from ...base.characters import typed
from ...base.errors import InvalidRequest
from ...base.types import Rows
from ...files.schema import texts
from ...query.index import Index
from .boolean import translated
from .narrowing import dates

AT_ONCE = 1000
"""Papers per page."""
FIELDS = ("paperId", "publicationDate", "citationCount")
"""The fields to sort by."""
ORDERS = rf"^({'|'.join(FIELDS)})(:(asc|desc)?)?$|^$"
"""The pattern of `sort`."""


@dataclass(frozen=True, slots=True)
class BulkRows:
    """The rows of a page, the number of all papers, and the token of the next page, None at the end."""

    rows: Rows
    total: int
    token: str | None


def page_of(index: Index, query: str, among: Rows | None, sort: str | None, token: str | None) -> BulkRows:
    """A page of the papers that match a query, among the given rows. A token names the last paper of the previous page, so that pages do
    not overlap when papers are added.

    Raises InvalidRequest for an invalid query or order, and for a token of another search.
    """
    field, order = _order(sort)
    rows = index.matching(translated(typed(query)))
    if among is not None:
        rows = np.intersect1d(rows, among, assume_unique=True)
    names = texts(index.snapshot.whole_names(rows))
    places = _sorted(index, rows, names, field, order)
    first = 0
    if token is not None:
        before = pc.index(names, _name(token)).as_py()
        if before < 0:
            raise InvalidRequest("the token belongs to another search, or its paper was removed; ask again without a token")
        first = int(np.flatnonzero(places == before)[0]) + 1
    page = places[first : first + AT_ONCE]
    is_last = first + AT_ONCE >= len(rows)
    return BulkRows(rows[page], len(rows), None if is_last else _token(names[int(page[-1])].as_py()))


def _order(sort: str | None) -> tuple[str, str]:
    """The field to sort by, and the direction."""
    field, _, order = (sort or "paperId").partition(":")
    if field not in FIELDS or order not in ("", "asc", "desc"):
        raise InvalidRequest(f"`sort` is {', '.join(FIELDS)}, with :asc or :desc, not {(sort or '')[:60]!r}")
    return field, order or "asc"


def _sorted(index: Index, rows: Rows, names: pa.StringArray, field: str, order: str) -> npt.NDArray[np.int64]:
    """The places of papers in order; papers without a value come last, and equal ones by id."""
    columns = {"name": names}
    keys = [("name", "ascending" if field != "paperId" or order == "asc" else "descending")]
    if field != "paperId":
        values = dates(index)[rows] if field == "publicationDate" else citation_counts(index).numbers[rows]
        columns["value"] = pa.array(values, mask=values < (1 if field == "publicationDate" else 0))
        keys.insert(0, ("value", "ascending" if order == "asc" else "descending"))
    places: npt.NDArray[np.int64] = pc.sort_indices(pa.table(columns), sort_keys=keys).to_numpy().astype(np.int64)
    return places


def _token(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _name(token: str) -> str:
    """The last paper of the previous page. Raises InvalidRequest."""
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise InvalidRequest("the token is not from this service; send it unchanged, or leave it out") from error
