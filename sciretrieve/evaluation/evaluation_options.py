"""The request of an evaluation: a benchmark, a system and options, as saved in a receipt; and what was given for it as an object."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..base.choices import check_choice
from ..base.errors import InvalidRequest
from ..encoders import adopted
from ..metrics.naming import parse_measure
from ..options import READING, EvaluationOptions
from ..options.keywords import EvaluationKeywords
from ..protocols import Encoder
from ..query.index import Index
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


@dataclass(frozen=True, slots=True)
class Objects:
    """An open index, and an encoder that is an object, in place of those that a request names."""

    index: Index | None = None
    encoder: Encoder | None = None


NO_OBJECTS = Objects()


def objects_in(options: EvaluationKeywords, workers: object = None) -> tuple[Objects, EvaluationKeywords]:
    """The objects among the options, and the options with the encoder's name in place of the encoder.

    Raises InvalidRequest: a cluster, or a setting of the encoder's reading, does not go with them.
    """
    index: Any = options.get("index")
    index = index if isinstance(index, Index) else None
    if index is not None and (workers is not None or len(index.members) > 1):
        raise InvalidRequest(f"give the folder of one index in place of {index!r}: a cluster opens it itself, and searches only one")
    given: Any = options.get("encoder")
    if isinstance(given, str | None):
        return Objects(index), options
    if reading := next((name for name in READING if options.get(name) is not None), None):
        raise InvalidRequest(f"`{reading}` says how an encoder with a name reads texts; one that is an object goes without it")
    encoder = adopted(given)
    return Objects(index, encoder), {**options, "encoder": encoder.name}


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
