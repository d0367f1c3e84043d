"""An index as a retriever of LangChain, whose package langchain-core is installed beside."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableSerializable, run_in_executor
from pydantic import ConfigDict

from ..base.errors import InvalidRequest
from ..options import SearchOptions
from ..options.keywords import SearchKeywords
from ..query.index import Index
from ..query.opening import AnyIndex
from .calls import HELD, Retriever, about, kept, narrowed, text_of


class SciretrieveRetriever(Retriever, BaseRetriever):  # type: ignore[misc] # whose package need not be installed
    """Gives the papers that an index finds: title and abstract as text, all else, with rank and score, as metadata.

    Fields of `SearchOptions` are arguments, too, here and at each call: `invoke("graph networks", k=3, filter="year >= 2018")`. A call's
    filter is one more that papers must pass, and so is a copy's. Unknown names raise `UnknownName`.

    Attributes:
        index: the opened index.
        k: the number of papers.
        options: the search options.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Index
    k: int = 10
    options: Any = SearchOptions()  # pydantic cannot read a class with types for type checkers only

    def __init__(self, index: AnyIndex, k: int = 10, options: SearchOptions = SearchOptions(), **given: Any) -> None:
        """Raises InvalidRequest for unknown options, or invalid values."""
        own = {name: value for name, value in given.items() if name in type(self).model_fields}
        changes: Any = {name: value for name, value in given.items() if name not in own}
        super().__init__(**own, **kept(index, k, options, changes))

    def model_copy(self, *, update: Any = None, deep: bool = False) -> SciretrieveRetriever:  # noqa: ARG002 - an index is not copied
        """A copy of which some attributes, or options by name, differ: it has the filters of both. Raises as making one."""
        changes = dict(update or {})
        options = narrowed(changes.pop("options"), {"filter": self.options.filters}) if "options" in changes else self.options
        return type(self)(**{**vars(self), "options": options, **changes})

    def copy(self, *, update: Any = None, deep: bool = False) -> SciretrieveRetriever:
        """As `model_copy`, by its old name."""
        return self.model_copy(update=update, deep=deep)

    def __deepcopy__(self, memo: object = None) -> SciretrieveRetriever:
        return self.model_copy()

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **given: Any) -> SciretrieveRetriever:
        """As making one: pydantic would drop a filter, which it does not know."""
        return cls(**given)

    def configurable_fields(self, **configured: Any) -> RunnableSerializable[str, list[Document]]:
        """See LangChain. `k` can be configured; InvalidRequest is raised for what would replace a filter."""
        if held := next((name for name in configured if name in HELD - {"k"}), None):
            raise InvalidRequest(f"`{held}` of a retriever is not configured, which would lift its filter; give it with a call")
        return super().configurable_fields(**configured)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> list[Document]:
        hits = self.hits(query, k, **changes)
        return [Document(id=hit.name, page_content=text_of(hit.paper), metadata=about(hit)) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None, **changes: Unpack[SearchKeywords]
    ) -> list[Document]:
        asked = partial(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k, **changes)
        documents: list[Document] = await run_in_executor(None, asked)
        return documents
