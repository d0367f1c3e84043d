"""Shared by the retrievers of other libraries: what they are made with, options per call, and the text and metadata of a hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Unpack

from ..base.choices import check_count
from ..base.errors import InvalidRequest
from ..base.types import Hit, Paper
from ..base.wording import shortened
from ..options import SearchOptions, changed
from ..options.keywords import SearchKeywords
from ..query.index import Index
from ..query.opening import AnyIndex, open_index

HELD = {"index", "k", "options", *(field.name for field in fields(SearchOptions))}
"""What a retriever is made with, and keeps."""


class Retriever:
    """An index, and how it is searched: fixed for good, since a retriever that was made for one user's papers is handed on.

    Attributes:
        index: the opened index.
        k: the number of papers.
        options: the search options.
    """

    index: Index
    k: int
    options: SearchOptions

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises InvalidRequest for what it was made with, so that no filter is lifted."""
        if name in HELD:
            raise InvalidRequest(f"`{name}` of a retriever does not change; make another retriever, or give it with a call")
        super().__setattr__(name, value)

    def hits(self, query: str, k: int | None = None, **changes: Unpack[SearchKeywords]) -> Sequence[Hit]:
        """The papers that a call finds. Raises as `Index.search`, and UnknownName for an unknown option."""
        return self.index.search(query, self.k if k is None else k, narrowed(self.options, changes)).hits


def kept(index: AnyIndex, k: int, options: SearchOptions, changes: SearchKeywords) -> dict[str, Any]:
    """What a retriever is made with, by its attributes' names. Raises InvalidRequest for invalid values and unknown options, and as
    `open_index` for an index that is given by folder or name."""
    check_count(k)
    narrowed_options = narrowed(options, changes)
    return {"index": index if isinstance(index, Index) else open_index(index), "k": k, "options": narrowed_options}


def narrowed(options: SearchOptions, changes: SearchKeywords) -> SearchOptions:
    """`options` with other values for some fields. Filters, `since` and `until` of both apply: no call lifts a filter.

    Raises UnknownName for an unknown field, InvalidRequest for an invalid value.
    """
    if not isinstance(options, SearchOptions):
        raise InvalidRequest(f"`options` are `sr.SearchOptions`, not {shortened(options)}")
    call_options = changed(replace(options, filter=None, since=None, until=None), changes)
    return replace(call_options, filter=(*options.filters, *call_options.filters), since=None, until=None)


def text_of(paper: Paper) -> str:
    """Title and abstract, with an empty line between them."""
    return "\n\n".join(part for part in (paper.title, paper.abstract) if part)


def about(hit: Hit) -> dict[str, Any]:
    """All fields of a hit except its abstract, see `Hit.to_dict`, as plain JSON values."""
    return {name: value for name, value in hit.to_dict().items() if name != "abstract"}
