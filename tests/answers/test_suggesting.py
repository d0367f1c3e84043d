"""What somebody who is typing may mean."""

import re
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.answers.suggesting import suggest
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.folding import fold
from tests.made_up import made_up_papers

TITLES = {
    "a": "Attention Is All You Need",
    "b": "Is Attention All You Need? A Reply",
    "c": "Graph Attention Networks",
    "d": "Networks of Attention in Graphs",
    "e": "Schrödinger's Equation for $\\alpha$ Decay",
    "f": "基于深度学习的方法",
    "g": "",
    "h": "Attention",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """A few titles in two shards."""
    rows: list[dict[str, Any]] = [
        {"id": id, "title": title, "abstract": "Words.", "authors": [f"Ada Atte{id}"]} for id, title in TITLES.items()
    ]
    path = sr.build(
        [*rows, {"id": "gone", "title": "Attention Gone"}], tmp_path_factory.mktemp("titles") / "index", encoder=None, shard_size=4
    ).path
    sr.delete(path, ["gone"])
    return sr.open(path)


def ids(index: sr.Index, text: str, k: int = 8) -> list[str]:
    """The papers that a text suggests."""
    return [paper.id for paper in suggest(index, text, k).papers]


def test_titles_that_begin_with_it_come_first(index: sr.Index) -> None:
    assert ids(index, "attention") == ["h", "a", "c", "d", "b"]
    assert ids(index, "attention is all you n") == ["a", "b"]
    assert ids(index, "graph att") == ["c"]
    assert ids(index, "networks") == ["d", "c"]
    assert ids(index, "attention", k=2) == ["h", "a"]


def test_the_last_word_may_be_unfinished_until_a_blank_follows(index: sr.Index) -> None:
    assert ids(index, "graph") == ["c", "d"]
    assert ids(index, "graph ") == ["c"]
    assert ids(index, "grap ") == []
    assert ids(index, "net graph") == []


def test_letters_are_plain(index: sr.Index) -> None:
    assert ids(index, "SCHRODINGER s eq") == ids(index, "Schrödinger") == ids(index, "alpha dec") == ids(index, r"\alpha") == ["e"]
    assert ids(index, "深度") == ["f"]


def test_authors_are_suggested_by_the_same_words(index: sr.Index) -> None:
    assert [author.name for author in suggest(index, "ada atteb").authors] == ["Ada Atteb"]
    assert len(suggest(index, "atte", k=3).authors) == 3
    shown = suggest(index, "attention is")
    assert (shown.papers[0].title, shown.papers[0].abstract, shown.names[0]) == ("Attention Is All You Need", "", "a")


def test_what_says_nothing_suggests_nothing(index: sr.Index) -> None:
    for text in ("", " ", "a", "?!", "C++", "x" * 10_000):
        assert not suggest(index, text).papers
    with pytest.raises(InvalidRequest, match="k must be"):
        suggest(index, "graph", 0)


def test_they_are_all_titles_with_the_words(tmp_path: Path) -> None:
    index = sr.build(made_up_papers(80), tmp_path / "index", encoder=None, shard_size=9)
    for words in ("gr", "virus im", "dust", "networks edges", "p"):
        *whole, last = words.split()
        fits = {
            paper.id
            for paper in index
            if set(whole) <= set(fold(paper.title).split()) and re.search(rf"\b{last}", fold(paper.title)) and len(words) > 1
        }
        assert set(ids(index, words, k=80)) == fits
        assert fits or words == "p"


def test_one_work_in_several_indexes_is_suggested_once(tmp_path: Path) -> None:
    row = {"title": "Graph Attention Networks", "doi": "10.1000/1"}
    sr.build([row | {"id": "x"}], tmp_path / "first", encoder=None)
    sr.build([row | {"id": "y", "abstract": "Says more."}, {"id": "z", "title": "Graphs"}], tmp_path / "second", encoder=None)
    found = suggest(sr.open_many([tmp_path / "first", tmp_path / "second"]), "graph")
    assert list(found.names) == ["second:z", "second:y"]
