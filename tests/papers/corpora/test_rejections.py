"""Rejected rows, noted as they come."""

import json
from pathlib import Path

import pytest

from sciretrieve.base.errors import BadPaper
from sciretrieve.papers.corpora import Rejected, Rejections, read_rejections

ROWS = [Rejected(f"papers-{number % 2}.jsonl", number, f"reason {number}", None if number % 3 else f"é{number}") for number in range(7)]


def noted(path: Path) -> list[Rejected]:
    return [Rejected(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def test_all_are_in_the_file_in_order(tmp_path: Path) -> None:
    rejections = Rejections(tmp_path / "rejected.jsonl", strict=False)
    for rejected in ([], ROWS[:3], [], ROWS[3:4], ROWS[4:]):
        rejections(rejected)
    assert noted(rejections.path) == ROWS
    assert (rejections.count, rejections.first) == (7, ROWS)
    assert "é0" in rejections.path.read_text(encoding="utf-8")


def test_an_earlier_runs_file_is_replaced_at_the_first(tmp_path: Path) -> None:
    Rejections(tmp_path / "rejected.jsonl", strict=False)(ROWS)
    rejections = Rejections(tmp_path / "rejected.jsonl", strict=False)
    assert noted(rejections.path) == ROWS
    rejections(ROWS[5:6])
    rejections(ROWS[2:3])
    assert noted(rejections.path) == [ROWS[5], ROWS[2]]
    assert rejections.first == [ROWS[5], ROWS[2]]


def test_a_strict_run_stops_at_the_first_and_notes_nothing(tmp_path: Path) -> None:
    rejections = Rejections(tmp_path / "rejected.jsonl", strict=True)
    with pytest.raises(BadPaper, match=r"papers-0\.jsonl.*row 4: reason 4") as caught:
        rejections(ROWS[4:])
    assert "\n" not in str(caught.value)
    assert not rejections.path.exists()


def test_a_list_is_read_back_while_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "rejected.jsonl"
    rows = [Rejected("a\u2028b.bib", number, "caf\udce9\x85") for number in range(150)]
    Rejections(path, strict=False)(rows)
    assert list(read_rejections(path, 150)) == rows[:100]
    assert read_rejections(path, 149) == ()
    assert read_rejections(tmp_path / "none.jsonl", 3) == ()
    path.write_text("[]\n", encoding="utf-8")
    assert read_rejections(path, 1) == ()
