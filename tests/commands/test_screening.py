"""`sciretrieve screen` as people and scripts use it."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import sciretrieve as sr
from tests.command_line import answer, sciretrieve

BEGUN = ("screen", "-d", "review.jsonl", "--query", "vaccine trial")


def ids(lines: str) -> list[str]:
    """The ids of the papers in JSON Lines, whose last line is the status."""
    return [json.loads(line)["id"] for line in lines.splitlines()[:-1]]


def test_a_script_screens_with_json_lines(index: sr.Index) -> None:
    lines = answer(*BEGUN, "-i", index.path, "--next", "3", "-f", "jsonl")
    first, second, third = ids(lines)
    assert [first, second, third] == index.search("vaccine trial", 3, group=False)[0].ids
    row, status = json.loads(lines.splitlines()[0]), json.loads(lines.splitlines()[-1])["status"]
    assert row["relevant"] is None
    assert "score" not in row
    assert (status["papers"], status["read"], status["recall"], status["stop"]) == (299, 0, None, False)
    lines = answer(
        "screen", "-d", "review.jsonl", "-i", index.path, "--include", first, "--exclude", second, "--include", third, "-f", "jsonl"
    )
    assert len(ids(lines)) == 10
    assert not {first, second, third} & set(ids(lines))
    assert json.loads(lines.splitlines()[-1])["status"]["relevant"] == 2
    # decided the other way, from stdin; and nothing else is printed
    lines = answer("screen", "-d", "review.jsonl", "-i", index.path, "--exclude", "-", "--next", "0", stdin=f"{first}\n\n{third}\n")
    assert lines.startswith("3 of 299 read, 0 relevant; go on")
    assert len(lines.splitlines()) == 1


def test_papers_that_a_filter_cannot_compare_are_named(tmp_path: Path) -> None:
    sr.build([{"id": f"p{number}", "title": "Graphs", "pages": number} for number in range(5)], tmp_path / "index", encoder=None).close()
    sr.add([{"id": "odd", "title": "Graphs", "pages": "xii-xv"}], tmp_path / "index")
    result = sciretrieve("screen", "-d", "r.jsonl", "--query", "graphs", "-i", tmp_path / "index", "--filter", "pages >= 2", "-f", "jsonl")
    assert sorted(ids(result.stdout)) == ["p2", "p3", "p4"]
    assert "1 paper left out, whose values do not compare with what is asked" in result.stderr
    assert result.stderr.strip().endswith("odd")


def test_the_papers_found_relevant_are_printed_in_every_format(index: sr.Index) -> None:
    command = ("screen", "-d", "review.jsonl", "-i", index.path, "--included")
    answer(*BEGUN, "-i", index.path, "--include", "p0007", "--include", "p0003", "--exclude", "p0004", "--next", "0")
    assert ids(answer(*command, "-f", "jsonl")) == ["p0007", "p0003"]
    assert answer(*command, "-f", "bibtex").count("@") == 2
    assert answer(*command, "-f", "ris").count("ER  -") == 2
    table = answer(*command)
    assert table.index("p0007") < table.index("p0003")
    assert "p0004" not in table


def test_a_table_goes_out_and_comes_back(index: sr.Index) -> None:
    sheet = list(csv.DictReader(io.StringIO(answer(*BEGUN, "-i", index.path, "--next", "6", "-f", "csv"))))
    assert {row["relevant"] for row in sheet} == {""}
    lines = ["id,relevant", *(f"{row['id']},{place % 2}" for place, row in enumerate(sheet[:5])), f"{sheet[5]['id']},"]
    Path("sheet.csv").write_text("\n".join(lines))
    result = sciretrieve("screen", "-d", "review.jsonl", "-i", index.path, "--import", "sheet.csv", "--next", "1", "-f", "jsonl")
    assert "5 decisions taken over" in result.stderr
    status = json.loads(result.stdout.splitlines()[-1])["status"]
    assert (status["read"], status["relevant"]) == (5, 2)


def test_ids_that_look_like_formulas_come_back(tmp_path: Path) -> None:
    wanted = ["=A1", "@smith2020", "-x", "'=A1", "-5"]
    sr.build([{"id": id, "title": f"=Stars and {place}"} for place, id in enumerate(wanted)], tmp_path / "index", encoder=None)
    sheet = list(csv.DictReader(io.StringIO(answer(*BEGUN, "-i", tmp_path / "index", "--next", "9", "-f", "csv"))))
    assert {row["title"][:2] for row in sheet} == {"'="}
    with Path("sheet.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, sheet[0])
        table.writeheader()
        table.writerows(row | {"relevant": "1"} for row in sheet)
    answer("screen", "-d", "review.jsonl", "-i", tmp_path / "index", "--import", "sheet.csv", "--next", "0")
    assert set(ids(answer("screen", "-d", "review.jsonl", "-i", tmp_path / "index", "--included", "-f", "jsonl"))) == set(wanted)


def test_authors_are_shown_and_exported_whole_and_in_one_form(tmp_path: Path) -> None:
    authors = ["Dumais, Susan", "Thomas K. Landauer", "King, Jr., Martin", "van den Oord, Aäron", "The LIGO Collaboration"]
    papers = [{"id": "p1", "title": "Latent stars", "authors": authors}, {"id": "p2", "title": "Other stars", "authors": ["Li, Wei"]}]
    index = sr.build(papers, tmp_path / "index", encoder=None)
    command = ("screen", "-d", "review.jsonl", "--query", "latent stars", "-i", index.path, "--next", "2")
    whole = "Susan Dumais; Thomas K. Landauer; Martin King Jr.; Aäron van den Oord; The LIGO Collaboration"
    assert whole in " ".join(answer(*command).split())
    sheet = {row["id"]: row for row in csv.DictReader(io.StringIO(answer(*command, "-f", "csv")))}
    assert {id: row["authors"] for id, row in sheet.items()} == {"p1": whole, "p2": "Wei Li"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--next", "1"), "there is no session"),
        (("--query", "stars", "--include", "nobody"), "no paper 'nobody'"),
        (("--query", "stars", "--recall", "2"), "above 0 and at most 1"),
        (("--include", "p0001", "--first", "5"), "there must be a query"),
        (("--query", "stars", "--import", "nowhere.csv"), "no file nowhere.csv"),
    ],
)
def test_errors_are_one_line(index: sr.Index, arguments: tuple[str, ...], said: str) -> None:
    result = sciretrieve("screen", "-d", "other.jsonl", "-i", index.path, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_on_a_terminal_it_asks(index: sr.Index) -> None:
    """y, n, an unknown key, s, then the paper before again, which was irrelevant and now is not; and Ctrl-C ends it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "sciretrieve", *BEGUN, "-i", str(index.path)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True) as process:
        os.close(theirs)
        shown = b""
        for key in (b"y", b"n", b"?", b"s", b"u", b"y", b"\x03"):
            while not shown.endswith(b"relevant? y n m w s u q\r\n"):
                assert select.select([ours], [], [], 60)[0], shown
                shown += os.read(ours, 4096)
            while termios.tcgetattr(ours)[3] & termios.ICANON:  # keys that are pressed before it listens are thrown away
                time.sleep(0.01)
            os.write(ours, key)
            shown += b"|"
        while True:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the terminal's other end is closed
                break
        process.wait(timeout=60)
    os.close(ours)
    text = shown.decode()
    assert process.returncode == 0, text
    assert "kept in review.jsonl" in text
    assert text.rstrip().splitlines()[-1].startswith("2 of 299 read, 2 relevant")
    rows = [json.loads(line) for line in Path("review.jsonl").read_text().splitlines()[1:]]
    assert [row["relevant"] for row in rows] == [True, False, True]
    assert rows[1]["id"] == rows[2]["id"]
