"""`sciretrieve bench` and `measure-recall`: recall and cost of types of dense index, and the recall of the index's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..base.choices import Help
from ..base.wording import counted
from ..options import SHARD_SIZE
from .console import Console, interruptible, say, say_json
from .parameters import IndexPath, PlainFormatOption, chosen_index, open_index

if TYPE_CHECKING:
    from ..studies.dense_types import Bench
    from ..studies.recall import Recall


def bench(
    index: IndexPath = None,
    types: Annotated[str | None, Help("As --dense takes them, blanks between; default: flat hnsw ivf rabitq.", "TYPES")] = None,
    limit: Annotated[int, Help("Take N papers at most, evenly from all.", "N", least=1)] = SHARD_SIZE,
    output: Annotated[list[Path] | None, Help("Draw a plot, .svg or .png. Repeatable.", "FILE", short="-o")] = None,
    format: PlainFormatOption = "table",
) -> None:
    """Measure types of dense index on an index's own papers.

    Builds each in a temporary folder, and shows its recall of the true best 10, time and memory at rising effort. The index stays as it
    is.
    """
    from ..files.figures import check_plot
    from ..matching.dense.ann import NAMED
    from ..query.opening import open_index
    from ..studies.dense_types import benches

    for target in output or ():
        check_plot(target)
    console = Console()
    done: Bench | None = None
    opened_index = open_index(chosen_index(index))
    try:
        for measured in benches(opened_index, NAMED if types is None else types.split(), limit=limit, progress=console):
            done = measured
    except KeyboardInterrupt:
        console.close()
        console.note("stopped; the index is unchanged" + (", and what was measured follows" if done else ""))
        raise typer.Exit(130) from None
    finally:
        console.close()
        if done is not None:
            if format == "json":
                rows = [{**asdict(row), "pareto": row in done.front} for row in done.rows]
                say_json({"schema": 1, "index": str(opened_index.path), **done.to_dict(), "rows": rows})
            else:
                say(_table(done))
            console.note(
                f"{counted(done.measured, 'paper')}, {counted(done.queries, 'other')} as queries, recall of the best {done.k}; "
                "* Pareto-optimal: nothing finds as much in less time"
            )
            for target in output or ():
                done.plot(target)
                console.note(f"plot: {target}")


def _table(bench: Bench) -> Iterator[str]:
    front, width = bench.front, max(len(row.dense) for row in bench.rows)
    yield f"{'type':<{width}}  effort         recall    ms a query  bytes a paper  built in s"
    for row in bench.rows:
        effort = f"{row.knob} {row.value}" if row.knob else ""
        mark = "*" if row in front else " "
        yield (
            f"{row.dense:<{width}}  {effort:<12}  {row.recall:>7.4f}  {row.milliseconds:>10,.3f} {mark}  "
            f"{row.bytes:>13,.0f}  {row.seconds:>10,.1f}"
        )


def measure_recall(index: IndexPath = None, format: PlainFormatOption = "table") -> None:
    """Measure what an approximate index finds now of the best papers, with its own papers as queries.

    The exit code is 1 if less is found than the index was built for.
    """
    from ..studies.recall import measure_recall as measure

    with interruptible(console := Console()), open_index(index, None) as opened_index:
        found = measure(opened_index, progress=console)
    if format == "json":
        facts = {**found.to_dict(), "is_exact": found.is_exact, "holds": found.holds}
        say_json({"schema": 1, "index": str(opened_index.path), **facts})
    else:
        say(_recall_lines(found))
    if not found.holds:
        raise typer.Exit(1)


def _recall_lines(found: Recall) -> Iterator[str]:
    if found.promised is None:
        yield "its search is exact: there is no recall to measure"
        return
    width = max(len(part.type) for part in (*found.parts, found.whole))
    yield f"{'type':<{width}}  shards       papers  recall@{found.k}  95 % interval"
    for part in (*found.parts, found.whole):
        yield f"{part.type:<{width}}  {part.shards:>6,}  {part.papers:>11,}  {part.recall:>9.4f}  {part.low:.4f} to {part.high:.4f}"
    knobs = "".join(f", {name} {value}" for name, value in (("ef", found.ef), ("nprobe", found.nprobe)) if value is not None)
    yield f"{counted(found.queries, 'paper')} as queries{knobs}; the index was built to find {100 * found.promised:.4g} %"
    if not found.holds:
        yield "recall is below that: try `sciretrieve reindex` with another --dense or --set recall=…, or search with --set recall=…"
