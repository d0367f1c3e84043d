"""`sciretrieve reindex measure`: what each type of dense index would find in an index, and cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..choices import Help
from ..options import SHARD_SIZE
from ..wording import counted
from .console import Console, say
from .parameters import Generation, IndexPath, PlainFormatOption, chosen_index

if TYPE_CHECKING:
    from ..studies.dense_types import Bench


def bench(
    index: IndexPath = None,
    types: Annotated[
        str | None,
        Help("As --dense takes them, blanks between; default: flat hnsw ivf rabitq.", "TYPES"),
    ] = None,
    limit: Annotated[int, Help("Take N papers at most, evenly from all.", "N", least=1)] = SHARD_SIZE,
    output: Annotated[list[Path] | None, Help("Draw a plot, .svg or .png; may be given more than once.", "FILE", short="-o")] = None,
    generation: Generation = None,
    format: PlainFormatOption = "table",
) -> None:
    """Measure types of dense index on an index's own papers.

    Builds each in a temporary folder, asks it with rising effort, and says how many of the true best 10 it finds, in what time,
    and what it takes of memory. The index stays as it is.
    """
    from ..files.figures import check_plot
    from ..matching.dense.ann import NAMED
    from ..query.index import Index
    from ..studies.dense_plot import plot
    from ..studies.dense_types import benches

    for target in output or ():
        check_plot(target)
    console = Console()
    done: Bench | None = None
    opened_index = Index(chosen_index(index), generation=generation)
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
            say([_as_json(opened_index.path, done)] if format == "json" else _table(done))
            console.note(
                f"{counted(done.measured, 'paper')}, {counted(done.queries, 'other')} as queries, recall of the best {done.k}; "
                "* Pareto-optimal: nothing finds as much in less time"
            )
            for target in output or ():
                plot(done, target)
                console.note(f"plot: {target}")


def _as_json(index: Path, bench: Bench) -> str:
    from dataclasses import asdict

    front = bench.front
    rows = [{**asdict(row), "pareto": row in front} for row in bench.rows]
    return json.dumps({"schema": 1, "index": str(index), **asdict(bench), "rows": rows}, ensure_ascii=False, indent=1)


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
