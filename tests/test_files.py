"""Writes that are whole or not there, and one writer at a time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.errors import CorruptData, IndexBusy
from sciretrieve.files import describe, read_json, remove_lock, write_json, write_lock, write_whole


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"


def test_json_comes_back(tmp_path: Path) -> None:
    value = {"a": [1, None, "naïve"], "b": {"c": 0.1}}
    write_json(tmp_path / "v.json", value)
    assert read_json(tmp_path / "v.json") == value


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe"])
def test_damaged_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "v.json").write_bytes(content)
    with pytest.raises(CorruptData, match=r"v\.json"):
        read_json(tmp_path / "v.json")


def test_describe_is_what_sha256sum_says(tmp_path: Path) -> None:
    data = os.urandom(100_000)
    (tmp_path / "f").write_bytes(data)
    assert describe(tmp_path / "f") == {"bytes": 100_000, "sha256": hashlib.sha256(data).hexdigest()}


def test_the_lock_keeps_other_processes_out_and_dies_with_its_holder(tmp_path: Path) -> None:
    holder = "import sys, pathlib, time\nfrom sciretrieve.files import write_lock\n"
    holder += "with write_lock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"
    with subprocess.Popen([sys.executable, "-c", holder, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(IndexBusy, match="being written by another process"), write_lock(tmp_path):
            pass
        process.kill()
        process.wait()
    with write_lock(tmp_path):
        pass


def test_the_lock_is_given_back_also_while_a_child_holds_the_file(tmp_path: Path) -> None:
    """A library may fork while the lock is held; its child shares the file, and would share the lock."""
    with write_lock(tmp_path):
        child = os.fork()
        if not child:
            time.sleep(5)
            os._exit(0)
    with write_lock(tmp_path):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_a_lock_that_was_removed_by_its_holder_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One waits to lock the file; its holder removes it; a third holds the new one: two would write at once."""
    directory, flock = tmp_path / "index", fcntl.flock
    directory.mkdir()
    third = ExitStack()

    def overtaken(file: Any, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        remove_lock(directory)
        third.enter_context(write_lock(directory))
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", overtaken)
    with third:
        with pytest.raises(IndexBusy), write_lock(directory):
            pass
        assert (directory / ".lock").exists()
    with write_lock(directory):
        remove_lock(directory)
    assert not directory.exists()


def test_what_others_write_stays_when_the_lock_is_removed(tmp_path: Path) -> None:
    with write_lock(tmp_path / "index"):
        (tmp_path / "index" / "note").touch()
        remove_lock(tmp_path / "index")
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["note"]


def test_an_error_passes_through_the_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), write_lock(tmp_path):
        (tmp_path / "nothing").read_bytes()
