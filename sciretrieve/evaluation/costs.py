"""What trained systems cost, as SciRepEval's Table 4 prints it: parameters, and times of training and inference.

A folder that training made says the first two in its training.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest
from ..base.wording import in_words
from ..encoders.ensemble import members_of
from ..encoders.resolving import is_path
from ..metrics.judgements import json_of
from .published import rows
from .timing import relative

FILE = "training.json"
COLUMNS = ("parameters", "training time", "inference time")
"""The columns of the published table, of the study `cost`."""


def trainings_of(*names: str | None) -> list[dict[str, Any]]:
    """What the folders of trained encoders and adapters say of their training, each folder once.

    Args:
        names: encoders and adapters, as requested; the members of an ensemble count each. What is no folder with a training.json is
            passed over.

    Returns:
        Of each folder `folder`, `parameters` (trained ones), `seconds` (of training), and, where it says so, `parameters_of_base`, `base`
        and `seed`.

    Raises:
        InvalidRequest: a training.json is no JSON, or lacks the number of parameters or of seconds.
    """
    found = {}
    for name in names:
        ensemble = members_of(name) if name else None
        for member in ensemble[1] if ensemble else [name] if name else []:
            folder = Path(member).expanduser().resolve()
            if is_path(member) and (folder / FILE).is_file():
                found[folder] = _read(folder / FILE)
    return list(found.values())


def _read(path: Path) -> dict[str, Any]:
    facts = json_of(path)
    for name in ("parameters", "seconds"):
        if not isinstance(facts.get(name), int | float) or isinstance(facts[name], bool) or facts[name] < 0:
            raise InvalidRequest(f"{path} has no number of {name!r}; it is to say how many were trained, and in how many seconds")
    known = ("parameters", "parameters_of_base", "seconds", "base", "seed")
    return {"folder": str(path.parent), **{name: facts[name] for name in known if facts.get(name) is not None}}


def training_line(facts: Mapping[str, Any]) -> str:
    """One training for people."""
    of_base, base = "", facts.get("parameters_of_base", 0)
    if base:  # layers beside it may have more
        of_base = f" of {in_short(base)}" if facts["parameters"] <= base else f" beside {in_short(base)}"
    on, seed = (f" on {facts['base']}" if "base" in facts else ""), (f", seed {facts['seed']}" if "seed" in facts else "")
    return f"trained: {in_short(facts['parameters'])}{of_base} parameters{on} in {in_words(facts['seconds'])}{seed}"


def in_short(count: float) -> str:
    """A number of parameters as the papers print it: 768, 450k, 1M, 1.2M."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count:.0f}"


def cost_table(reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[list[list[str]], str]:
    """The table of costs, above the published one, and its caption; an empty one where no system says what its training was.

    Args:
        reports: system -> the reports of its trainings, as saved. Parameters are a training's, and times means over trainings, relative to
            the first system where both have more than one.
    """
    parameters, seconds = {}, {}
    for name, of_system in reports.items():
        trainings = [report["system"].get("training", []) for report in of_system]
        if all(trainings):
            parameters[name] = sum(sum(one["parameters"] for one in each) for each in trainings) / len(trainings)
            seconds[name] = sum(sum(one["seconds"] for one in each) for each in trainings) / len(trainings)
    if not parameters:
        return [], ""
    names = list(parameters)
    inference = relative({name: [report.get("times", {}) for report in reports[name]] for name in names})
    table = [["", *COLUMNS, "source"]]
    for name in names:
        steps = inference.get(name, {})
        are_repeated = min(len(reports[name]), len(reports[names[0]])) > 1
        training = f"{seconds[name] / seconds[names[0]]:.2f}x" if are_repeated and seconds[names[0]] else ""
        table.append(
            [f"> {name}", in_short(parameters[name]), training, f"{steps['indexing']:.2f}x" if "indexing" in steps else "", "measured here"]
        )
    for row in rows("cost"):
        count, *ratios = (row.values["", column] for column in COLUMNS)
        table.append([f"  {row.system}", in_short(count), *(f"{ratio:.2f}x" for ratio in ratios), row.source])
    return table, (
        f"parameters that are trained; times relative to {names[0]}, which was trained in {in_words(seconds[names[0]])}, on the machines "
        "where they ran, and left out of what ran once; inference is what a paper takes to be indexed; "
        "published are those of a task format, relative to SPECTER2 MTL CTRL"
    )
