"""A file is read only if it is as its manifest says; large ones are hashed once, and again when they have changed."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import CorruptData
from sciretrieve.files import verified
from sciretrieve.files.verified import Verified
from sciretrieve.files.writing import describe

LARGE = 1000
NAME = "shards/000000/vectors.npy"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own; files are large from 1,000 bytes on."""
    monkeypatch.setattr(verified, "LARGE", LARGE)
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were hashed, in order."""
    names: list[str] = []

    def noted(path: Path) -> dict[str, Any]:
        names.append(path.name)
        return describe(path)

    monkeypatch.setattr(verified, "describe", noted)
    return names


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A directory with a large file and a small one."""
    folder = tmp_path / "index"
    write(folder / NAME, b"v" * LARGE)
    write(folder / "shards/000000/ids.arrow", b"i" * (LARGE - 1))
    return folder


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def facts(index: Path, name: str = NAME) -> dict[str, Any]:
    return describe(index / name)


def memory(cache: Path) -> dict[str, Any]:
    """What is remembered, of all indexes."""
    return {name: stamp for path in (cache / "verified").glob("*.json") for name, stamp in json.loads(path.read_text()).items()}


def test_a_large_file_that_has_not_changed_is_hashed_once_in_any_process(index: Path, cache: Path, hashed: list[str]) -> None:
    whole = facts(index)
    assert Verified(index).check(NAME, whole) == index / NAME
    assert hashed == ["vectors.npy"]
    for known in (Verified(index), Verified(index)):  # each as another process has it
        assert known.check(NAME, whole) == known.check(NAME, whole) == index / NAME
    assert hashed == ["vectors.npy"]
    assert list(memory(cache)) == [NAME]


def test_a_small_file_is_hashed_each_time_and_not_remembered(index: Path, cache: Path, hashed: list[str]) -> None:
    name = "shards/000000/ids.arrow"
    whole = facts(index, name)
    checked = Verified(index)
    for _ in range(2):
        assert checked.check(name, whole) == index / name
    assert hashed == ["ids.arrow"] * 2
    assert memory(cache) == {}


def overwritten(path: Path, data: bytes) -> None:
    """In place, with the old time of change set again, as a careless backup would."""
    status = path.stat()
    with path.open("r+b") as file:
        file.write(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    while path.stat().st_ctime_ns == status.st_ctime_ns:  # until the file system's clock has ticked
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def exchanged(path: Path, data: bytes) -> None:
    """Another file under the same name, as old as the first."""
    status, other = path.stat(), path.with_name("other")
    other.write_bytes(data)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("change", [overwritten, exchanged])
@pytest.mark.parametrize("is_known", [True, False], ids=["hashed before", "not hashed before"])
def test_a_file_that_has_changed_is_hashed_again_and_named(
    index: Path, hashed: list[str], change: Callable[[Path, bytes], None], is_known: bool
) -> None:
    whole = facts(index)
    if is_known:
        Verified(index).check(NAME, whole)
    hashed.clear()
    change(index / NAME, b"v" * (LARGE - 1) + b"w")
    checked = Verified(index)
    for _ in range(2):
        with pytest.raises(CorruptData, match=f"{NAME} is damaged: it is not as it was written; restore it, or try `sciretrieve verify"):
            checked.check(NAME, whole)
    assert hashed == ["vectors.npy"] * 2
    change(index / NAME, b"v" * LARGE)
    assert checked.check(NAME, whole) == index / NAME
    assert len(hashed) == 3


@pytest.mark.parametrize(
    ("spoil", "others", "message"),
    [
        *((lambda path, size=size: path.write_bytes(b"v" * size), {}, "is damaged") for size in (0, LARGE - 1, LARGE + 1)),
        (Path.unlink, {}, "is missing; restore it"),
        (lambda path: None, {"sha256": "0" * 64}, "is damaged"),  # what was hashed for one manifest is not what another says
    ],
)
def test_what_is_not_as_its_facts_say_is_named(index: Path, spoil: Callable[[Path], Any], others: dict[str, Any], message: str) -> None:
    whole = facts(index)
    Verified(index).check(NAME, whole)
    spoil(index / NAME)
    with pytest.raises(CorruptData, match=f"{NAME} {message}"):
        Verified(index).check(NAME, whole | others)


def test_indexes_do_not_share_what_is_remembered_and_names_of_one_do(index: Path, tmp_path: Path, hashed: list[str]) -> None:
    whole = facts(index)
    Verified(index).check(NAME, whole)
    (tmp_path / "link").symlink_to(index)
    Verified(tmp_path / "link").check(NAME, whole)
    assert len(hashed) == 1
    write(tmp_path / "elsewhere" / NAME, b"w" * LARGE)
    with pytest.raises(CorruptData, match=f"elsewhere/{NAME} is damaged"):
        Verified(tmp_path / "elsewhere").check(NAME, whole)
    Verified(index).check(NAME, whole)
    assert len(hashed) == 2


def test_without_a_writable_cache_files_are_hashed_by_each_process(index: Path, cache: Path, hashed: list[str]) -> None:
    cache.write_text("a file where the folder would be")
    whole = facts(index)
    for _ in range(2):
        checked = Verified(index)
        assert checked.check(NAME, whole) == checked.check(NAME, whole) == index / NAME
    assert len(hashed) == 2
    (index / NAME).write_bytes(b"w" * LARGE)
    with pytest.raises(CorruptData, match="is damaged"):
        checked.check(NAME, whole)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b'{"shards/000000/vectors.npy": 3}', b"null"], ids=str)
def test_a_memory_that_is_damaged_is_forgotten(index: Path, cache: Path, hashed: list[str], content: bytes) -> None:
    whole = facts(index)
    Verified(index).check(NAME, whole)
    (path,) = (cache / "verified").iterdir()
    path.write_bytes(content)
    assert Verified(index).check(NAME, whole) == index / NAME
    assert len(hashed) == 2
    assert list(memory(cache)) == [NAME]
    Verified(index).check(NAME, whole)
    assert len(hashed) == 2


def test_what_was_just_written_need_not_be_hashed_and_what_is_gone_is_forgotten(index: Path, cache: Path, hashed: list[str]) -> None:
    small = "shards/000000/ids.arrow"
    files = {name: facts(index, name) for name in (NAME, small)}
    Verified(index).remember(files, named=files)
    assert list(memory(cache)) == [NAME]
    Verified(index).check(NAME, files[NAME])
    assert hashed == []
    # the next generation has another file in its place
    write(index / "shards/000001/vectors.npy", b"x" * LARGE)
    others = {"shards/000001/vectors.npy": facts(index, "shards/000001/vectors.npy")}
    Verified(index).remember(others, named=others)
    assert list(memory(cache)) == list(others)
    Verified(index).check("shards/000001/vectors.npy", others["shards/000001/vectors.npy"])
    assert hashed == []
    Verified(index).check(NAME, files[NAME])
    assert hashed == ["vectors.npy"]


def test_threads_that_ask_at_once_have_it_hashed_once(index: Path, hashed: list[str]) -> None:
    (index / NAME).write_bytes(bytes(4_000_000))  # which takes so long to hash that all threads have come by then
    whole, checked = facts(index), Verified(index)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: checked.check(NAME, whole), range(64))) == {index / NAME}
    assert hashed == ["vectors.npy"]


def test_a_check_of_many_files_counts_for_a_while(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(verified, "monotonic", lambda: now)
    monkeypatch.setattr(verified, "MANY", 2)
    checked = Verified(index)
    for name in (NAME, "shards/000000/ids.arrow"):
        checked.check(name, facts(index, name))
    now = 1.0
    checked.check_again()
    os.truncate(index / NAME, 1)
    now = 1.0 + 1.9 * verified.EACH
    checked.check_again()
    now = 1.0 + 2.1 * verified.EACH
    with pytest.raises(CorruptData):
        checked.check_again()
