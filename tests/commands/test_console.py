"""What is said of progress on a terminal and in a log."""

from __future__ import annotations

import pytest

from sciretrieve.commands.console import Console


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the console's clock shows."""
    seconds = [0.0]
    monkeypatch.setattr("sciretrieve.commands.console.time.monotonic", lambda: seconds[0])
    return seconds


def test_a_log_gets_a_line_now_and_then(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    progress = Console()
    progress.start(10_000, 1_000)
    for second in range(1, 91):
        clock[0] = float(second)
        progress.advance(50)
    progress.start(None, unit="papers read")
    clock[0] += 29
    progress.advance(5)
    clock[0] += 1
    progress.advance(7)
    progress.close()
    progress.advance(1)
    assert capsys.readouterr().err.splitlines() == [
        "2,500 of 10,000 papers, 50 a second, 2 min 30 s left",
        "4,000 of 10,000 papers, 50 a second, 2 min 0 s left",
        "5,500 of 10,000 papers, 50 a second, 1 min 30 s left",
        "12 papers read, 0.4 a second",
    ]


def test_quick_work_and_quiet_work_say_nothing(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for quiet, seconds in ((False, 29.0), (True, 3600.0)):
        monkeypatch.setattr(Console, "is_quiet", quiet)
        progress = Console()
        clock[0] = 0.0
        progress.start(100)
        clock[0] = seconds
        progress.advance(50)
        progress.close()
    assert capsys.readouterr().err == ""
