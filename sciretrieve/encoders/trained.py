"""Encoders trained here, from encoder.json in their folder: the base and adapters, or the model, and the reading of texts.

Beside it are the adapters, each in the format of the `adapters` library; or the model in transformers' format, or in the layout of a
paper's authors that encoder.json names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..base.choices import METRICS, POOLINGS
from ..base.errors import CorruptData
from .catalogue import ADAPTER_FILES, FUSION_FILES, MODEL_FILES, VOCABULARY_FILES
from .specs import EncoderRequest, EncoderSpec, Layout, ModelFiles, sides_from

ENCODER = "encoder.json"
SCHEMA = 1
CHECKPOINT = "weights.ckpt"
"""The file of weights in layouts whose authors' code saves one file."""
OF_AUTHORS: Mapping[Layout, tuple[str, ...]] = {
    "fusion": (),
    "pals": MODEL_FILES,
    "scimult": (*VOCABULARY_FILES, CHECKPOINT),
    "instructed": (*VOCABULARY_FILES, CHECKPOINT),
    "multi2spe": (*VOCABULARY_FILES, CHECKPOINT),
}
"""Layouts in encoder.json, with the files of the model in the folder."""


def describe_trained(spec: EncoderSpec, base: EncoderRequest | None) -> dict[str, Any]:
    """The content of encoder.json: `base` is the request for the adapters' base, None if the folder has the whole model."""
    return {
        "schema": SCHEMA,
        "base": base.encoder if base else None,
        "layout": spec.layout if spec.layout in OF_AUTHORS else None,
        "adapters": list(spec.tasks),
        "kinds": dict(spec.kinds),
        "codes": list(spec.codes),
        "sides": asdict(spec.sides),
        "pooling": spec.pooling,
        "normalise": spec.normalise,
        "metric": spec.metric,
        "max_length": spec.max_length,
    }


def trained_spec(name: str, folder: Path, facts: Mapping[str, Any], base: EncoderSpec | None) -> EncoderSpec:
    """The spec of an encoder trained here.

    Args:
        name: the user's name for it.
        folder: its folder.
        facts: the content of its encoder.json.
        base: the spec of its adapters' base, None for a whole model.

    Raises:
        CorruptData: encoder.json describes no encoder.
    """
    path = folder / ENCODER
    try:
        if facts["schema"] != SCHEMA:
            raise CorruptData(f"{path} has the unknown form {facts['schema']!r}; use a newer version of sciretrieve")
        tasks, codes = tuple(map(str, facts["adapters"])), tuple(map(str, facts["codes"]))
        pooling, metric = facts["pooling"], facts["metric"]
        kinds = dict(facts.get("kinds", {}))
        if pooling not in (*POOLINGS, "second") or metric not in METRICS or not set(kinds.values()) <= {*tasks, *codes}:
            raise ValueError(f"{pooling}, {metric}, or an adapter or code for {', '.join(kinds)}")
        layout, parts = _files(folder, facts.get("layout"), tasks, base)
        return EncoderSpec(
            name=name,
            about=f"trained on {base.name}" if base else "a model that was trained here",
            layout=layout,
            parts=parts,
            sides=sides_from(facts["sides"]),
            pooling=pooling,
            normalise=bool(facts["normalise"]),
            metric=metric,
            max_length=int(facts["max_length"]),
            citation=str(folder),
            tasks=tasks,
            kinds=kinds,
            codes=codes,
            languages=(),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptData(
            f"{path} does not describe an encoder ({type(error).__name__}: {error}); train it again, or get it again"
        ) from error


def _files(folder: Path, layout: Layout | None, tasks: Sequence[str], base: EncoderSpec | None) -> tuple[Layout, dict[str, ModelFiles]]:
    """The layout and its parts: those in the folder, and the base's. Raises KeyError or ValueError."""
    if layout == "fusion" and base is not None:
        fusions = {f"{task}_fusion": ModelFiles(str(folder / f"{task}_fusion"), FUSION_FILES) for task in tasks}
        return layout, {"base": base.parts["base"], **{task: base.parts[task] for task in tasks}, **fusions}
    if (base is None) != (not tasks or layout is not None):
        raise ValueError("its adapters")
    if layout is not None:
        files = OF_AUTHORS[layout]
        parts = {"base": ModelFiles(str(folder), tuple(file for file in files if file != CHECKPOINT))}
        return layout, parts | ({"checkpoint": ModelFiles(str(folder), (CHECKPOINT,))} if CHECKPOINT in files else {})
    if base is None:
        return "transformers", {"base": ModelFiles(str(folder), MODEL_FILES)}
    adapters = {task: ModelFiles(str(folder if len(tasks) == 1 else folder / task), ADAPTER_FILES) for task in tasks}
    return "packed" if base.layout == "packed" else "adapters", {"base": base.parts["base"], **adapters}
