"""How often each client may ask is counted once for all processes of a service, in a table that does not grow."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sciretrieve.service import rates as module
from sciretrieve.service.rates import Rates, make_table

Clock = Callable[[float], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Sets the time."""
    now = [1.0]
    monkeypatch.setattr("sciretrieve.service.rates.time.monotonic", lambda: now[0])
    return lambda moment: now.__setitem__(0, moment)


def test_a_client_may_ask_so_often_in_a_minute_and_others_are_not_counted_with_it(clock: Clock) -> None:
    rates = Rates(6)
    assert [rates.allows("a") for _ in range(7)] == [True] * 6 + [False]
    assert rates.allows("b")
    clock(11.0)  # a sixth of a minute later: one more
    assert [rates.allows("a") for _ in range(2)] == [True, False]
    clock(1000.0)
    assert [rates.allows("a") for _ in range(7)] == [True] * 6 + [False]


def test_processes_count_together(tmp_path: Path, clock: Clock) -> None:
    path = make_table(tmp_path / "rates")
    processes = [Rates(4, path) for _ in range(3)]
    assert [processes[place % 3].allows("a") for place in range(6)] == [True] * 4 + [False] * 2
    assert processes[1].allows("b")


def test_the_client_that_asked_longest_ago_is_forgotten_where_there_is_no_place(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PLACES", module.NEAR)
    rates = Rates(1)
    for number in range(module.NEAR):
        clock(1.0 + number / 100)
        assert rates.allows(f"client {number}")
    clock(1.5)
    assert not rates.allows("client 1")
    assert rates.allows("another")
    assert not rates.allows("client 2")
    assert rates.allows("client 0")
