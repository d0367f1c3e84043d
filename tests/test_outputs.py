"""Output formats, read back by the programs that they are for; a table that fits its terminal, whatever the script."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata

import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string

from sciretrieve import outputs
from sciretrieve.types import Hit, Paper

HITS = [
    Hit(
        1,
        0.98765,
        Paper("doi:10.1/a", "Graphs & trees: 100% of {A}_1", "An abstract\nof two lines.", 2019, "J. of $x$"),
        {"dense": 0.9, "bm25": None},
    ),
    Hit(
        2,
        0.5,
        Paper(
            "p 2",
            "Über Wärme",
            "",
            1905,
            None,
            ("Müller, Jörg", "Marie Curie", "The LIGO Collaboration"),
            "10.1/b",
            "https://x.org/?a=1&b=2",
        ),
        {"dense": None, "bm25": 3.25},
    ),
    Hit(
        3,
        0.25,
        Paper("p3", "Über Wärme", "Again", 1905, "Annalen", ("Müller, Jörg",), extra={"cited": 3, "tags": ["a"]}),
        {"dense": 0.1, "bm25": 0.0},
    ),
    Hit(4, -1.0, Paper("p4", "", "Only an abstract"), {"dense": None, "bm25": None}),
]


def text(lines: outputs.Lines) -> str:
    return "\n".join(lines) + "\n"


def test_json_is_the_promised_shape() -> None:
    value = json.loads(outputs.answer("a query", "hybrid", 12.34567, HITS))
    assert (value["schema"], value["query"], value["mode"], value["total_time_ms"]) == (1, "a query", "hybrid", 12.346)
    first, *_ = value["hits"]
    assert list(first) == [
        "rank",
        "score",
        "id",
        "title",
        "year",
        "venue",
        "authors",
        "abstract",
        "doi",
        "url",
        "scores",
        "extra",
    ]
    assert value["hits"][2]["scores"] == {"dense": 0.1, "bm25": 0.0}
    assert value["hits"][2]["extra"] == {"cited": 3, "tags": ["a"]}
    assert [json.loads(line) for line in outputs.jsonl(HITS)] == value["hits"]


def test_csv_as_the_csv_module_reads_it() -> None:
    rows = list(csv.DictReader(io.StringIO(text(outputs.csv_lines(HITS)), newline="")))
    assert [row["id"] for row in rows] == [hit.id for hit in HITS]
    assert rows[0]["abstract"] == "An abstract\nof two lines."
    assert rows[1]["authors"] == "Müller, Jörg; Marie Curie; The LIGO Collaboration"
    assert (rows[1]["dense"], rows[1]["bm25"]) == ("", "3.25")


def test_bibtex_as_pybtex_reads_it() -> None:
    entries = parse_string(text(outputs.bibtex(HITS)), "bibtex").entries
    assert list(entries) == ["anonymous2019graphs", "muller1905uber", "muller1905uber-1", "anonymous"]
    second = entries["muller1905uber"]
    assert [str(person) for person in second.persons["author"]][:2] == ["Müller, Jörg", "Curie, Marie"]
    assert second.fields["doi"] == "10.1/b"
    assert entries["anonymous2019graphs"].fields["title"] == r"{Graphs \& trees: 100\% of \{A\}\_1}"


def test_ris_as_rispy_reads_it() -> None:
    records = rispy.loads(text(outputs.ris(HITS)))
    assert [record["id"] for record in records] == [hit.id for hit in HITS]
    assert records[0]["abstract"] == "An abstract of two lines."
    assert records[1]["authors"] == ["Müller, Jörg", "Marie Curie", "The LIGO Collaboration"]
    assert records[1]["notes"] == ["sciretrieve rank=2 score=0.500000"]


titles = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=120) | st.text("深度学习漢字カナ한글 é́a ", max_size=80)


def columns(line: str) -> int:
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


@given(titles, titles, st.text("abc/.:0", min_size=1, max_size=30), st.lists(titles, max_size=3), st.integers(80, 120))
def test_a_table_fits_its_terminal_and_shows_the_whole_title_and_id(
    title: str, venue: str, id: str, authors: list[str], width: int
) -> None:
    lines = list(outputs.table([Hit(12, 0.5, Paper(id, title, "", 2020, venue, tuple(authors)), {})], width))
    assert max(map(columns, lines)) <= width
    assert lines[-1].endswith(id)
    shown = "".join(line.removeprefix(" 12    0.500  2020") for line in lines[:-1])
    squeezed = "".join(title.split())
    assert "".join(shown.split()) == (squeezed or "(notitle)")


def test_the_byline() -> None:
    def details(*authors: str) -> str:
        (_, line) = outputs.table([Hit(1, 1.0, Paper("x", "T", "", 2000, "V", authors), {})], 80)
        return line.strip()

    assert details() == "V · x"
    assert details("Ada Lovelace") == "Lovelace · V · x"
    assert details("Lovelace, Ada", "Alan Turing") == "Lovelace and Turing · V · x"
    assert details("Ada Lovelace", "B", "C") == "Lovelace et al. · V · x"
    assert details("The LIGO Collaboration") == "The LIGO Collaboration · V · x"


@pytest.mark.parametrize("hits", [[], HITS[:1]])
def test_formats_of_no_hits_are_still_files(hits: list[Hit]) -> None:
    assert len(list(outputs.csv_lines(hits))) == 1 + len(hits)
    assert json.loads(outputs.answer("q", "bm25", 1.0, hits))["hits"] == [json.loads(line) for line in outputs.jsonl(hits)]


def test_scores_are_those_of_the_halves() -> None:
    line = outputs.explanation(HITS[2])
    assert re.findall(r"(\w+) ([\d.]+)", line) == [("dense", "0.1000"), ("bm25", "0.0000")]
