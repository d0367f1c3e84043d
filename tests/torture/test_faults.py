"""The system's no: a full disk, a missing permission, no more file handles, a read error; at every call of every operation.

An operation then ends with an error that says so, and the index is as it was or as it will be; the same operation, later,
completes. Files are mapped into memory by pyarrow, NumPy and FAISS in C, and a read error there is a signal to the process, which
cannot be had here; that they cannot open a file is tried for real, with few handles.
"""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import Effort
from tests.torture.faults import KINDS, Faults
from tests.torture.operations import OPERATIONS, Corpora, Stage, failed_by_call, failed_by_command, letters_for_all

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def letters() -> Iterator[None]:
    """One encoder for all."""
    with letters_for_all():
        yield


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Stage, Counter[str]]]:
    """Makes the stage of an operation, and counts the calls of each kind that it makes; once each."""
    folder = tmp_path_factory.mktemp("stages")
    corpora = Corpora.write(folder)

    @cache
    def stage(name: str) -> tuple[Stage, Counter[str]]:
        counting = Faults(folder)
        made = Stage.of(name, corpora, folder, counting())
        assert not counting.unseen
        return made, counting.seen

    return stage


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_ends_with_an_error_and_can_be_done_again(
    name: str, kind: str, staged: Callable[[str], tuple[Stage, Counter[str]]], effort: Effort
) -> None:
    stage, calls = staged(name)
    fault = KINDS[kind]
    count = calls[fault.calls]
    assert count >= 4
    chance = random.Random(f"{name} {kind}")
    runs = failed_by_call, failed_by_command
    points = effort(
        # the last writes are the manifests
        [(number, chance.choice(runs)) for number in [chance.randint(1, count), *([count - 1, count] if fault.torn else [])]],
        # reading and opening is most of what is done, and is tried in one way each
        [
            (number, runs[place % 2])
            for number in range(1, count + 1)
            for place in ((number,) if fault.calls in ("open", "read") else (0, 1))
        ],
    )
    failures = 0
    for number, run in points:
        index = stage.fresh()
        faults = Faults(stage.folder, fault, number)
        with faults():
            has_failed = run(stage, index)
        assert faults.seen[fault.calls] >= number
        stage.check(index, has_failed)
        failures += has_failed
    assert failures >= effort(0, len(points) / 2)


@pytest.mark.parametrize(("limit", "few", "many"), [("handles", 2, 5), ("size", 4, 300)])
def test_a_limit_of_the_system_is_an_error_too(limit: str, few: int, many: int, tmp_path: Path, effort: Effort) -> None:
    """The same for real, also where C opens and writes."""
    failed_and_done = said_by("limits", limit, str(tmp_path), str(effort(few, many)))
    assert [int(count) > 0 for count in failed_and_done.split()] == [True, True]


def test_where_nothing_may_be_written_all_can_be_read(tmp_path: Path) -> None:
    """An index in a directory without write permission, with a cache without it."""
    if said_by("limits", "read-only", str(tmp_path)) == "root\n":
        pytest.skip(reason="this process may write to every directory, and cannot give that up")


def said_by(program: str, *arguments: str) -> str:
    """What a program beside this file prints."""
    command = [sys.executable, "-m", f"tests.torture.{program}", *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout
