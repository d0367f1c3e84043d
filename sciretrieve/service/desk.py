"""The queue of requests: a few threads do the work, within a time limit, and waiting searches are batched."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from ..answers.answering import Answer, Request, answer, answers, can_share
from ..base.errors import SciretrieveError, TimedOut
from ..base.waiting import unless
from ..query.index import Index
from .settings import ServiceSettings

Value = TypeVar("Value")

TOGETHER = 32
"""The most searches in a batch: beyond that, each waits longer for the others, and throughput hardly grows."""
TURNS = 16
"""Turns of the event loop without another search before a batch begins: a request that has arrived needs up to ten to get here. Clients
that were answered together ask again together, and the first few of them, searched alone, would take half as long as all."""
HEAVY = 100
"""The most papers of a quick answer, a fifth of that if each is explained; larger ones are heavy."""
HEAVY_WAITING = 16
"""The most heavy requests that run or wait. They run one after the other, so the last one waits long enough."""
AT_A_TIME = 2
"""Batches of searches at a time in a service of one process: while one is encoded outside Python's lock, another's words are looked up.
Where other processes do that, one batch at a time is larger, and so takes less for each search."""


class TooBusy(SciretrieveError):
    """Too many requests wait."""


class Wait:
    """The wait of a request for its answer, until its deadline or until the client goes away."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._is_given_up = False

    def give_up(self) -> None:
        """Stop waiting."""
        self._is_given_up = True

    def is_over(self) -> bool:
        """Whether the wait is over."""
        return self._is_given_up or time.monotonic() > self._end

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(self._end - time.monotonic(), 0.0)


@dataclass(frozen=True, eq=False)
class _Search:
    """A waiting search; searches of one kind can be batched."""

    index: Index
    request: Request
    wait: Wait
    result: asyncio.Future[Answer]
    kind: Hashable


class Desk:
    """Does the work of requests, in order of arrival. All of its methods are for one event loop.

    Args:
        settings: the service's settings.
        at_a_time: batches of searches at a time.
    """

    def __init__(self, settings: ServiceSettings, at_a_time: int = AT_A_TIME) -> None:
        self._settings, self._at_a_time = settings, at_a_time
        self._threads = ThreadPoolExecutor(settings.threads, "work")
        self._searching = ThreadPoolExecutor(at_a_time, "search")
        self._heavy = ThreadPoolExecutor(1, "heavy")
        self._heavy_waiting = 0
        self._searches: deque[_Search] = deque()
        self._batches = 0
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """The number of requests that run or wait."""
        return self._waiting

    async def do(self, work: Callable[[], Value], wait: Wait, *, heavy: bool = False) -> Value:
        """The result of some work in a thread; heavy work has its own thread, and does not delay other work.

        Raises TimedOut, TooBusy, and the errors of the work.
        """
        if not heavy:
            return await self._within(wait, self._done(self._threads, work, wait))
        if self._heavy_waiting >= HEAVY_WAITING:
            raise TooBusy("too many large requests wait for their answers; ask for less at a time, or again in a minute")
        self._heavy_waiting += 1
        try:
            return await self._within(wait, self._done(self._heavy, work, wait))
        finally:
            self._heavy_waiting -= 1

    def _done(self, pool: ThreadPoolExecutor, work: Callable[[], Value], wait: Wait) -> asyncio.Future[Value]:
        return asyncio.get_running_loop().run_in_executor(pool, _run_unless_over, work, wait.is_over)

    async def answer(self, index: Index, request: Request, wait: Wait) -> Answer:
        """The result of `answers.answering.answer`. Waiting searches for equally many papers with the same options become one batch. Raises
        as `do`.
        """
        is_heavy = request.k > (HEAVY // 5 if request.explain else HEAVY)
        shared = None if is_heavy else can_share(request)
        if shared is None:
            return await self.do(lambda: answer(index, request), wait, heavy=is_heavy)
        search = _Search(index, request, wait, asyncio.get_running_loop().create_future(), (id(index), shared))
        self._searches.append(search)
        if self._batches < self._at_a_time:
            self._batches += 1
            asyncio.get_running_loop().create_task(self._search())
        return await self._within(wait, search.result)

    async def close(self) -> None:
        """Accept no more work, and end the running work."""
        for pool in (self._threads, self._searching, self._heavy):
            pool.shutdown(wait=False, cancel_futures=True)

    async def _within(self, wait: Wait, result: asyncio.Future[Value]) -> Value:
        """A result, as long as the client waits for it."""
        if self._waiting >= self._settings.waiting + self._settings.threads:
            result.cancel()
            raise TooBusy("too many requests wait for their answers; ask again in a few seconds")
        self._waiting += 1
        try:
            return await asyncio.wait_for(result, wait.left)
        except (TimeoutError, TimedOut) as error:
            raise TimedOut(
                f"the answer took longer than {self._settings.seconds:g} seconds; ask for fewer papers, or leave out what takes long"
            ) from error
        finally:
            wait.give_up()
            self._waiting -= 1

    async def _search(self) -> None:
        """Run the waiting searches until there are none."""
        loop = asyncio.get_running_loop()
        try:
            while self._searches:
                await self._all_arrived()
                searches = self._next()
                if not searches:
                    continue
                try:
                    results = await loop.run_in_executor(self._searching, _answers_of, searches)
                except BaseException as error:  # passed on to the waiting clients
                    results = [error] * len(searches)
                for search, result in zip(searches, results, strict=True):
                    if search.result.done():
                        continue
                    if isinstance(result, BaseException):
                        search.result.set_exception(result)
                    else:
                        search.result.set_result(result)
        finally:
            self._batches -= 1

    async def _all_arrived(self) -> None:
        """Let the requests that have arrived become waiting searches. This takes a tenth of a millisecond where none has."""
        turns, waiting = 0, len(self._searches)
        while turns < TURNS and waiting < TOGETHER:
            await asyncio.sleep(0)
            turns = turns + 1 if len(self._searches) == waiting else 0
            waiting = len(self._searches)

    def _next(self) -> list[_Search]:
        """The first waiting search, and others of its kind."""
        searches: list[_Search] = []
        others: list[_Search] = []
        while self._searches and len(searches) < TOGETHER:
            search = self._searches.popleft()
            if search.result.done() or search.wait.is_over():
                continue
            (searches if not searches or search.kind == searches[0].kind else others).append(search)
        self._searches.extendleft(reversed(others))
        return searches


def _run_unless_over(work: Callable[[], Value], is_over: Callable[[], bool]) -> Value:
    with unless(is_over):
        return work()


def _answers_of(searches: Sequence[_Search]) -> list[Any]:
    """The answers of searches of one kind, or an error for each."""
    with unless(lambda: all(search.wait.is_over() for search in searches)):
        try:
            return list(answers(searches[0].index, [search.request for search in searches]))
        except TimedOut:
            raise
        except SciretrieveError as error:
            if len(searches) == 1:
                return [error]
    return [_alone(search) for search in searches]


def _alone(search: _Search) -> Any:
    with unless(search.wait.is_over):
        try:
            return answer(search.index, search.request)
        except SciretrieveError as error:
            return error
