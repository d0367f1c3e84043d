"""Writes that are whole or not there, and one writer at a time."""

import fcntl
import hashlib
import io
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.errors import CorruptData, IndexBusy, InvalidRequest
from sciretrieve.evaluation.builders.folders import new_folder
from sciretrieve.files.writing import (
    HEADER,
    TEMPORARY,
    array_header,
    copy,
    created,
    describe,
    hold,
    make_folder,
    read_json,
    read_sealed,
    remove,
    remove_lock,
    replaced,
    retire,
    work_lock,
    write_json,
    write_lines,
    write_lock,
    write_sealed,
    write_whole,
)


class Recorder:
    """Notes what is forced to disk, and what is renamed, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, str]] = []
        fsync, replace = os.fsync, os.replace

        def noted_fsync(handle: int) -> None:
            size = os.fstat(handle).st_size if stat.S_ISREG(os.fstat(handle).st_mode) else 0
            self.events.append((f"forced {size}" if size else "forced", Path(f"/proc/self/fd/{handle}").resolve().name))
            fsync(handle)

        def noted_replace(source: Any, target: Any) -> None:
            self.events.append((f"renamed to {Path(target).name}", Path(source).name))
            replace(source, target)

        monkeypatch.setattr(os, "fsync", noted_fsync)
        monkeypatch.setattr(os, "replace", noted_replace)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are named by /proc")
def test_a_file_is_on_disk_before_it_has_its_name_and_its_name_is_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    recorder = Recorder(monkeypatch)
    with replaced(folder / "file") as file:
        file.write(b"seven b")
        assert recorder.events == []
    temporary = recorder.events[0][1]
    assert TEMPORARY.fullmatch(temporary)
    assert recorder.events == [("forced 7", temporary), ("renamed to file", temporary), ("forced", "folder")]
    recorder.events.clear()
    with created(folder / "other") as file:
        file.write(b"four")
    assert recorder.events == [("forced 4", "other")]
    recorder.events.clear()
    make_folder(folder / "a" / "b")
    make_folder(folder / "a" / "b")
    assert recorder.events == [("forced", "folder"), ("forced", "a")]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    (tmp_path / "file.tmp").write_bytes(b"the user's own")

    def write() -> None:
        with replaced(path) as file:
            file.write(b"new")
            file.flush()
            assert path.read_bytes() == b"old"
            raise failure

    with pytest.raises(type(failure)):
        write()
    assert {inner.name: inner.read_bytes() for inner in tmp_path.iterdir()} == {"file": b"old", "file.tmp": b"the user's own"}
    write_whole(path, b"new")
    assert {inner.name: inner.read_bytes() for inner in tmp_path.iterdir()} == {"file": b"new", "file.tmp": b"the user's own"}


@pytest.mark.parametrize("write", [write_whole, lambda path, data: write_lines(path, [data.decode()])], ids=["bytes", "lines"])
def test_no_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], object]) -> None:
    """Neither one under the name itself, which the new file takes, nor one that somebody has put under the temporary one."""
    victim, path = tmp_path / "victim", tmp_path / "file"
    victim.write_bytes(b"precious")
    path.symlink_to(victim)
    write(path, b"new")
    assert (victim.read_bytes(), path.is_symlink()) == (b"precious", False)
    monkeypatch.setattr("sciretrieve.files.writing.token_hex", lambda size: "0" * 2 * size)
    for plant in (Path.symlink_to, Path.hardlink_to):
        plant(planted := tmp_path / f".sciretrieve-{'0' * 16}.tmp", victim)
        with pytest.raises(FileExistsError):
            write(path, b"newer")
        assert planted.exists()
        planted.unlink()
    assert (victim.read_bytes(), path.read_bytes().strip()) == (b"precious", b"new")


@pytest.mark.parametrize("other", ["folder", "link", "file"])
def test_unfinished_work_takes_no_folder_that_is_not_its_own(tmp_path: Path, other: str) -> None:
    """One that goes on with what is in it, or removes it."""
    partial, own = tmp_path / "out.partial", tmp_path / "own"
    own.mkdir()
    (own / "thesis.tex").write_text("precious")
    if other == "link":
        partial.symlink_to(own)
    elif other == "folder":
        own.rename(partial)
    else:
        partial.write_text("precious")
    before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InvalidRequest, match=r"out\.partial exists, and is not unfinished work"), work_lock(partial):
        pass
    with pytest.raises(InvalidRequest, match="is not unfinished work"), new_folder(tmp_path / "out"):
        pass
    assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == before
    with work_lock(tmp_path / "new"):
        (tmp_path / "new" / "part").write_text("done")
    with work_lock(tmp_path / "new"):  # it is its own
        assert (tmp_path / "new" / "part").read_text() == "done"


def test_a_new_file_is_for_those_whom_the_old_one_was_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    for mode in (0o600, 0o664, 0o400):
        path.chmod(mode)
        write_whole(path, b"new")
        assert path.stat().st_mode & 0o777 == mode


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"through it")
    assert os.read(reader, 100) == b"through it"
    os.close(reader)
    write_whole(Path(os.devnull), b"nothing")
    assert Path(os.devnull).is_char_device()


def test_a_write_that_cannot_be_forced_to_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert {inner.name: inner.read_bytes() for inner in tmp_path.iterdir()} == {"file": b"old"}


@given(papers=st.integers(0, 10**9), dim=st.integers(1, 10_000))
def test_a_header_of_vectors_has_room_for_any_number(papers: int, dim: int) -> None:
    header = array_header((papers, dim))
    assert len(header) == HEADER
    stream = io.BytesIO(header)
    assert np.lib.format.read_magic(stream) == (1, 0)
    assert np.lib.format.read_array_header_1_0(stream) == ((papers, dim), False, np.dtype("<f4"))
    assert stream.read() == b""


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60)
@given(value=st.dictionaries(st.text(max_size=5).filter(lambda key: key != "checksum"), JSON, max_size=4), data=st.data())
def test_what_is_sealed_comes_back_or_is_named(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("sealed") / "v.json"
    write_sealed(path, value)
    assert read_sealed(path) == value
    whole = path.read_bytes()
    place, byte = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 255))
    path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    message = ""
    try:
        assert read_sealed(path) == value  # a space became a line's end, say
    except CorruptData as error:
        message = str(error)
    assert message == "" or ("v.json" in message and "\n" not in message)


def test_what_is_not_sealed_or_for_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    write_sealed(path, {"papers": 3})
    checksum = read_json(path)["checksum"]
    for value in (
        {"papers": 3},
        {"papers": 4, "checksum": checksum},
        {"papers": 3, "more": 1, "checksum": checksum},
        {"checksum": checksum},
    ):
        write_json(path, value)
        with pytest.raises(CorruptData, match=r"v\.json is damaged: its checksum does not match"):
            read_sealed(path)
    write_json(path, {"papers": 3, "checksum": checksum})
    assert read_sealed(path) == {"papers": 3}
    with pytest.raises(FileNotFoundError):
        read_sealed(tmp_path / "nothing.json")


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
    holder = "import sys, pathlib, time\nfrom sciretrieve.files.writing import write_lock\n"
    holder += "with write_lock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"
    with subprocess.Popen([sys.executable, "-c", holder, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(IndexBusy, match=f"is being written by process {process.pid} on "), write_lock(tmp_path):
            pass
        process.kill()
        process.wait()
    with write_lock(tmp_path):
        pass


def test_a_lock_whose_holder_left_no_name_is_held_by_another_process(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(IndexBusy, match="is being written by another process; wait until it ends"), write_lock(tmp_path):
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


def test_removing_takes_what_is_there_and_nothing_else(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "inner").mkdir(parents=True)
    (elsewhere / "inner" / "thesis").write_text("x")
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").write_text("x")
    (folder / "to a folder").symlink_to(elsewhere)
    (folder / "to a file").symlink_to(elsewhere / "inner" / "thesis")
    (folder / "to nothing").symlink_to(tmp_path / "nothing")
    remove(folder)
    remove(folder)
    remove(tmp_path / "nothing" / "inner")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere"]
    assert (elsewhere / "inner" / "thesis").read_text() == "x"
    remove(elsewhere / "inner" / "thesis")
    assert list((elsewhere / "inner").iterdir()) == []


@pytest.mark.parametrize("has_links", [True, False], ids=["with links", "without links"])
def test_a_copy_is_a_file_of_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(95, "Operation not supported")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "original").write_bytes(b"x" * 100_000)
    copy(tmp_path / "original", tmp_path / "copy")
    assert ((tmp_path / "copy").stat().st_nlink == 2) is has_links
    (tmp_path / "original").unlink()
    assert (tmp_path / "copy").read_bytes() == b"x" * 100_000


def test_a_file_that_is_held_is_not_retired(tmp_path: Path) -> None:
    path = tmp_path / "000001.json"
    path.write_text("{}")
    first, second = hold(path), hold(path)
    for held in (first, second):
        assert not retire(path)
        assert path.read_text() == "{}"
        os.close(held)
    assert retire(path)
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        hold(path)
    with pytest.raises(FileNotFoundError):
        retire(path)


def test_a_file_that_is_retired_while_it_is_opened_is_gone_for_who_opened_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening it and holding it, a writer is quicker; then another file may even have its name."""
    path, flock = tmp_path / "000001.json", fcntl.flock
    for has_successor in (False, True):
        path.touch()
        handles: list[int] = []

        def overtaken(handle: int, operation: int, successor: bool = has_successor, handles: list[int] = handles) -> None:
            monkeypatch.setattr(fcntl, "flock", flock)
            assert retire(path)
            if successor:
                path.touch()
            handles.append(handle)
            flock(handle, operation)

        monkeypatch.setattr(fcntl, "flock", overtaken)
        with pytest.raises(FileNotFoundError):
            hold(path)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handles[0])


def test_where_files_cannot_be_locked_they_are_opened_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(95, "Operation not supported")

    path = tmp_path / "000001.json"
    path.touch()
    monkeypatch.setattr(fcntl, "flock", refuse)
    os.close(hold(path))
    assert not retire(path)
    assert path.exists()
