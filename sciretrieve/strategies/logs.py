"""What a run of a strategy says of itself: what was run when and on what, and the counts; as `log.json`, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..base.errors import CorruptData, InvalidRequest, NotFound
from ..base.wording import counted
from ..files.strict_json import parsed
from ..storage.manifest import library_versions
from .strategy import Strategy

SCHEMA = 1
"""The version of a log's form."""
NARROWEST = 20
"""Characters of a line that a table shows at least."""


@dataclass(frozen=True, slots=True)
class RunOf:
    """What was found in one index: its name and path, its generation and the checksum of that, its papers, and those of each line."""

    name: str
    path: str
    generation: int
    checksum: str
    papers: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FoundCounts:
    """The papers of a result, and the duplicates that were removed."""

    papers: int
    duplicates: int


def log_of(strategy: Strategy, runs: Sequence[RunOf], counts: FoundCounts, translated: Mapping[str, Any] | None) -> dict[str, Any]:
    """The log of a run that ends now."""
    lines = [
        {
            "name": name,
            "query": line.query,
            "counts": {run.name: run.counts[name] for run in runs},
            "total": sum(run.counts[name] for run in runs),
            "without": list(strategy.without[name]),
        }
        for name, line in strategy.lines.items()
    ]
    return {
        "schema": SCHEMA,
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "version": library_versions(()).get("sciretrieve"),
        "strategy": strategy.text,
        "translated": None if translated is None else dict(translated),
        "limits": list(strategy.filters),
        "indexes": [{name: value for name, value in asdict(run).items() if name != "counts"} for run in runs],
        "lines": lines,
        "result": {
            "line": strategy.result,
            "identified": {run.name: run.counts[strategy.result] for run in runs},
            "duplicates": counts.duplicates,
            "papers": counts.papers,
        },
    }


def read_log(path: str | Path) -> dict[str, Any]:
    """Read a log of this version or an earlier one.

    Raises NotFound if there is none; CorruptData if it is something else, or damaged; InvalidRequest if its form is of a later version.
    """
    path = Path(path)
    try:
        log = parsed(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no log {path}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise CorruptData(f"{path} cannot be read as the log of a strategy: {error}") from error
    schema = log.get("schema") if isinstance(log, dict) else None
    if type(schema) is int and schema > SCHEMA:
        raise InvalidRequest(f"{path} has schema {schema}, of a later version of sciretrieve; this one reads up to {SCHEMA}")
    if schema != SCHEMA or not _is_log(log):
        raise CorruptData(f"{path} is not the log of a strategy; `sciretrieve strategy run FILE -o DIR` writes one")
    whole: dict[str, Any] = log
    return whole


def _is_log(log: Mapping[str, Any]) -> bool:
    """Whether a log has what a replay needs."""
    try:
        names = [index["name"] for index in log["indexes"]]
        has_indexes = bool(names) and all(
            type(index["path"]) is type(index["checksum"]) is str and type(index["generation"]) is type(index["papers"]) is int
            for index in log["indexes"]
        )
        has_counts = all(
            type(line["name"]) is str and set(line["counts"]) == set(names) and _are_counts(line["counts"].values())
            for line in log["lines"]
        )
        result = log["result"]
        return (
            has_indexes
            and has_counts
            and type(log["strategy"]) is str
            and type(log["date"]) is str
            and _are_counts((result["papers"], result["duplicates"]))
        )
    except (KeyError, TypeError):
        return False


def _are_counts(values: Iterable[Any]) -> bool:
    return all(type(value) is int for value in values)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What two logs of one strategy, whose indexes stand in the same order, count otherwise, and which is another index now, a line
    each; none if all is equal."""
    names = [(one["name"], other["name"]) for one, other in zip(before["indexes"], after["indexes"], strict=True)]
    found = [
        f"index {one['name']} has {counted(other['papers'], 'paper')}, and had {one['papers']:,}"
        for one, other in zip(before["indexes"], after["indexes"], strict=True)
        if one["papers"] != other["papers"]
    ]
    counts = {line["name"]: line["counts"] for line in after["lines"]}
    for line in before["lines"]:
        for name, new_name in names:
            now, then = counts.get(line["name"], {}).get(new_name, 0), line["counts"][name]
            if now != then:
                found.append(f"line {line['name']} has {now:,} in {name}, and had {then:,}")
    for key, what in (("duplicates", "duplicates"), ("papers", "papers")):
        now, then = after["result"][key], before["result"][key]
        if now != then:
            found.append(f"the result has {now:,} {what}, and had {then:,}")
    found += [
        f"index {one['name']} was built anew since: its generation {one['generation']} is another"
        for one, other in zip(before["indexes"], after["indexes"], strict=True)
        if one["checksum"] != other["checksum"]
    ]
    return found


def as_table(log: Mapping[str, Any], width: int) -> list[str]:
    """A log for people: the lines with their counts, an index a column, and what became of the result."""
    names = [index["name"] for index in log["indexes"]]
    heads = [*names, "total"] if len(names) > 1 else names
    rows = [[*(line["counts"][name] for name in names), line["total"]][: len(heads)] for line in log["lines"]]
    widths = [max(len(head), *(len(f"{row[place]:,}") for row in rows)) for place, head in enumerate(heads)]
    first = max(len("line"), *(len(line["name"]) for line in log["lines"]))
    longest = max(len("query"), *(len(" ".join(line["query"].split())) for line in log["lines"]))
    room = min(max(width - first - sum(widths) - 2 * len(widths) - 2, NARROWEST), longest)
    table = [f"{'line':<{first}}  {'query':<{room}}  " + "  ".join(head.rjust(size) for head, size in zip(heads, widths, strict=True))]
    for line, row in zip(log["lines"], rows, strict=True):
        counts = "  ".join(f"{count:,}".rjust(size) for count, size in zip(row, widths, strict=True))
        table.append(f"{line['name']:<{first}}  {_cut(line['query'], room):<{room}}  {counts}")
        table += [
            f"{'':<{first}}  without {text}, which is not available" for text in line["without"] if f'unavailable:"{text}"' in line["query"]
        ]
    result = log["result"]
    removed = counted(result["duplicates"], "duplicate")
    table += [
        "",
        f"{result['line']}: {sum(result['identified'].values()):,} found, {removed} removed, {counted(result['papers'], 'paper')}",
    ]
    return table


def _cut(query: str, width: int) -> str:
    query = " ".join(query.split())
    return query if len(query) <= width else f"{query[: width - 1]}…"
