"""Systems × benchmarks from one TOML file: missing results are computed, others are kept, and a page shows all of them."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.parquet as pq

from ..errors import InvalidRequest, NotFound, SciretrieveError
from ..files.writing import read_json, write_json
from ..metrics.judgements import read_scores
from ..metrics.measures import Evaluator, Measure
from ..protocols import Progress
from .benchmark_catalogue import SUITES, find_benchmark
from .benchmark_reading import read
from .correlations import correlations
from .evaluation_options import Request
from .modes import ALL, in_modes, sensible_modes
from .page import page
from .reports import all_measures
from .requests import measure
from .standings import Cell, Standings
from .suites import done, evaluate_suite_request

DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
OF_BENCHMARKS = {"name", "data", "split", "task", "metric", "self_matches", "measures"}
OF_SYSTEMS = {field.name for field in fields(Request)} - OF_BENCHMARKS - {"benchmark", "cache"}


Plan: TypeAlias = dict[tuple[str, str], "Planned"]
"""(benchmark, system), as the file names them -> what to evaluate."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What to evaluate, and whether only if its mode makes sense for the benchmark, as the system is to be run in all modes."""

    request: Request
    if_sensible: bool = False


def read_plan(path: Path, cache: str) -> Plan:
    """Read `[systems.NAME]` and `[benchmarks.NAME]` tables; their keys are the options of `evaluate`.

    Raises:
        NotFound, InvalidRequest: there is no such file, or it is not a plan; the message names the table and the key.
    """
    if not path.is_file():
        raise NotFound(f"there is no matrix {path}")
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"{path} is not TOML: {error}") from error
    systems, benchmarks = value.get("systems"), value.get("benchmarks")
    if not isinstance(systems, dict) or not isinstance(benchmarks, dict) or not systems or not benchmarks:
        raise InvalidRequest(f"{path} needs tables [systems.NAME] and [benchmarks.NAME]")
    for kind, tables, allowed_keys in (("systems", systems, OF_SYSTEMS), ("benchmarks", benchmarks, OF_BENCHMARKS)):
        for name, table in tables.items():
            if not isinstance(table, dict):
                raise InvalidRequest(f"{path}: {kind}.{name} is not a table")
            if unknown_keys := sorted(set(table) - allowed_keys):
                raise InvalidRequest(f"{path}: [{kind}.{name}] has {unknown_keys[0]!r}; it may have {', '.join(sorted(allowed_keys))}")
    requests: Plan = {}
    for benchmark, benchmark_options in benchmarks.items():
        other_options: dict[str, Any] = {
            key: tuple(item) if key == "measures" else item for key, item in benchmark_options.items() if key != "name"
        }
        for system, system_options in systems.items():
            runs_all = system_options.get("mode") == ALL
            request = Request(
                benchmark=benchmark_options.get("name", benchmark),
                cache=cache,
                **other_options,
                **{key: value for key, value in system_options.items() if not (runs_all and key == "mode")},
            )
            if request.benchmark not in SUITES:
                find_benchmark(request.benchmark)
            named = {system: request}
            if runs_all:
                named = {_name(system, one): one for one in in_modes(request).values()}
            for name, one in named.items():
                if (planned := requests.get((benchmark, name))) and planned.request != one:
                    raise InvalidRequest(f"{path}: two systems are called {name!r}, as [systems.{system}] is run in all modes; rename one")
                requests.setdefault((benchmark, name), Planned(one, runs_all))
    return requests


def _name(system: str, request: Request) -> str:
    """What a system is called in one of its modes: BM25 is the same for all encoders, unless its answers are reranked."""
    is_plain = request.mode == "bm25" and request.index is None and request.rerank is None
    return "bm25" if is_plain else f"{system}-{request.mode}"


def run_matrix(plan: Plan, output: Path, progress: Progress) -> tuple[Path, Standings, list[str]]:
    """Run the missing cells of a plan, each in its own folder, and write the page and the table as Markdown and LaTeX.

    Returns the page, the table, and a line for each cell that could not be run.
    """
    failures = []
    cells = []
    for (benchmark, system), planned in plan.items():
        request, folder = planned.request, output / benchmark / system
        try:
            if not _run(planned, folder, f"{benchmark}: {system}", progress):
                continue
        except SciretrieveError as error:
            failures.append(f"{benchmark}, {system}: {error}")
            continue
        cells.append(Cell(benchmark, system, read_json(folder / "report.json"), _recall(request, folder), _per_query(folder)))
    path = output / "index.html"
    output.mkdir(parents=True, exist_ok=True)
    standings = Standings.of(cells)
    correlated = correlations(cells)
    path.write_text(page(cells, standings, correlated, failures), encoding="utf-8")
    (output / "table.md").write_text("\n".join(standings.as_markdown()) + "\n", encoding="utf-8")
    (output / "table.tex").write_text("\n".join(standings.as_latex()) + "\n", encoding="utf-8")
    values = [{"benchmark": cell.benchmark, "system": cell.system, "measures": all_measures(cell.report)} for cell in cells]
    facts: dict[str, Any] = {"schema": 1, "cells": values}
    if correlated is not None:
        pearson = [[None if math.isnan(value) else value for value in row] for row in correlated.pearson.tolist()]
        facts["correlations"] = {"figures": correlated.names, "pearson": pearson}
    write_json(output / "matrix.json", facts)
    return path, standings, failures


def _run(planned: Planned, folder: Path, what: str, progress: Progress) -> bool:
    """Evaluate what is planned, if it is not done. Returns whether there is a report: a mode may make no sense for the benchmark."""
    request = planned.request
    if request.benchmark in SUITES:
        if planned.if_sensible and request.mode != "dense":
            return False
        evaluate_suite_request(request, folder, progress)
    elif done(folder, request) is None:
        spec = find_benchmark(request.benchmark)
        materials = read(spec, request.data, request.split or spec.splits[0], request.task)
        if planned.if_sensible and request.mode not in sensible_modes(request, materials):
            return False
        progress.note(what)
        measure(request, spec, materials, folder, progress)
    return True


def _per_query(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Each query's values: (task, query) -> measure -> value."""
    table = pq.read_table(folder / "per-query.parquet")
    tasks, queries, *columns = (column.to_pylist() for column in table.columns)
    rows = zip(*columns, strict=True)
    return {
        (task, query): {name: value for name, value in zip(table.column_names[2:], row, strict=True) if value is not None}
        for task, query, row in zip(tasks, queries, rows, strict=True)
    }


def _recall(request: Request, folder: Path) -> dict[int, float]:
    """Mean recall at increasing depths, if a whole corpus was ranked in one task; cached beside the run."""
    recall_file = folder / "recall.json"
    run = folder / "run.trec"
    if not run.exists():
        return {}
    if recall_file.exists() and recall_file.stat().st_mtime >= run.stat().st_mtime:
        return {int(depth): value for depth, value in read_json(recall_file)["recall"].items()}
    spec = find_benchmark(request.benchmark)
    tasks: list[Any] = [
        task for material in read(spec, request.data, request.split or spec.splits[0], request.task) for task in material.tasks
    ]
    if len(tasks) != 1 or tasks[0].candidates is not None:
        return {}
    depths = [depth for depth in DEPTHS if depth <= spec.protocol.depth]
    values = Evaluator(tasks[0].qrels, [Measure("recall", depth) for depth in depths]).per_query(read_scores(run)).values()
    recall = {depth: sum(row[f"R@{depth}"] for row in values) / max(len(values), 1) for depth in depths}
    write_json(recall_file, {"recall": {str(depth): value for depth, value in recall.items()}})
    return recall
