"""Running a strategy over indexes: the papers of each line, and the deduplicated papers of the result.

A log can be replayed on the same generations of the same indexes. The counts are equal, or the differences are reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest
from ..base.types import Paper, Rows
from ..papers import identifiers
from ..papers.duplicates import By, same_works
from ..progress import shown
from ..protocols import Progress
from ..query.index import Index
from ..query.narrowing.combining import OPERATORS, OperatorName, folded, leaves
from ..query.opening import AnyIndex, open_index
from ..storage.finding import chosen, folder_of, several
from .lines import Expression, LineReference, TypedWords, UnavailableText
from .logs import differences, log_of, read_log
from .strategy import Strategy, parse
from .translation import Translation

NO_ROWS: Rows = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper of a strategy's result.

    Attributes:
        id: its id, or mine/12 with its index if papers of several indexes have this id.
        paper: the paper, as in its index.
        index: the name of its index.
        lines: lines with words that matched the paper or a removed duplicate of it. Lines that only join others are left out.
    """

    id: str
    paper: Paper
    index: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record that was removed from a result as a duplicate.

    Attributes:
        kept: id of the paper that stays in the result.
        kept_index: its index.
        removed, removed_index: the record's own id and index.
        by: what the two records have in common.
        title: the record's title.
    """

    kept: str
    kept_index: str
    removed: str
    removed_index: str
    by: By
    title: str


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """The result of a strategy.

    Attributes:
        log: the strategy, the indexes and the counts, as in `log.json`.
        papers: the papers of the result without duplicates, in the order of the indexes.
        duplicates: the removed records.
    """

    log: Mapping[str, Any]
    papers: tuple[FoundPaper, ...]
    duplicates: tuple[Duplicate, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """The replay of a log.

    Attributes:
        date: when it was first run.
        result: the strategy's result now.
        differences: differences in counts, one per line; empty if there are none.
    """

    date: str
    result: StrategyResult
    differences: tuple[str, ...]


def run(
    strategy: Strategy,
    indexes: Sequence[AnyIndex] = (),
    *,
    generations: Sequence[int] = (),
    translation: Translation | None = None,
    progress: Progress | bool = False,
) -> StrategyResult:
    """Run a strategy over indexes.

    Args:
        strategy: a strategy from `read` or `parse`.
        indexes: names, folders or open indexes, or "*" for all. By default, the strategy's own, or if it names none the default index.
        generations: generation of each index; by default the current ones.
        translation: the translation that gave the strategy, for the log.
        progress: receives progress; True shows a progress bar on a terminal.

    Raises:
        NotFound: an index or its generation does not exist.
        InvalidRequest: a line is no valid query for an index; the message names the line.
    """
    described: list[dict[str, Any]] = []
    counts: dict[str, dict[str, int]] = {}
    records: list[FoundPaper] = []
    with ExitStack() as opened:
        named = list(_opened(indexes or strategy.indexes, generations, opened))
        listener = opened.enter_context(shown(progress))
        listener.start(len(named) * len(strategy.lines), unit="lines")
        for name, index in named:
            rows = dict(_rows_of_lines(strategy, name, index, listener))
            counts[name] = {line: len(rows[line]) for line in strategy.lines}
            generation, checksum = index.snapshot.manifest.generation, index.snapshot.checksum
            described.append({"name": name, "path": str(index.path), "generation": generation, "checksum": checksum, "papers": len(index)})
            records += _records(strategy, name, index, rows)
    papers, duplicates = _distinct(records, strategy.lines)
    translated = None if translation is None else asdict(translation)
    log = log_of(strategy, described, counts, len(papers), len(duplicates), translated)
    return StrategyResult(log, tuple(papers), tuple(duplicates))


def replay(log: str | Path, indexes: Sequence[AnyIndex] = (), *, progress: Progress | bool = False) -> Replay:
    """Run the strategy of a log again, on the logged generations.

    Args:
        log: a `log.json`.
        indexes: where the log's indexes are now, in its order; by default their logged places.
        progress: receives progress.

    Raises:
        NotFound: the log, an index or its generation does not exist.
        CorruptData, InvalidRequest: the file is no log or of a later version, or the number of indexes differs.
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


def _opened(indexes: Sequence[AnyIndex], generations: Sequence[int], opened: ExitStack) -> Iterator[tuple[str, Index]]:
    """Open the indexes, each once, with distinct names: the folder's name, or the path if several folders share it."""
    given = {folder_of(index).resolve(): index for index in indexes if isinstance(index, Index)}
    paths = several([str(index.path if isinstance(index, Index) else index) for index in indexes]) if indexes else [chosen().path]
    names = [path.resolve().name for path in paths]
    for place, (path, name) in enumerate(zip(paths, names, strict=True)):
        generation = generations[place] if generations else None
        known = given.get(path.resolve()) if generation is None else None
        index = known or opened.enter_context(open_index(path, generation=generation))
        yield name if names.count(name) == 1 else str(path), index


def _rows_of_lines(strategy: Strategy, name: str, index: Index, progress: Progress) -> Iterator[tuple[str, Rows]]:
    """Rows of each line's papers, ascending, in an order that puts referenced lines first."""
    try:
        everything = index.matching("", strategy.filters)
    except InvalidRequest as error:
        raise InvalidRequest(f"the limits, in {name}: {error}") from error
    rows: dict[str, Rows] = {}
    for line in strategy.order:
        try:
            rows[line] = _rows(strategy.lines[line].expression, index, strategy.filters, everything, rows)
        except InvalidRequest as error:
            raise InvalidRequest(f"line {line}, in {name}: {error}") from error
        yield line, rows[line]
        progress.advance(1)


def _rows(expression: Expression, index: Index, filters: tuple[str, ...], everything: Rows, rows: Mapping[str, Rows]) -> Rows:
    def of_operand(operand: TypedWords | LineReference | UnavailableText) -> Rows:
        if isinstance(operand, TypedWords):
            return index.matching(_grouped(operand.query), filters)
        return rows[operand.name] if isinstance(operand, LineReference) else NO_ROWS

    def joined(operator: OperatorName, parts: list[Rows]) -> Rows:
        if operator == "NOT":
            return np.setdiff1d(everything, parts[0], assume_unique=True)
        return reduce(np.union1d if operator == "OR" else partial(np.intersect1d, assume_unique=True), parts)

    return folded(expression, of_operand, joined)


def _grouped(query: str) -> str:
    """Put a query in parentheses, so that AND and OR in it are operators and it is not read as prose."""
    return f"({query})" if any(word in OPERATORS for word in query.split()) else query


def _records(strategy: Strategy, name: str, index: Index, rows: Mapping[str, Rows]) -> Iterator[FoundPaper]:
    """The result's papers in an index, by their own ids, before duplicates are removed."""
    result = rows[strategy.result]
    bringing = {line: np.isin(result, rows[line], assume_unique=True) for line in _with_words(strategy)}
    for place, paper in enumerate(index.snapshot.papers_at(result)):
        yield FoundPaper(paper.id, paper, name, tuple(line for line, brings in bringing.items() if brings[place]))


def _with_words(strategy: Strategy) -> set[str]:
    """Lines that have words of their own and contribute positively to the result, not below a NOT."""
    waiting, seen, names = [strategy.result], set(), set()
    while waiting:
        line = waiting.pop()
        if line in seen:
            continue
        seen.add(line)
        for operand in leaves(strategy.lines[line].expression, wanted=True):
            if isinstance(operand, TypedWords) and not operand.query.startswith("NOT "):
                names.add(line)
            elif isinstance(operand, LineReference):
                waiting.append(operand.name)
    return names


def _distinct(records: Sequence[FoundPaper], lines: Iterable[str]) -> tuple[list[FoundPaper], list[Duplicate]]:
    """Deduplicate the papers of a result. Of several records of a work, the first with an abstract stays, else the first with a DOI, else
    the first."""
    works = same_works([record.paper for record in records])
    kept_for: dict[int, int] = {}
    for work in works:
        kept = min(work.places, key=lambda place: (not records[place].paper.abstract, not records[place].paper.doi, place))
        kept_for |= dict.fromkeys(work.places, kept)
    lines_of: dict[int, set[str]] = {}
    for place, record in enumerate(records):
        lines_of.setdefault(kept_for.get(place, place), set()).update(record.lines)
    counts = Counter(records[place].id for place in lines_of)
    papers: dict[int, FoundPaper] = {}
    for place in sorted(lines_of):
        one = records[place]
        id = one.id if counts[one.id] == 1 else f"{one.index}/{one.id}"
        papers[place] = replace(one, id=id, lines=tuple(line for line in lines if line in lines_of[place]))
    duplicates = []
    for place, kept in sorted(kept_for.items(), key=lambda pair: (pair[1], pair[0])):
        if place != kept:
            one, other = papers[kept], records[place]
            doi = identifiers.doi(one.paper.doi or "")
            by: By = "DOI" if doi is not None and doi == identifiers.doi(other.paper.doi or "") else "title and author"
            duplicates.append(Duplicate(one.id, one.index, other.id, other.index, by, other.paper.title))
    return list(papers.values()), duplicates
