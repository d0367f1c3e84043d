"""Answers keep to their budget, and their pages are the whole answer, whatever the budget; changes between two pages are told."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from mcp_types import CallToolResult

import sciretrieve as sr
from sciretrieve.service.assistants.paging import CHANGED, UNITS, units_of
from sciretrieve.service.assistants.server import Server
from tests.made_up import made_up_papers
from tests.service.assistants.library import build, error, found, pages, server, text

WHOLE = 1_000_000
"""A budget for all of an answer."""
ROWS: list[dict[str, Any]] = [
    paper | {"references": [f"p{n:04d}" for n in range(number)]} for number, paper in enumerate(made_up_papers(40))
]
CALLS: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("search", {"query": "graph networks vaccine", "limit": 40}, ("papers",)),
    ("search", {"query": "star", "limit": 25, "sort": "year"}, ("papers",)),
    ("similar", {"papers": ["p0001"], "limit": 30}, ("papers",)),
    ("get_papers", {"papers": [*(f"p{n:04d}" for n in range(20)), "nothing", "nobody", "p0039"]}, ("papers", "missing")),
    ("cite", {"papers": [*(f"p{n:04d}" for n in range(20)), "nothing"], "format": "ris"}, ("entries", "missing")),
    ("citations", {"paper": "p0020"}, ("works",)),
    ("facets", {"columns": ["year:50", "topic", "authors:2"]}, ("values",)),
    ("indexes", {}, ("indexes",)),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over forty papers, each of which cites those before it."""
    with server(build(tmp_path_factory.mktemp("index") / "made-up", ROWS)) as one:
        yield one


def listed(answer: CallToolResult, lists: tuple[str, ...]) -> list[Any]:
    """What a page lists."""
    return [item for name in lists for item in (answer.structured_content or {})[name]]


def tokens(answer: CallToolResult) -> float:
    """How many tokens a page is taken to have: as text or as JSON, whichever has more."""
    data = json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
    return max(units_of(text(answer)), units_of(data)) / UNITS


@settings(max_examples=25)
@given(some.sampled_from(CALLS), some.integers(100, 3000))
def test_pages_are_the_whole_answer_and_none_is_over_the_budget(
    library: Server, call: tuple[str, dict[str, Any], tuple[str, ...]], budget: int
) -> None:
    tool, arguments, lists = call
    (whole,) = pages(library, tool, **arguments, budget=WHOLE)
    parts = pages(library, tool, **arguments, budget=budget)
    assert [item for part in parts for item in listed(part, lists)] == listed(whole, lists)
    assert len(listed(whole, lists)) > 0
    for part in parts:
        assert len(listed(part, lists)) == 1 or tokens(part) <= budget
    for part, following in pairwise(parts):  # as much as there is room for: the next item alone would not fit
        rest = {name: value for name, value in (following.structured_content or {}).items() if name in lists}
        (first, *_) = [item for name in lists for item in rest[name]]
        assert tokens(part) + units_of(json.dumps(first, ensure_ascii=False)) / UNITS + 40 > budget


@pytest.mark.parametrize(("prose", "tokens"), [("The moon makes tides", 20 / 3), ("1999, 2010", 19 / 3), ("海の潮汐", 16 / 3)])
def test_digits_signs_and_other_alphabets_take_more(prose: str, tokens: float) -> None:
    assert units_of(prose) / UNITS == tokens


def test_a_cursor_says_how_to_go_on(library: Server) -> None:
    first, *_ = pages(library, "search", query="graph", limit=20, budget=200)
    cursor = (first.structured_content or {})["cursor"]
    assert text(first).splitlines()[-1] == f'There is more: call again with the same arguments and cursor="{cursor}".'
    assert len(cursor) == 24


def test_a_cursor_may_go_on_with_another_budget(library: Server) -> None:
    whole = found(library, "search", query="graph", limit=20, budget=WHOLE)["papers"]
    first = found(library, "search", query="graph", limit=20, budget=300)
    rest = found(library, "search", query="graph", limit=20, budget=WHOLE, cursor=first["cursor"])
    assert first["papers"] + rest["papers"] == whole


@pytest.mark.parametrize(
    ("tool", "changes"),
    [("search", {"query": "star"}), ("search", {"limit": 21}), ("search", {"filter": "year > 2001"}), ("similar", {"query": None})],
)
def test_a_cursor_is_of_one_call(library: Server, tool: str, changes: dict[str, Any]) -> None:
    cursor = found(library, "search", query="graph", limit=20, budget=200)["cursor"]
    arguments = {"query": "graph", "limit": 20} | changes if tool == "search" else {"papers": ["p0001"]}
    assert error(library, tool, **arguments, cursor=cursor).startswith("this cursor belongs to another call; ")


@given(some.text(max_size=40))
def test_what_is_no_cursor_is_refused(library: Server, cursor: str) -> None:
    if cursor.strip():
        assert error(library, "search", query="graph", cursor=cursor).startswith("this ")


@pytest.mark.parametrize("place", [0, -1], ids=["the first", "the last"])
def test_a_page_goes_on_where_it_was_when_a_paper_shown_is_deleted(tmp_path: Path, place: int) -> None:
    path = build(tmp_path / "index", ROWS)
    asked: dict[str, Any] = {"query": "graph networks nodes star galaxy", "limit": 40}
    with server(path) as one:
        first = found(one, "search", **asked, budget=700)
        shown = [paper["id"] for paper in first["papers"]]
        assert len(shown) > 2
        assert "notes" not in first
        sr.delete(path, [shown.pop(place)])
        rest = found(one, "search", **asked, budget=WHOLE, cursor=first["cursor"])
        now = [paper["id"] for paper in found(one, "search", **asked, budget=WHOLE)["papers"]]
        assert shown + [paper["id"] for paper in rest["papers"]] == now
        assert rest["notes"] == [CHANGED]
