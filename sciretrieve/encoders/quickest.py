"""Which way of running an encoder is quickest on this machine: measured once, with many texts, and remembered beside its graph."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from ..files.writing import read_json, write_json
from ..protocols import Advance, unheard
from ..types import Vectors
from .artifact import PROBES, Artifact
from .openvino_runtime import OpenVinoRuntime, thread_limit
from .tokens import BUDGET, Tokens

LOG = logging.getLogger(__name__)
TEXT = PROBES[5]
"""About as long as an abstract."""
ROUNDS = 4
LONG_ENOUGH = 6.0
"""Seconds after which no further round begins."""


class Way(Protocol):
    """What can run a model; see `runtimes.Runtime`."""

    @property
    def way(self) -> str:
        """Its name."""

    @property
    def budget(self) -> int:
        """Tokens a batch."""

    def run(self, tokens: Tokens, advance: Advance = unheard) -> Vectors:
        """Encode."""


def threads() -> int:
    """How many threads an encoder may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, thread_limit() or cores)


def streams() -> list[int]:
    """Into how many streams the cores may usefully be split: each needs memory, so no more than eight have a core each."""
    count = threads()
    return sorted({1, -(-count // 4), -(-count // 2), *([count] if count <= 8 else [])})


def rates(artifact: Artifact) -> Mapping[str, float]:
    """Tokens a second of each way that was measured on this machine, with as many threads as are used now; empty if none was."""
    path = artifact.folder / "rates.json"
    known: Mapping[str, Any] = read_json(path) if path.exists() else {}
    return dict(known.get(_here(artifact), {}))


def quickest_first(artifact: Artifact, name: str, make_ways: Callable[[], Sequence[Way]]) -> list[str]:
    """The ways of running an encoder, by their names, the quickest first.

    Args:
        artifact: the encoder's task in the cache.
        name: the encoder's name, for messages.
        make_ways: gives the ways; what they load while they are measured is dropped.
    """
    ways = make_ways()
    known = dict(rates(artifact))
    if len(ways) > 1 and not known.keys() >= {way.way for way in ways}:
        LOG.info("measuring in which way %s runs quickest on this machine, once", name)
        known |= _measured(artifact, ways)
        path = artifact.folder / "rates.json"
        with suppress(OSError):  # if the cache cannot be written, it is measured again next time
            write_json(path, (read_json(path) if path.exists() else {}) | {_here(artifact): known})
    return sorted((way.way for way in ways), key=lambda way: -known.get(way, 0.0))


def _measured(artifact: Artifact, ways: Sequence[Way]) -> dict[str, float]:
    """Tokens a second of each way, the best of several rounds in which they take turns; 0 for a way that raises an error."""
    texts = [TEXT] * (2 * max(streams()) * BUDGET // len(TEXT.split()))
    work = {way.way: artifact.tokenise(texts, way.budget) for way in ways}
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    for number in range(ROUNDS):
        for way in ways:
            if seconds.get(way.way) == float("inf"):
                continue
            try:
                if not number:
                    way.run(artifact.tokenise([TEXT], way.budget))  # compiles it
                begin = time.perf_counter()
                way.run(work[way.way])
            except Exception as error:  # OpenVINO and torch raise many classes; without its weights torch cannot run either
                LOG.debug("%s: %s", way.way, error)
                seconds[way.way] = float("inf")
            else:
                seconds[way.way] = min(seconds.get(way.way, float("inf")), time.perf_counter() - begin)
        if time.perf_counter() - start > LONG_ENOUGH:
            break
    return {way.way: round(_size(work[way.way]) / seconds[way.way], 1) for way in ways}


def _size(tokens: Tokens) -> int:
    return sum(int(batch.mask.sum()) for batch in tokens.batches)


def _here(artifact: Artifact) -> str:
    """The machine, and how many threads are used: rates are valid as long as these stay the same."""
    return f"{OpenVinoRuntime(artifact, 'fp32').machine}, {threads()} threads"
