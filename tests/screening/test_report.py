"""PRISMA's numbers account for every record once, and their diagram is whole, readable and always the same."""

import csv
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.screening.flow_diagram import WIDTH, flow_diagram
from sciretrieve.screening.prisma import Prisma

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Sixty papers of three databases; each tenth is there twice, and one was deleted."""
    rows: list[dict[str, Any]] = []
    for number in range(60):
        source = [["scopus"], ["pubmed"], None][number % 3]
        row = {
            "title": f"A distinctive title of a trial of vaccines, number {number}",
            "authors": [f"Ada Author{number}"],
            "year": 2000 + number % 20,
        }
        rows.append({"id": f"p{number:02d}", **row, "abstract": "vaccine", "source": source})
        if number % 10 == 0:
            rows.append({"id": f"copy{number:02d}", **row, "abstract": "", "source": ["embase"]})
    path = tmp_path_factory.mktemp("reviewed") / "index"
    sr.build(rows, path, encoder=None, shard_size=25).close()
    sr.delete(path, ["p59"])
    return sr.open(path)


def screened(library: sr.Index, file: Path, **settings: Any) -> sr.Screening:
    session = sr.Screening(library, file, "vaccine trial", reasons=["no dose", "not in people"], **settings)
    session.decide(["p01", "p02", "copy20"], ["p03", "p04"], ["p05", "p06", "p07"], reason="not in people")
    session.decide(irrelevant="p08")
    session.decide(irrelevant=["p09", "p10"], reason="no dose", note="=checked")
    return session


def account(numbers: Prisma) -> int:
    """All records, by what became of them."""
    ended = sum(numbers.excluded.values()) + numbers.maybe + numbers.conflicts + numbers.included
    assert ended == numbers.screened
    return numbers.duplicates + numbers.not_indexed + numbers.not_eligible + numbers.not_read + ended


def test_every_record_is_accounted_for(library: sr.Index, tmp_path: Path) -> None:
    with screened(library, tmp_path / "review.jsonl") as session:
        numbers = session.report(tmp_path / "report")
    assert len(library) == 65
    assert numbers == Prisma({"index": 65}, 6, 0, 0, 11, 48, {"no dose": 2, "not in people": 2, "no reason given": 1}, 3, 0, 3)
    assert account(numbers) == 65
    with screened(library, tmp_path / "later.jsonl", filter="year < 2015") as session:
        numbers = session.report(tmp_path / "report")
    assert numbers.not_eligible == sum((paper.year or 0) >= 2015 for paper in library)
    assert account(numbers) == 65


def test_records_are_identified_by_a_column(library: sr.Index, tmp_path: Path) -> None:
    with screened(library, tmp_path / "review.jsonl") as session:
        numbers = session.report(tmp_path / "report", sources="source")
        assert numbers.sources == {"embase": 6, "no source given": 19, "pubmed": 20, "scopus": 20}
        assert account(numbers) == numbers.identified == 65
        with pytest.raises(InvalidRequest, match="has no column 'database'; it has"):
            session.report(tmp_path / "report", sources="database")


LOG: dict[str, Any] = {"schema": 1, "result": {"line": "s3", "identified": {"pubmed": 50, "scopus": 40}, "duplicates": 23, "papers": 67}}


def test_records_are_identified_by_a_strategys_log(library: sr.Index, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps(LOG))
    with screened(library, tmp_path / "review.jsonl") as session:
        numbers = session.report(tmp_path / "report", log=log)
        assert (numbers.sources, numbers.duplicates, numbers.not_indexed) == ({"pubmed": 50, "scopus": 40}, 23 + 6, 2)
        assert account(numbers) == numbers.identified == 90
        before = (tmp_path / "report" / "prisma.json").read_bytes()
        changes: list[tuple[Any, str]] = [
            (LOG | {"result": LOG["result"] | {"duplicates": 26, "papers": 64}}, "has 65 papers, and the search strategy found 64"),
            (LOG | {"result": LOG["result"] | {"papers": 66}}, "is no log"),
            (LOG | {"schema": 2}, "log of version 2"),
            (LOG | {"result": {"identified": {"pubmed": "many"}, "duplicates": 0, "papers": 70}}, "is no log"),
            ([1], "is no log"),
        ]
        for value, said in changes:
            log.write_text(json.dumps(value))
            with pytest.raises(InvalidRequest, match=said):
                session.report(tmp_path / "report", log=log)
        log.write_text("{")
        with pytest.raises(InvalidRequest, match="is no log"):
            session.report(tmp_path / "report", log=log)
        with pytest.raises(NotFound, match="no file"):
            session.report(tmp_path / "report", log=tmp_path / "nowhere.json")
        with pytest.raises(InvalidRequest, match="name one of them"):
            session.report(tmp_path / "report", log=log, sources="source")
        with pytest.raises(InvalidRequest, match=r"log.json is a file"):
            session.report(log)
        assert (tmp_path / "report" / "prisma.json").read_bytes() == before


def test_the_files_of_a_report(library: sr.Index, tmp_path: Path) -> None:
    folder = tmp_path / "some" / "report"
    with screened(library, tmp_path / "review.jsonl", reviewer="Ada", criteria="Doses.") as session:
        session.report(folder)
        first = {path.name: path.read_bytes() for path in folder.iterdir()}
        session.report(folder)
        status = session.status
    assert set(first) == {"prisma.json", "prisma.svg", "decisions.csv"}
    assert (folder / "prisma.svg").read_bytes() == first["prisma.svg"]
    assert (folder / "decisions.csv").read_bytes() == first["decisions.csv"]
    said = json.loads(first["prisma.json"])
    assert said["identified"] == {"records": 65, "sources": {"index": 65}}
    assert (said["to_screen"], said["screened"], said["not_read"], said["included"]) == (59, 11, 48, 3)
    assert said["excluded"] == {"records": 5, "reasons": {"no dose": 2, "not in people": 2, "no reason given": 1}}
    assert said["unresolved"] == {"maybe": 3, "conflicts": 0}
    assert (said["session"]["criteria"], said["session"]["query"], said["agreement"]) == ("Doses.", "vaccine trial", None)
    assert said["recall"]["claim"] == status.claim
    assert str(tmp_path) not in first["prisma.json"].decode()
    rows = list(csv.DictReader(first["decisions.csv"].decode().splitlines()))
    assert len(rows) == 59
    by_id = {row["id"]: row for row in rows}
    assert (by_id["p20"]["decision"], by_id["p20"]["also"], by_id["p20"]["by"]) == ("include", "copy20", "Ada")
    assert (by_id["p09"]["decision"], by_id["p09"]["reason"], by_id["p09"]["note"]) == ("exclude", "no dose", "'=checked")
    assert (by_id["p05"]["decision"], by_id["p30"]["decision"]) == ("maybe", "")
    assert [row["id"] for row in rows][:3] == ["p01", "p02", "p20"]


def test_a_report_of_several_people_says_how_far_they_agree(library: sr.Index, tmp_path: Path) -> None:
    for name, verdicts in (("ada", (["p01", "p02"], "p03")), ("ben", ("p01", ["p02", "p03"]))):
        with sr.Screening(library, tmp_path / f"{name}.jsonl", "vaccine") as session:
            session.decide(*verdicts)
    with sr.Screening.merge(library, tmp_path / "both.jsonl", [tmp_path / "ada.jsonl", tmp_path / "ben.jsonl"]) as session:
        numbers = session.report(tmp_path / "report")
    assert (numbers.conflicts, account(numbers)) == (1, 65)
    said = json.loads((tmp_path / "report" / "prisma.json").read_text())
    assert said["agreement"]["kappa"] == pytest.approx(0.4)
    rows = list(csv.DictReader((tmp_path / "report" / "decisions.csv").read_text().splitlines()))
    conflict = next(row for row in rows if row["decision"] == "conflict")
    assert (conflict["id"], conflict["votes"]) == ("p02", "ada: include; ben: exclude")


NUMBERS = Prisma(
    {"pubmed": 1204, "a database <& others> with a name of so many words that it needs two lines": 77},
    81,
    3,
    120,
    900,
    177,
    {"wrong population": 400, "x" * 90: 210, "一" * 40: 3, "bell \x07 and \uffff": 90},
    12,
    5,
    180,
)


def test_the_diagram_is_valid_and_says_every_number() -> None:
    text = flow_diagram(NUMBERS, "stop: 95 % sure & so on")
    assert text == flow_diagram(NUMBERS, "stop: 95 % sure & so on")
    root = ElementTree.fromstring(text.encode())
    assert root.tag == f"{SVG}svg"
    said = " ".join(" ".join(node.itertext()) for node in root.iter(f"{SVG}text"))
    flat = re.sub(r"\s", "", said)
    for number in (1281, 1204, 77, 81, 3, 120, 1077, 177, 900, 703, 400, 210, 90, 12, 5, 180):
        assert f"(n={number:,})" in flat
    assert "adatabase<&others>" in flat
    assert "95%sure&soon" in flat
    assert not re.search(r"href|url\((?!#)|<image|<script", text)  # nothing from elsewhere


def test_texts_stay_within_their_boxes_and_boxes_apart() -> None:
    """By how wide letters are at most on average; a letter of Chinese is two."""
    root = ElementTree.fromstring(flow_diagram(NUMBERS).encode())
    boxes = [
        tuple(float(node.get(name, "")) for name in ("x", "y", "width", "height"))
        for node in root.iter(f"{SVG}rect")
        if node.get("class") == "box"
    ]
    assert len(boxes) == 8
    for node in root.iter(f"{SVG}text"):
        if node.get("class") is None:
            left, base, text = float(node.get("x", "")), float(node.get("y", "")), node.text or ""
            width = sum(2 if char == "一" else 1 for char in text) * 6.9
            assert any(x <= left and left + width <= x + w and y < base - 10 and base < y + h for x, y, w, h in boxes), text
    for place, (x, y, w, h) in enumerate(boxes):
        assert x + w <= WIDTH
        for other_x, other_y, other_w, other_h in boxes[place + 1 :]:
            assert x + w <= other_x or other_x + other_w <= x or y + h <= other_y or other_y + other_h <= y
    assert float(root.get("height", "")) >= max(y + h for _, y, _, h in boxes)
