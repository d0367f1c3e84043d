"""Published tables: their lines as printed, and the places of their columns in our reports.

A file has the `paper`, if its source is one, and `tables`, each with the fields of `Table`. Its `columns` are groups of columns of one
task: `measures`, one per column, and the other fields of `Column`; or `skip`, the number of columns without a report of ours. `also` has
the columns for a second report of the same table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Row:
    """One system's published figures: (task, measure) -> value, in the unit of the report."""

    system: str
    source: str
    values: Mapping[tuple[str, str], float]

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values."""
        values = [{"task": task, "measure": measure, "value": value} for (task, measure), value in self.values.items()]
        return {"system": self.system, "source": self.source, "values": values}


@dataclass(frozen=True, slots=True)
class Column:
    """The place of a column's figures in our reports. In task and system, {} is replaced by the beginning of a line.

    Attributes:
        benchmark: its name in the catalogue; or `robustness`, the study of that name, or `cost`, the costs of systems.
        task: its name in the report; "" is the benchmark as a whole.
        measure: its name in the report.
        system: the system with these figures.
        share: whether figures are printed from 0 to 1, while reports are in per cent.
    """

    benchmark: str
    task: str
    measure: str
    system: str = "{}"
    share: bool = False


Columns: TypeAlias = Sequence[Column | None]
"""None is a column that appears in no report."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a paper, or a part of one; the parts of a table are stored in its order.

    Attributes:
        paper: its short name; "" if the source is not a paper.
        number: the table's number, with an A in an appendix with its own numbers; or the source, if it is not a paper.
        columns: see `Column`.
        text: lines of `printed name as our name | cell cell …`; an empty cell is -, 2M is millions, 1.42x is a ratio, and `as our name` is
            optional.
        note: a remark on the whole table.
    """

    paper: str
    number: str
    columns: Columns
    text: str
    note: str = ""

    @property
    def source(self) -> str:
        """The table's name in reports."""
        return (f"{self.paper}, Table {self.number}" if self.paper else self.number) + (f" ({self.note})" if self.note else "")

    @property
    def lines(self) -> Iterator[tuple[str, str, list[str]]]:
        """For each line its name in print, our name, and its cells."""
        for line in self.text.strip().splitlines():
            head, _, cells = line.partition("|")
            printed, _, name = head.strip().partition(" as ")
            yield printed, name or printed, cells.split()

    def figures(self) -> Iterator[tuple[Column, float]]:
        """Each figure that appears in a report, column by column, with its place, without any {}."""
        lines = [(name, cells) for _, name, cells in self.lines]
        assert all(len(cells) == len(self.columns) for _, cells in lines), f"{self.source}: a line has more or fewer cells than columns"
        for place, column in enumerate(self.columns):
            for name, cells in lines:
                if column and cells[place] != "-":
                    task, system = column.task.replace("{}", name), column.system.replace("{}", name)
                    number = Decimal(cells[place].rstrip("Mx")) * (1_000_000 if cells[place].endswith("M") else 1)
                    yield Column(column.benchmark, task, column.measure, system), float(number * (100 if column.share else 1))


def read_tables(*names: str) -> list[Table]:
    """The tables of files of this package, in their order."""
    tables = []
    for name in names:
        file = tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))
        for table in file["tables"]:
            for groups in filter(None, (table["columns"], table.get("also"))):
                columns = [column for group in groups for column in _columns(**group)]
                tables.append(Table(file.get("paper", ""), table["number"], columns, table["text"], table.get("note", "")))
    return tables


def _columns(*, skip: int = 0, measures: Sequence[str] = (), task: str = "", **facts: Any) -> list[Column | None]:
    """The columns of a group."""
    return [None] * skip + [Column(task=task, measure=measure, **facts) for measure in measures]


def rows_by_benchmark(tables: Sequence[Table]) -> Mapping[str, Sequence[Row]]:
    """The published rows of each benchmark, in the order of the tables."""
    figures_of: dict[str, dict[tuple[str, str], dict[tuple[str, str], float]]] = {}
    for table in tables:
        for place, value in table.figures():
            values = figures_of.setdefault(place.benchmark, {}).setdefault((place.system, table.source), {})
            values[place.task, place.measure] = value
    return {name: tuple(Row(system, source, values) for (system, source), values in rows.items()) for name, rows in figures_of.items()}
