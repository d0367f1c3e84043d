"""Logs of strategy runs: the strategy, the date, the indexes and the counts, as `log.json` and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..base.errors import CorruptData, InvalidRequest, NotFound
from ..base.wording import counted
from ..files.strict_json import parsed
from ..storage.manifest import library_versions
from .strategy import Strategy

SCHEMA = 1
"""Version of the log format."""
NARROWEST = 20
"""Least width, in characters, of a line in a table."""


def log_of(
    strategy: Strategy,
    indexes: Sequence[Mapping[str, Any]],
    counts: Mapping[str, Mapping[str, int]],
    papers: int,
    duplicates: int,
    translated: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The log of a run that ends now.

    Args:
        strategy: the strategy that was run.
        indexes: for each index its name, path, generation, that generation's checksum, and number of papers.
        counts: by index, the number of papers of each line.
        papers: number of papers in the result.
        duplicates: number of duplicates removed from the result.
        translated: the source of the strategy, if it was translated.
    """
    lines = [
        {
            "name": name,
            "query": line.query,
            "counts": {index: by_line[name] for index, by_line in counts.items()},
            "total": sum(by_line[name] for by_line in counts.values()),
            "without": list(strategy.without[name]),
        }
        for name, line in strategy.lines.items()
    ]
    return {
        "schema": SCHEMA,
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "version": library_versions(()).get("sciretrieve"),
        "strategy": strategy.text,
        "translated": translated,
        "limits": list(strategy.filters),
        "indexes": list(indexes),
        "lines": lines,
        "result": {
            "line": strategy.result,
            "identified": {index: by_line[strategy.result] for index, by_line in counts.items()},
            "duplicates": duplicates,
            "papers": papers,
        },
    }


def read_log(path: str | Path) -> dict[str, Any]:
    """Read a log of this format version or an earlier one.

    Raises NotFound if there is none, CorruptData if it is damaged or something else, and InvalidRequest if its format version is later.
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
    """Whether a log has the fields that a replay needs."""
    return (
        _has(log, date=str, strategy=str, indexes=list, lines=list, result=dict)
        and bool(log["indexes"])
        and all(_has(index, name=str, path=str, checksum=str, generation=int, papers=int) for index in log["indexes"])
        and all(_has(line, name=str, counts=dict) for line in log["lines"])
        and all(_has(line["counts"], **{index["name"]: int for index in log["indexes"]}) for line in log["lines"])
        and _has(log["result"], papers=int, duplicates=int)
    )


def _has(value: Any, /, **kinds: type) -> bool:
    """Whether an object has values of these types."""
    return isinstance(value, dict) and all(type(value.get(name)) is kind for name, kind in kinds.items())


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Differences between two logs of one strategy over the same indexes in order, one per line: counts, and rebuilt indexes. Empty if all
    is equal."""
    pairs = list(zip(before["indexes"], after["indexes"], strict=True))
    lines = [
        f"index {one['name']} has {counted(other['papers'], 'paper')}, and had {one['papers']:,}"
        for one, other in pairs
        if one["papers"] != other["papers"]
    ]
    counts = {line["name"]: line["counts"] for line in after["lines"]}
    for line in before["lines"]:
        for one, other in pairs:
            now, then = counts.get(line["name"], {}).get(other["name"], 0), line["counts"][one["name"]]
            if now != then:
                lines.append(f"line {line['name']} has {now:,} in {one['name']}, and had {then:,}")
    for what in ("duplicates", "papers"):
        now, then = after["result"][what], before["result"][what]
        if now != then:
            lines.append(f"the result has {now:,} {what}, and had {then:,}")
    lines += [
        f"index {one['name']} was rebuilt since: its generation {one['generation']} differs"
        for one, other in pairs
        if one["checksum"] != other["checksum"]
    ]
    return lines


def as_table(log: Mapping[str, Any], width: int) -> list[str]:
    """A log as a table: lines with their counts, one column per index, and the size of the result."""
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
