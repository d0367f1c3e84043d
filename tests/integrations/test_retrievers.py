"""Retrievers of other libraries, with these libraries themselves, give what the index gives."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import sciretrieve as sr


def expected(index: sr.Index) -> list[sr.Hit]:
    hits = index.search("graph networks", 4, filter="year >= 2010", mode="bm25").hits
    assert len(hits) == 4
    return hits


OPTIONS = sr.SearchOptions(filter="year >= 2010", mode="bm25")


def is_of(hit: sr.Hit, text: str, metadata: dict[str, Any]) -> bool:
    assert json.loads(json.dumps(metadata)) == {name: value for name, value in hit.to_dict().items() if name != "abstract"}
    return text == f"{hit.paper.title}\n\n{hit.paper.abstract}".strip()


def test_langchain(index: sr.Index) -> None:
    pytest.importorskip("langchain_core", reason="the extra langchain is not installed")
    from sciretrieve.integrations.langchain import SciretrieveRetriever

    retriever = SciretrieveRetriever(index=index, k=4, options=OPTIONS)
    documents = retriever.invoke("graph networks")
    hits = expected(index)
    assert [document.id for document in documents] == [hit.id for hit in hits]
    assert all(is_of(hit, document.page_content, document.metadata) for hit, document in zip(hits, documents, strict=True))
    assert [document.id for document in asyncio.run(retriever.ainvoke("graph networks"))] == [hit.id for hit in hits]


def test_llamaindex(index: sr.Index) -> None:
    pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")
    from sciretrieve.integrations.llamaindex import SciretrieveRetriever

    nodes = SciretrieveRetriever(index, 4, OPTIONS).retrieve("graph networks")
    hits = expected(index)
    assert [(node.node.node_id, node.score) for node in nodes] == [(hit.id, hit.score) for hit in hits]
    assert all(is_of(hit, node.node.text, node.node.metadata) for hit, node in zip(hits, nodes, strict=True))


def test_paperqa(index: sr.Index) -> None:
    paperqa = pytest.importorskip("paperqa", reason="the extra paperqa is not installed")
    from sciretrieve.integrations.paperqa import add_papers

    docs, settings = paperqa.Docs(), paperqa.Settings(embedding="sparse", parsing={"defer_embedding": True})
    papers = [hit.paper for hit in expected(index)]
    assert asyncio.run(add_papers(docs, papers, settings)) == 4
    assert asyncio.run(add_papers(docs, papers[:2], settings)) == 0
    assert set(docs.docs) == {paper.id for paper in papers}
    assert [text.text for text in docs.texts] == [f"{paper.title}\n\n{paper.abstract}".strip() for paper in papers]
    assert all(paper.title in docs.docs[paper.id].citation for paper in papers)
