"""Saved searches: what comes to an index is new once, and nothing else is."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest, NotFound
from tests.command_line import answer, sciretrieve
from tests.made_up import write_jsonl

PAPERS = [{"id": f"p{number}", "title": f"Dust {'of stars' if number % 2 else 'at home'}", "year": 2000 + number} for number in range(30)]


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCIRETRIEVE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    sr.build(write_jsonl(tmp_path / "papers.jsonl", PAPERS), tmp_path / "my index", encoder=None)
    return tmp_path / "my index"


def added(index: Path, papers: list[dict[str, Any]]) -> None:
    sr.add(write_jsonl(index.parent / "new.jsonl", papers), index)


def new_ids(*arguments: str) -> dict[str, list[str]]:
    """What `news` tells, by search."""
    return {
        search["name"]: [hit["id"] for hit in search["hits"]] for search in json.loads(answer("news", "-f", "json", *arguments))["searches"]
    }


def test_a_new_paper_is_told_once(index: Path) -> None:
    shown = sciretrieve("search", "dust of stars", "-i", index, "-k", "3", "--since", "2001", "--save", "stars")
    assert "saved as stars" in shown.stderr
    assert new_ids() == {"stars": []}
    near, far, early = (
        {"id": "near", "title": "Dust of stars", "year": 2020},
        {"id": "far", "title": "Bread", "year": 2020},
        {"id": "early", "title": "Dust of stars", "year": 1990},
    )
    added(index, [near, far, early])
    assert new_ids("--peek") == {"stars": ["near"]}
    told = answer("news", "stars")
    assert "stars: dust of stars; year >= 2001" in told
    assert "1 new paper since" in told
    assert told.rstrip().endswith("near")
    assert "nothing new since" in answer("news", "stars")


def test_what_rises_when_others_are_deleted_is_not_new(index: Path) -> None:
    answer("search", "dust", "-i", index, "-k", "3", "--save", "dust")
    first = [hit["id"] for hit in json.loads(answer("search", "dust", "-i", index, "-k", "3", "-f", "json"))["hits"]]
    sr.delete(index, first)
    assert new_ids() == {"dust": []}


def test_of_a_listing_all_papers_count(index: Path) -> None:
    answer("search", "year:2000-2100", "-i", index, "-k", "2", "--save", "century")
    added(index, [{"id": f"z{number}", "title": "Bread", "year": 2050} for number in range(5)])
    assert {name: sorted(ids) for name, ids in new_ids().items()} == {"century": [f"z{number}" for number in range(5)]}


def test_papers_like_others_can_be_saved(index: Path) -> None:
    answer("similar", "p1", "-i", index, "-k", "40", "--not", "p2", "--save", "like-p1")
    added(index, [{"id": "x", "title": "Stars of dust"}, {"id": "y", "title": "Bread"}])
    assert new_ids("like-p1") == {"like-p1": ["x"]}
    assert "like p1" in answer("news", "list")


def test_a_search_says_all_that_was_asked(index: Path) -> None:
    """What was saved comes back equal, also where nothing but the defaults was asked."""
    with sr.open(index) as opened_index:
        options = sr.SearchOptions("bm25", ["year > 2003", "year < 2020"], group=False)
        for number, request in enumerate([sr.Request("dust"), sr.Request("dust", like=["p1"], unlike=["p2"], k=7, options=options)]):
            search = sr.save_search(opened_index, request, f"s{number}")
            again = sr.saved_search(f"s{number}")
            assert (again.request, again.index, list(again.seen)) == (request, index.resolve(), list(search.seen))
            assert set(opened_index.search("dust", 3, request.options, like=request.like, unlike=request.unlike).rankings[0].ids) <= set(
                again.seen
            )
    assert [search.name for search in sr.saved_searches()] == ["s0", "s1"]
    assert [row["search"] for row in json.loads(answer("news", "list", "-f", "json"))["searches"]] == [
        "dust",
        "dust; year > 2003; year < 2020",
    ]


def test_a_name_is_taken_once(index: Path) -> None:
    answer("search", "dust", "-i", index, "--save", "mine")
    answer("search", "dust", "-i", index, "--save", "mine")
    refused = sciretrieve("search", "stars", "-i", index, "--save", "mine")
    assert (refused.returncode, "the name of another saved search" in refused.stderr) == (2, True)
    for name in ("", "../x", "a/b", ".hidden", "x" * 65):
        with sr.open(index) as opened_index, pytest.raises(InvalidRequest, match="cannot be the name"):
            sr.save_search(opened_index, sr.Request("dust"), name)
    answer("news", "forget", "mine")
    answer("search", "stars", "-i", index, "--save", "mine")


def test_errors_are_a_line_each_and_the_other_searches_are_asked(index: Path) -> None:
    assert "there is no saved search" in sciretrieve("news").stderr
    assert sciretrieve("news", "nobody").returncode == 2
    assert sciretrieve("news", "forget").returncode == 2
    with pytest.raises(NotFound, match="--save NAME"):
        sr.saved_search("nobody")
    sr.build(index.parent / "papers.jsonl", index.parent / "gone", encoder=None)
    answer("search", "dust", "-i", index.parent / "gone", "--save", "a")
    answer("search", "dust", "-i", index, "--save", "b")
    (index.parent / "gone").rename(index.parent / "elsewhere")
    asked = sciretrieve("news")
    assert asked.returncode == 2
    assert "a: there is no index" in asked.stderr
    assert "b: dust" in asked.stdout


def test_two_looks_at_once_both_keep_what_they_saw(index: Path) -> None:
    answer("search", "dust of stars", "-i", index, "--save", "stars")
    search = sr.saved_search("stars")
    added(index, [{"id": "one", "title": "Dust of stars"}])
    with sr.open(index) as opened_index:
        early = sr.news(opened_index, search)
    added(index, [{"id": "two", "title": "Dust of stars"}])
    with sr.open(index) as opened_index:
        late = sr.news(opened_index, search)
    late.remember()
    early.remember()
    assert {"one", "two"} <= set(sr.saved_search("stars").seen)
    assert new_ids() == {"stars": []}
    # saving it again is one more look
    answer("search", "dust of stars", "-i", index, "--save", "stars")
    assert {"one", "two"} <= set(sr.saved_search("stars").seen)


def test_many_that_keep_something_at_once_take_turns(index: Path) -> None:
    answer("search", "dust", "-i", index, "--save", "dust")
    with sr.open(index) as opened_index:
        new = sr.news(opened_index, sr.saved_search("dust"))
    looks = [replace(new, search=replace(new.search, seen=[f"x{number}"])) for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(sr.News.remember, looks))
    assert {f"x{number}" for number in range(40)} | {"p1"} <= set(sr.saved_search("dust").seen)


def test_a_look_does_not_bring_back_what_was_removed_or_replaced_meanwhile(index: Path) -> None:
    answer("search", "dust", "-i", index, "--save", "mine")
    with sr.open(index) as opened_index:
        new = sr.news(opened_index, sr.saved_search("mine"))
    answer("news", "forget", "mine")
    new.remember()
    assert sr.saved_searches() == []
    answer("search", "stars", "-i", index, "--save", "mine")
    new.remember()
    assert str(sr.saved_search("mine")) == "stars"


@pytest.mark.parametrize("contents", ["", "{", "[]", '{"request": 1}', '{"request": "ab"}', '{"request": {"a": 1, "options": {}}}', None])
def test_one_that_cannot_be_read_does_not_stop_the_others(
    index: Path, data_folder: Path, caplog: pytest.LogCaptureFixture, contents: str | None
) -> None:
    answer("search", "dust", "-i", index, "--save", "a")
    answer("search", "dust", "-i", index, "--save", "b")
    file = data_folder / "searches" / "a.json"
    file.write_text(file.read_text().replace('"seen": [', '"seen": [7, ') if contents is None else contents)
    assert [search.name for search in sr.saved_searches()] == ["b"]
    assert "a.json holds no saved search; remove it with `sciretrieve news forget a`" in caplog.text
    for arguments in (["news"], ["news", "list"], ["news", "a", "b"]):
        told = sciretrieve(*arguments)
        assert told.returncode == CorruptData.exit_code
        assert "news forget a" in told.stderr
        assert "b" in told.stdout
    assert answer("news", "forget", "a") == ""
    assert new_ids() == {"b": []}


def test_one_that_the_system_does_not_give_is_named(index: Path, data_folder: Path) -> None:
    answer("search", "dust", "-i", index, "--save", "b")
    file = data_folder / "searches" / "a.json"
    file.symlink_to(file)
    told = sciretrieve("news")
    assert told.returncode == 4
    assert f"a: {file} cannot be read (" in told.stderr
    assert "b: dust" in told.stdout
