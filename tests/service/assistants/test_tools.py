"""Tools as an assistant calls them: what they find, how it reads, and what they say where something is wrong."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

import sciretrieve as sr
from sciretrieve.base import waiting
from sciretrieve.base.errors import TimedOut
from sciretrieve.service.assistants import finding
from sciretrieve.service.assistants.server import Server
from sciretrieve.service.settings import ServiceSettings
from tests.made_up import write_jsonl
from tests.service.assistants.library import SEA, SKY, asked, build, call, error, found, server, text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two indexes, `sea` and `sky`."""
    path = tmp_path_factory.mktemp("library")
    build(path / "sea", SEA)
    build(path / "sky", SKY)
    return path


@pytest.fixture(scope="module")
def sea(folder: Path) -> Iterator[Server]:
    """A server of one index."""
    with server(folder / "sea") as one:
        yield one


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Server]:
    """A server of two indexes."""
    with server(folder / "sea", folder / "sky") as two:
        yield two


def test_every_tool_reads_alone_and_says_what_it_takes(sea: Server) -> None:
    tools: list[Any] = asked(sea, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        *("search", "passages", "suggest", "similar", "get_papers", "full_text", "cite", "citations", "why_not", "facets", "indexes")
    ]
    for tool in tools:
        assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        assert tool.annotations.destructive_hint is False
        assert tool.description
        assert "    " not in tool.description
        assert tool.output_schema["type"] == "object"
        for name, facts in tool.input_schema["properties"].items():
            assert facts["description"], f"{tool.name} {name}"
            assert "title" not in facts


def test_search_says_why_each_paper_was_found(sea: Server) -> None:
    answer = call(sea, "search", query="moon tides", limit=1)
    assert text(answer).splitlines() == [
        "1 paper for “moon tides”. 1 paper has all of these words.",
        "1. Tides of the sea",
        "   id: tides · Lovelace et al. · 1999 · Oceans",
        "   “The moon makes tides.”",
        "   why: by words #1 (tides, moon)",
    ]
    assert answer.structured_content is not None
    (paper,) = answer.structured_content["papers"]
    assert (paper["id"], paper["sentence"], paper["why"]) == ("tides", "The moon makes tides.", "by words #1 (tides, moon)")


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ({"query": "sea"}, {"tides", "salt", "one"}),
        ({"query": "sea", "filter": "year >= 2001"}, {"salt", "one"}),
        ({"query": "sea -salt"}, {"tides", "one"}),
        ({"query": "title:whales"}, {"one"}),
        ({"query": "sea", "unlike": "tides"}, {"salt", "one"}),
        ({"query": "sea", "like": ["tides"]}, {"salt", "one"}),
    ],
)
def test_search_is_narrowed(sea: Server, arguments: dict[str, Any], ids: set[str]) -> None:
    papers = found(sea, "search", **arguments)["papers"]
    assert {paper["id"] for paper in papers} == ids
    assert [paper["rank"] for paper in papers] == list(range(1, len(ids) + 1))


def test_what_a_search_should_be_known_to_lack_is_a_note(sea: Server) -> None:
    answer = found(sea, "search", query="whale title:volcano")
    assert answer["papers"] == []
    assert answer["notes"] == [
        "no paper in the index has what the query requires: title:volcano",
        "without its operators the query is: whale volcano",
    ]


def test_similar_finds_papers_like_a_paper_or_a_text(sea: Server) -> None:
    answer = found(sea, "similar", papers="tides")
    assert answer["asked"] == "like “Tides of the sea (1999)”"
    assert {paper["id"] for paper in answer["papers"]} == {"salt", "one"}
    linked = {paper["id"]: paper["why"] for paper in answer["papers"]}
    assert linked["one"].endswith("cites it; 1 shared reference")
    assert found(sea, "similar", text="Rivers and salt", by="text")["papers"][0]["id"] == "salt"
    assert {paper["id"] for paper in found(sea, "similar", papers=["tides"], by="citations")["papers"]} == {"salt", "one"}


def test_papers_are_got_by_any_name(sea: Server) -> None:
    answer = call(sea, "get_papers", papers=["10.1000/TIDES", "Salt in the sea", "tides", "no such paper"])
    assert answer.structured_content is not None
    assert [paper["id"] for paper in answer.structured_content["papers"]] == ["tides", "salt"]
    tides = answer.structured_content["papers"][0]
    assert tides["authors"] == ["Ada Lovelace", "Alan Turing", "Grace Hopper"]
    assert tides["abstract"] == SEA[0]["abstract"]
    assert tides["address"] == "https://doi.org/10.1000/tides"
    assert tides["others"] == {"depth": 40, "references": ["salt", "10.1000/elsewhere"]}
    assert [missing["name"] for missing in answer.structured_content["missing"]] == ["no such paper"]
    assert text(answer).splitlines()[-1].startswith("Not found: there is no paper 'no such paper' in sea; ")


def test_long_values_are_cut_and_say_so(tmp_path: Path) -> None:
    row = {"id": "long", "title": "t " * 400, "abstract": "word " * 4000, "authors": [f"A{n} B" for n in range(99)], "notes": "x" * 9999}
    with server(build(tmp_path / "index", [row])) as one:
        (paper,) = found(one, "get_papers", papers="long")["papers"]
        assert paper["abstract"].endswith("… (19,999 characters in all)")
        assert paper["title"].endswith("… (799 characters in all)")
        assert paper["others"]["notes"].endswith("… (9,999 characters in all)")
        assert paper["authors"][-1] == "and 69 more"
        assert len(text(call(one, "get_papers", papers="long"))) < 12_000
        (content,) = asked(one, lambda client: client.read_resource("paper://long")).contents
        assert json.loads(content.model_dump()["text"])["abstract"].split() == ["word"] * 4000


def test_entries_are_those_of_exports(sea: Server, folder: Path) -> None:
    papers = sr.open(folder / "sea").papers(["tides", "salt"])
    entries = {name: found(sea, "cite", papers=["tides", "salt"], format=name)["entries"] for name in ("bibtex", "ris", "csl-json", "text")}
    assert [entry["key"] for entry in entries["bibtex"]] == sr.cite(papers).keys
    for entry in entries["bibtex"]:
        assert f"{{{entry['key']}," in entry["entry"]
    assert entries["ris"][0]["entry"].splitlines()[0] == "TY  - JOUR"
    assert json.loads(entries["csl-json"][0]["entry"])["DOI"] == "10.1000/tides"
    assert entries["text"][1]["entry"] == "Salt in the sea (2001). Oceans."
    assert "abstract" not in text(call(sea, "cite", papers="tides"))


def test_citations_both_ways(sea: Server) -> None:
    answer = call(sea, "citations", paper="tides")
    assert text(answer).splitlines() == [
        "Tides of the sea · id: tides",
        "It cites 2 works, 1 of them in the index; 1 paper of the index cite it.",
        "cites: Salt in the sea · 2001 · id: salt",
        "cites: doi:10.1000/elsewhere · not in the index",
        "cited by: Whales of the deep sea · 2010 · id: one",
    ]
    assert [work["id"] for work in found(sea, "citations", paper="tides", direction="cited_by")["works"]] == ["one"]


def test_why_a_paper_is_not_found(sea: Server) -> None:
    answer = call(sea, "why_not", paper="salt", query="moon", limit=1, filter="year < 2000")
    assert answer.structured_content is not None
    assert answer.structured_content["failed"] == ["it fails the filter's year < 2000: its year is 2001"]
    far = found(sea, "why_not", paper="one", query="sea moon salt", limit=1)
    assert far["ranks"] == {"bm25": 3}
    assert "`limit=3` would show it" in far["remedies"]


def test_facets_count_all_or_those_that_match(sea: Server) -> None:
    answer = call(sea, "facets", columns=["year", "venue:1"])
    assert text(answer).splitlines() == [
        "year: counted in all 3 papers.",
        "venue: counted in all 3 papers; 1 other value.",
        "year 1999: 1",
        "year 2001: 1",
        "year 2010: 1",
        "venue Oceans: 2",
    ]
    values = found(sea, "facets", columns="venue", query="title:sea", filter="year > 2000")["values"]
    assert values == [{"column": "venue", "value": "Beasts", "papers": 1}, {"column": "venue", "value": "Oceans", "papers": 1}]


def test_indexes_are_listed(both: Server) -> None:
    answer = found(both, "indexes")
    assert answer["count"] == 2
    one, other = answer["indexes"]
    assert (one["name"], one["papers"], one["first_year"], one["last_year"], one["modes"]) == ("sea", 3, 1999, 2010, ["bm25"])
    assert one["columns"]["depth"] == "int64"
    assert one["has_references"] is True
    assert (other["name"], "has_references" in other) == ("sky", False)


def test_of_several_indexes_papers_are_named_with_theirs(both: Server) -> None:
    papers = found(both, "search", query="sea")["papers"]
    assert {paper["id"] for paper in papers} == {"sea:tides", "sea:salt", "sea:one", "sky:one", "sky:clouds"}
    assert {paper["id"] for paper in found(both, "search", query="sea", index="sky")["papers"]} == {"sky:one", "sky:clouds"}
    assert [paper["id"] for paper in found(both, "get_papers", papers=["sky:one", "clouds"])["papers"]] == ["sky:one", "sky:clouds"]
    assert [missing["name"] for missing in found(both, "get_papers", papers=["one"])["missing"]] == ["one"]
    assert [work["id"] for work in found(both, "citations", paper="sea:salt")["works"]] == ["sea:one", "sea:tides"]
    assert found(both, "why_not", paper="sky:clouds", query="rain", index="sky")["id"] == "sky:clouds"
    assert [paper["id"] for paper in found(both, "similar", papers="sky:one", index="sky")["papers"]] == ["sky:clouds"]
    notes = found(both, "search", query="sea", filter="depth > 1")["notes"]
    assert notes == ["sky has no column depth: a filter treats these papers as without a value"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {"query": "sea", "filter": "yeer > 3"}, "unknown column in the filter 'yeer'; did you mean 'year'?"),
        ("search", {"query": "sea", "index": "see"}, "unknown index 'see'; did you mean 'sea'?"),
        ("search", {"query": "sea", "k": 5}, "search has no parameter 'k'; it has query, limit, filter"),
        ("search", {"query": "sea", "limit": 0}, "search cannot be called like this: `limit`: input should be greater than or equal to 1"),
        ("search", {}, "search cannot be called like this: `query`: field required"),
        ("search", {"query": "sea", "mode": "dense"}, "sea has no vectors, so it cannot be searched in mode dense"),
        ("search", {"query": "sea", "cursor": "§"}, "this is not a cursor; "),
        ("search", {"query": "sea", "like": ["salt"], "unlike": ["salt"]}, ""),
        ("similar", {}, "nothing to be similar to; give ids of papers, or `text`"),
        ("similar", {"papers": "nothing like it"}, "there is no paper 'nothing like it' in sea; "),
        ("citations", {"paper": "nowhere"}, "there is no paper 'nowhere' in sea; "),
        ("facets", {"columns": "colour"}, "unknown column in `columns` 'colour'"),
        ("facets", {"columns": []}, "facets cannot be called like this: `columns`"),
        ("facets", {"columns": ["year"] * 21}, "facets cannot be called like this: `columns`"),
        ("search", {"query": "sea", "filter": f"year > 2000{' ' * 20_000}"}, "search cannot be called like this: `filter`"),
        ("why_not", {"paper": "nowhere", "query": "sea"}, "there is no paper 'nowhere' in sea; "),
    ],
)
def test_what_is_wrong_is_told_on_a_line(sea: Server, tool: str, arguments: dict[str, Any], message: str) -> None:
    assert error(sea, tool, **arguments).startswith(message)
    assert found(sea, "search", query="sea")["papers"]


def test_a_damaged_index_is_told_without_its_place(folder: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(folder / "sea", tmp_path / "broken"))
    for file in path.rglob("*.parquet"):
        file.write_bytes(b"x" * file.stat().st_size)
    with server(path) as one:
        message = error(one, "get_papers", papers="tides")
        assert "broken" in message
        assert str(tmp_path) not in message


def test_a_bug_ends_one_call_and_tells_nothing(sea: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("a secret")

    with monkeypatch.context() as patch:
        patch.setattr(finding, "answer", fails)
        assert error(sea, "search", query="sea") == "Error executing tool search"
    assert found(sea, "search", query="sea")["papers"]


def test_work_that_nobody_waits_for_ends(sea: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = Event(), Event()

    def endless(*_: object) -> None:
        begun.set()
        try:
            while True:
                waiting.raise_if_abandoned()
        except TimedOut:
            ended.set()
            raise

    async def run() -> None:
        async with Client(sea) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "search", {"query": "sea"})
            await anyio.to_thread.run_sync(begun.wait)
            await client.call_tool("indexes", {})  # others are answered meanwhile
            group.cancel_scope.cancel()

    monkeypatch.setattr(finding, "answer", endless)
    asyncio.run(run())
    assert ended.wait(60)


def test_work_has_its_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        while True:
            waiting.raise_if_abandoned()

    monkeypatch.setattr(finding, "answer", endless)
    with server(folder / "sea", settings=ServiceSettings(seconds=0.01)) as one:
        assert error(one, "search", query="sea").endswith("; ask for fewer papers, or leave out what takes long")


def test_papers_come_and_go_while_it_runs(tmp_path: Path) -> None:
    path = build(tmp_path / "sea", SEA)
    with server(path) as one:
        assert {paper["id"] for paper in found(one, "search", query="sea")["papers"]} == {"tides", "salt", "one"}
        sr.delete(path, ["tides"])
        sr.add(write_jsonl(tmp_path / "foam.jsonl", [{"id": "foam", "title": "Foam of the sea"}]), path)
        assert {paper["id"] for paper in found(one, "search", query="sea")["papers"]} == {"salt", "one", "foam"}
        assert found(one, "get_papers", papers=["tides"])["papers"] == found(one, "cite", papers=["tides"])["entries"] == []
        assert found(one, "indexes")["indexes"][0]["papers"] == 3
        assert "tides" not in {work["id"] for work in found(one, "citations", paper="salt")["works"]}
        assert {value["papers"] for value in found(one, "facets", columns="year")["values"]} == {1}


def test_a_paper_that_is_none_cannot_be_read(sea: Server) -> None:
    async def read(client: Client) -> Any:
        with pytest.raises(MCPError, match=r"there is no paper '10\.1000/nothing' in sea; `search` shows the ids of papers"):
            await client.read_resource("paper://10.1000/nothing")
        return await client.read_resource("paper://10.1000/tides")

    (content,) = asked(sea, read).contents
    assert json.loads(content.text)["id"] == "tides"


def test_a_named_paper_says_so_and_the_newest_come_first(sea: Server) -> None:
    paper, *_ = found(sea, "search", query="10.1000/tides")["papers"]
    assert (paper["id"], paper["why"].startswith("the query names it")) == ("tides", True)
    assert [paper["year"] for paper in found(sea, "search", query="sea", sort="year")["papers"]] == [2010, 2001, 1999]


def test_an_index_without_references_or_that_is_gone(folder: Path, tmp_path: Path) -> None:
    with server(folder / "sky") as one:
        assert error(one, "citations", paper="clouds").startswith("sky has no column of references; ")
    with server(path := build(tmp_path / "sea", SEA)) as one:
        assert len(found(one, "search", query="title:sea")["papers"]) == 3
        path.rename(tmp_path / "moved")
        assert len(found(one, "search", query="title:sea")["papers"]) == 3
