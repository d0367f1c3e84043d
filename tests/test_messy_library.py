"""A researcher's own bibliography: 2,000 messy entries go in, are found by key, DOI, title and author, and come out unchanged."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pybtex.database.input.bibtex import LowLevelParser

import sciretrieve as sr
from sciretrieve.answers import outputs
from sciretrieve.base.types import Paper
from sciretrieve.lifecycle.exporting import export
from sciretrieve.papers.bibliographies.bibtex_entries import entries
from tests.messy_library import Entry, Library, messy_library

LIBRARY = messy_library(2000)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    folder = tmp_path_factory.mktemp("library")
    (folder / "library.bib").write_text(LIBRARY.text, encoding="utf-8")
    return sr.build(folder / "library.bib", folder / "index", encoder=None)


@pytest.fixture(scope="module")
def papers(index: sr.Index) -> dict[str, Paper]:
    return {paper.id: paper for paper in index.papers([entry.key for entry in LIBRARY.entries])}


def a_few(count: int = 60) -> Sequence[Entry]:
    return random.Random(1).sample(LIBRARY.entries, count)


class Macros(dict[str, str]):
    """Macros for pybtex: names that a file does not define stand for themselves."""

    def __getitem__(self, name: str) -> str:
        return self.get(name.lower(), f"<{name}>")

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)


def parsed(text: str) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """Entries as pybtex reads them, by key; of repeated keys the first, and only those that it can read."""
    found: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for kind, content in LowLevelParser(text, macros=Macros()):
        if kind.lower() not in {"string", "preamble", "xdata"}:
            key, fields = content
            found.setdefault(key, (kind, [(name, " ".join("".join(parts).split())) for name, parts in fields]))
    return found


def sound(library: Library) -> str:
    """The text without what pybtex stops at: broken entries, and an @ between entries."""
    parts = (part for part in library.text.split("\n\n") if "me@example" not in part and "@COMMENT" not in part)
    return "\n\n".join(part for part in parts if not any(f"{{{key}" in part for key in library.broken))


def test_all_go_in_and_what_does_not_is_named(index: sr.Index) -> None:
    assert len(LIBRARY.entries) == 2000
    assert len(index) == 2000 + len(LIBRARY.repeated)  # those of another work have ids of their own
    assert len(LIBRARY.repeated) > 5
    rejected = (index.path / "rejected.jsonl").read_text(encoding="utf-8")
    assert rejected.count("\n") == rejected.count("is broken") == len(LIBRARY.broken) > 20
    assert all(f'"{key}"' in rejected for key in LIBRARY.broken)


def test_they_say_in_plain_text_what_they_say_in_latex(papers: dict[str, Paper]) -> None:
    for entry in LIBRARY.entries:
        paper = papers[entry.key]
        assert (paper.title, paper.authors, paper.venue, paper.doi) == (entry.title, entry.authors, entry.venue, entry.doi)
        assert bool(paper.extra.get("more_authors")) == entry.has_more
        assert "\\" not in paper.abstract
        assert paper.year


@pytest.mark.parametrize(
    ("by", "query"),
    [
        ("key", lambda entry: entry.key),
        ("DOI", lambda entry: entry.doi),
        ("DOI's address", lambda entry: entry.doi and f"https://doi.org/{entry.doi.upper()}"),
        ("title", lambda entry: entry.title),
        ("author", lambda entry: entry.authors and f'author:"{entry.authors[0]}" {" ".join(entry.title.split()[1:4])}'),
        ("author and title", lambda entry: entry.authors and f"{entry.authors[0]} {entry.title}"),
    ],
)
def test_each_is_found(index: sr.Index, by: str, query: Callable[[Entry], str | None]) -> None:
    wanted = [(text, entry.key) for entry in a_few() if (text := query(entry))]
    run = index.search([text for text, _ in wanted], k=1, mode="bm25", group=False)
    assert len(wanted) > 30
    assert [list(ranking.ids) for ranking in run] == [[key] for _, key in wanted]


def test_they_come_out_unchanged(index: sr.Index, papers: dict[str, Paper], tmp_path: Path) -> None:
    expected = parsed(sound(LIBRARY))
    assert set(expected) == {entry.key for entry in LIBRARY.entries}
    assert parsed("\n\n".join(entries(list(papers.values())))) == expected
    export(index, tmp_path / "papers.parquet")
    assert parsed("\n\n".join(pq.read_table(tmp_path / "papers.parquet")["bibtex"].to_pylist())) == expected
    hits = index.search(LIBRARY.entries[0].title, k=5, mode="bm25").hits
    assert dict(list(parsed("\n".join(outputs.FORMATS["bibtex"](hits))).items())[: len(hits)]) == {hit.id: expected[hit.id] for hit in hits}


def test_what_came_out_goes_in_again_as_the_same(index: sr.Index, papers: dict[str, Paper], tmp_path: Path) -> None:
    (tmp_path / "again.bib").write_text("\n\n".join(entries(list(papers.values()))), encoding="utf-8")
    again = sr.build(tmp_path / "again.bib", tmp_path / "index", encoder=None)
    assert len(again) == 2000
    assert {paper.id: paper.title for paper in again.papers(list(papers))} == {id: paper.title for id, paper in papers.items()}
