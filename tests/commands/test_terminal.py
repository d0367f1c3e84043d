"""What a person sees at a terminal: through a pseudo-terminal once, else with FORCE_COLOR, which stands for one."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import sciretrieve as sr
from sciretrieve.answers.answering import Answer, Request
from sciretrieve.answers.snippets import QueryWords
from sciretrieve.base.types import Hit, Paper, Query, Rows
from sciretrieve.base.wording import printable
from sciretrieve.commands import terminal
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.runs import Ranking, Run
from tests.command_line import answer
from tests.made_up import write_jsonl

LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")
STYLE = re.compile(r"\x1b\[[0-9;]*m")
TERMINAL = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "80"}
ANALYZER = Analyzer()


class Papers:
    """Papers of hits, where only the rows are asked for."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        return []


def bare(text: str) -> str:
    """What is seen of a terminal's text: without styles and links."""
    return STYLE.sub("", LINK.sub("", text))


def drawn(paper: Paper, query: str, width: int, **environment: str) -> list[str]:
    """The lines of a hit at a terminal of that width."""
    ranking = Ranking(Query("1", query), [paper.id], np.array([0.5]), np.array([0], np.int64))
    whole_answer = Answer(Request(query), Run((ranking,), "hybrid", Papers()), [Hit(12, 0.5, paper, {})])
    with mock.patch.dict(os.environ, TERMINAL | environment | {"COLUMNS": str(width)}):
        return list(terminal.table(whole_answer, QueryWords(ANALYZER, dict.fromkeys(ANALYZER.terms(query), 1.0))))


PAPER = Paper(
    "p1",
    "Graph Attention Networks",
    "We are many. A graph neural network layer is made here.",
    2018,
    "ICLR",
    ("Petar Veličković", "A. B", "C. D"),
    "10.1000/gat",
)


def test_a_hit_has_two_lines_with_title_link_and_marked_words() -> None:
    lines = drawn(PAPER, "graph networks", 80)
    assert [bare(line) for line in lines] == [
        " 12    0.500  2018  Graph Attention Networks",
        "                    Veličković et al. · ICLR · p1",
    ]
    assert set(filter(None, LINK.findall(lines[0]))) == {"https://doi.org/10.1000/gat"}
    marked = [re.findall(r"\x1b\[1;35m(.*?)\x1b\[0m", line) for line in lines]
    assert marked == [["Graph", "Networks"], []]
    assert "\x1b[2mp1\x1b[0m" in lines[1]


def test_a_narrow_terminal_has_the_title_first() -> None:
    assert [bare(line) for line in drawn(PAPER, "graph", 44)] == [
        " 12  Graph Attention Networks",
        "     0.500 · 2018 · Veličković et al. · p1",
    ]


def test_without_colour_there_are_none_and_a_dumb_terminal_gets_no_codes() -> None:
    assert not re.search(r"\x1b\[[0-9;]*3\d", "".join(drawn(PAPER, "graph", 80, NO_COLOR="1")))
    assert drawn(PAPER, "graph", 80, TERM="dumb") == [bare(line) for line in drawn(PAPER, "graph", 80)]


def test_a_long_title_is_cut_between_words_and_what_it_is_known_by_stays() -> None:
    paper = Paper(
        "a-name-of-twenty-letters", "Networks " * 12, year=2018, venue="Proceedings of the " + "Society of Venues " * 3, authors=("A", "B")
    )
    first, second = (bare(line) for line in drawn(paper, "graph", 80))
    assert first == " 12    0.500  2018  Networks Networks Networks Networks Networks Networks…"
    assert second == "                    A and B · Society of Venues… · a-name-of-twenty-letters"


texts = st.text(max_size=120) | st.text("深度学习漢字カナ한글 é́a \x1b[31m\x9b\u202e", max_size=80)


@given(texts, texts, st.text(min_size=1, max_size=30), st.lists(texts, max_size=3), texts, st.integers(30, 130))
def test_all_fits_and_nothing_of_a_paper_is_obeyed(title: str, venue: str, id: str, authors: list[str], abstract: str, width: int) -> None:
    lines = [bare(line) for line in drawn(Paper(id, title, abstract, 2020, venue, tuple(authors)), "graph 深度学习漢字", width)]
    assert max(map(cell_len, lines)) <= width
    assert printable("".join(lines)) == "".join(lines)
    squeezed = "".join(printable("".join((title or abstract).split())).split()) or "(notitle)"
    shown = "".join(lines[0].removeprefix(" 12    0.500  2020").removeprefix(" 12").split())
    assert shown == squeezed or squeezed.startswith(shown.removesuffix("…"))
    assert "".join(printable("".join(id.split())).split()) in "".join("".join(lines).split())


@pytest.mark.parametrize(
    ("venue", "width", "expected"),
    [
        ("Proceedings of the 28th International Conference on Machine Learning", 80, "28th International Conference on Machine Learning"),
        ("Proceedings of the 28th International Conference on Machine Learning", 40, "28th International Conference…"),
        ("In Proc. of the 28th International Conference on Machine Learning (ICML 2011)", 48, "28th International Conference… (ICML 2011)"),
        ("Proceedings of the 28th International Conference on Machine Learning (ICML 2011)", 12, "ICML 2011"),
        ("Proceedings of the National Academy of Sciences", 20, "National Academy…"),
        ("Proceedings", 20, "Proceedings"),
        ("Journal of the Royal Society", 28, "Journal of the Royal Society"),
        ("Journal of the Royal Society", 16, "Journal…"),
        ("Rechtswissenschaften", 10, "Rechtswis…"),
        ("情報処理学会論文誌", 10, "情報処理…"),
        ("", 10, ""),
    ],
)
def test_venues_are_shortened_by_words(venue: str, width: int, expected: str) -> None:
    assert terminal.short_venue(venue, width) == expected


def test_a_search_at_a_terminal_says_which_index_answered(index: sr.Index) -> None:
    out = answer("search", "graph networks", "-i", index.path, "-k", "2", **TERMINAL | {"COLUMNS": "300"})
    *hits, footer = bare(out).splitlines()
    counts = f"{index.count('graph networks')} papers have all of these words; 300 are ranked"
    assert re.fullmatch(rf"{re.escape(str(index.path))} · 300 papers · hybrid · \d+\.\d s · {counts}", footer)
    titles = [" ".join(hit.paper.title.split()) for hit in index.search("graph networks", 2).hits]
    assert all(title in "\n".join(hits) for title in titles)
    assert bare(answer("search", "graph", "-i", index.path, "--filter", "year > 3000", **TERMINAL)).startswith(str(index.path))
    assert "300 papers" not in answer("search", "graph", "-i", index.path, "-q", **TERMINAL)


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (("search", "graph", "--mode", "bm25"), "{} papers have all of these words"),
        (("search", "graph AND networks", "--mode", "bm25"), "{} papers meet the demands"),
        (("search", "p0007"), "1 paper is named by the query; 300 are ranked"),
        (("similar", "p0007", "--filter", "year >= 2010"), "{} papers pass the filter"),
        (("similar", "p0007"), "s"),
    ],
)
def test_the_last_line_says_how_many_papers_there_are(index: sr.Index, words: tuple[str, ...], last: str) -> None:
    query, filter = (words[1] if words[0] == "search" else ""), ("year >= 2010" if "--filter" in words else None)
    out = bare(answer(*words, "-i", index.path, "-k", "1", **TERMINAL))
    assert " ".join(out.split()).endswith(f" {last.format(index.count(query, filter))}")


def test_explanations_stand_for_the_sentence(index: sr.Index) -> None:
    out = bare(answer("search", "star telescope", "-i", index.path, "-k", "1", "--explain", **TERMINAL | {"COLUMNS": "200"}))
    assert re.search(r"↳ dense rank [\d,]+ \(.*\n +↳ words: .*\n", out)
    assert out.count("“") <= 1


@pytest.mark.parametrize("format", ["jsonl", "bibtex"])
def test_other_formats_are_for_programs_even_at_a_terminal(index: sr.Index, format: str) -> None:
    asked = ("search", "graph networks", "-i", index.path, "-f", format)
    assert answer(*asked, **TERMINAL) == answer(*asked)


EVIL = {"id": "evil", "title": "Graph\x1b]0;owned\x07 \x9b31m networks", "abstract": "A graph\x1b[2J.", "venue": "V\x1b[1m", "year": 2020}


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a paper whose texts would command a terminal."""
    folder = tmp_path_factory.mktemp("evil")
    return sr.build(write_jsonl(folder / "papers.jsonl", [EVIL]), folder / "index", encoder=None).path


def test_no_paper_commands_a_terminal(evil: Path) -> None:
    out = seen("search", "graph", "-i", evil, "--facets", "venue", "--explain")
    assert "1 paper · bm25 · " in out
    assert "Graph\ufffd]0;owned\ufffd \ufffd31m networks" in bare(out)
    for text in (bare(out), seen("search", "graph", "-i", evil, "-f", "json")):
        assert not re.search("[\x07\x1b\x9b]", text)


def test_nor_does_the_table_that_goes_through_a_pipe(evil: Path) -> None:
    table = answer("search", "graph", "-i", evil, "--facets", "venue", "--explain")
    assert "Graph\ufffd]0;owned\ufffd \ufffd31m networks" in table
    assert printable(table) == table
    # what programs read has it as it is
    assert json.loads(answer("search", "graph", "-i", evil, "-f", "json"))["hits"][0]["title"] == EVIL["title"]


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture(scope="module")
def evil_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of papers whose ids and texts would command a terminal, also where a bibliography's own entry is what is written."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "library.bib").write_text("@article{key, title = {Graph\x1b[2J \x9b31m and\x0ctree}, note = {\x07}}\n")
    item = {"id": "item", "type": "article", "title": "Graph \x1b[2J\x7f", "author": [{"literal": "\x9b"}]}
    (folder / "library.json").write_text(json.dumps([item]))
    write_jsonl(folder / "papers.jsonl", [EVIL | {"id": "evil\x1b[2J", "authors": ["A\x1b B"], "doi": "10.1/\x9b"}])
    return sr.build(folder, folder / "index", encoder=None).path


@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "tsv", "bibtex", "ris", "csl-json", "markdown", "html", "trec"])
def test_nor_does_any_format_that_is_shown_later(evil_sources: Path, format: str) -> None:
    out = answer("search", "graph", "-i", evil_sources, "-f", format)
    assert out.count("\n") >= 3
    assert not CONTROL.search(out)


@pytest.mark.parametrize("suffix", [".bib", ".ris", ".json"])
def test_nor_does_a_bibliography_that_is_written(evil_sources: Path, tmp_path: Path, suffix: str) -> None:
    whole, added = tmp_path / f"whole{suffix}", tmp_path / f"added{suffix}"
    answer("export", "-i", evil_sources, "-o", whole)
    answer("search", "graph", "-i", evil_sources, "--append", added)
    for text in (whole.read_text(), added.read_text()):
        assert "Graph" in text
        assert not CONTROL.search(text)
        if suffix == ".json":
            assert "Graph \x1b[2J\x7f" in [item["title"] for item in json.loads(text)], "in JSON they are numbers"


@pytest.mark.parametrize(("hits", "paged"), [("3", False), ("20", True)])
def test_more_than_the_terminal_has_rows_goes_through_the_pager(index: sr.Index, tmp_path: Path, hits: str, paged: bool) -> None:
    ask = ("search", "star", "-i", index.path, "--mode", "bm25", "-n", hits)
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\ncat\necho "paged $1 FRX=$LESS"\n')
    pager.chmod(0o755)
    assert ("paged --plain FRX=FRX" in seen(*ask, PAGER=f"{pager} --plain")) == paged
    if paged:
        assert bare(seen(*ask, PAGER="no-such-pager", LINES="24")).count("\n") == 2 * int(hits) + 2
    assert "paged" not in answer(*ask, PAGER=str(pager), **TERMINAL)


def seen(*arguments: str | Path, **variables: str) -> str:
    """What a command prints to a terminal."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "sciretrieve", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm", **variables}
    process = subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env=environment)
    os.close(follower)
    parts = []
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    assert process.wait() == 0
    return b"".join(parts).decode()
