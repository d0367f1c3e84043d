"""What a benchmark is: how its authors score, which files it needs and where to get them; and several of them as one, with averages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ..encoders.specs import Kind
from .material import Material, Protocol

COUNT = re.compile(r"\b(?<!about )([\d,]+) (queries|pairs|candidates|patients|papers)\b")
"""A number in `Benchmark.sizes`, and of what it is."""


@dataclass(frozen=True, slots=True)
class Download:
    """One file to fetch: its address, its name in the folder, and its published checksum or size, if there is one."""

    url: str
    name: str
    md5: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class HubFiles:
    """The files of a folder of a Hugging Face data set whose names begin with `prefix`: the hub is asked how many parts there are."""

    repository: str
    folder: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: its name for `evaluate`.
        task: the task, in one line.
        kind: selects the encoder's task for reading papers and queries, unless another is requested.
        sizes: queries and candidates, as published, for people.
        whole: task -> how many queries, and candidates, pairs of a query and a candidate, or labelled papers there are; of all tasks
            under "". Where there is nothing, `sizes` says it.
        protocol: how it is scored.
        files: what the folder holds: patterns with commas between, with remarks in round brackets; see `benchmark_reading.patterns`.
        source: the paper, and where the data come from.
        licence: as the source states it.
        reader: what reads it, as `module.function` of `readers`, and takes a folder, a split, the benchmark's name and `arguments`.
        arguments: see `reader`.
        splits: the splits, the default first.
        downloads: the files for `benchmarks fetch`.
        hub: more of them, in data sets of the hub.
        manual: what must be done by hand, if anything.
        note: what to know before comparing.
    """

    name: str
    task: str
    kind: Kind
    sizes: str
    protocol: Protocol
    files: str
    source: str
    licence: str
    reader: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    splits: tuple[str, ...] = ("test",)
    downloads: tuple[Download, ...] = ()
    hub: tuple[HubFiles, ...] = ()
    manual: str = ""
    note: str = ""
    whole: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def load(self, folder: Path, split: str) -> list[Material]:
        """Read its sets. Raises NotFound, InvalidRequest."""
        module, function = self.reader.split(".")
        read = getattr(import_module(f"{__package__}.readers.{module}"), function)
        sets: Material | list[Material] = read(folder, split, self.name, **self.arguments)
        return [sets] if isinstance(sets, Material) else sets

    @property
    def published_sizes(self) -> Mapping[str, Mapping[str, int]]:
        """`whole`, or else what is read of `sizes`."""
        if self.whole or ":" in self.sizes or "," not in self.sizes:
            return self.whole
        found = {unit: int(number.replace(",", "")) for number, unit in COUNT.findall(self.sizes)}
        if "queries" in found and (unit := next((name for name in ("patients", "papers") if name in found), "")):
            found["candidates"] = found.pop(unit)
        return {"": found}


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the figures that a suite averages.

    Attributes:
        name: the task, as its paper calls it.
        format: classification (CLF), regression (RGN), proximity (PRX) or search (SRCH).
        group: the tasks whose average is given, too; "" for none but that of all.
        benchmark: its name in the catalogue.
        measure: the measure's name.
        task: the benchmark's task; "" for the benchmark as a whole.
    """

    name: str
    format: str
    group: str
    benchmark: str
    measure: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """Several benchmarks whose figures are averaged.

    Attributes:
        name: its name for `evaluate`.
        task: what it is, in one line.
        source: the paper, and the tables that have its averages.
        figures: what is averaged, each with the same weight.
        apart: the name of a figure that its format is also averaged without; "" for none.
        decimals: of the published averages.
        overall: whether the paper averages all figures, too.
        compared: the benchmarks whose vectors a requested metric compares; of a suite without any, no metric can be requested.
        against: the published system that averages are also given relative to; "" for none.
    """

    name: str
    task: str
    source: str
    figures: tuple[Figure, ...]
    apart: str = ""
    decimals: int = 2
    overall: bool = True
    compared: tuple[str, ...] = ()
    against: str = ""

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks, each once."""
        return tuple(dict.fromkeys(figure.benchmark for figure in self.figures))
