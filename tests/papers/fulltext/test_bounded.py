"""Full texts read in processes that may die, each of which costs its own paper a line."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.papers.fulltext.bounded import ReadingProcess, read_all
from sciretrieve.papers.fulltext.document import Document
from sciretrieve.papers.fulltext.reading import read_document
from tests.papers.fulltext.made_pdfs import Put, bomb, column, pdf, wrapped

TEXT = wrapped("Every morning one of us walked along the shore and wrote down what was there, near or far, in flight or not. " * 4)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that are started."""
    processes: list[Any] = []

    class Counted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    return processes


def made(folder: Path, name: str, data: bytes | None = None) -> Path:
    path = folder / name
    path.write_bytes(data if data is not None else pdf([[Put(f"On {name}", 200, 740, 16), *column(["#1 Introduction", *TEXT])]]))
    return path


def test_what_dies_costs_its_own_paper_a_line(tmp_path: Path, started: list[Any]) -> None:
    paths = [
        made(tmp_path, "first.pdf"),
        made(tmp_path, "bomb.pdf", bomb(120)),
        made(tmp_path, "locked.pdf", pdf([column(TEXT)], password=True)),
        tmp_path / "missing.pdf",
        made(tmp_path, "notes.txt", b"Birds live on ice."),
        made(tmp_path, "last.pdf"),
    ]
    found = list(read_all(paths, memory=100 << 20, processes=1))
    assert [path for path, _ in found] == paths
    first, bombed, locked, missing, notes, last = [outcome for _, outcome in found]
    assert first == read_document(paths[0])
    assert last == read_document(paths[-1])
    assert isinstance(notes, Document)
    assert notes.text == "Birds live on ice."
    assert str(bombed).startswith(f"{paths[1]} ")
    assert "100 MB of memory" in str(bombed)
    assert f"{paths[2]} is encrypted" in str(locked)
    assert f"{paths[3]} is no file" in str(missing)
    assert not any("\n" in str(reason) for reason in (bombed, locked, missing))
    assert len(started) == 2  # one until the bomb, and another one for all after it
    assert all(process.returncode is not None for process in started)


def test_what_takes_too_long_is_left_out(tmp_path: Path, started: list[Any]) -> None:
    paths = [made(tmp_path, "first.pdf"), made(tmp_path, "second.pdf")]
    reasons = [outcome for _, outcome in read_all(paths, seconds=0.001)]
    assert reasons == [f"{path} takes more than 0.001 s to be read, and is left out" for path in paths]
    assert all(process.returncode is not None for process in started)


def test_files_are_taken_as_needed_and_processes_end_when_nobody_asks_on(tmp_path: Path, started: list[Any]) -> None:
    taken: list[int] = []

    def paths() -> Any:
        for number in range(50):
            taken.append(number)
            yield made(tmp_path, f"{number}.txt", b"Birds live on ice.")

    reading = read_all(paths(), processes=2)
    assert [path.name for path, _ in islice(reading, 3)] == ["0.txt", "1.txt", "2.txt"]
    reading.close()  # type: ignore[attr-defined]
    assert len(taken) < 12
    assert len(started) <= 2
    assert all(process.returncode is not None for process in started)


def test_a_reader_says_paths_as_they_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ReadingProcess() as reader:
        assert reader.read(Path("missing.pdf")) == "missing.pdf is no file"


def test_no_files_start_no_process(started: list[Any]) -> None:
    assert list(read_all([])) == []
    assert started == []
