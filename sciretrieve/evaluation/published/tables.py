"""How a published table is stored: its lines as printed, and where each column stands in our reports.

A file has the `paper`, if its source is one, and `tables`, each with the fields of `Table`. Its `columns` are groups of columns of one
task: `measures`, one a column, and the other fields of `Column`; or `skip`, how many columns no report of ours has. A table of which a
figure stands in two reports has the other columns in `also`.
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

    def as_json(self) -> dict[str, Any]:
        """The row as plain values."""
        values = [{"task": task, "measure": measure, "value": value} for (task, measure), value in self.values.items()]
        return {"system": self.system, "source": self.source, "values": values}


@dataclass(frozen=True, slots=True)
class Column:
    """Where the figures of a column stand in our reports. In task and system, {} is what a line begins with.

    Attributes:
        benchmark: its name in the catalogue; or `robustness`, the study of that name, or `cost`, what systems cost.
        task: as the report names it; "" is the benchmark as a whole.
        measure: as the report names it.
        system: whose figures they are.
        share: whether they are printed from 0 to 1, while reports are in per cent.
    """

    benchmark: str
    task: str
    measure: str
    system: str = "{}"
    share: bool = False


Columns: TypeAlias = Sequence[Column | None]
"""None is a column that no report of ours has."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a paper, or a part of one; the parts of a table are stored in its order.

    Attributes:
        paper: its short name; "" if the source is no paper.
        number: the table's number, with an A in an appendix that counts anew; or the source, if it is no paper.
        columns: see `Column`.
        text: lines of `what it begins with as our name | cell cell …`, as printed; an empty cell is -, 2M is millions, 1.42x is how many
            times, and `as our name` may be left out.
        note: what to know about the whole table.
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
        """What each line begins with in print, what we call it, and its cells."""
        for line in self.text.strip().splitlines():
            head, _, cells = line.partition("|")
            printed, _, name = head.strip().partition(" as ")
            yield printed, name or printed, cells.split()

    def figures(self) -> Iterator[tuple[Column, float]]:
        """Each figure that a report has, column by column, and where it stands, without any {}."""
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
    """Benchmark -> its published rows, in the order of the tables."""
    figures_of: dict[str, dict[tuple[str, str], dict[tuple[str, str], float]]] = {}
    for table in tables:
        for place, value in table.figures():
            values = figures_of.setdefault(place.benchmark, {}).setdefault((place.system, table.source), {})
            values[place.task, place.measure] = value
    return {name: tuple(Row(system, source, values) for (system, source), values in rows.items()) for name, rows in figures_of.items()}
