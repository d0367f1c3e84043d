"""docs/systematic-review.md on real abstracts: its commands run in their order, print what it shows, and every record is accounted for."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from tests.made_up import shared
from tests.promises.test_pages import DOCS, walk_through

INSPEC, SCOPUS = slice(None, 900), slice(500, None)
"""Which abstracts each of two databases has; what is in both was written otherwise in each."""


@pytest.fixture(scope="module")
def abstracts() -> list[dict[str, Any]]:
    return [json.loads(line) for line in shared("cranfield", "corpus.jsonl").read_text().splitlines()]


def authors(abstract: dict[str, Any]) -> list[str]:
    return [name for name in (abstract["metadata"].get("authors") or "").split(" and ") if name]


def write_exports(abstracts: list[dict[str, Any]]) -> None:
    """The two exports, as such databases write them."""
    with Path("inspec.ris").open("w") as file:
        for one in abstracts[INSPEC]:
            tags = ["TY  - JOUR", f"ID  - insp{one['_id']}", f"TI  - {one['title']}", *(f"AU  - {name}" for name in authors(one))]
            year = one["metadata"].get("year")
            file.write("\n".join([*tags, *([f"PY  - {year}"] if year else []), f"AB  - {one['text']}", "ER  - ", "", ""]))
    with Path("scopus.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("EID", "Title", "Authors", "Year", "Abstract"))
        for one in abstracts[SCOPUS]:
            facts = (one["title"].rstrip(" .").capitalize(), "; ".join(authors(one)), one["metadata"].get("year"), one["text"])
            table.writerow((f"2-s2.0-{one['_id']}", *facts))


def verdict(text: str, number: int, reviewer: str) -> tuple[str, str]:
    """What a reviewer decides, and why; Ben is of another mind about every ninth paper."""
    has_heat, is_fast, is_blunt = ("heat transfer" in text, "hypersonic" in text, "blunt" in text)
    if has_heat and is_blunt:
        return ("maybe", "") if reviewer == "Ben" and number % 9 == 0 else ("1", "")
    if reviewer == "Ben" and number % 9 == 0:
        return "1", ""
    return "0", "no heat transfer" if not has_heat else "not hypersonic" if not is_fast else "another shape"


def fill_in(path: Path, reviewer: str) -> None:
    """A table that a reviewer has filled in."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        text = f"{row['title']} {row['abstract']}".lower()
        row["relevant"], row["reason"] = verdict(text, len(text), reviewer)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def read_on() -> None:
    """Each reviewer decides until the session says that it is enough."""
    for reviewer in ("Ada", "Ben"):
        with sr.Screening(sr.open("indexes/review"), f"{reviewer.lower()}.jsonl") as session:
            while not session.status.stop and session.status.unread:
                for paper in session.next(45):
                    text = f"{paper.title} {paper.abstract}".lower()
                    label, reason = verdict(text, len(text), reviewer)
                    kind = {"1": "relevant", "0": "irrelevant", "maybe": "maybe"}[label]
                    session.decide(**{kind: paper.id}, reason=reason)


def test_from_two_exports_to_the_numbers(abstracts: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("SCIRETRIEVE_INDEX", raising=False)
    page = (DOCS / "systematic-review.md").read_text(encoding="utf-8")
    write_exports(abstracts)
    Path("strategy.toml").write_text(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    Path("criteria.txt").write_text("Include papers on heat transfer to blunt bodies in hypersonic flow.\n")
    before: dict[str, Callable[[], Any]] = {
        "sciretrieve screen decide -d ben.jsonl": lambda: shutil.copy("ada.jsonl", "ben.jsonl"),
        "sciretrieve screen decide -d ada.jsonl": lambda: fill_in(Path("ada.csv"), "Ada"),
        "sciretrieve screen merge": read_on,
        "sciretrieve screen decide -d both.jsonl": lambda: fill_in(Path("conflicts.csv"), "both"),
    }
    walk_through("systematic-review.md", before)

    # the numbers, counted from the abstracts and the tables alone
    said = json.loads(Path("report/prisma.json").read_text())
    with Path("report/decisions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    decided = Counter(row["decision"] for row in rows)
    assert said["identified"]["records"] == sum(said["identified"]["sources"].values())
    removed = said["removed"]["duplicates"] + said["removed"]["not_indexed"] + said["removed"]["not_eligible"]
    assert said["identified"]["records"] == removed + said["to_screen"] == removed + len(rows)
    assert said["to_screen"] == said["screened"] + said["not_read"]
    assert (said["included"], said["excluded"]["records"], said["not_read"]) == (decided["include"], decided["exclude"], decided[""])
    assert said["unresolved"] == {"maybe": 0, "conflicts": 0}
    assert Counter(said["excluded"]["reasons"]) == Counter(row["reason"] for row in rows if row["decision"] == "exclude")

    known = {re.sub(r"\W", "", one["title"]): one for one in abstracts}
    found = {re.sub(r"\W", "", row["title"].lower()) for row in rows}
    assert found <= known.keys()
    both = [one for one in abstracts[500:900] if re.sub(r"\W", "", one["title"]) in found]
    assert said["removed"]["duplicates"] == said["identified"]["records"] - len(found) >= len(both) > 20
    included = [row for row in rows if row["decision"] == "include"]
    for row in included:
        one = known[re.sub(r"\W", "", row["title"].lower())]
        assert {"heat transfer", "blunt"} <= {
            word for word in ("heat transfer", "blunt") if word in f"{one['title']} {one['text']}".lower()
        }
    assert Path("included.ris").read_text().count("ER  -") == len(included)
    assert said["agreement"]["reviewers"] == ["Ada", "Ben"]
