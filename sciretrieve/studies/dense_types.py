"""Recall and cost of each type of dense index, built from an index's stored vectors in a temporary folder.

The queries are some of the index's own papers, which are left out of what is built. An index finds its own papers too easily by their
vectors: a graph links them to their neighbours, and an inverted list holds them together. Most queries of users are not in the index, so
such a measurement would promise too much.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..base.arguments import checked
from ..base.choices import Metric
from ..base.errors import InvalidRequest
from ..base.forms import AsJson, AsTable
from ..base.types import Rows
from ..files.figures import COLOURS, draw
from ..files.writing import write_vectors
from ..matching.dense import VectorShard, build_ann, factory_string
from ..matching.dense.ann import ADDED_ROWS, NAMED, check_factory
from ..matching.dense.measuring import TIMED, K, Questions, held_out, spread
from ..matching.dense.vectors import Gathered
from ..matching.effort import EXACT, Knob, Step, knob
from ..matching.scope import Scope
from ..options import SHARD_SIZE
from ..progress import shown
from ..protocols import Progress
from ..query.index import Index
from ..query.opening import AnyIndex, opened

FEWEST = 100
"""The fewest papers for a measurement."""
MARKERS = "osD^vP*X"
CHOICES = "name flat, hnsw, ivf, rabitq or FAISS factory strings, such as IVF256,PQ48x4fsr"


@dataclass(frozen=True, slots=True)
class TypeMeasured:
    """The result of one type of dense index at one effort.

    Attributes:
        dense: the type, as for `--dense`.
        knob: the setting of the effort; None for none.
        value: the knob's value; None without one.
        recall: the share of the true best papers that was found.
        milliseconds: the median per query, one at a time.
        bytes: read per paper by a search: its vector in a flat index, else its share of the FAISS index. An approximate search also reads
            the vectors of its candidates.
        seconds: to train and fill the index; 0 for flat.
    """

    dense: str
    knob: Knob | None
    value: int | None
    recall: float
    milliseconds: float
    bytes: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Bench(AsJson, AsTable):
    """The results of types of dense index on an index's vectors.

    Attributes:
        papers: the number of papers in the index.
        measured: the number of papers in the built indexes.
        queries: the number of other papers used as queries.
        k: the number of best papers for recall.
        dim: the vectors' dimension.
        metric: the vectors' metric.
        rows: the results of each type, with rising effort.
    """

    papers: int
    measured: int
    queries: int
    k: int
    dim: int
    metric: Metric
    rows: tuple[TypeMeasured, ...]

    def to_arrow(self) -> pa.Table:
        """`rows` as a table."""
        return pa.Table.from_pylist(self.to_dict()["rows"])

    @property
    def front(self) -> list[TypeMeasured]:
        """The Pareto-optimal rows, by rising time: no other row finds as much in less time, or more in the same time."""
        front: list[TypeMeasured] = []
        for row in sorted(self.rows, key=lambda row: (row.milliseconds, -row.recall)):
            if not front or row.recall > front[-1].recall:
                front.append(row)
        return front

    def plot(self, target: str | Path) -> None:
        """Draw recall against time, a line for each type, the Pareto front marked, into an .svg or .png file.

        Raises:
            as `sciretrieve.files.figures.check_plot`.
        """
        draw(lambda: _figure(self), Path(target))


@checked
def bench(index: AnyIndex, types: Sequence[str] = NAMED, *, limit: int = SHARD_SIZE, progress: Progress | bool = True) -> Bench:
    """Measure types of dense index on an index's own vectors, on this machine under its present load; the index does not change.

    Each type is built in a temporary folder, in shards of the index's size, and searched for 200 papers left out of it, with rising effort.
    FAISS is used even if `search` would score every vector of so few papers.

    Args:
        index: an index with vectors.
        types: "flat", "hnsw", "ivf", "rabitq" or FAISS factory strings; by default these four.
        limit: the most papers, taken evenly from all over the index; by default the size of a shard, which takes minutes.
        progress: a listener for progress; by default a bar on a terminal or in a notebook, False for none.

    Raises:
        InvalidRequest: the index has no vectors or too few papers, or FAISS has no such type or cannot train it on so few.
        MissingExtra: FAISS is not installed, and a type other than flat is named.

    >>> done = sr.bench(index, ["flat"])
    >>> [row.dense for row in done.rows]
    ['flat']
    """
    with opened(index) as library:
        *_, whole = benches(library, types, limit=limit, progress=progress)
    return whole


def benches(index: Index, types: Sequence[str] = NAMED, *, limit: int = SHARD_SIZE, progress: Progress | bool = True) -> Iterator[Bench]:
    """As `bench`, but yields the results so far after each type, so that an interruption keeps them."""
    with shown(progress) as listener:
        names = list(dict.fromkeys(types))
        if not names:
            raise InvalidRequest(f"no type of dense index is named; {CHOICES}")
        snapshot, metric = index.snapshot, index.snapshot.metric
        if not snapshot.vectors or metric is None:
            raise InvalidRequest(f"{index.path} has no vectors to measure")
        if len(index) < FEWEST or limit < FEWEST:
            raise InvalidRequest(f"{min(len(index), limit):,} papers are too few to measure; at least {FEWEST} are needed")
        rows = snapshot.scope.places[spread(len(index), limit)]
        is_query = held_out(len(rows))
        papers = Gathered(snapshot.vectors, rows[~is_query])
        count, dim = papers.shape
        shard_size = math.ceil(count / math.ceil(count / snapshot.manifest.build["settings"]["shard_size"]))
        for dense in names:
            _check_type(dense, min(shard_size, count), dim, metric)
        if len(rows) < len(index):
            listener.note(f"taking {len(rows):,} of {len(index):,} papers, evenly from all")
        with tempfile.TemporaryDirectory(prefix="sciretrieve-", ignore_cleanup_errors=True) as folder:
            shards = _copied(papers, Path(folder), shard_size, metric)
            scope = Scope(count)
            queries = Gathered(snapshot.vectors, rows[is_query])[:]
            questions = Questions(shards, scope, queries)
            result = Bench(len(index), count, len(queries), K, dim, metric, ())
            for dense in names:
                if dense == "flat":
                    milliseconds, _ = questions.ask(shards, EXACT, TIMED)
                    measured = [TypeMeasured(dense, None, None, 1.0, milliseconds, 4.0 * dim, 0.0)]
                else:
                    measured = _measured(dense, shards, questions, listener)
                result = replace(result, rows=(*result.rows, *measured))
                yield result


def _check_type(dense: str, papers: int, dim: int, metric: Metric) -> None:
    """Check a type before minutes of work. Raises InvalidRequest."""
    if dense in ("auto", "none"):
        raise InvalidRequest(f"{dense} cannot be measured; {CHOICES}")
    if any(part in NAMED for part in dense.split(",")[1:]):
        raise InvalidRequest(f"{dense} is not a type of dense index; separate several types by blanks, not commas")
    if dense != "flat":
        check_factory(factory_string(dense, papers), dim, metric)


def _copied(papers: Gathered, folder: Path, shard_size: int, metric: Metric) -> list[VectorShard]:
    """The papers' vectors in shards of their own."""
    shards = []
    for first in range(0, len(papers), shard_size):
        rows: Rows = papers.rows[first : first + shard_size]
        part = Gathered(papers.shards, rows)
        blocks = (part[start : start + ADDED_ROWS] for start in range(0, len(part), ADDED_ROWS))
        path = write_vectors(folder / f"{first}.npy", blocks, part.shape)
        shards.append(VectorShard(path, *part.shape, metric, first))
    return shards


def _measured(dense: str, flat_shards: Sequence[VectorShard], questions: Questions, progress: Progress) -> list[TypeMeasured]:
    """Build a type of FAISS index beside the vectors, in place of the previous one, and search it."""
    progress.note(f"{dense}: building it")
    start = time.perf_counter()
    shards, size = [], 0
    for shard in flat_shards:
        path = shard.path.with_suffix(".faiss")
        if not build_ann(path, shard.vectors, factory_string(dense, shard.papers), shard.metric):
            raise InvalidRequest(f"{shard.papers:,} papers are too few to train a dense index of the type {dense}; leave it out of `types`")
        shards.append(replace(shard, ann_path=path))
        size += path.stat().st_size
    seconds = time.perf_counter() - start
    progress.note(f"{dense}: asking it")
    progress.start(None, unit="queries")
    steps: list[Step] = []
    for step in questions.steps(shards, knob(dense), always=True):
        steps.append(step)
        progress.advance(len(questions.vectors))
    papers = sum(shard.papers for shard in shards)
    return [TypeMeasured(dense, knob(dense), step.value, step.recall, step.milliseconds, size / papers, seconds) for step in steps]


def _figure(bench: Bench) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.add_subplot()
    front = bench.front
    axes.plot(
        [row.milliseconds for row in front],
        [row.recall for row in front],
        **{"color": "#999999", "linewidth": 7, "alpha": 0.35, "solid_capstyle": "round", "marker": "o", "markersize": 13},
        markeredgewidth=0,
        label="Pareto front",
        zorder=1,
    )
    for number, dense in enumerate(dict.fromkeys(row.dense for row in bench.rows)):
        rows = [row for row in bench.rows if row.dense == dense]
        axes.plot(
            [row.milliseconds for row in rows],
            [row.recall for row in rows],
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=5,
            linewidth=1.5,
            label=f"{dense}, {rows[0].bytes:,.0f} bytes a paper",
            zorder=2,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("milliseconds a query, one at a time")
    axes.set_ylabel(f"recall@{bench.k} against exact search")
    axes.set_title(f"{bench.measured:,} papers, {bench.queries} others as queries, {bench.dim} dimensions, {bench.metric}", fontsize=10)
    figure.legend(loc="outside right upper", frameon=False)
    return figure
