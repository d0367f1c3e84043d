"""From columns to papers: which names are recognised, and how values of every source become one kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.corpora.papers import author_names
from sciretrieve.corpora.seen import SeenIds
from tests.made_up import read_corpus, write_jsonl

SOURCES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Semantic Scholar": (
        {"paperId": "649def", "title": "T", "abstract": "A", "year": 2017, "venue": "ACL", "authors": [{"authorId": "1", "name": "Ada L"}]},
        {"id": "649def", "title": "T", "abstract": "A", "year": 2017, "venue": "ACL", "authors": ["Ada L"]},
    ),
    "S2ORC": (
        {"corpusid": 42, "title": "T", "abstract": "A", "authors": [{"first": "Ada", "last": "Lovelace"}], "journal": "Nature"},
        {"id": "42", "venue": "Nature", "authors": ["Ada Lovelace"]},
    ),
    "OpenAlex": (
        {
            "id": "https://openalex.org/W1",
            "display_name": "T",
            "publication_year": 2001,
            "doi": "https://doi.org/10.1/x",
            "authorships": [{"author": {"display_name": "Ada Lovelace"}, "author_position": "first"}],
        },
        {"id": "https://openalex.org/W1", "title": "T", "year": 2001, "authors": ["Ada Lovelace"], "doi": "https://doi.org/10.1/x"},
    ),
    "arXiv": (
        {
            "id": "0704.0001",
            "title": "T",
            "abstract": " A\n",
            "authors": "C. Bal\\'azs, E. L. Berger",
            "update_date": "2008-11-26",
            "journal-ref": "PRD",
        },
        {"id": "0704.0001", "abstract": "A", "authors": ["C. Bal\\'azs", "E. L. Berger"], "year": 2008, "venue": "PRD"},
    ),
    "PubMed": (
        {
            "pmid": 123,
            "article_title": "T",
            "abstract_text": "A",
            "pub_year": "1999 Jan",
            "journal": "Lancet",
            "authors": "Curie M; Meitner L",
        },
        {"id": "123", "title": "T", "abstract": "A", "year": 1999, "venue": "Lancet", "authors": ["Curie M", "Meitner L"]},
    ),
    "CORD-19": (
        {
            "cord_uid": "ug7v899j",
            "title": "T",
            "abstract": "A",
            "publish_time": "2001-07-04",
            "authors": "Madani, Tariq A; Al-Ghamdi, Aisha A",
        },
        {"id": "ug7v899j", "year": 2001, "authors": ["Madani, Tariq A", "Al-Ghamdi, Aisha A"]},
    ),
    "TREC": ({"docno": "X-1", "text": "only text"}, {"id": "X-1", "title": "", "abstract": "only text"}),
    "only a DOI": ({"DOI": "10.1/x", "Title": "T"}, {"id": "10.1/x", "title": "T", "doi": "10.1/x"}),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_columns_of_known_sources(tmp_path: Path, source: str) -> None:
    row, expected = SOURCES[source]
    (paper,) = read_corpus(write_jsonl(tmp_path / "p.jsonl", [row]))[0].to_pylist()
    assert {name: paper[name] for name in expected} == expected


def test_named_columns_win_and_the_others_keep_their_values(tmp_path: Path) -> None:
    row = {"id": "row-1", "key": "k1", "title": "running title", "full": "T", "summary": "S", "abstract": "A", "n": 7}
    read, _ = read_corpus(write_jsonl(tmp_path / "p.jsonl", [row]), id="key", title="full", abstract="summary")
    (paper,) = read.to_pylist()
    assert (paper["id"], paper["title"], paper["abstract"]) == ("k1", "T", "S")
    assert (paper["id_"], paper["title_"], paper["abstract_"], paper["n"]) == ("row-1", "running title", "A", 7)


@pytest.mark.parametrize(
    ("value", "year"),
    [(2017, 2017), ("2017", 2017), ("2017-03-01", 2017), ("March 2017", 2017), (2017.0, 2017), ("1687", 1687), ("c. 1905?", 1905)]
    + [(None, None), ("", None), ("in press", None), (20170301, None), (0, None), ("12345", None), ("2150", None)],
)
def test_years(tmp_path: Path, value: Any, year: int | None) -> None:
    (paper,) = read_corpus(write_jsonl(tmp_path / "p.jsonl", [{"id": "1", "title": "t", "year": value}]))[0].to_pylist()
    assert paper["year"] == year


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, []),
        ("", []),
        ("Ada Lovelace", ["Ada Lovelace"]),
        ("Lovelace, Ada", ["Lovelace, Ada"]),
        ("Ada Lovelace, Alan Turing", ["Ada Lovelace", "Alan Turing"]),
        ("Lovelace, Ada and Turing, Alan", ["Lovelace, Ada", "Turing, Alan"]),
        ("Lovelace, Ada; Turing, Alan;", ["Lovelace, Ada", "Turing, Alan"]),
        ("Ada Lovelace|Alan Turing", ["Ada Lovelace", "Alan Turing"]),
        (["Ada Lovelace", None, ""], ["Ada Lovelace"]),
        ([{"name": "Ada Lovelace"}, {"name": None}], ["Ada Lovelace"]),
        (12, ["12"]),
        ([3, {"name": 4}], ["3", "4"]),
    ],
)
def test_authors(value: Any, names: list[str]) -> None:
    assert author_names(value) == names


@given(st.lists(st.lists(st.text(max_size=3))))
def test_seen_ids_are_a_set(calls: list[list[str]]) -> None:
    seen, expected = SeenIds(), set()
    for ids in calls:
        new = seen.add(ids)
        for id, flag in zip(ids, new, strict=True):
            assert flag == (id not in expected)
            expected.add(id)


def test_an_id_of_an_earlier_file_is_a_duplicate(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"id": "1", "title": "first"}, {"id": "2", "title": "only"}])
    write_jsonl(tmp_path / "b.jsonl", [{"id": 1, "title": "second"}, {"id": " 2 ", "title": "spaces"}, {"id": "3", "title": "new"}])
    read, rejected = read_corpus(tmp_path)
    assert read.select(["id", "title"]).to_pylist() == [
        {"id": "1", "title": "first"},
        {"id": "2", "title": "only"},
        {"id": "3", "title": "new"},
    ]
    assert [(Path(item.source).name, item.row, item.id, item.reason) for item in rejected] == [
        ("b.jsonl", 1, "1", "duplicate id"),
        ("b.jsonl", 2, "2", "duplicate id"),
    ]
