"""The request of an evaluation: a benchmark, a system and options, as saved in a receipt."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..base.choices import check_choice
from ..metrics.naming import parse_measure
from ..options import EvaluationOptions
from ..options.keywords import EvaluationKeywords
from ..storage.finding import folder_of


@dataclass(frozen=True, slots=True)
class EvaluationRequest(EvaluationOptions):
    """A benchmark, one system, and the options of the run."""

    benchmark: str
    data: str | Path | None = None

    def __post_init__(self) -> None:
        super(EvaluationRequest, self).__post_init__()  # super() without arguments does not know the new class that slots make
        self.check_mode()
        for name in self.measures:
            parse_measure(name)


def make_request(benchmark: str, data: str | Path | None, options: EvaluationKeywords) -> EvaluationRequest:
    """A request from keyword arguments; the index may be named as in commands, or open.

    Raises UnknownName for an unknown option, NotFound for a missing index, and as `EvaluationRequest`.
    """
    names = [field.name for field in fields(EvaluationRequest)]
    for name in options:
        check_choice("option", name, names)
    values: dict[str, Any] = {**options}
    if (index := options.get("index")) is not None:
        values["index"] = folder_of(index)
    return EvaluationRequest(benchmark, data, **values)
