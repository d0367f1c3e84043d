"""An index as a component of Haystack, whose package haystack-ai is installed beside, and Haystack's filters in our language."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Unpack

from haystack import Document, component, default_from_dict, default_to_dict

from ..base.errors import InvalidRequest
from ..base.wording import shortened
from ..options import SearchOptions
from ..options.keywords import SearchKeywords
from ..query.narrowing.combining import combined
from ..query.narrowing.fields import Field, FilterText, field
from ..query.narrowing.filters import Expression
from ..query.opening import AnyIndex, open_index, open_many
from .calls import Retriever, about, kept, text_of


@component
class SciretrieveRetriever(Retriever):
    """Gives the papers of an index as documents: title and abstract as content, everything else, with rank and score, as `meta`.

    A pipeline that is written to a file keeps the index's folder and every option.
    """

    def __init__(self, index: AnyIndex, k: int = 10, options: SearchOptions = SearchOptions(), **changes: Unpack[SearchKeywords]) -> None:
        """Retrieve `k` papers of an index for each query, with the given options and further fields of them by name.

        Raises InvalidRequest for unknown options, or invalid values.
        """
        self.__dict__.update(kept(index, k, options, changes))

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, list[Document]]:
        """The documents for a query, best first.

        Args:
            query: a text, which may contain operators.
            filters: Haystack's filters on columns, as `year` or `meta.year`: one more that papers must pass.
            top_k: how many, in place of `k`.

        Raises:
            InvalidRequest: as `Index.search`; for a filter that is none of Haystack's.
        """
        hits = self.hits(query, top_k, filter=None if filters in (None, {}) else filter_of(filters))
        return {"documents": [Document(id=hit.name, content=text_of(hit.paper), meta=about(hit), score=hit.score) for hit in hits]}

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    async def run_async(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, list[Document]]:
        """As `run`, in another thread."""
        return await asyncio.to_thread(self.run, query, filters, top_k)

    def to_dict(self) -> dict[str, Any]:
        """It, for a pipeline's file. Raises InvalidRequest for a reranker, which is an object."""
        if self.options.reranker is not None:
            raise InvalidRequest(
                "a reranker is an object, which no file of a pipeline holds; leave it out, or write the pipeline in Python"
            )
        usual = SearchOptions()
        changed = {one.name: value for one in fields(usual) if (value := getattr(self.options, one.name)) != getattr(usual, one.name)}
        paths = [str(member.path.resolve()) for member in self.index.members]
        return dict(default_to_dict(self, index=paths, k=self.k, **{**changed, "filter": list(map(str, self.options.filters))}))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SciretrieveRetriever:
        """It, from a pipeline's file, with its index opened. Raises as `open_index` and `open_many`."""
        given = data.get("init_parameters", {})
        paths = given.get("index", [])
        index = open_index(paths[0]) if len(paths) == 1 else open_many(paths)
        made: SciretrieveRetriever = default_from_dict(cls, {**data, "init_parameters": {**given, "index": index}})
        return made


def filter_of(given: Mapping[str, Any]) -> FilterText:
    """Haystack's filter in our language. As there, a paper without a value passes `!=` and `not in`.

    Raises InvalidRequest for another form, operator or value.
    """
    try:
        return FilterText(_tree(given))
    except RecursionError as error:
        raise InvalidRequest("the filter nests conditions too deeply; write it flatter") from error


def _tree(given: Any) -> Expression:
    match given:
        case {"field": str(name), "operator": str(operator), "value": value, **others} if not others and operator in COMPARED:
            return COMPARED[operator](field(name.removeprefix("meta.").removeprefix("extra.")), value).expression
        case {"operator": "AND" | "OR" | "NOT" as operator, "conditions": [*conditions], **others} if conditions and not others:
            parts = list(map(_tree, conditions))
            return combined("NOT", [combined("AND", parts)]) if operator == "NOT" else combined(operator, parts)
    raise InvalidRequest(
        f"a filter of Haystack is a dict with `field`, `operator` ({', '.join(COMPARED)}) and `value`, or with `operator` (AND, OR, NOT) "
        f"and `conditions`, not {shortened(given)}"
    )


def _equals(column: Field, value: Any) -> FilterText:
    return column.is_null() if value is None else column == value


COMPARED: Mapping[str, Callable[[Field, Any], FilterText]] = {
    "==": _equals,
    "!=": lambda column, value: ~_equals(column, value),
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    "in": Field.isin,
    "not in": lambda column, values: ~column.isin(values),
}
"""Haystack's comparisons."""
