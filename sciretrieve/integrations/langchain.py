"""An index as a retriever of LangChain. Needs the extra `langchain`."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from pydantic import ConfigDict

from ..options import SearchOptions
from ..options.keywords import SearchKeywords
from ..query.index import Index
from .calls import about, narrowed, text_of


class SciretrieveRetriever(BaseRetriever):  # type: ignore[misc] # whose package need not be installed
    """Gives the papers that an index finds: title and abstract as text, all else, with rank and score, as metadata.

    Fields of `SearchOptions` are arguments, too, here and at each call: `invoke("graph networks", k=3, filter="year >= 2018")`. A call's
    filter is one more that papers must pass. Unknown names raise `UnknownName`.

    Attributes:
        index: the opened index.
        k: the number of papers.
        options: the search options.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Index
    k: int = 10
    options: Any = SearchOptions()  # pydantic cannot read a class with types for type checkers only

    def __init__(self, **given: Any) -> None:
        """Raises InvalidRequest for unknown options, or invalid values."""
        own = {name: value for name, value in given.items() if name in type(self).model_fields}
        changes: Any = {name: value for name, value in given.items() if name not in own}
        super().__init__(**{**own, "options": narrowed(own.get("options", SearchOptions()), changes)})

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> list[Document]:
        hits = self.index.search(query, self.k if k is None else k, narrowed(self.options, changes)).hits
        return [Document(id=hit.id, page_content=text_of(hit.paper), metadata=about(hit)) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None, **changes: Unpack[SearchKeywords]
    ) -> list[Document]:
        asked = partial(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k, **changes)
        documents: list[Document] = await run_in_executor(None, asked)
        return documents
