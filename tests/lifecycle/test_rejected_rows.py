"""Rows that are not indexed are in what build, add, sync and their dry run return, each time, and in a warning of `logging`."""

import logging
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.storage.pending import Pending
from tests.command_line import sciretrieve
from tests.made_up import write_jsonl

ROWS: list[dict[str, Any]] = [
    {"id": "a", "title": "Graph networks"},
    {"id": "b", "title": ""},
    {"id": "c", "title": "Star dust"},
    {"id": "a", "title": "Again"},
    {"id": "e"},
]
BAD = [(2, "no title and no abstract", "b"), (4, "duplicate id", "a"), (5, "no title and no abstract", "e")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an index of these."""
    sr.build(ROWS, tmp_path / "index", encoder=None).close()
    return tmp_path / "index"


def bad_rows(rejections: Any) -> list[tuple[int, str, str | None]]:
    return [(row.row, row.reason, row.id) for row in rejections]


CALLS: dict[str, Callable[[Path], Any]] = {
    "build": lambda folder: sr.build(ROWS, folder, encoder=None),
    "overwrite": lambda folder: sr.build(ROWS, folder, encoder=None, overwrite=True),
    "open": sr.open,
    "add": lambda folder: sr.add(ROWS, folder),
    "sync": lambda folder: sr.sync(ROWS, folder, allow_deletions=True),
    "dry run": lambda folder: sr.sync(ROWS, folder, dry_run=True),
}


@pytest.fixture(autouse=True)
def heard(caplog: pytest.LogCaptureFixture) -> None:
    """Warnings are heard, whatever commands before have set."""
    caplog.set_level(logging.WARNING, "sciretrieve.papers.corpora.rejections")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("before", ["as it is", "more", "less", "without the list", "another list"])
def test_they_are_said_each_time(call: str, before: str, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    if before == "more":
        sr.add([{"id": "z", "title": "More"}], folder)
    if before == "less":
        sr.delete(folder, "c")
    if before == "without the list":
        (folder / "rejected.jsonl").unlink()
    if before == "another list":
        sr.add([{"id": "a", "title": "Graph networks"}, {"id": "x"}], folder)
    if call in ("build", "overwrite") and before in ("more", "less"):
        pytest.skip("another index than that of the corpus is refused, or made anew")
    for _ in range(2):
        caplog.clear()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            answer = CALLS[call](folder)
        assert [(each.category, each.filename) for each in told] == [(sr.RowsRejected, __file__)] * (call != "open")
        if call == "open" and before != "as it is" and before != "less":
            assert bad_rows(answer.rejections) in (BAD, [])
            continue
        assert answer.rejected == 3
        if not isinstance(answer, sr.Index) or before == "as it is":
            assert bad_rows(answer.rejections) == BAD
        if call != "open":
            (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
            assert warning.getMessage().startswith(f"{folder}: rejected 3 rows")


def test_parts_say_them_each_time_and_so_does_who_joins_them(tmp_path: Path) -> None:
    index = tmp_path / "index"
    calls: list[Callable[[], Any]] = [partial(sr.build_part, ROWS, index, part, encoder=None) for part in ("1/2", "1/2", "2/2")]
    calls.append(partial(sr.index_parts, index))
    for call in calls:
        with pytest.warns(sr.RowsRejected, match="rejected 3 rows, the first, row 2 of papers, for no title and no abstract") as told:
            answer = call()
        assert [each.filename for each in told] == [__file__]
        assert (answer.rejected, bad_rows(answer.rejections)) == (3, BAD)
        assert Path(str(told[0].message).rpartition("; ")[2].removesuffix(" lists them")).read_text().count("\n") == 3


@pytest.mark.parametrize("call", [sr.build, sr.add, sr.sync])
def test_strict_refuses_them_again(call: Any, folder: Path) -> None:
    """Also where nothing else is to be done."""
    with pytest.raises(sr.BadPaper, match="row 2: no title"):
        call(ROWS, folder, strict=True, **({"encoder": None} if call is sr.build else {}))


def test_a_resumed_add_says_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    more = [*ROWS, {"id": "f", "title": "Further"}, {"id": "g"}]
    with monkeypatch.context() as patched:
        patched.setattr("sciretrieve.lifecycle.updating.commit", stopped)
        with pytest.raises(KeyboardInterrupt):
            sr.add(more, folder)
    assert Pending.read(folder, "change") is not None
    update = sr.add(more, folder)
    assert (update.added, update.rejected) == (1, 4)
    assert bad_rows(update.rejections) == [*BAD, (7, "no title and no abstract", "g")]


def test_the_command_line_says_them_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "papers.jsonl", ROWS)
    parts = [["index", "papers.jsonl", "-o", "parted", "--encoder", "", "--part", part] for part in ("1/2", "2/2")]
    for words in (
        ["index", "papers.jsonl", "-o", "index", "--encoder", ""],
        ["sync", "papers.jsonl", "-i", "index"],
        *parts,
        ["index", "parts", "parted"],
    ):
        result = sciretrieve(*words)
        assert result.stderr.count("rejected 3 rows") == 1, result.stderr


def test_encoding_and_training_warn(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert sr.encode(ROWS, tmp_path / "vectors.jsonl", encoder={"a": [1.0], "c": [2.0]}) == 2
    assert "rejected 3 rows" in caplog.text
    assert "vectors.jsonl.rejected.jsonl lists them" in caplog.text
