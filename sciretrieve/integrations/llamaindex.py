"""An index as a retriever of LlamaIndex, whose package llama-index-core is installed beside."""

from __future__ import annotations

import asyncio
from typing import Unpack

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from ..base.errors import InvalidRequest
from ..options import SearchOptions
from ..options.keywords import SearchKeywords
from ..query.opening import AnyIndex
from .calls import Retriever, about, kept, text_of


class SciretrieveRetriever(Retriever, BaseRetriever):  # type: ignore[misc] # whose package need not be installed
    """Gives the papers of an index as nodes: title and abstract as text, everything else, with rank and score, as metadata.

    LlamaIndex calls a retriever with a query alone: `k` and filters are given when it is made. A query's `embedding` comes from another
    model than the index's, and is not used.
    """

    def __init__(self, index: AnyIndex, k: int = 10, options: SearchOptions = SearchOptions(), **changes: Unpack[SearchKeywords]) -> None:
        """Retrieve `k` papers of an index for each query, with the given options and further fields of them by name.

        Raises InvalidRequest for unknown options, or invalid values.
        """
        self.__dict__.update(kept(index, k, options, changes))
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if query_bundle.custom_embedding_strs not in (None, [query_bundle.query_str]) or query_bundle.image_path is not None:
            raise InvalidRequest("an index is searched by `query_str`; leave out `custom_embedding_strs` and `image_path`")
        hits = self.hits(query_bundle.query_str)
        return [NodeWithScore(node=TextNode(id_=hit.name, text=text_of(hit.paper), metadata=about(hit)), score=hit.score) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
