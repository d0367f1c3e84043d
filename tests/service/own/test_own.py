"""Our own API says what the library says, as JSON of the published schema, and in one line what is wrong with a request."""

import asyncio
import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

import sciretrieve as sr
from sciretrieve.answers.answering import Request
from sciretrieve.base.choices import options_of, parted
from sciretrieve.options import SearchOptions
from sciretrieve.service.assistants.server import make_server
from tests.service.served import client_of

LEFT_OUT = {"total_time_ms"}
LONG = "graph " * 4000


@pytest.fixture(scope="module")
def library(index: sr.Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second index, of a paper that the first has, too, and of another that cites it."""
    papers = [
        {"id": "p0007", "title": "Orbits of a comet", "year": 1999, "references": ["p0008"], "doi": "10.1000/A(1)/b"},
        {"id": "p0008", "title": "Radiation of the comet", "year": 1998},
    ]
    path = tmp_path_factory.mktemp("second") / "lab"
    sr.build(papers, path, encoder=None, progress=False).close()
    return path


@pytest.fixture(scope="module")
def client(index: sr.Index) -> Iterator[TestClient]:
    """A client of a service over the made-up papers."""
    with client_of(index.path, most=50, query=500) as client:
        yield client


@pytest.fixture(scope="module")
def both(index: sr.Index, library: Path) -> Iterator[TestClient]:
    """A client of a service over both indexes, searched by words."""
    with client_of(library, index.path) as client:
        yield client


def said(response: Any) -> dict[str, Any]:
    """An answer but for its time."""
    assert response.status_code == 200, response.text
    return {name: value for name, value in response.json().items() if name not in LEFT_OUT}


def expected(index: sr.Index, request: sr.Request) -> dict[str, Any]:
    """What the library says."""
    value: dict[str, Any] = json.loads(sr.answer(index, request).to_json())
    return {name: value for name, value in value.items() if name not in LEFT_OUT}


BY_WORDS = sr.SearchOptions(mode="bm25")
NARROWED = sr.SearchOptions(filter=("year >= 2010", 'topic == "stars"'), until=2020)


@pytest.mark.parametrize(
    ("path", "asked", "request_"),
    [
        ("search", {"q": "graph networks"}, sr.Request("graph networks")),
        ("search", {"q": "graph", "k": 3, "mode": "bm25"}, sr.Request("graph", k=3, options=BY_WORDS)),
        (
            "search",
            {"q": "star dust", "filter": NARROWED.filter, "until": 2020, "explain": True, "facets": ["venue:2", "year"]},
            sr.Request("star dust", options=NARROWED, facets=["venue:2", "year"], explain=True),
        ),
        (
            "search",
            {"q": "market price", "like": ["p0003"], "unlike": ["p0009"], "sort": "year"},
            sr.Request("market price", ["p0003"], ["p0009"], sort="year"),
        ),
        (
            "search",
            {"q": "vaccine", "cluster": True, "k": 2, "group": False},
            sr.Request("vaccine", k=2, cluster=True, options=sr.SearchOptions(group=False)),
        ),
        ("search", {"q": "zzzzzz qqqqqq", "mode": "bm25"}, sr.Request("zzzzzz qqqqqq", options=BY_WORDS)),
        ("similar", {"id": ["p0001"], "k": 4}, sr.Request(like=["p0001"], k=4)),
        (
            "similar",
            {"id": ["p0001", "p0002"], "not": ["p0003"], "explain": True},
            sr.Request(like=["p0001", "p0002"], unlike=["p0003"], explain=True),
        ),
        (
            "similar",
            {"text": "star dust of a galaxy", "mode": "dense"},
            sr.Request(text="star dust of a galaxy", options=sr.SearchOptions(mode="dense")),
        ),
    ],
)
def test_an_answer_is_the_library_s_by_address_and_by_body(
    client: TestClient, index: sr.Index, path: str, asked: dict[str, Any], request_: sr.Request
) -> None:
    value = said(client.get(f"/v1/{path}", params=asked))
    assert value == said(client.post(f"/v1/{path}", json=asked)) == expected(index, request_)
    jsonschema.validate(value | {"total_time_ms": 1.0}, sr.schema("answer"))


def test_counts_are_the_library_s(client: TestClient, index: sr.Index) -> None:
    value = client.get("/v1/count", params={"q": "graph AND nodes", "filter": "year >= 2010"}).json()
    assert value["total"] == index.count("graph AND nodes", "year >= 2010")
    assert [line["papers"] for line in value["lines"]] == [line.papers for line in index.count_lines("graph AND nodes", "year >= 2010")]
    jsonschema.validate(value, sr.schema("count"))


def test_facets_count_all_papers_that_meet_the_demands(client: TestClient, papers: list[dict[str, Any]]) -> None:
    value = client.get("/v1/facets", params={"column": ["topic", "year:3"], "since": 2010}).json()
    recent = [paper for paper in papers if (paper["year"] or 0) >= 2010]
    assert dict(value[0]["values"]) == {topic: sum(p["topic"] == topic for p in recent) for topic in {p["topic"] for p in recent}}
    assert len(value[1]["values"]) == 3
    assert value[0]["papers"] == len(recent)


def test_why_a_paper_is_missing_is_the_library_s(client: TestClient, index: sr.Index) -> None:
    value = client.get("/v1/why-not", params={"id": "p0001", "q": "vaccine", "filter": "year >= 2030"}).json()
    absence = sr.why_not(index, "p0001", "vaccine", filter=("year >= 2030",))
    assert (value["failed"], value["remedies"]) == (list(absence.failed), list(absence.remedies))
    assert value["explanation"]["id"] == "p0001"


def test_a_paper_comes_with_what_surrounds_it(both: TestClient) -> None:
    value = both.get("/v1/papers/10.1000/a(1)/b?index=lab").json()
    assert (value["id"], [work["id"] for work in value["cites"]]) == ("p0007", ["p0008"])
    assert "https://doi.org/10.1000/a(1)/b" in map(str.lower, value["addresses"].values())


def test_papers_are_exported_by_name_and_by_query(client: TestClient, papers: list[dict[str, Any]]) -> None:
    ris = client.get("/v1/export", params={"id": ["p0001", "p0002"], "format": "ris"})
    assert ris.text.count("TY  - ") == 2
    assert 'filename="papers.ris"' in ris.headers["content-disposition"]
    table = client.post("/v1/export", json={"filter": ["year == 2012"], "format": "csv"}).text
    assert {row["id"] for row in csv.DictReader(io.StringIO(table))} == {paper["id"] for paper in papers if paper["year"] == 2012}


def test_a_strategy_is_run_over_the_service_s_indexes_alone(both: TestClient, index: sr.Index, library: Path) -> None:
    text = "[lines]\na = 'comet'\nb = 'radiation'\nc = 'a AND b'"
    value = both.post("/v1/strategies?k=1", json={"strategy": text}).json()
    assert [line["counts"]["lab"] for line in value["lines"]] == [2, 1, 1]
    assert value["lines"][1]["counts"][index.path.name] == index.count("radiation")
    assert (value["total"], [paper["id"] for paper in value["papers"]]) == (1, ["p0008"])
    assert str(library.parent) not in json.dumps(value)
    outside = both.post("/v1/strategies", json={"strategy": f"indexes = ['{library}']\n{text}"})
    assert outside.status_code == 400


def test_several_indexes_answer_as_one_or_alone(both: TestClient, index: sr.Index, library: Path) -> None:
    with sr.open_many([library, index.path]) as joined:
        assert said(both.get("/v1/search?q=radiation&mode=bm25")) == expected(
            joined, sr.Request("radiation", options=sr.SearchOptions(mode="bm25"))
        )
    alone = said(both.get("/v1/search?q=radiation&index=lab"))
    assert [hit["id"] for hit in alone["hits"]] == ["p0008"]
    assert [(facts["name"], facts["papers"], facts["has_references"]) for facts in both.get("/v1/indexes").json()] == [
        ("lab", 2, True),
        (index.path.name, 300, False),
    ]
    health = both.get("/v1/indexes/lab/health").json()
    assert (health["index"], {f["name"]: f["papers"] for f in health["findings"]}["no_abstract"]) == ("lab", 2)
    jsonschema.validate(health, sr.schema("health"))


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("search?q=", 400, "the query is empty"),
        ("search", 400, "q cannot be taken: field required"),
        ("search?q=graph&fliter=x", 400, "did you mean 'filter'"),
        ("search?q=graph&mode=fast", 400, "mode cannot be taken"),
        ("search?q=graph&k=51", 400, "50 papers at most; ask for fewer"),
        ("search?q=graph&k=0", 400, "k cannot be taken"),
        (f"search?q={'a' * 501}", 400, "the query has 501 characters"),
        ("search?q=graph&filter=yeer+%3E+2000", 400, "did you mean 'year'"),
        ("search?q=graph&facets=nothing", 400, "unknown column"),
        ("search?q=graph&rerank=true", 400, "no reranker"),
        ("search?q=graph&index=none", 400, "unknown index 'none'"),
        ("search?q=graph&yeer=2000", 400, "unknown parameter 'yeer'"),
        ("search?q=graph&k=1&k=2", 400, "`k` is given 2 times"),
        ("papers/p0001?fields=title", 400, "unknown parameter 'fields'"),
        ("indexes?k", 400, "unknown parameter 'k'"),
        ("similar?id=nobody", 404, "there is no paper 'nobody'"),
        ("papers/nobody", 404, "there is no paper 'nobody' in"),
        ("export", 400, "no papers are named"),
        ("export?id=p0001&q=graph", 400, "by their names or by a query"),
        ("export?filter=year+%3E+2000&format=csv", 400, "50 are exported at once"),
        ("indexes/none/health", 400, "unknown index"),
        ("nothing", 404, "there is nothing at this address"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(client: TestClient, index: sr.Index, path: str, status: int, words: str) -> None:
    response = client.get(f"/v1/{path}")
    value = response.json()
    assert (response.status_code, sorted(value)) == (status, ["error", "hint", "message"])
    assert words in value["message"]
    assert value["message"] == "; ".join(filter(None, (value["error"], value["hint"])))
    assert str(index.path.parent) not in response.text
    assert "`sciretrieve" not in value["hint"]


@pytest.mark.parametrize("body", [b'{"q": "\xff"}', b"[" * 200_000, b'{"q": "\\ud800"}', b"", b"null", b'{"q": 1e999}'])
def test_a_body_that_is_no_request_is_refused(client: TestClient, body: bytes) -> None:
    response = client.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, sorted(response.json())) == (400, ["error", "hint", "message"])


@pytest.mark.parametrize(
    ("path", "names"),
    [("search", "q like"), ("similar", "text id not"), ("export", "id q"), ("count", "q"), ("facets", "q column"), ("why-not", "id q")],
)
def test_every_text_and_every_list_has_a_bound(client: TestClient, path: str, names: str) -> None:
    usual: dict[str, Any] = {"facets": {"column": ["year"]}, "why-not": {"id": "p0001", "q": "graph"}, "search": {"q": "graph"}}
    for name in names.split():
        is_text = name in ("q", "text") or (path, name) == ("why-not", "id")
        is_short = path in ("count", "facets", "why-not")
        for value in [LONG] if is_text else [[LONG], ["year" if name == "column" else "p0001"] * 501]:
            asked = usual.get(path, {}) | {name: value}
            response = client.get(f"/v1/{path}", params=asked) if is_short else client.post(f"/v1/{path}", json=asked)
            assert (response.status_code, len(response.text) < 500) == (400, True), name


def test_the_description_is_a_page_for_people(client: TestClient) -> None:
    text = client.get("/docs").text
    for operation in ("GET /v1/search", "POST /v1/strategies", "GET /graph/v1/paper/search", "GET /healthz"):
        assert f"<code>{operation}</code>" in text
    assert "dense | hybrid | bm25" in text or "hybrid | dense | bm25" in text
    assert str(options_of(SearchOptions)["since"].__metadata__[0].text) in text


def test_every_door_says_of_an_option_what_it_is_declared_with(client: TestClient) -> None:
    """So do commands, whose options are made of the same declarations."""
    declared = {name: help for kind in (SearchOptions, Request) for name, hint in options_of(kind).items() if (help := parted(hint)[1])}
    service = client.app.state.service  # type: ignore[attr-defined]
    tools = asyncio.run(make_server(service.library, service.settings).list_tools())
    paths = client.get("/openapi.json").json()["paths"]
    own = {each["name"]: each | each["schema"] for path in ("search", "similar") for each in paths[f"/v1/{path}"]["get"]["parameters"]}
    asked = [tool for tool in tools if tool.name in ("search", "similar", "facets")]
    theirs = {name: fact for tool in asked for name, fact in tool.input_schema["properties"].items()}
    theirs |= {"k": theirs.pop("limit"), "facets": theirs.pop("columns")}
    assert own.keys() & declared.keys() >= {"k", "mode", "filter", "since", "alpha", "like", "facets", "sort", "by", "rerank_depth"}
    assert theirs.keys() & declared.keys() >= {"k", "mode", "filter", "like", "unlike", "facets", "sort", "by", "text"}
    for door in (own, theirs):
        for name in door.keys() & declared.keys():
            assert door[name]["description"].startswith(declared[name].text.removesuffix(" May be repeated.")), name
            kinds = [door[name], *door[name].get("anyOf", ())]
            assert next((kind["minimum"] for kind in kinds if "minimum" in kind), None) == declared[name].least, name
