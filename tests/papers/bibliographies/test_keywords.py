"""Keywords go into every bibliography and come back from it, from whatever column they are in."""

import json
from pathlib import Path
from typing import Any

import pytest
import rispy
from hypothesis import example, given
from hypothesis import strategies as st
from pybtex.database import parse_string

from sciretrieve.answers import outputs
from sciretrieve.base.types import Hit, Paper
from sciretrieve.files.schema import papers_of
from sciretrieve.papers.bibliographies.keywords import joined, keywords_of, listed
from tests.made_up import read_corpus

SUFFIXES = {"bibtex": ".bib", "ris": ".ris", "csl-json": ".json"}
LISTS = [["graphs", "neural networks"], ["one"], ["graphs, directed"], ["graphs, directed", "R&D", "50 %", "a--b", "C#", "{x}", "图"], []]


def written(keywords: Any, format: str, column: str = "keywords") -> str:
    """A paper with keywords as a bibliography."""
    paper = Paper("a", "On keywords", year=2020, authors=("Ada Lovelace",), venue="Nature", extra={column: keywords})
    return "\n".join(outputs.FORMATS[format]([Hit(1, 0.5, paper, {})])) + "\n"


@pytest.mark.parametrize("format", SUFFIXES)
@pytest.mark.parametrize("keywords", LISTS)
def test_keywords_come_back_from_every_format(tmp_path: Path, format: str, keywords: list[str]) -> None:
    path = tmp_path / f"p{SUFFIXES[format]}"
    path.write_text(written(keywords, format), encoding="utf-8")
    (paper,) = papers_of(read_corpus(path)[0])
    assert (paper.extra.get("keywords") or []) == keywords
    for other, suffix in SUFFIXES.items():  # and on into another format
        path = tmp_path / f"q{suffix}"
        path.write_text("\n".join(outputs.FORMATS[other]([Hit(1, 0.5, paper, {})])) + "\n", encoding="utf-8")
        assert (papers_of(read_corpus(path)[0])[0].extra.get("keywords") or []) == keywords


def test_keywords_as_other_programs_read_them() -> None:
    (record,) = rispy.loads(written(["graphs", "trees, rooted"], "ris"))
    assert record["keywords"] == ["graphs", "trees, rooted"]
    (item,) = json.loads(written(["graphs", "trees"], "csl-json"))
    assert item["keyword"] == "graphs, trees"
    (entry,) = parse_string(written(["graphs", "R&D"], "bibtex"), "bibtex").entries.values()
    assert entry.fields["keywords"] == r"graphs, R\&D"


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("keywords", "graphs; trees, rooted; graphs", ["graphs", "trees, rooted"]),
        ("Author Keywords", "graphs, trees", ["graphs", "trees"]),
        ("tags", ["to read", "trees"], ["to read", "trees"]),
        ("keywords", [{"id": "k1", "display_name": "Graphs", "score": 0.9}, None, "a;b"], ["Graphs", "a", "b"]),
        ("keywords", 3, []),
        ("mesh", ["Humans"], []),
    ],
)
def test_keywords_are_found_in_what_sources_have(column: str, value: Any, expected: list[str]) -> None:
    assert keywords_of(Paper("a", "T", extra={column: value})) == expected


@given(st.lists(st.text(st.characters(exclude_characters=";")).map(lambda text: " ".join(text.split())).filter(bool), unique=True))
@example([","])
def test_a_list_as_a_text_is_the_same_list(keywords: list[str]) -> None:
    assert listed(joined(keywords)) == keywords
