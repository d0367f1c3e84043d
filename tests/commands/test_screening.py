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
from sciretrieve.commands import asking
from sciretrieve.commands.console import Console
from tests.command_line import answer, sciretrieve

BEGUN = ("screen", "begin", "-d", "review.jsonl", "--query", "vaccine trial")
NEXT = ("screen", "next", "-d", "review.jsonl")
DECIDE = ("screen", "decide", "-d", "review.jsonl")


def ids(lines: str) -> list[str]:
    """The ids of the papers in JSON Lines, whose last line is the status."""
    return [json.loads(line)["id"] for line in lines.splitlines()[:-1]]


def test_a_script_screens_with_json_lines(index: sr.Index) -> None:
    assert answer(*BEGUN, "-i", index.path).startswith("0 of 299 read, 0 relevant; go on")
    lines = answer(*NEXT, "-i", index.path, "-n", "3", "-f", "jsonl")
    first, second, third = ids(lines)
    assert [first, second, third] == index.search("vaccine trial", 3, group=False)[0].ids
    row, status = json.loads(lines.splitlines()[0]), json.loads(lines.splitlines()[-1])["status"]
    assert row["relevant"] is None
    assert "score" not in row
    assert (status["papers"], status["read"], status["recall"], status["stop"]) == (299, 0, None, False)
    decided = answer(*DECIDE, "-i", index.path, "--include", first, "--exclude", second, "--include", third, "-f", "json")
    assert json.loads(decided)["status"]["relevant"] == 2
    lines = answer(*NEXT, "-i", index.path, "-f", "jsonl")
    assert len(ids(lines)) == 10
    assert not {first, second, third} & set(ids(lines))
    assert json.loads(lines.splitlines()[-1])["status"]["relevant"] == 2
    # decided the other way, from stdin
    lines = answer(*DECIDE, "-i", index.path, "--exclude", "-", stdin=f"{first}\n\n{third}\n")
    assert lines.startswith("3 of 299 read, 0 relevant; go on")
    assert len(lines.splitlines()) == 1


def test_papers_that_a_filter_cannot_compare_are_named(tmp_path: Path) -> None:
    sr.build([{"id": f"p{number}", "title": "Graphs", "pages": number} for number in range(5)], tmp_path / "index", encoder=None).close()
    sr.add([{"id": "odd", "title": "Graphs", "pages": "xii-xv"}], tmp_path / "index")
    answer(*BEGUN, "-i", tmp_path / "index", "--filter", "pages >= 2")
    result = sciretrieve(*NEXT, "-i", tmp_path / "index", "-f", "jsonl")
    assert sorted(ids(result.stdout)) == ["p2", "p3", "p4"]
    assert "1 paper left out, since their values do not compare with the filter's" in result.stderr
    assert result.stderr.strip().endswith("odd")


def test_the_papers_found_relevant_are_printed_in_every_format(index: sr.Index) -> None:
    command = (*NEXT, "-i", index.path, "--included")
    answer(*BEGUN, "-i", index.path, "--include", "p0007", "--include", "p0003")
    answer(*DECIDE, "-i", index.path, "--exclude", "p0004")
    assert ids(answer(*command, "-f", "jsonl")) == ["p0007", "p0003"]
    assert answer(*command, "-f", "bibtex").count("@") == 2
    assert answer(*command, "-f", "ris").count("ER  -") == 2
    table = answer(*command)
    assert table.index("p0007") < table.index("p0003")
    assert "p0004" not in table


def test_a_table_goes_out_and_comes_back(index: sr.Index) -> None:
    answer(*BEGUN, "-i", index.path)
    sheet = list(csv.DictReader(io.StringIO(answer(*NEXT, "-i", index.path, "-n", "6", "-f", "csv"))))
    assert {row["relevant"] for row in sheet} == {""}
    lines = ["id,relevant", *(f"{row['id']},{place % 2}" for place, row in enumerate(sheet[:5])), f"{sheet[5]['id']},"]
    Path("sheet.csv").write_text("\n".join(lines))
    result = sciretrieve(*DECIDE, "-i", index.path, "--import", "sheet.csv", "-f", "json")
    assert "5 decisions taken over" in result.stderr
    status = json.loads(result.stdout)["status"]
    assert (status["read"], status["relevant"]) == (5, 2)


def test_a_table_that_comes_back_is_the_reviewers(index: sr.Index) -> None:
    answer(*BEGUN, "-i", index.path)
    there = (*NEXT, "-i", index.path)
    assert "by" not in answer(*there, "-n", "2", "-f", "csv").splitlines()[0].split(",")
    sheet = list(csv.DictReader(io.StringIO(answer(*there, "--reviewer", "Ada", "-n", "2", "-f", "csv"))))
    assert [row["by"] for row in sheet] == ["Ada", "Ada"]
    with Path("sheet.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, sheet[0])
        table.writeheader()
        table.writerows(row | {"relevant": "1"} for row in sheet)
    answer(*DECIDE, "-i", index.path, "--import", "sheet.csv")
    with sr.Screening(index, "review.jsonl") as session:
        assert [session.decisions[row["id"]].by for row in sheet] == [("Ada",)] * 2


def test_ids_that_look_like_formulas_come_back(tmp_path: Path) -> None:
    wanted = ["=A1", "@smith2020", "-x", "'=A1", "-5"]
    sr.build([{"id": id, "title": f"=Stars and {place}"} for place, id in enumerate(wanted)], tmp_path / "index", encoder=None)
    answer(*BEGUN, "-i", tmp_path / "index")
    sheet = list(csv.DictReader(io.StringIO(answer(*NEXT, "-i", tmp_path / "index", "-n", "9", "-f", "csv"))))
    assert {row["title"][:2] for row in sheet} == {"'="}
    with Path("sheet.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, sheet[0])
        table.writeheader()
        table.writerows(row | {"relevant": "1"} for row in sheet)
    answer(*DECIDE, "-i", tmp_path / "index", "--import", "sheet.csv")
    assert set(ids(answer(*NEXT, "-i", tmp_path / "index", "--included", "-f", "jsonl"))) == set(wanted)


def test_authors_are_shown_and_exported_whole_and_in_one_form(tmp_path: Path) -> None:
    authors = ["Dumais, Susan", "Thomas K. Landauer", "King, Jr., Martin", "van den Oord, Aäron", "The LIGO Collaboration"]
    papers = [{"id": "p1", "title": "Latent stars", "authors": authors}, {"id": "p2", "title": "Other stars", "authors": ["Li, Wei"]}]
    index = sr.build(papers, tmp_path / "index", encoder=None)
    answer(*BEGUN, "-i", index.path)
    command = (*NEXT, "-i", index.path, "-n", "2")
    whole = "Susan Dumais; Thomas K. Landauer; Martin King Jr.; Aäron van den Oord; The LIGO Collaboration"
    assert whole in " ".join(answer(*command).split())
    sheet = {row["id"]: row for row in csv.DictReader(io.StringIO(answer(*command, "-f", "csv")))}
    assert {id: row["authors"] for id, row in sheet.items()} == {"p1": whole, "p2": "Wei Li"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("next",), "there is no session other.jsonl yet; begin one with `sciretrieve screen begin -d other.jsonl`"),
        (("begin",), "say what the review is about, with --query, or name a relevant paper with --include"),
        (("begin", "--query", "stars", "--include", "nobody"), "no paper 'nobody'"),
        (("begin", "--query", "stars", "--target", "2"), "above 0 and at most 1"),
        (("begin", "--include", "p0001", "--set", "first=5"), "needs a query"),
        (("begin", "--query", "stars", "--import", "nowhere.csv"), "no file nowhere.csv"),
        (("begin", "--query", "stars", "--set", "rule=luck"), "there is no rule 'luck'"),
        (("begin", "--query", "stars", "--set", "criteria=nowhere.txt"), "nowhere.txt cannot be read"),
        (("begin", "--query", "stars", "-d", "there.jsonl"), "there.jsonl exists; go on with `sciretrieve screen next -d there.jsonl`"),
        (("decide", "--reason", "why", "-d", "there.jsonl"), "a reason is for papers that are excluded"),
        (("next", "--included", "--unresolved"), "use either --included or --unresolved"),
        (("report", "-o", "report", "--log", "log.json", "-d", "there.jsonl"), "no file log.json"),
        (("merge", "a.jsonl", "b.jsonl"), "no session a.jsonl"),
    ],
)
def test_errors_are_one_line(index: sr.Index, arguments: tuple[str, ...], said: str) -> None:
    with sr.Screening(index, "there.jsonl", "stars"):
        pass
    given = () if "-d" in arguments else ("-d", "other.jsonl")
    result = sciretrieve("screen", *arguments, *given, "-i", index.path)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_on_a_terminal_it_asks(index: sr.Index) -> None:
    """y, n, an unknown key, s, then the paper before again, which was irrelevant and now is not; and Ctrl-C ends it."""
    ours, theirs = pty.openpty()
    answer(*BEGUN, "-i", index.path)
    command = [sys.executable, "-m", "sciretrieve", *NEXT, "-i", str(index.path)]
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


def test_reasons_notes_and_maybes_come_by_options(index: sr.Index) -> None:
    Path("criteria.txt").write_text("Doses in people.\n")
    answer(*BEGUN, "-i", index.path, "--reasons", "no dose, a review", "--set", "criteria=criteria.txt", "--reviewer", "Ada")
    first = answer(*NEXT, "-i", index.path, "-n", "3", "-f", "csv")
    known, second, third = (row["id"] for row in csv.DictReader(io.StringIO(first)))
    verdicts = ("--include", known, "--exclude", second, "--maybe", third, "--reason", "A review", "--note", "hm")
    result, command = answer(*DECIDE, "-i", index.path, *verdicts), (*NEXT, "-i", index.path)
    assert result.startswith("3 of 299 read, 1 relevant, 1 maybe; go on")
    assert "1 maybe counts as not found, so decide it" in result
    sheet = list(csv.DictReader(io.StringIO(answer(*command, "--unresolved", "-f", "csv"))))
    assert [(row["id"], row["relevant"], row["note"]) for row in sheet] == [(third, "maybe", "hm")]
    (row,) = (json.loads(line) for line in answer(*command, "--unresolved", "-f", "jsonl").splitlines()[:-1])
    assert (row["decision"], row["relevant"], row["reason"], row["votes"]) == ("maybe", None, "", {})
    with sr.Screening(index, "review.jsonl") as session:
        assert session.decisions[second].reason == "a review"
        assert (session.criteria, session.reviewer) == ("Doses in people.", "Ada")


def test_two_people_screen_apart_and_together(index: sr.Index) -> None:
    """One session is copied, both are screened, then merged; conflicts go out as a table and come back; and the report counts all."""
    there = ("-i", index.path)
    answer(*BEGUN, *there, "--reviewer", "Ada")
    Path("ben.jsonl").write_bytes(Path("review.jsonl").read_bytes())
    answer(*DECIDE, *there, "--include", "p0001", "--include", "p0002", "--exclude", "p0003")
    decided = ("--include", "p0001", "--exclude", "p0002", "--maybe", "p0003")
    answer("screen", "decide", "-d", "ben.jsonl", *there, "--reviewer", "Ben", *decided)
    merged = answer("screen", "merge", "review.jsonl", "ben.jsonl", "-d", "both.jsonl", *there)
    assert "Ada, Ben: 3 papers decided by two or more, 33.3 % the same, Cohen's kappa" in merged
    assert "3 of 299 read, 1 relevant, 2 in conflict; go on" in merged
    unresolved = ("screen", "next", "-d", "both.jsonl", *there, "--unresolved")
    assert "Ada: include; Ben: exclude" in answer(*unresolved)
    sheet = list(csv.DictReader(io.StringIO(answer(*unresolved, "-f", "csv"))))
    assert [(row["id"], row["votes"]) for row in sheet] == [("p0002", "Ada: include; Ben: exclude"), ("p0003", "Ada: exclude; Ben: maybe")]
    Path("settled.csv").write_text("id,relevant,reason\np0002,1,\np0003,0,a review\nelsewhere,1,\n")
    result = sciretrieve("screen", "decide", "-d", "both.jsonl", *there, "--import", "settled.csv")
    assert "2 decisions taken over" in result.stderr
    assert "1 record without a paper to screen here, or with several: row 3" in result.stderr
    status = json.loads(answer(*unresolved, "-f", "jsonl"))
    assert (status["status"]["conflicts"], status["agreement"]["same"]) == (0, 1)
    report = sciretrieve("screen", "report", "-d", "both.jsonl", *there, "-o", "report")
    lines = [line.strip() for line in report.stdout.splitlines()]
    assert lines[:4] == ["300  identified", f"300    {index.path.name}", "1  duplicates removed", "299  to screen"]
    assert "2  included" in lines
    assert "1    a review" in lines
    assert "written to report: prisma.json, prisma.svg, decisions.csv" in report.stderr
    assert json.loads(Path("report/prisma.json").read_text())["included"] == 2


def test_keys_decide(index: sr.Index, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A reason by its key, another that is typed, none; maybe; a note; and the maybes again. In this process: what a terminal is, the test
    above knows."""

    def pressed(keys: str, typed: str = "", *, unresolved: bool = False) -> str:
        waiting = iter(keys)
        monkeypatch.setattr("typer.getchar", lambda: next(waiting))
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        asking.ask(session, Console(), unresolved=unresolved)
        output = capsys.readouterr()
        assert next(waiting, None) is None
        return output.out + output.err

    with sr.Screening(index, "review.jsonl", "vaccine trial", reasons=["no dose", "a review"], criteria="Doses in people.") as session:
        ids = [paper.id for paper in session.next(6)]
        shown = pressed("n2n+n\rmwyq", "not in English\nsee table 1\n")
        assert "why? 1 no dose · 2 a review · + another · Enter none" in shown
        assert "criteria: Doses in people." in shown
        assert [decision.verdict for decision in session.decisions.values()] == ["exclude", "exclude", "exclude", "maybe", "include"]
        assert [decision.reason for decision in session.decisions.values()] == ["a review", "not in English", "", "", ""]
        assert list(session.notes.values()) == ["see table 1"]
        assert next(iter(session.decisions)) == ids[0]
        (maybe,) = session.unresolved
        shown = pressed("m", unresolved=True)
        assert maybe in shown
        assert "decided: maybe" in shown
        assert session.unresolved == [maybe]  # it was shown once, and stays
        pressed("n?1", unresolved=True)
        assert (session.decisions[maybe].verdict, session.decisions[maybe].reason) == ("exclude", "no dose")
        first, second, third = session.next(3)
        shown = pressed("ssq")
        assert ids[0] not in shown
        assert all(paper.id in shown for paper in (first, second, third))
        pressed("yun\rq")  # u: the paper before again
        assert session.decisions[first.id].verdict == "exclude"
        assert second.id not in session.decisions
        before = dict(session.decisions)
        pressed("n\x03")  # Ctrl-C where a reason is asked for decides nothing
        assert dict(session.decisions) == before


@pytest.mark.parametrize("wrong", [("--include", "nobody"), ("--import", "nowhere.csv")])
def test_what_could_not_be_begun_can_be_begun_again(index: sr.Index, wrong: tuple[str, ...]) -> None:
    assert sciretrieve(*BEGUN, *wrong, "-i", index.path).returncode == 2
    begun = sciretrieve(*BEGUN, "-i", index.path)
    assert begun.returncode == 0
    assert f"next: sciretrieve screen next -d review.jsonl -i {index.path}" in begun.stderr
