"""The benchmarks and suites of `benchmarks.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from string import Template
from typing import Any

from ..base.errors import InvalidRequest, UnknownName
from .benchmark_specs import Benchmark, Download, Figure, HubFiles, Suite
from .material import Protocol

BEIR_SETS = (
    *("arguana", "climate-fever", "cqadupstack", "dbpedia-entity", "fever", "fiqa", "hotpotqa", "msmarco", "nfcorpus", "nq", "quora"),
    *("scidocs", "scifact", "webis-touche2020"),
)
"""Sets that BEIR publishes, each a directory for `beir:DIR` (Thakur et al. 2021, Table 1, and BEIR's README)."""
BEIR_ZIP = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/{}.zip"
MADE_BY = {
    "beir": "directory, as in beir:data/scifact",
    "cite": "directory, as in cite:data/mine, which `sciretrieve benchmarks build cite` makes",
    "irds": "dataset of ir_datasets, as in irds:beir/scifact/test",
}
"""Prefixes of names that the catalogue does not list, with what they need and an example for messages."""


def _benchmark(name: str, table: Mapping[str, Any]) -> Benchmark:
    facts = {**_FILE["benchmarks"].get(table.get("like"), {}), **table}
    facts.pop("like", None)
    facts = _filled(facts, {**_FILE["words"], **facts.get("arguments", {})})
    protocol = facts.pop("protocol")
    facts["protocol"] = Protocol(**{**protocol, "measures": tuple(protocol["measures"])})
    facts["splits"] = tuple(facts.get("splits", ("test",)))
    facts["downloads"] = tuple(Download(**file) for file in facts.get("downloads", ()))
    facts["hub"] = tuple(HubFiles(**file) for file in facts.get("hub", ()))
    return Benchmark(name, **facts)


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    """A value in whose texts, at any depth, words replace their names."""
    if isinstance(value, str):
        return _filled(Template(value).substitute(words), words) if "$" in value else value
    if isinstance(value, list):
        return [_filled(one, words) for one in value]
    return {key: _filled(one, words) for key, one in value.items()} if isinstance(value, dict) else value


def _suite(name: str, table: Mapping[str, Any]) -> Suite:
    facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Suite(name, **{**facts, "figures": tuple(_figures(table["figures"]))})


def _figures(lines: str) -> Iterator[Figure]:
    for line in lines.strip().splitlines():
        figure, format, group, benchmark, task, measures = (cell.strip() for cell in line.split("|"))
        yield from (Figure(figure, format, group, benchmark, measure, task) for measure in measures.split(", "))


_FILE = tomllib.loads((files(__package__) / "benchmarks.toml").read_text(encoding="utf-8"))
CATALOGUE: Mapping[str, Benchmark] = {name: _benchmark(name, table) for name, table in _FILE["benchmarks"].items()}
SUITES: Mapping[str, Suite] = {name: _suite(name, table) for name, table in _FILE["suites"].items()}


def find_benchmark(name: str) -> Benchmark:
    """The benchmark called `name`; `beir:DIR` is any BEIR directory, `cite:DIR` a folder of `benchmarks build cite`, `irds:ID` a dataset of
    ir_datasets. Raises UnknownName, InvalidRequest.
    """
    form, colon, folder = name.partition(":")
    if colon and form in MADE_BY:
        if not folder:
            raise InvalidRequest(f"{name} needs a {MADE_BY[form]}")
        table = dict(_FILE["own"][form])
        for start, other in table.pop("measured_as", {}).items():
            if folder.startswith(start):
                table["protocol"] = _FILE["own"][other]["protocol"]
        return replace(_benchmark(name, table), source=folder)
    if name in BEIR_SETS:
        other_forms = [row.name for row in CATALOGUE.values() if row.name.startswith(f"{name}-") and row.kind == "proximity"]
        hint = f"; {' and '.join(other_forms)} are other forms of it" if other_forms else ""
        raise InvalidRequest(f"{name} is a set of BEIR: name its directory, as in beir:data/{name}, from {BEIR_ZIP.format(name)}{hint}")
    if name in SUITES:
        raise InvalidRequest(f"{name} is several benchmarks at once; name one: {', '.join(SUITES[name].benchmarks)}")
    if name not in CATALOGUE:
        raise UnknownName("benchmark", name, [*CATALOGUE, *SUITES])
    return CATALOGUE[name]
