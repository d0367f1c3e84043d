"""An index as a retriever of LangChain. Needs the extra `langchain`."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from ..options import SearchOptions
from ..query.index import Index
from .texts import about, text_of


class SciretrieveRetriever(BaseRetriever):  # type: ignore[misc] # whose package need not be installed
    """Gives the papers that an index finds: title and abstract as text, all else, with rank and score, as metadata.

    Attributes:
        index: the opened index.
        k: how many papers are wanted.
        options: how to search.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: Index
    k: int = 10
    options: Any = SearchOptions()  # pydantic cannot look into a class some of whose types only type checkers know

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        hits = self.index.search(query, self.k, self.options).hits
        return [Document(id=hit.id, page_content=text_of(hit.paper), metadata=about(hit)) for hit in hits]
