"""docs/details.tsv judges every detail of the papers' trainings: its values are the presets', and its differences are said."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any

from sciretrieve.training import PRESETS
from sciretrieve.training.presets import Plan

ROOT = Path(__file__).parents[2]
COLUMNS = ["training", "detail", "paper", "authors' code", "ours", "judged", "said under"]
TABLE = list(csv.reader((ROOT / "docs" / "details.tsv").read_text(encoding="utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in TABLE[1:]]
REPRODUCE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
DIFFERENCES = REPRODUCE[REPRODUCE.index("### What differs in trainings") : REPRODUCE.index("\n## SciRepEval\n")]


def items(row: Mapping[str, str]) -> list[str]:
    return row["ours"].split("; ")


def values(row: Mapping[str, str]) -> dict[str, Any]:
    """What a row says of presets and constants, by dotted name."""
    pairs = [item.partition(" = ")[::2] for item in items(row) if " = " in item]
    return {name: ast.literal_eval(value) for name, value in pairs}


def named(name: str) -> list[Any]:
    """What a dotted name stands for: a field of the presets that its first part matches, or something in a module, also in its mappings."""
    first, *rest = name.split(".")
    if first != "sciretrieve":
        (attribute,) = rest
        return [getattr(plan, attribute) for preset, plan in PRESETS.items() if fnmatchcase(preset, first)]
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        return [found]
    raise AssertionError(name)


def test_every_row_is_whole_and_judged() -> None:
    assert TABLE[0] == COLUMNS
    for row in ROWS:
        assert all(row[column] for column in COLUMNS[:-1]), row
        assert row["judged"] in {"same", "both", "differs", "silent"}, row
    keys = [(row["training"], row["detail"]) for row in ROWS]
    assert len(set(keys)) == len(keys) > 81


def test_values_are_those_of_the_presets() -> None:
    for row in ROWS:
        for name, value in values(row).items():
            found = named(name)
            assert found, (row, name)
            assert all(one == value for one in found), (row, name, found)


def test_every_figure_of_every_preset_has_a_row() -> None:
    """All that a paper's preset must give, or has otherwise than a training of one's own."""
    judged = {tuple(name.split(".")) for row in ROWS for name in values(row) if not name.startswith("sciretrieve.")}
    for preset, plan in PRESETS.items():
        for field in fields(Plan):
            is_given = field.default is MISSING or getattr(plan, field.name) != field.default
            if preset != "own" and field.name != "source" and is_given:
                assert any(fnmatchcase(preset, first) and name == field.name for first, name in judged), (preset, field.name)


def test_tests_that_are_named_are_there() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "training").rglob("test_*.py")]
    there = {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    asked = {item for row in ROWS for item in items(row) if item.startswith("test_")}
    assert asked - there == set()


def test_what_differs_is_said_and_all_that_is_said_has_a_row() -> None:
    said = set(re.findall(r"^- \*\*(.+?)\.?\*\*", DIFFERENCES, re.MULTILINE))
    for row in ROWS:
        if row["judged"] in {"differs", "silent"}:
            assert row["said under"] in said, row
        else:
            assert not row["said under"], row
    assert {row["said under"] for row in ROWS} - {""} == said


def test_both_are_presets() -> None:
    for row in ROWS:
        if row["judged"] == "both":
            are_codes = {name.partition(".")[0].endswith("-code") for name in values(row)}
            assert are_codes == {True, False}, row
