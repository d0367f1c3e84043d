"""Retrievers of other libraries, with these libraries themselves, give what the index gives."""

import asyncio
import json
from collections.abc import Callable
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
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from sciretrieve.integrations.langchain import SciretrieveRetriever

    retriever = SciretrieveRetriever(index=index, k=4, options=OPTIONS)
    documents = retriever.invoke("graph networks")
    hits = expected(index)
    assert [document.id for document in documents] == [hit.id for hit in hits]
    assert all(is_of(hit, document.page_content, document.metadata) for hit, document in zip(hits, documents, strict=True))
    assert [document.id for document in asyncio.run(retriever.ainvoke("graph networks"))] == [hit.id for hit in hits]


@pytest.fixture
def asked_as(index: sr.Index) -> Callable[..., Callable[..., list[str | None]]]:
    """Makes LangChain's retriever with options, and gives what each way to call it answers with: the same, or it fails here."""
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from sciretrieve.integrations.langchain import SciretrieveRetriever

    def made(**options: Any) -> Callable[..., list[str | None]]:
        retriever = SciretrieveRetriever(index=index, **options)

        def asked(**changes: Any) -> list[str | None]:
            answers = [
                retriever.invoke("graph networks", **changes),
                retriever.bind(**changes).invoke("graph networks"),
                *retriever.batch(["graph networks"], **changes),
                asyncio.run(retriever.ainvoke("graph networks", **changes)),
            ]
            (ids,) = {tuple(document.id for document in answer) for answer in answers}
            return list(ids)

        return asked

    return made


def test_langchain_obeys_what_it_is_given_when_made_and_when_called(
    index: sr.Index, asked_as: Callable[..., Callable[..., list[str | None]]]
) -> None:
    def ids(k: int, **options: Any) -> list[str]:
        return [hit.id for hit in index.search("graph networks", k, mode="bm25", **options).hits]

    plain = asked_as(mode="bm25")
    assert plain() == ids(10)
    assert plain(k=1) == ids(1)
    assert plain(k=3, filter="year >= 2015") == ids(3, filter="year >= 2015")
    assert plain(since=2015, until=2018) == ids(10, filter=["year >= 2015", "year <= 2018"])
    assert plain(filter=sr.field("year") < 2005, group=False) == ids(10, filter="year < 2005", group=False)
    bound = asked_as(k=4, filter="year >= 2010", options=sr.SearchOptions(mode="bm25", until=2019))
    within = ["year >= 2010", "year <= 2019"]
    assert bound() == ids(4, filter=within)
    assert bound(k=2, filter=None, until=None) == ids(2, filter=within)  # no call lifts the filter that a retriever was made with
    assert bound(filter=["year < 2015"]) == ids(4, filter=[*within, "year < 2015"])
    assert bound(filter="year < 2010", since=1990) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fliter": "year >= 2010"}, "unknown option 'fliter'; did you mean 'filter'"),
        ({"where": "year >= 2010"}, "unknown option 'where'"),
        ({"search_kwargs": {"k": 1}}, "unknown option 'search_kwargs'"),
        ({"filter": 3}, "filter"),
        ({"filter": {"year": 2010}}, "filter"),
        ({"filter": "yeer > 2010"}, "unknown column in the filter 'yeer'"),
        ({"filter": "year >"}, "cannot be read"),
        ({"k": 0}, "k must be a whole number, at least 1, not 0"),
        ({"mode": "words"}, "unknown mode 'words'"),
    ],
)
def test_langchain_refuses_what_it_cannot_obey(
    options: dict[str, Any], words: str, asked_as: Callable[..., Callable[..., list[str | None]]]
) -> None:
    plain = asked_as()
    with pytest.raises(sr.SciretrieveError, match=words):
        plain(**options)
    with pytest.raises(sr.SciretrieveError, match=words):
        asked_as(**options)()


def test_llamaindex(index: sr.Index) -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from sciretrieve.integrations.llamaindex import SciretrieveRetriever

    nodes = SciretrieveRetriever(index, 4, OPTIONS).retrieve("graph networks")
    hits = expected(index)
    assert [(node.node.node_id, node.score) for node in nodes] == [(hit.id, hit.score) for hit in hits]
    assert all(is_of(hit, node.node.text, node.node.metadata) for hit, node in zip(hits, nodes, strict=True))
    named = SciretrieveRetriever(index, 4, filter="year >= 2010", options=sr.SearchOptions(mode="bm25"))
    assert [node.node.node_id for node in asyncio.run(named.aretrieve("graph networks"))] == [hit.id for hit in hits]
    with pytest.raises(sr.SciretrieveError, match="unknown option 'fliter'"):
        SciretrieveRetriever(index, fliter="year >= 2010")  # type: ignore[call-arg]


def test_paperqa(index: sr.Index) -> None:
    paperqa = pytest.importorskip("paperqa", reason="paper-qa is not installed")
    from sciretrieve.integrations.paperqa import add_papers

    docs, settings = paperqa.Docs(), paperqa.Settings(embedding="sparse", parsing={"defer_embedding": True})
    papers = [hit.paper for hit in expected(index)]
    assert asyncio.run(add_papers(docs, papers, settings)) == 4
    assert asyncio.run(add_papers(docs, papers[:2], settings)) == 0
    with pytest.raises(sr.SciretrieveError, match="not of type Hit"):
        asyncio.run(add_papers(docs, expected(index), settings))  # type: ignore[arg-type]
    assert set(docs.docs) == {paper.id for paper in papers}
    assert [text.text for text in docs.texts] == [f"{paper.title}\n\n{paper.abstract}".strip() for paper in papers]
    assert all(paper.title in docs.docs[paper.id].citation for paper in papers)
