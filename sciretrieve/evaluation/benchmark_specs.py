"""Benchmarks as data: the authors' scoring, the files and their sources; and suites of several, with averages."""

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
"""A number in `Benchmark.sizes`, and its unit."""


@dataclass(frozen=True, slots=True)
class Download:
    """One file to fetch: address, name in the folder, and published checksum or size, if known."""

    url: str
    name: str
    md5: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class HubFiles:
    """The files of a folder of a Hugging Face data set whose names begin with `prefix`; the hub lists its parts."""

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
        sizes: the published numbers of queries and candidates, as a text.
        whole: by task, "" for all, the numbers of queries and of candidates, of pairs of both, or of labelled papers; if empty, `sizes` has
            them.
        protocol: the scoring.
        files: the files of the folder: patterns separated by commas, with remarks in round brackets; see `benchmark_reading.patterns`.
        source: the paper, and the origin of the data.
        licence: as the source states it.
        reader: its reader, as `module.function` of `readers`, called with a folder, a split, the benchmark's name and `arguments`.
        arguments: see `reader`.
        splits: the splits, the default first.
        downloads: the files for `benchmarks fetch`.
        hub: further files, in data sets of the hub.
        manual: steps to do by hand, if any.
        note: a caution for comparisons.
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
        """`whole`, or else the numbers in `sizes`."""
        if self.whole or ":" in self.sizes or "," not in self.sizes:
            return self.whole
        found = {unit: int(number.replace(",", "")) for number, unit in COUNT.findall(self.sizes)}
        if "queries" in found and (unit := next((name for name in ("patients", "papers") if name in found), "")):
            found["candidates"] = found.pop(unit)
        return {"": found}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that a suite averages.

    Attributes:
        name: the task's name in its paper.
        format: classification (CLF), regression (RGN), proximity (PRX) or search (SRCH).
        group: a group of tasks with its own average; "" for none.
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
        task: a description, in one line.
        source: the paper, and its tables of averages.
        figures: the figures, all with the same weight.
        apart: a figure without which its format is also averaged; "" for none.
        decimals: of the published averages.
        overall: whether the paper averages all figures, too.
        compared: the benchmarks to which a requested metric applies; if there are none, no metric can be requested.
        against: a published system, to which averages are also given relatively; "" for none.
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
