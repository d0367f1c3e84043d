"""An encoder that was trained here, as its folder says in encoder.json: which base and adapters, or which model, and how texts are read.

Beside it are the adapters, each as the `adapters` library saves it, or the model as transformers does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..choices import METRICS, POOLINGS
from ..errors import CorruptData
from .catalogue import ADAPTER_FILES, MODEL_FILES
from .specs import EncoderRequest, EncoderSpec, Part, sides_from

ENCODER = "encoder.json"
SCHEMA = 1


def describe_trained(spec: EncoderSpec, base: EncoderRequest | None) -> dict[str, Any]:
    """What encoder.json says of an encoder: `base` is what its adapters belong to, None if the folder has the whole model."""
    return {
        "schema": SCHEMA,
        "base": base.encoder if base else None,
        "adapters": list(spec.tasks),
        "codes": list(spec.codes),
        "sides": asdict(spec.sides),
        "pooling": spec.pooling,
        "normalise": spec.normalise,
        "metric": spec.metric,
        "max_length": spec.max_length,
    }


def base_of(facts: Mapping[str, Any]) -> str | None:
    """The encoder that a trained one's adapters belong to; None if its folder has the whole model."""
    base = facts.get("base")
    return None if base is None else str(base)


def trained_spec(name: str, folder: Path, facts: Mapping[str, Any], base: EncoderSpec | None) -> EncoderSpec:
    """The spec of an encoder that was trained here.

    Args:
        name: what the user calls it.
        folder: where it is.
        facts: what its encoder.json says.
        base: the spec that its adapters belong to, None for a whole model.

    Raises:
        CorruptData: encoder.json says something else.
    """
    path = folder / ENCODER
    try:
        if facts["schema"] != SCHEMA:
            raise CorruptData(f"{path} is of form {facts['schema']!r}, which is not known here; use a newer version of sciretrieve")
        tasks, codes = tuple(map(str, facts["adapters"])), tuple(map(str, facts["codes"]))
        pooling, metric = facts["pooling"], facts["metric"]
        if pooling not in (*POOLINGS, "second") or metric not in METRICS or (base is None) != (not tasks):
            raise ValueError(f"{pooling}, {metric} or its adapters")
        if base is None:
            parts = {"base": Part(str(folder), MODEL_FILES)}
        else:
            alone = len(tasks) == 1
            adapters = {task: Part(str(folder if alone else folder / task), ADAPTER_FILES) for task in tasks}
            parts = {"base": base.parts["base"], **adapters}
        return EncoderSpec(
            name=name,
            about=f"trained on {base.name}" if base else "a model that was trained here",
            layout="transformers" if base is None else "packed" if base.layout == "packed" else "adapters",
            parts=parts,
            sides=sides_from(facts["sides"]),
            pooling=pooling,
            normalise=bool(facts["normalise"]),
            metric=metric,
            max_length=int(facts["max_length"]),
            citation=str(folder),
            tasks=tasks,
            codes=codes,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptData(
            f"{path} does not describe an encoder ({type(error).__name__}: {error}); train it again, or get it again"
        ) from error
