"""A log run again, on the same generations of the same indexes: the counts are the same, or what differs is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import InvalidRequest
from ..protocols import Progress
from .logs import differences, read_log
from .running import StrategyResult, run
from .strategy import parse


@dataclass(frozen=True, slots=True)
class Replay:
    """A log run again.

    Attributes:
        date: when it was first run.
        result: what the strategy finds now.
        differences: what is counted otherwise, a line each; none if all is as it was.
    """

    date: str
    result: StrategyResult
    differences: tuple[str, ...]


def replay(log: str | Path, indexes: Sequence[str | Path] = (), *, progress: Progress | bool = False) -> Replay:
    """Run the strategy of a log again, on the generations that it names.

    Args:
        log: a `log.json`.
        indexes: where the log's indexes are now, in its order; by default as they were named then.
        progress: is told of the lines.

    Raises:
        NotFound: the log, an index or its generation is not there.
        CorruptData, InvalidRequest: it is no log, one of a later version, or other indexes are given than it has.
    """
    before = read_log(log)
    if indexes and len(indexes) != len(before["indexes"]):
        names = ", ".join(index["name"] for index in before["indexes"])
        raise InvalidRequest(f"{log} is of {len(before['indexes'])} indexes; name as many, in this order: {names}")
    try:
        strategy = parse(before["strategy"])
    except InvalidRequest as error:
        raise InvalidRequest(f"the strategy in {log}: {error}") from error
    places = list(indexes) or [index["path"] for index in before["indexes"]]
    result = run(strategy, places, generations=[index["generation"] for index in before["indexes"]], progress=progress)
    return Replay(before["date"], result, tuple(differences(before, result.log)))
