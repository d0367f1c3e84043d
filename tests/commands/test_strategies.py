"""`sciretrieve strategy run`, `translate` and `replay` as librarians use them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sciretrieve as sr
from tests.command_line import answer, sciretrieve

PAPERS = [
    {"id": "a", "title": "Heart failure in the mouse", "authors": ["Ada Lovelace"], "year": 2010},
    {"id": "b", "title": "A review of heart attacks", "authors": ["Bob Bee"], "year": 2012},
]
STRATEGY = """indexes = ["mine", "lab"]

[lines]
s1 = 'heart'
s2 = 's1 NOT title:review'
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two indexes and a strategy over them, in which one works."""
    sr.build(PAPERS, tmp_path / "indexes" / "mine", encoder=None).close()
    sr.build([PAPERS[0] | {"id": "c"}], tmp_path / "indexes" / "lab", encoder=None).close()
    (tmp_path / "strategy.toml").write_text(STRATEGY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_counts_of_each_line(place: Path) -> None:
    assert answer("strategy", "run", "strategy.toml") == (
        "line  query                mine  lab  total\n"
        "s1    heart                   2    1      3\n"
        "s2    s1 NOT title:review     1    1      2\n"
        "\n"
        "s2: 2 found, 1 duplicate removed, 1 paper\n"
    )
    # over another index, whose total is its count
    assert answer("strategy", "run", "strategy.toml", "-i", "lab") == (
        "line  query                lab\n"
        "s1    heart                  1\n"
        "s2    s1 NOT title:review    1\n"
        "\n"
        "s2: 1 found, 0 duplicates removed, 1 paper\n"
    )
    assert not (place / "log.json").exists()


def test_a_long_line_is_cut_to_the_terminal(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "strategy.toml").write_text(f"[lines]\ns1 = 'heart OR {' OR '.join(['mouse'] * 40)}'\n")
    monkeypatch.setenv("COLUMNS", "60")
    lines = answer("strategy", "run", "strategy.toml", "-i", "mine").splitlines()
    assert {len(line) for line in lines[:2]} == {60}
    assert "…  " in lines[1]


def test_log_and_lists_in_a_folder(place: Path) -> None:
    result = sciretrieve("strategy", "run", "strategy.toml", "-o", "out", "--format", "json")
    log = json.loads(result.stdout)
    assert log == json.loads((place / "out" / "log.json").read_text())
    assert (log["result"]["duplicates"], log["strategy"]) == (1, STRATEGY)
    assert result.stderr == "log.json, papers.csv, papers.ris and duplicates.csv: out\n"
    assert (place / "out" / "duplicates.csv").read_text() == (
        "kept,kept_index,removed,removed_index,by,title\na,mine,c,lab,title and author,Heart failure in the mouse\n"
    )
    assert sciretrieve("strategy", "run", "strategy.toml", "-o", "out", "-q").stderr == ""


def test_the_log_of_another_strategy_stays(place: Path) -> None:
    answer("strategy", "run", "strategy.toml", "-o", "out")
    (place / "strategy.toml").write_text(STRATEGY + "s3 = 's2'")
    result = sciretrieve("strategy", "run", "strategy.toml", "-o", "out")
    assert result.returncode == 2
    assert result.stderr == "sciretrieve: out has the log of another run; choose another folder, or replace it with --overwrite\n"
    assert result.stdout == ""
    answer("strategy", "run", "strategy.toml", "-o", "out", "--overwrite")
    assert len(json.loads((place / "out" / "log.json").read_text())["lines"]) == 3


def test_a_log_is_run_again(place: Path) -> None:
    answer("strategy", "run", "strategy.toml", "-o", "out")
    sr.add([{"id": "d", "title": "Heart and lung"}], place / "indexes" / "mine")
    result = sciretrieve("strategy", "replay", "out/log.json")
    assert result.returncode == 0
    assert "s1    heart                   2    1      3\n" in result.stdout
    date = json.loads((place / "out" / "log.json").read_text())["date"]
    assert result.stderr == f"the counts are those of {date}\n"
    log = json.loads((place / "out" / "log.json").read_text())
    log["lines"][0]["counts"]["mine"] = 7
    (place / "other.json").write_text(json.dumps(log))
    result = sciretrieve("strategy", "replay", "other.json", "-q")
    assert (result.returncode, result.stderr) == (1, "line s1 has 2 in mine, and had 7\n")


OVID = """1. exp Heart/
2. (heart adj2 fail*).ti,ab.
3. or/1-2
4. 3 not review.pt.
"""


def test_a_strategy_of_ovid(place: Path) -> None:
    (place / "ovid.txt").write_text(OVID)
    notes = (
        "line s1: not available: exp Heart/ (a subject heading; write its words, and those of the headings below it)\n"
        "line s4: not available: review.pt. (there is no column for .pt.)\n"
    )
    result = sciretrieve("strategy", "run", "ovid.txt", "--from", "ovid", "-i", "mine")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == notes + (
        "sciretrieve: ovid.txt: line s4 has NOT with operands that are not available here: review.pt.; leave them out, "
        "or write words in their place; `strategy translate` writes a file, to be edited and run\n"
    )
    result = sciretrieve("strategy", "translate", "ovid.txt", "--from", "ovid", "-o", "ovid.toml")
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == f"{notes}ovid.toml: 2 notes; next: sciretrieve strategy run ovid.toml\n"
    assert sciretrieve("strategy", "translate", "ovid.txt", "--from", "ovid", "-o", "ovid.toml").returncode == 2
    edited = (place / "ovid.toml").read_text().replace('unavailable:"review.pt."', "title:review")
    (place / "ovid.toml").write_text(edited)
    printed = answer("strategy", "run", "ovid.toml", "-i", "mine", "-o", "out")
    assert "      without exp Heart/, which is not available\n" in printed
    assert printed.endswith("s4: 1 found, 0 duplicates removed, 1 paper\n")
    assert json.loads((place / "out" / "log.json").read_text())["lines"][3]["without"] == ["exp Heart/"]


def test_a_strategy_of_pubmed_is_run_as_it_is(place: Path) -> None:
    (place / "pubmed.txt").write_text('(heart[tiab] OR "Heart"[Mesh]) NOT review[ti]')
    result = sciretrieve("strategy", "run", "pubmed.txt", "--from", "pubmed", "-i", "mine", "-o", "out")
    assert result.stdout.endswith("s1: 1 found, 0 duplicates removed, 1 paper\n")
    log = json.loads((place / "out" / "log.json").read_text())
    assert log["translated"]["syntax"] == "pubmed"
    assert log["translated"]["original"] == (place / "pubmed.txt").read_text()
    assert log["translated"]["notes"] == [result.stderr.splitlines()[0]]
    assert log["translated"]["text"] == log["strategy"]
    assert sciretrieve("strategy", "replay", "out/log.json").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "log.json"), "there is no log log.json"),
        (("run", "strategy.toml", "-o", "strategy.toml/x"), "is a file"),
        (("run", "none.toml"), "there is no strategy none.toml"),
        (("run", "strategy.toml", "-i", "absent"), "there is no index at absent"),
        (("translate", "strategy.toml", "--from", "ovid", "-o", "strategy.toml"), "strategy.toml is there already"),
        (("translate", "strategy.toml", "--from", "ovid", "-o", "no/s.toml"), "there is no directory no to write s.toml to"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(place: Path, arguments: tuple[str, ...], message: str) -> None:
    result = sciretrieve("strategy", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
