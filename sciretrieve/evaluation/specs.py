"""What a benchmark is: how its authors score, which files it needs and where to get them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..encoders.specs import Kind
from .material import Material, Protocol

Load = Callable[[Path, str], Sequence[Material]]
"""From a folder and a split to the benchmark's sets."""


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
        sizes: queries and candidates, as published.
        protocol: how it is scored.
        files: what the folder holds, for people.
        source: the paper, and where the data come from.
        licence: as the source states it.
        load: reads it.
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
    load: Load
    splits: tuple[str, ...] = ("test",)
    downloads: tuple[Download, ...] = ()
    hub: tuple[HubFiles, ...] = ()
    manual: str = ""
    note: str = ""
