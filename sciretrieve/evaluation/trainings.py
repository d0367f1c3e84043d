"""Joins saved results of several trainings of a system: mean, deviation and error over seeds, and tests between systems.

The form is that of SciRepEval's Table 2 (Singh et al. 2023): the mean, and in brackets the standard deviation over trainings, with a
one-way analysis of variance and Tukey's test over systems. Multi2SPE's Table 1 has standard errors instead; JSON has both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidRequest, NotFound
from ..base.forms import AsJson
from ..base.wording import counted
from ..metrics.judgements import json_of
from ..metrics.naming import measured
from ..metrics.significance import LEVEL, Variance, one_way
from .comparing import as_good_as_the_best, variance_facts, variance_lines
from .costs import cost_table, repeated_lines
from .published import rows
from .reports import WIDEST, Column, aligned, column_name
from .standings import Cell

OF_A_SYSTEM = ("score", "overridden")
"""Facts of a protocol that may differ between systems, which have their own scores, but not between trainings of one."""


@dataclass(frozen=True)
class TrainedSystem:
    """One system, and the saved results of its trainings.

    Attributes:
        name: its name.
        cells: a result of each training.
        places: the path of each.
    """

    name: str
    cells: Sequence[Cell]
    places: Sequence[Path]

    def values(self, column: Column) -> npt.NDArray[np.float64]:
        """A figure of each training, in per cent, as in its report; (trainings,)."""
        # incomplete averages also count, since all results lack the same figures
        return np.array([100 * part["mean"] if (part := cell.part(column)) else cell.value(column) for cell in self.cells])

    def mean(self, column: Column) -> float:
        """The mean over trainings, in per cent."""
        return float(self.values(column).mean())

    def deviation(self, column: Column) -> float | None:
        """The standard deviation over trainings, with n - 1; None for a single one."""
        return float(self.values(column).std(ddof=1)) if len(self.cells) > 1 else None


@dataclass(frozen=True)
class TrainingsReport(AsJson):
    """The results of systems with several trainings on one benchmark.

    Attributes:
        systems: in the given order.
        columns: the figures to show and test; JSON has the others, too.
    """

    systems: Sequence[TrainedSystem]
    columns: Sequence[Column]

    @property
    def first(self) -> Cell:
        """One of the results, all of which have the same benchmark and figures."""
        return self.systems[0].cells[0]

    @property
    def partial(self) -> list[str]:
        """The missing parts of the benchmark, see `benchmark_reading.lacking`."""
        return list(dict.fromkeys(lack for system in self.systems for cell in system.cells for lack in cell.report.get("partial", ())))

    @property
    def tested(self) -> list[TrainedSystem]:
        """The systems with two trainings or more, which tests need."""
        return [system for system in self.systems if len(system.cells) > 1]

    @cached_property
    def variances(self) -> Mapping[Column, Variance]:
        """The analyses of variance over `tested`, by figure; empty for fewer than two systems."""
        if len(self.tested) < 2:
            return {}
        return {column: one_way([system.values(column) for system in self.tested]) for column in self.columns}

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values: schema 1. Figures are from 0 to 1."""
        names = [system.name for system in self.tested]
        return {
            "schema": 1,
            "benchmark": self.first.report["benchmark"],
            "split": self.first.report["split"],
            "kind": "trainings",
            "systems": [
                {
                    "name": system.name,
                    "results": [str(place) for place in system.places],
                    "trainings": [cell.report["system"].get("training", []) for cell in system.cells],
                    "figures": {_name(self.first, column): self._facts(system, column) for column in self.first.columns},
                }
                for system in self.systems
            ],
            "variance": {
                _name(self.first, column): variance_facts(analysis, names, self._means(column), "systems")
                for column, analysis in self.variances.items()
            },
            "notes": self.notes(),
            "partial": self.partial,
        }

    def _facts(self, system: TrainedSystem, column: Column) -> dict[str, Any]:
        deviation = system.deviation(column)
        return {
            "mean": system.mean(column) / 100,
            "standard_deviation": None if deviation is None else deviation / 100,
            "standard_error": None if deviation is None else float(deviation / np.sqrt(len(system.cells))) / 100,
            "values": (system.values(column) / 100).tolist(),
        }

    def _means(self, column: Column) -> list[float]:
        return [system.mean(column) / 100 for system in self.tested]

    def lines(self) -> list[str]:
        """The report in words: systems among the published ones, the tests of each figure, and the systems' costs."""
        out = [f"{self.first.report['benchmark']}, {self.first.report['split']}: means over trainings", ""]
        for start in range(0, len(self.columns), WIDEST):
            out += [*self._table(self.columns[start : start + WIDEST]), ""]
        names = [system.name for system in self.tested]
        for column, analysis in self.variances.items():
            out += [_name(self.first, column), *variance_lines("one-way over trainings", analysis, names, self._means(column))]
        if self.tested:
            out += ["in brackets: the standard deviation over trainings; over the root of their number it is the mean's standard error"]
        if self.variances:
            out += [f"* is the best, † significantly below the best tested one: p < {LEVEL:g} by Tukey's test over trainings"]
        costs, caption = cost_table({system.name: [cell.report for cell in system.cells] for system in self.systems})
        out += ["", *aligned(costs), caption] if costs else []
        times = repeated_lines({system.name: [cell.report.get("times", {}) for cell in system.cells] for system in self.systems})
        out += ["", "run times", *(f"  {line}" for line in times)] if times else []
        out += [f"note: {lack}: does not compare with published figures" for lack in self.partial]
        return [*out, *(f"note: {note}" for note in self.notes())]

    def _table(self, columns: Sequence[Column]) -> list[str]:
        """A row for each system, and below the published rows with any of these columns; their deviations are in the papers."""
        table = [["", *(_name(self.first, column) for column in columns), "source"]]
        cells = {column: self._cells(column) for column in columns}
        for place, system in enumerate(self.systems):
            of_several = f" ({counted(len(system.cells), 'training')})" if len(system.cells) > 1 else ""
            table.append([f"> {system.name}{of_several}", *(cells[column][place] for column in columns), "measured here"])
        only_task = next(iter(self.first.report["counts"]), "") if not self.first.tasks else ""
        keys = [None if self.first.part(column) else (column[0] or only_task, column[1]) for column in columns]
        widths = {column: max(map(len, cells[column])) for column in columns}
        for row in rows(self.first.report["benchmark"]):
            if any(key in row.values for key in keys if key):
                figures = [f"{row.values[key]:.2f}" if key and key in row.values else "" for key in keys]
                behind = [widths[column] - len(f"{self.systems[0].mean(column):.2f}") for column in columns]
                table.append([f"  {row.system}", *(text + " " * gap for text, gap in zip(figures, behind, strict=True)), row.source])
        return aligned(table)

    def _cells(self, column: Column) -> list[str]:
        """A figure of each system as printed, with brackets and signs, aligned after the mean."""
        means = [system.mean(column) for system in self.systems]
        below: set[str] = set()
        if analysis := self.variances.get(column):
            names = [system.name for system in self.tested]
            below = set(names) - set(as_good_as_the_best(analysis, names, self._means(column)))
        brackets = ["" if (deviation := system.deviation(column)) is None else f" ({deviation:.2f})" for system in self.systems]
        width = max(map(len, brackets))
        has_several = len(self.systems) > 1
        signs = [
            "*" if has_several and mean == max(means) else "†" if system.name in below else " " * has_several
            for system, mean in zip(self.systems, means, strict=True)
        ]
        return [f"{mean:.2f}{bracket:<{width}}{sign}" for mean, bracket, sign in zip(means, brackets, signs, strict=True)]

    def notes(self) -> list[str]:
        """Notes: what was not tested, and possible duplicates of trainings."""
        notes = []
        single = [system.name for system in self.systems if len(system.cells) == 1]
        if single and len(self.systems) > 1:
            notes.append(f"not tested, since there is only one training: {', '.join(single)}")
        for system in self.systems:
            seeds = [tuple(one.get("seed") for one in cell.report["system"].get("training", [])) for cell in system.cells]
            if known := sorted({seed for seed in seeds if seed and None not in seed and seeds.count(seed) > 1}):
                notes.append(f"trainings of {system.name} have the same seed, {known[0][0]}; are they trainings of their own?")
        return notes


def compare_trainings(systems: Mapping[str, Sequence[str | Path]], measures: Sequence[str] = ()) -> TrainingsReport:
    """Join the saved results of each system's trainings, and compare the systems.

    Args:
        systems: the system's name -> a folder of `evaluate -o`, or its report.json, for each training.
        measures: the measures or averages to show and test; by default the main ones, see `standings.Cell.main_columns`.

    Raises:
        NotFound: there are no saved results in a place.
        InvalidRequest: results are not of one benchmark, split and protocol, lack figures that others have or `measures` names, or are
            named twice.
    """
    if not systems or not all(systems.values()):
        raise InvalidRequest("name a system and its saved results, as in adapters=runs/seed1,runs/seed2")
    named: dict[Path, str] = {}
    trained = []
    for name, places in systems.items():
        files = [_file(Path(place)) for place in places]
        for file in files:
            if (real := file.resolve()) in named:
                raise InvalidRequest(f"{file.parent} is named twice, for {named[real]} and for {name}; one training counts once")
            named[real] = name
        cells = [_cell(name, file) for file in files]
        trained.append(TrainedSystem(name, cells, [file.parent for file in files]))
    first, first_place = trained[0].cells[0], trained[0].places[0]
    for system in trained:
        for cell, place in zip(system.cells, system.places, strict=True):
            _check_alike(first, first_place, cell, place, are_one_system=False)
            _check_alike(system.cells[0], system.places[0], cell, place, are_one_system=True)
    known = [name for _, name in first.columns]
    measures = measured(measures, known)
    if unknown := next((name for name in measures if name not in known), None):
        raise InvalidRequest(f"the results have no figure {unknown!r}; they have {', '.join(dict.fromkeys(known))}")
    chosen = [column for column in first.columns if column[1] in measures] if measures else first.main_columns()
    return TrainingsReport(trained, chosen)


def _file(place: Path) -> Path:
    file = place / "report.json" if place.is_dir() else place
    if not file.is_file():
        raise NotFound(f"there are no saved results in {place}; `evaluate -o {place}` makes them")
    return file


def _cell(name: str, file: Path) -> Cell:
    report = json_of(file)
    if not {"benchmark", "split", "kind", "rounded", "counts", "system"} <= set(report):
        hint = "; it has several modes: name the folder of one" if "modes" in report else ""
        raise InvalidRequest(f"{file} is not a report of `evaluate` on one benchmark{hint}")
    return Cell(str(report["benchmark"]), name, report, {}, {})


def _check_alike(one: Cell, place: Path, other: Cell, other_place: Path, are_one_system: bool) -> None:
    """Raises InvalidRequest if two results cannot be joined or compared."""
    first, second = _conditions(one, are_one_system), _conditions(other, are_one_system)
    for name in [*first, *second]:
        if first.get(name) != second.get(name):
            raise InvalidRequest(
                f"{other_place} and {place} differ in {name}: {second.get(name)}, and {first.get(name)}; "
                "only results of one benchmark, split and protocol can be joined"
            )
    figures, other_figures = one.columns, other.columns
    for lacking, there, has in ((other_place, other_figures, figures), (place, figures, other_figures)):
        if lacks := [column for column in has if column not in there]:
            raise InvalidRequest(f"{lacking} lacks {_name(one, lacks[0])}, which other results have; evaluate all on the same tasks")


def _conditions(cell: Cell, is_one_system: bool) -> dict[str, Any]:
    """The values that must be equal, by name; for one system also its scoring, in which systems may differ."""
    report = cell.report
    protocol = {name: value for name, value in report.get("protocol", {}).items() if is_one_system or name not in OF_A_SYSTEM}
    mode = {"mode": report["system"].get("mode")} if is_one_system else {}
    judged = {f"judged queries of {task}": row["judged_queries"] for task, row in report["counts"].items() if "judged_queries" in row}
    return {"benchmark": report["benchmark"], "split": report["split"], **protocol, **mode, **judged}


def _name(cell: Cell, column: Column) -> str:
    part = cell.part(column)
    return column_name(column) + (f" ({part['figures']} of {part['of']} figures)" if part else "")
