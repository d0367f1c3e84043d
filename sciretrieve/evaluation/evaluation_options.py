"""What to evaluate on what: a benchmark, and the options of an evaluation, as saved in a receipt."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from ..base.choices import check_choice
from ..metrics.measures import parse_measure
from ..options import EvaluationOptions
from ..options.keywords import EvaluationKeywords
from ..storage.finding import chosen


@dataclass(frozen=True, slots=True)
class EvaluationRequest(EvaluationOptions):
    """A benchmark, one system, and how it is run.

    Attributes:
        benchmark: a name of `sciretrieve benchmarks`, `beir:DIR`, or `cite:DIR`.
        data: the folder with the benchmark's files.

    Raises:
        UnknownName, InvalidRequest: an option has an unknown value, or two options exclude each other.
    """

    benchmark: str
    data: str | Path | None = None

    def __post_init__(self) -> None:
        super(EvaluationRequest, self).__post_init__()  # a class with slots is made anew, which super() does not know
        self.check_mode()
        for name in self.measures:
            parse_measure(name)


def make_request(benchmark: str, data: str | Path | None, options: EvaluationKeywords) -> EvaluationRequest:
    """A request of keyword arguments, where an index may be named as commands name it, see `storage.finding.chosen`.

    Raises UnknownName for an option that does not exist, NotFound for an index that there is not, and as `EvaluationRequest`.
    """
    names = [field.name for field in fields(EvaluationRequest)]
    for name in options:
        check_choice("option", name, names)
    if (index := options.get("index")) is not None:
        options = {**options, "index": chosen(index).path}
    return EvaluationRequest(benchmark, data, **options)
