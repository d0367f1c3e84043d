"""An index as a retriever of LlamaIndex. Needs the extra `llamaindex`."""

from __future__ import annotations

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from ..options import SearchOptions
from ..query.index import Index
from .texts import about, text_of


class SciretrieveRetriever(BaseRetriever):  # type: ignore[misc] # whose package need not be installed
    """Gives the papers that an index finds as nodes: title and abstract as text, all else, with rank and score, as metadata."""

    def __init__(self, index: Index, k: int = 10, options: SearchOptions = SearchOptions()) -> None:
        """Retrieve `k` papers of an opened index for each query, searched as `options` say."""
        super().__init__()
        self._index, self._k, self._options = index, k, options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._index.search(query_bundle.query_str, self._k, self._options).hits
        return [NodeWithScore(node=TextNode(id_=hit.id, text=text_of(hit.paper), metadata=about(hit)), score=hit.score) for hit in hits]
