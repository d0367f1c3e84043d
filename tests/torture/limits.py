"""A program for test_faults: operations in a process that the system itself refuses something.

    python -m tests.torture.limits handles|size|read-only FOLDER POINTS

`handles`: so many file handles at most, beyond those that are open; `size`: files of so many bytes at most, so that a write ends in
the midst of it. POINTS limits are tried, from none at all to what is enough. An operation under a limit fails as it may, and without
the limit it completes, see `Stage.check`. Prints how many operations failed, and how many did not.

`read-only`: in a directory that may not be written, an index is read. Prints "root" where such a directory cannot be had.
"""

import gc
import os
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import sciretrieve as sr
from tests.read_only import give_up_rights, may_write
from tests.torture.operations import (
    OPERATIONS,
    Corpora,
    Stage,
    actions,
    build_with_history,
    failed_by_call,
    failed_by_command,
    letters_for_all,
    verified,
)


@contextmanager
def limited(kind: int, limit: int) -> Iterator[None]:
    """A limit on a resource of this process, while the block runs."""
    before, most = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(kind, (before, most))


def with_handles(count: int) -> Any:
    """Room for so many more file handles: a new one gets the lowest number that is free."""
    gc.collect()
    free = [number for number in range(1024) if not Path(f"/proc/self/fd/{number}").exists()]
    return limited(resource.RLIMIT_NOFILE, free[count])


def with_sizes(count: int) -> Any:
    """No file of more bytes. What is beyond is not written, an error that is not a full disk's but comes as that does."""
    return limited(resource.RLIMIT_FSIZE, count)


LIMITS: dict[str, tuple[int, Callable[[int], Any]]] = {"handles": (4, with_handles), "size": (9_000, with_sizes)}
"""How much of a resource is enough, and what limits it."""


def under_limits(folder: Path, limits: list[int], limit: Callable[[int], Any]) -> None:
    """Build and add under each of the limits."""
    corpora = Corpora.write(folder)
    outcomes: Counter[bool] = Counter()
    for name in ("build", "add"):
        stage = Stage.of(name, corpora, folder)
        for number in limits:
            for run in (failed_by_call, failed_by_command):
                index = stage.fresh()
                with limit(number):
                    has_failed = run(stage, index)
                stage.check(index, has_failed)
                outcomes[has_failed] += 1
    print(outcomes[True], outcomes[False])


def may_be_read_only(folder: Path) -> bool:
    """Whether a directory without write permission is one, for root too."""
    give_up_rights()
    folder.chmod(0o555)
    try:
        return not may_write(folder)
    finally:
        folder.chmod(0o755)


def contents(index: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in index.rglob("*") if path.is_file()}


def where_nothing_may_be_written(folder: Path) -> None:
    """Read, verify, and try to change an index in a directory without write permission."""
    corpora, index, cache = Corpora.write(folder), folder / "index", folder / "cache"
    build_with_history(corpora, index)
    read = actions(folder)
    with sr.open(index) as opened_index:
        before = {name: action(opened_index) for name, action in read.items()}
    cache.mkdir()
    for path in (*index.rglob("*"), index, cache):
        path.chmod(0o555 if path.is_dir() else 0o444)
    # small files are remembered, too, or could be
    with mock.patch("sciretrieve.files.verified.LARGE", 0), mock.patch.dict(os.environ, SCIRETRIEVE_CACHE=str(cache)):
        with sr.open(index) as opened_index:
            assert {name: action(opened_index) for name, action in read.items()} == before
        assert not verified(index).faults
        files = contents(index)
        for name, operation in OPERATIONS.items():
            stage = Stage(operation, corpora, folder, index, None, {}, ())
            place = index / "inner" if name == "build" else index
            assert failed_by_call(stage, place), name
            assert failed_by_command(stage, place), name
        assert contents(index) == files
    assert not list(cache.iterdir())


def main(limit: str, folder: Path, points: int) -> None:
    with letters_for_all():
        if limit in LIMITS:
            enough, limiting = LIMITS[limit]
            under_limits(folder, [round(place * enough / (points - 1)) for place in range(points)], limiting)
        elif may_be_read_only(folder):
            where_nothing_may_be_written(folder)
        else:
            print("root")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 0)
