"""The authors of an index: names that are one but for their form, found by id and as they are typed."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.answers.authors import Authors, author_id, authors_in, authors_of
from sciretrieve.base.errors import NotFound
from tests.made_up import made_up_papers

NAMES: list[list[str]] = [
    ["Lovelace, Ada", "Müller, Jürgen"],
    ["Ada Lovelace"],
    ["Ada Lovelace", "A. Lovelace"],
    ["Jurgen Muller", "Jean-Pierre Serre"],
    ["Grace Hopper and Mary Jackson", "???"],
    [],
    ["Hiroshi Ishii", "Hiroshi Ishiguro", "H. Ishii"],
    ["Susan Dumais", "Susan D. Goodall"],
    ["王伟", "Sinéad O’Brien"],
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """An index in shards, of which one paper is deleted."""
    rows = [{"id": f"p{number}", "title": f"Paper {number}", "authors": names} for number, names in enumerate(NAMES)]
    rows.append({"id": "gone", "title": "Gone", "authors": ["Nobody Else"]})
    path = sr.build(rows, tmp_path_factory.mktemp("authors") / "index", encoder=None, shard_size=4).path
    sr.delete(path, ["gone"])
    return sr.open(path)


@pytest.fixture(scope="module")
def authors(index: sr.Index) -> Authors:
    """Its authors."""
    return authors_of(index)


def found(authors: Authors, text: str) -> list[str]:
    """The ids that a typed text finds."""
    return [author.id for author in authors.at(authors.search(text))]


def test_forms_of_one_name_are_one_author(index: sr.Index, authors: Authors) -> None:
    ada = authors["ada-lovelace"]
    assert (ada.name, ada.names, len(ada)) == ("Ada Lovelace", ("Ada Lovelace",), 3)
    assert index.ids(ada.rows) == ["p0", "p1", "p2"]
    jurgen = authors["jurgen-muller"]
    assert set(jurgen.names) == {"Jürgen Müller", "Jurgen Muller"}
    assert [index.ids(authors[id].rows) for id in ("grace-hopper", "mary-jackson")] == [["p4"], ["p4"]]
    assert authors["Müller, Jürgen"].id == "jurgen-muller"
    with pytest.raises(NotFound, match="no author 'nobody-else'; search for a name"):
        authors["nobody-else"]


def test_they_are_the_names_of_all_papers(tmp_path: Path) -> None:
    index = sr.build(made_up_papers(60), tmp_path / "index", encoder=None, shard_size=7)
    papers = defaultdict[str, set[str]](set)
    for paper in index:
        for id, _ in authors_in(paper.authors):
            papers[id].add(paper.id)
    authors = authors_of(index)
    all_of = {author.id: set(index.ids(author.rows)) for author in authors.at(range(len(authors)))}
    assert all_of == papers
    assert len(all_of) == 4


def test_they_are_read_once_for_each_snapshot(index: sr.Index, authors: Authors) -> None:
    assert authors_of(index) is authors
    assert authors_of(sr.open(index.path)) is not authors


def test_names_as_they_are_typed(authors: Authors) -> None:
    assert found(authors, "lovelace") == ["ada-lovelace", "a-lovelace"]
    assert found(authors, "Lovelace, Ada")[0] == "ada-lovelace"
    assert found(authors, "love") == ["ada-lovelace", "a-lovelace"]
    assert found(authors, "A. Lovelace") == ["a-lovelace", "ada-lovelace"]
    assert found(authors, "hiroshi is") == ["hiroshi-ishiguro", "hiroshi-ishii", "h-ishii"]
    assert found(authors, "MÜLLER") == ["jurgen-muller"]
    assert found(authors, "pierre jean") == found(authors, "Jean-Pierre Serre") == ["jean-pierre-serre"]
    assert found(authors, "Susan Dumais") == ["susan-dumais"]
    assert found(authors, "O'Brien") == ["sinead-obrien"]
    assert found(authors, "伟") == ["王伟"]
    assert found(authors, "nobody") == found(authors, "") == found(authors, "???") == []


def test_ids_are_addresses() -> None:
    assert author_id("Ødegård, Åse B.") == "ase-b-odegard"
    assert author_id("  van  den Oord,  Aäron ") == "aaron-van-den-oord"
    assert author_id("—") == ""


def test_no_authors_at_all(tmp_path: Path) -> None:
    index = sr.build([{"id": "a", "title": "Alone"}], tmp_path / "index", encoder=None)
    authors = authors_of(index)
    assert len(authors) == 0
    assert found(authors, "ada") == []


def test_authors_of_several_indexes(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "title": "One", "authors": ["Ada Lovelace"]},
        {"id": "b", "title": "Two", "authors": ["Mary"]},
    ]
    for name, row in zip(("first", "second"), rows, strict=True):
        sr.build([row, {"id": "c", "title": f"In {name}", "authors": ["Lovelace, Ada"]}], tmp_path / name, encoder=None)
    indexes = sr.open_many([tmp_path / "first", tmp_path / "second"])
    ada = authors_of(indexes)["ada-lovelace"]
    assert indexes.snapshot.whole_names(ada.rows) == ["first:a", "first:c", "second:c"]
