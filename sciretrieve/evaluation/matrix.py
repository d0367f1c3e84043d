"""Evaluates systems × benchmarks from one TOML file: computes missing results, keeps others, and writes a page of all."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.parquet as pq

from ..base.errors import InvalidRequest, MissingExtra, NotFound, SciretrieveError
from ..files.writing import write_json, write_lines, write_whole
from ..metrics.judgements import json_of, read_scores
from ..metrics.measures import Evaluator
from ..metrics.naming import Measure
from ..protocols import Progress
from .benchmark_catalogue import SUITES, find_benchmark
from .benchmark_reading import read_for
from .evaluation_options import EvaluationRequest, make_request
from .modes import ALL, requests_in_modes, sensible_modes
from .page import page, plot
from .reports import all_measures
from .requests import measure
from .shared_work import SharedWork
from .standings import Cell, Standings, correlations
from .suites import done, evaluate_suite_request
from .sweeps import Sweep, SweepPoint, combinations, name_of
from .systems import settings_of

DEPTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
OF_BENCHMARKS = {"name", "data", "split", "task", "metric", "self_matches", "measures"}
OF_SYSTEMS = {field.name for field in fields(EvaluationRequest)} - OF_BENCHMARKS - {"benchmark", "cache"}


Plan: TypeAlias = dict[tuple[str, str], "Planned"]
"""By (benchmark, system), as named in the file: the evaluation to run."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An evaluation of a matrix.

    Attributes:
        request: a benchmark and a system.
        if_sensible: whether to run only if its mode makes sense for the benchmark, for a system in all modes.
        row: the system's table in the file.
        settings: its values of the settings that have several.
    """

    request: EvaluationRequest
    if_sensible: bool = False
    row: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_plan(path: Path, cache: str) -> Plan:
    """Read `[systems.NAME]` and `[benchmarks.NAME]` tables; their keys are options of `evaluate`, for which a system may list several
    values.

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
        options: dict[str, Any] = {
            key: tuple(item) if key == "measures" else item for key, item in benchmark_options.items() if key != "name"
        }
        measured = benchmark_options.get("name", benchmark)
        if measured not in SUITES:
            find_benchmark(measured)
        for row, table in systems.items():
            try:
                planned = _planned(row, table, measured, {**options, "cache": cache})
            except (InvalidRequest, NotFound) as error:
                error_class = NotFound if isinstance(error, NotFound) else InvalidRequest
                raise error_class(f"{path}, [systems.{row}] on [benchmarks.{benchmark}]: {error}") from error
            for name, one in planned.items():
                if (earlier := requests.get((benchmark, name))) and earlier.request != one.request:
                    what = "it is run in all modes" if one.if_sensible else "its settings have several values"
                    raise InvalidRequest(f"{path}: two systems are called {name!r}, as [systems.{row}] makes one, since {what}; rename one")
                requests.setdefault((benchmark, name), one)
    return requests


def _planned(row: str, table: Mapping[str, Any], benchmark: str, options: dict[str, Any]) -> dict[str, Planned]:
    """The systems of a row by name: one, or one for each mode, or for each combination of listed values."""
    planned: dict[str, Planned] = {}
    data = options.pop("data", None)
    for values, settings in combinations(table):
        row_options: Any = {**options, **values}
        if values.get("mode") == ALL:
            requests = requests_in_modes(benchmark, data, row_options).values()
            planned |= {_name(row, request): Planned(request, True, row) for request in requests}
        else:
            planned[name_of(row, settings)] = Planned(make_request(benchmark, data, row_options), False, row, settings)
    return planned


def _name(system: str, request: EvaluationRequest) -> str:
    """The name of a system in one of its modes: plain BM25 is the same for all encoders, unless its answers are reranked."""
    is_plain = request.mode == "bm25" and request.index is None and request.rerank is None and not settings_of(request)
    return "bm25" if is_plain else f"{system}-{request.mode}"


def run_matrix(plan: Plan, output: Path, progress: Progress) -> tuple[Path, Standings, list[str]]:
    """Run the missing cells of a plan, each in its own folder, and write the page and the table, also in Markdown and LaTeX.

    Returns the page, the table, and a line for each failed cell.
    """
    failures = []
    cells = []
    for _, members in groupby(plan.items(), key=lambda item: (item[0][0], item[1].row)):
        with closing(SharedWork()) as shared:
            for (benchmark, system), planned in members:
                request, folder = planned.request, output / benchmark / system
                try:
                    if not _run(planned, folder, f"{benchmark}: {system}", progress, shared if planned.settings else None):
                        continue
                except SciretrieveError as error:
                    failures.append(f"{benchmark}, {system}: {error}")
                    continue
                cells.append(Cell(benchmark, system, json_of(folder / "report.json"), _recall(request, folder), _per_query(folder)))
    path = output / "index.html"
    output.mkdir(parents=True, exist_ok=True)
    standings = Standings.of(cells)
    correlated = correlations(cells)
    sweeps = sweeps_of(plan, standings)
    plots = {sweep.name: f"{sweep.benchmark}/{sweep.system}.svg" for sweep in sweeps}
    for sweep in sweeps:
        try:
            plot(sweep, output / plots[sweep.name])
        except (InvalidRequest, MissingExtra) as error:
            progress.note(f"{sweep.name} is not drawn: {error}")
            del plots[sweep.name]
    write_whole(path, page(cells, standings, correlated, failures, sweeps, plots).encode())
    write_lines(output / "table.md", standings.as_markdown())
    write_lines(output / "table.tex", standings.as_latex())
    values = [{"benchmark": cell.benchmark, "system": cell.system, "measures": all_measures(cell.report)} for cell in cells]
    facts: dict[str, Any] = {"schema": 1, "cells": values}
    if correlated is not None:
        pearson = [[None if math.isnan(value) else value for value in row] for row in correlated.pearson.tolist()]
        facts["correlations"] = {"figures": correlated.names, "pearson": pearson}
    if sweeps:
        facts["sweeps"] = [sweep.to_dict() for sweep in sweeps]
    write_json(output / "matrix.json", facts)
    return path, standings, failures


def sweeps_of(plan: Plan, standings: Standings) -> list[Sweep]:
    """The systems of a plan with several values of settings, with their finished cells."""
    points: dict[tuple[str, str], list[SweepPoint]] = {}
    for (benchmark, system), planned in plan.items():
        if planned.settings and (cell := standings.cells.get((benchmark, system))):
            points.setdefault((benchmark, planned.row), []).append(SweepPoint(planned.settings, cell))
    return [Sweep(benchmark, row, of_row) for (benchmark, row), of_row in points.items()]


def _run(planned: Planned, folder: Path, what: str, progress: Progress, shared: SharedWork | None) -> bool:
    """Run an evaluation, unless it is done. Returns whether there is a report: a mode may make no sense for the benchmark."""
    request = planned.request
    if request.benchmark in SUITES:
        if planned.if_sensible and request.mode != "dense":
            return False
        evaluate_suite_request(request, folder, progress)
    elif done(folder, request) is None:
        spec, materials = shared.read(request) if shared else read_for(request)
        if planned.if_sensible and request.mode not in sensible_modes(request, materials):
            return False
        progress.note(what)
        measure(request, spec, materials, folder, progress, shared=shared)
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


def _recall(request: EvaluationRequest, folder: Path) -> dict[int, float]:
    """Mean recall at increasing depths, if a whole corpus was ranked in one task; cached beside the run."""
    recall_file = folder / "recall.json"
    run = folder / "run.trec"
    if not run.exists():
        return {}
    if recall_file.exists() and recall_file.stat().st_mtime >= run.stat().st_mtime:
        return {int(depth): value for depth, value in json_of(recall_file)["recall"].items()}
    spec, materials = read_for(request)
    tasks = [task for material in materials for task in material.tasks]
    if len(tasks) != 1 or tasks[0].candidates is not None:
        return {}
    depths = [depth for depth in DEPTHS if depth <= spec.protocol.depth]
    values = Evaluator(tasks[0].qrels, [Measure("recall", depth) for depth in depths]).per_query(read_scores(run)).values()
    recall = {depth: sum(row[f"R@{depth}"] for row in values) / max(len(values), 1) for depth in depths}
    write_json(recall_file, {"recall": {str(depth): value for depth, value in recall.items()}})
    return recall
