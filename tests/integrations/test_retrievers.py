"""Retrievers of other libraries, with these libraries themselves, give what the index gives."""

import asyncio
import copy
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
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


def test_an_index_may_be_given_by_its_folder(index: sr.Index) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from sciretrieve.integrations.langchain import SciretrieveRetriever

    documents = SciretrieveRetriever(index.path, k=4, options=OPTIONS).invoke("graph networks")
    assert [document.id for document in documents] == [hit.id for hit in expected(index)]
    with pytest.raises(sr.NoSuchIndex):
        SciretrieveRetriever("nowhere")


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


ALL = sr.SearchOptions(mode="bm25")
"""Options without a filter."""


def lifted(retriever: Any) -> list[Callable[[], Any]]:
    """Ways to ask LangChain's retriever as if it had no filter, each of which gives documents, or raises."""
    from langchain_core.load import dumpd
    from langchain_core.runnables import ConfigurableField

    def configured(**fields: Any) -> Any:
        many = retriever.configurable_fields(**{name: ConfigurableField(id=name) for name in fields})
        return many.with_config(configurable=fields).invoke("graph networks")

    def attributes(name: str, value: Any) -> Any:
        copied = retriever.model_copy()
        setattr(copied, name, value)
        return copied.invoke("graph networks")

    return [
        lambda: retriever.invoke("graph networks", filter=None),
        lambda: retriever.invoke("graph networks", options=ALL),
        lambda: retriever.bind(filter=None, since=None).with_config(tags=["x"], configurable={"options": ALL}).invoke("graph networks"),
        lambda: retriever.bind(options=ALL).invoke("graph networks"),
        lambda: retriever.batch(["graph networks"], [{"configurable": {"options": ALL, "filter": None}}], filter=None)[0],
        lambda: configured(k=3),
        lambda: configured(options=ALL),
        lambda: configured(filter=None),
        lambda: attributes("options", ALL),
        lambda: attributes("filter", None),
        lambda: retriever.model_copy(update={"options": ALL}).invoke("graph networks"),
        lambda: retriever.model_copy(update={"filter": None, "k": 2}, deep=True).invoke("graph networks"),
        lambda: retriever.copy(update={"options": ALL}).invoke("graph networks"),
        lambda: type(retriever)(**vars(retriever)).invoke("graph networks"),
        lambda: (
            type(retriever)
            .model_construct(index=retriever.index, k=retriever.k, filter="year >= 2010", mode="bm25")
            .invoke("graph networks")
        ),
        lambda: copy.deepcopy(retriever).invoke("graph networks"),
        lambda: type(retriever)(**retriever.model_dump()).invoke("graph networks"),
        lambda: type(retriever)(**dumpd(retriever)).invoke("graph networks"),
        lambda: retriever.with_retry().invoke("graph networks", filter=[]),
    ]


@pytest.mark.parametrize("number", range(19))
def test_no_way_to_call_langchains_retriever_lifts_its_filter(number: int, index: sr.Index) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from sciretrieve.integrations.langchain import SciretrieveRetriever

    given = ["year >= 2010"]
    retriever = SciretrieveRetriever(index=index, k=4, filter=given, options=ALL)
    given.clear()
    with suppress(sr.SciretrieveError, ValueError, TypeError):
        documents = lifted(retriever)[number]()
        assert [document.id for document in documents] == [hit.id for hit in expected(index)][: len(documents)]
        assert len(documents) > 1
    assert [document.id for document in retriever.invoke("graph networks")] == [hit.id for hit in expected(index)]


def of_two_indexes(index: sr.Index, folder: Path) -> sr.Index:
    """The index, and another one that has a paper with the id of its best."""
    (best,) = index.search("graph networks", 1, ALL).hits
    sr.build([{"id": best.id, "title": "Graph networks", "year": 2011}], folder / "lab", dense="none", progress=False).close()
    return sr.open_many([index, folder / "lab"])


def test_langchain_over_several_indexes(index: sr.Index, tmp_path: Path) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from sciretrieve.integrations.langchain import SciretrieveRetriever

    with of_two_indexes(index, tmp_path) as both:
        documents = SciretrieveRetriever(both, 4, OPTIONS).invoke("graph networks", filter="year < 2016")
        hits = both.search("graph networks", 4, mode="bm25", filter=["year >= 2010", "year < 2016"]).hits
        assert [document.id for document in documents] == [hit.name for hit in hits]
        assert "lab" in {document.metadata["index"] for document in documents}


def test_llamaindex(index: sr.Index, tmp_path: Path) -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from llama_index.core.schema import QueryBundle

    from sciretrieve.integrations.llamaindex import SciretrieveRetriever

    retriever = SciretrieveRetriever(index, 4, OPTIONS)
    nodes = retriever.retrieve("graph networks")
    hits = expected(index)
    assert [(node.node.node_id, node.score) for node in nodes] == [(hit.id, hit.score) for hit in hits]
    assert all(is_of(hit, node.node.text, node.node.metadata) for hit, node in zip(hits, nodes, strict=True))
    named = SciretrieveRetriever(index, 4, filter="year >= 2010", options=ALL)
    assert [node.node.node_id for node in asyncio.run(named.aretrieve("graph networks"))] == [hit.id for hit in hits]
    for name, value in {"options": ALL, "filter": None, "k": 9, "index": index}.items():
        with pytest.raises(sr.InvalidRequest, match="of a retriever does not change"):
            setattr(named, name, value)
    with pytest.raises(sr.InvalidRequest, match="leave out `custom_embedding_strs`"):
        retriever.retrieve(QueryBundle("graph networks", custom_embedding_strs=["stars"]))
    with pytest.raises(TypeError, match="filter"):  # what LlamaIndex does not take with a call is not dropped
        retriever.retrieve("graph networks", filter="year < 2000")
    faults: list[dict[str, Any]] = [{"fliter": "year >= 2010"}, {"k": 0}, {"options": {}}, {"filter": 3}]
    for fault in faults:
        with pytest.raises(sr.InvalidRequest):
            SciretrieveRetriever(index, **fault)
    with of_two_indexes(index, tmp_path) as both:  # LlamaIndex takes nodes of one id for one node
        found = SciretrieveRetriever(both, 4, OPTIONS).retrieve("graph networks")
        assert [node.node.node_id for node in found] == [hit.name for hit in both.search("graph networks", 4, OPTIONS).hits]


def test_haystack(index: sr.Index, tmp_path: Path) -> None:
    haystack = pytest.importorskip("haystack", reason="haystack-ai is not installed")
    from sciretrieve.integrations.haystack import SciretrieveRetriever

    def asked(retriever: Any, **given: Any) -> list[str]:
        pipeline = haystack.Pipeline()
        pipeline.add_component("papers", retriever)
        (found,) = pipeline.run({"papers": {"query": "graph networks", **given}}).values()
        assert asyncio.run(retriever.run_async("graph networks", **given)) == found
        pipeline.remove_component("papers")
        return [document.id for document in found["documents"]]

    hits = expected(index)
    retriever = SciretrieveRetriever(index, 4, OPTIONS)
    documents = retriever.run("graph networks")["documents"]
    assert [(document.id, document.score) for document in documents] == [(hit.id, hit.score) for hit in hits]
    assert all(is_of(hit, document.content, document.meta) for hit, document in zip(hits, documents, strict=True))
    before = {"field": "meta.year", "operator": "<", "value": 2015}
    assert asked(retriever) == asked(retriever, filters={}) == [hit.id for hit in hits]
    narrower = [hit.id for hit in index.search("graph networks", 2, OPTIONS, filter=["year >= 2010", "year < 2015"]).hits]
    assert asked(retriever, top_k=2, filters=before) == narrower
    again = SciretrieveRetriever.from_dict(retriever.to_dict())
    assert asked(again) == [hit.id for hit in hits]
    with pytest.raises(sr.InvalidRequest, match="does not change"):
        again.options = ALL
    with pytest.raises(sr.InvalidRequest, match="unknown option 'filters'; did you mean 'filter'"):
        SciretrieveRetriever(index, filters=before)  # type: ignore[call-arg]
    with of_two_indexes(index, tmp_path) as both:
        two = SciretrieveRetriever.from_dict(SciretrieveRetriever(both, 4, OPTIONS).to_dict())
        assert asked(two) == [hit.name for hit in both.search("graph networks", 4, OPTIONS).hits]


def test_filters_of_haystack_mean_here_what_they_mean_there(index: sr.Index) -> None:
    filters = pytest.importorskip("haystack.utils.filters", reason="haystack-ai is not installed")
    from sciretrieve.integrations.haystack import SciretrieveRetriever, filter_of

    retriever = SciretrieveRetriever(index, len(index), ALL)
    documents = retriever.run("graph")["documents"]
    year, venue = {"field": "meta.year", "operator": ">=", "value": 2010}, {"field": "venue", "operator": "==", "value": None}
    conditions = [
        *({"field": "meta.year", "operator": operator, "value": 2012} for operator in ("==", "!=", ">", ">=", "<", "<=")),
        *({"field": "meta.year", "operator": operator, "value": [2012, 2014]} for operator in ("in", "not in")),
        {"field": "id", "operator": "!=", "value": documents[0].id},
        venue,
        {**venue, "operator": "!="},
        *({"operator": operator, "conditions": [year, venue]} for operator in ("AND", "OR", "NOT")),
        {"operator": "NOT", "conditions": [{"operator": "OR", "conditions": [year, {"operator": "AND", "conditions": [venue, year]}]}]},
    ]
    for condition in conditions:
        there = [document.id for document in documents if filters.document_matches_filter(condition, document)]
        assert [document.id for document in retriever.run("graph", condition)["documents"]] == there, condition
    deep: dict[str, Any] = year
    for _ in range(5000):
        deep = {"operator": "NOT", "conditions": [deep]}
    wrong: list[Any] = [
        {"field": "year"},
        {**year, "operator": "~"},
        {**year, "or": 1},
        {"operator": "XOR", "conditions": [year]},
        deep,
        [],
        "year > 1",
    ]
    wrong += [{"operator": "AND", "conditions": []}, {"field": "year", "operator": "in", "value": 3}, {**year, "value": [1]}]
    for given in wrong:
        with pytest.raises(sr.InvalidRequest):
            filter_of(given)


def test_paperqa(index: sr.Index, tmp_path: Path) -> None:
    paperqa = pytest.importorskip("paperqa", reason="paper-qa is not installed")
    from sciretrieve.integrations.paperqa import add_papers

    docs, settings = paperqa.Docs(), paperqa.Settings(embedding="sparse", parsing={"defer_embedding": True})
    papers = [hit.paper for hit in expected(index)]
    assert asyncio.run(add_papers(docs, papers, settings)) == 4
    assert asyncio.run(add_papers(docs, papers[:2], settings)) == 0
    assert asyncio.run(add_papers(docs, expected(index), settings)) == 0
    with pytest.raises(sr.SciretrieveError, match="not of type str"):
        asyncio.run(add_papers(docs, ["p0001"], settings))  # type: ignore[list-item]
    assert set(docs.docs) == {paper.id for paper in papers}
    assert [text.text for text in docs.texts] == [f"{paper.title}\n\n{paper.abstract}".strip() for paper in papers]
    assert all(paper.title in docs.docs[paper.id].citation for paper in papers)
    with of_two_indexes(index, tmp_path) as both:
        hits = both.search("graph networks", 4, OPTIONS).hits
        assert asyncio.run(add_papers(several := paperqa.Docs(), hits, settings)) == 4
        assert set(several.docs) == {hit.name for hit in hits}
