"""The desk does the work of requests in threads, within a time, and searches that wait together are made together."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, TimedOut
from sciretrieve.base.waiting import raise_if_abandoned
from sciretrieve.service import desk as desk_module
from sciretrieve.service.desk import Desk, TooBusy, Wait
from sciretrieve.service.settings import ServiceSettings

Value = TypeVar("Value")


def at(work: Callable[[Desk], Coroutine[Any, Any, Value]], **settings: Any) -> Value:
    """What comes of some work at a desk."""

    async def run() -> Value:
        desk = Desk(ServiceSettings(**settings))
        try:
            return await work(desk)
        finally:
            await desk.close()

    return asyncio.run(run())


def held(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[int]]:
    """Have searches wait until an event is set; the list has how many were made together each time."""
    release, sizes = threading.Event(), list[int]()
    made = desk_module._answers_of

    def slow(searches: Any) -> Any:
        release.wait(30)
        sizes.append(len(searches))
        return made(searches)

    monkeypatch.setattr(desk_module, "_answers_of", slow)
    return release, sizes


def test_searches_that_wait_are_made_together_and_answer_as_each_alone(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    release, sizes = held(index, monkeypatch)
    requests = [sr.Request(query, k=5) for query in ("graph networks", "star dust", '"broken', "(market", "zzz", "")] * 3
    requests += [sr.Request("vaccine", k=3), sr.Request("vaccine", k=5, options=sr.SearchOptions(mode="bm25"))]

    async def work(desk: Desk) -> list[Any]:
        answers = [asyncio.ensure_future(desk.answer(index, request, Wait(30))) for request in requests]
        await asyncio.sleep(0)
        release.set()
        return await asyncio.gather(*answers, return_exceptions=True)

    for request, answer in zip(requests, at(work), strict=True):
        if request.query == "":
            assert isinstance(answer, InvalidRequest)
            continue
        alone = sr.answer(index, request)
        assert answer.request == request
        assert [hit.id for hit in answer.hits] == [hit.id for hit in alone.hits]
        assert np.allclose([hit.score for hit in answer.hits], [hit.score for hit in alone.hits], atol=1e-5)
        assert answer.run.mode == alone.run.mode
        assert (answer.total, answer.total_is) == (alone.total, alone.total_is)
    assert sum(sizes) == len(requests)
    assert max(sizes) > 8
    assert max(sizes) <= desk_module.TOGETHER


def test_searches_that_arrive_a_little_later_are_made_with_the_first(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    release, sizes = held(index, monkeypatch)
    release.set()

    async def late(desk: Desk, turns: int) -> Any:
        for _ in range(turns):
            await asyncio.sleep(0)
        return await desk.answer(index, sr.Request(f"graph {turns}", k=5), Wait(30))

    async def work(desk: Desk) -> list[Any]:
        return await asyncio.gather(*(late(desk, 10 * number) for number in range(desk_module.TOGETHER + 2)))

    assert len(at(work)) == desk_module.TOGETHER + 2
    assert max(sizes) == sizes[0] == desk_module.TOGETHER


def test_searches_that_nobody_waits_for_any_more_are_not_made(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    release, sizes = held(index, monkeypatch)
    request = sr.Request("graph", k=5)

    async def work(desk: Desk) -> list[Any]:
        kinds = [replace(request, k=6 + number) for number in range(desk_module.AT_A_TIME)]  # of which no two are made together
        first = [asyncio.ensure_future(desk.answer(index, kind, Wait(30))) for kind in kinds]
        await asyncio.sleep(0.05)  # these are being made, and the others wait
        waits = [Wait(30) for _ in range(6)]
        others = [asyncio.ensure_future(desk.answer(index, request, wait)) for wait in waits]
        await asyncio.sleep(0)
        with pytest.raises(TooBusy):  # too many wait
            await desk.answer(index, request, Wait(30))
        others[0].cancel()  # who asked has gone
        waits[1].give_up()  # its time is over, which the desk has not noticed
        await asyncio.sleep(0.01)
        release.set()
        return await asyncio.gather(*first, *others[2:], return_exceptions=True)

    assert [len(answer.hits) for answer in at(work, threads=1, waiting=7)] == [6, 7, 5, 5, 5, 5]
    assert sum(sizes) == desk_module.AT_A_TIME + 4


def test_work_that_takes_too_long_is_told_and_stops_at_its_next_step() -> None:
    stopped = threading.Event()
    asked = threading.Event()

    def endless() -> None:
        try:
            while True:
                asked.wait(0.01)
                raise_if_abandoned()
        finally:
            stopped.set()

    async def work(desk: Desk) -> None:
        with pytest.raises(TimedOut, match=r"longer than 0\.05 seconds"):
            await desk.do(endless, Wait(0.05))

    at(work, seconds=0.05)
    assert stopped.wait(10)


def test_work_that_nobody_waits_for_is_not_begun() -> None:
    begun = list[str]()
    release = threading.Event()

    async def work(desk: Desk) -> None:
        first = asyncio.ensure_future(desk.do(lambda: release.wait(30), Wait(30)))
        second = asyncio.ensure_future(desk.do(lambda: begun.append("second"), Wait(30)))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        release.set()
        await first

    at(work, threads=1)
    assert begun == []


def test_more_than_may_wait_are_told_to_come_back() -> None:
    release = threading.Event()

    async def work(desk: Desk) -> list[Any]:
        tasks = [asyncio.ensure_future(desk.do(lambda: release.wait(30), Wait(30))) for _ in range(4)]
        await asyncio.sleep(0)
        assert desk.waiting == 3
        release.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = at(work, threads=1, waiting=2)
    assert [type(result) for result in results] == [bool, bool, bool, TooBusy]


def test_an_error_of_the_library_itself_reaches_all_and_the_desk_goes_on(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(searches: Any) -> Any:
        raise ZeroDivisionError

    async def work(desk: Desk) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(desk_module, "_answers_of", broken)
            failed = await asyncio.gather(*(desk.answer(index, sr.Request("graph"), Wait(30)) for _ in range(2)), return_exceptions=True)
        assert [type(error) for error in failed] == [ZeroDivisionError] * 2
        return await desk.answer(index, sr.Request("graph"), Wait(30))

    assert at(work).hits


def test_heavy_requests_hold_up_no_others_and_have_a_cap_of_their_own(index: sr.Index) -> None:
    release = threading.Event()
    heavy = [sr.Request("graph", k=101), sr.Request("graph", k=21, explain=True)]
    light = [sr.Request("graph", k=5), sr.Request("graph", k=20, explain=True)]

    async def work(desk: Desk) -> None:
        held = [
            asyncio.ensure_future(desk.do(lambda: release.wait(30), Wait(30), heavy=True)) for _ in range(desk_module.HEAVY_WAITING - 2)
        ]
        later = [asyncio.ensure_future(desk.answer(index, request, Wait(30))) for request in heavy]
        await asyncio.sleep(0)
        with pytest.raises(TooBusy):
            await desk.answer(index, heavy[0], Wait(30))
        for request in light:
            assert len((await desk.answer(index, request, Wait(30))).hits) == request.k
        assert await desk.do(lambda: "at once", Wait(30)) == "at once"
        assert not any(task.done() for task in [*held, *later])
        release.set()
        await asyncio.gather(*held)
        assert [len((await task).hits) for task in later] == [min(request.k, len(index)) for request in heavy]
        assert await desk.do(lambda: "again", Wait(30), heavy=True) == "again"

    at(work, threads=1)
