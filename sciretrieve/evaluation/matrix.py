"""Systems × benchmarks from one TOML file: missing results are computed, others are kept, and a page shows all of them."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.parquet as pq

from ..errors import InvalidRequest, NotFound, SciretrieveError
from ..files import read_json, write_json
from ..protocols import Progress
from .catalogue import SUITES, find_benchmark
from .judgements import read_scores
from .measures import Evaluator, Measure
from .options import Request
from .page import Cell, page
from .reports import all_measures
from .requests import evaluate_request, read
from .suites import done, evaluate_suite_request

DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
OF_BENCHMARKS = {"name", "data", "split", "task", "metric", "measures"}
OF_SYSTEMS = {field.name for field in fields(Request)} - OF_BENCHMARKS - {"benchmark", "cache"}


Plan: TypeAlias = dict[tuple[str, str], Request]
"""(benchmark, system), as the file names them -> what to evaluate."""


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
            requests[benchmark, system] = Request(
                benchmark=benchmark_options.get("name", benchmark), cache=cache, **other_options, **system_options
            )
            if requests[benchmark, system].benchmark not in SUITES:
                find_benchmark(requests[benchmark, system].benchmark)
    return requests


def run_matrix(plan: Plan, output: Path, progress: Progress) -> tuple[Path, list[str]]:
    """Run the missing cells of a plan, each in its own folder. Returns the page, and a line for each cell that could not be run."""
    failures = []
    cells = []
    for (benchmark, system), request in plan.items():
        folder = output / benchmark / system
        try:
            if request.benchmark in SUITES:
                evaluate_suite_request(request, folder, progress)
            elif done(folder, request) is None:
                progress.note(f"{benchmark}: {system}")
                evaluate_request(request, folder, progress)
        except SciretrieveError as error:
            failures.append(f"{benchmark}, {system}: {error}")
            continue
        cells.append(Cell(benchmark, system, read_json(folder / "report.json"), _recall(request, folder), _per_query(folder)))
    path = output / "index.html"
    output.mkdir(parents=True, exist_ok=True)
    path.write_text(page(cells, failures), encoding="utf-8")
    values = [{"benchmark": cell.benchmark, "system": cell.system, "measures": all_measures(cell.report)} for cell in cells]
    write_json(output / "matrix.json", {"schema": 1, "cells": values})
    return path, failures


def _per_query(folder: Path) -> dict[tuple[str, str], float]:
    """The first measure's values, by task and query."""
    table = pq.read_table(folder / "per-query.parquet")
    tasks, queries, values = (table.column(column).to_pylist() for column in range(3))
    return {(task, query): value for task, query, value in zip(tasks, queries, values, strict=True) if value is not None}


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
