"""Properties computed once: by one thread while others wait, for each instance by itself, and again after an error."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from sciretrieve.base.once import once

PATIENCE = 30
"""Seconds after which a wait that should end at once is given up."""


class Slow:
    def __init__(self, compute: Callable[[], object]) -> None:
        self._compute = compute

    @once
    def value(self) -> object:
        """What is computed."""
        return self._compute()

    @once
    def other(self) -> str:
        return "other"

    @once
    def both(self) -> tuple[object, str]:
        return self.value, self.other


def test_threads_that_come_at_once_get_one_value() -> None:
    started, may_end, calls = threading.Event(), threading.Event(), []

    def compute() -> object:
        calls.append(threading.get_ident())
        started.set()
        assert may_end.wait(PATIENCE)
        return object()

    slow = Slow(compute)
    with ThreadPoolExecutor(8) as pool:
        values = [pool.submit(lambda: slow.value) for _ in range(8)]
        assert started.wait(PATIENCE)
        may_end.set()
        assert len({id(value.result(PATIENCE)) for value in values}) == 1
    assert len(calls) == 1


def test_neither_another_instance_nor_another_property_waits() -> None:
    started, may_end = threading.Event(), threading.Event()

    def compute() -> object:
        started.set()
        assert may_end.wait(PATIENCE)
        return "slow"

    slow, quick = Slow(compute), Slow(lambda: "quick")
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(lambda: slow.value)
        assert started.wait(PATIENCE)
        assert pool.submit(lambda: (quick.value, slow.other)).result(PATIENCE) == ("quick", "other")
        assert not waiting.done()
        may_end.set()
        assert waiting.result(PATIENCE) == "slow"


def test_a_property_may_read_others() -> None:
    assert Slow(lambda: 1).both == (1, "other")


def test_an_error_is_passed_on_and_the_next_access_tries_again() -> None:
    answers = iter([ValueError("away"), 7])

    def compute() -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    slow = Slow(compute)
    with pytest.raises(ValueError, match="away"):
        _ = slow.value
    assert (slow.value, slow.value) == (7, 7)


def test_it_is_a_property_of_frozen_dataclasses_too() -> None:
    @dataclass(frozen=True)
    class Square:
        side: int

        @once
        def area(self) -> int:
            """Its area."""
            return self.side**2

    square = Square(3)
    assert (square.area, square == Square(3), Square.__dict__["area"].__doc__) == (9, True, "Its area.")
