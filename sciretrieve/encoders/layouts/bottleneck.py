"""Bottleneck adapters of the `adapters` library, one active or several fused: SPECTER2's and SciRepEval's (its §5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import PROBE, LoadedModel, open_model, open_reader, positions_of, read_checkpoint, reading, states_of

FUSION_WEIGHTS = ("pytorch_model_adapter_fusion.bin", "model_adapter_fusion.safetensors")


def load_adapter(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The base model with the adapter of `task` active; with none if `task` is ""."""
    model, loaded_model = open_base(folders["base"])
    if task:
        activate(model, loaded_model, folders[task], task)
    return loaded_model


def activate(model: Any, loaded_model: LoadedModel, folder: Path, task: str) -> None:
    """Load the adapter of a task into a model that takes adapters, the same as the loaded one, and activate it.

    Raises InvalidRequest for an adapter of another model, or one without effect on the output.
    """
    add_adapter(model, folder, task)
    with reading(folder):
        model.set_active_adapters(task)
    _check_that_it_changes_states(model, loaded_model, f"the adapter in {folder}")


def load_fusion(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The base model with all adapters, joined by the fusion layer of `task` (Pfeiffer et al. 2021, AdapterFusion)."""
    model, loaded_model = open_base(folders["base"])
    for code in spec.tasks:
        add_adapter(model, folders[code], code)
    folder = folders[f"{task}_fusion"]
    with reading(folder):
        facts = json.loads((folder / "adapter_fusion_config.json").read_text(encoding="utf-8"))
        order = facts.get("adapter_names") or facts["name"]
        names = order.split(",") if isinstance(order, str) else list(order)
        if sorted(names) != sorted(spec.tasks):
            raise InvalidRequest(f"{folder} fuses the adapters {', '.join(names)}, not {', '.join(spec.tasks)}")
        from adapters.composition import Fuse

        model.load_adapter_fusion(str(folder))
        model.set_active_adapters(Fuse(*names))
    checkpoint = read_checkpoint(next(folder / file for file in FUSION_WEIGHTS if (folder / file).is_file()))
    layer_names = {name for name in model.state_dict() if f"adapter_fusion_layer.{','.join(names)}." in name}
    if not layer_names or layer_names != {name for name in checkpoint if "adapter_fusion_layer" in name}:
        raise InvalidRequest(f"the fusion in {folder} was made for another model than {folders['base']}: their layers differ")
    _check_that_it_changes_states(model, loaded_model, f"the fusion in {folder}")
    return loaded_model


def open_base(folder: Path) -> tuple[Any, LoadedModel]:
    """The base model as one that takes adapters, and the same model as the layouts return it."""
    from adapters import AutoAdapterModel

    config, tokenizer, separator = open_reader(folder)
    model = open_model(AutoAdapterModel, folder)
    return model, LoadedModel(states_of(model), tokenizer, separator, positions_of(config))


def add_adapter(model: Any, folder: Path, name: str) -> None:
    """Load an adapter, and check that all of its weights came from the file. Raises InvalidRequest for one of another model."""
    with reading(folder):
        made_for = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    for key in ("model_type", "hidden_size"):
        model_value, adapter_value = getattr(model.config, key), made_for.get(key)
        if adapter_value is not None and adapter_value != model_value:
            raise InvalidRequest(f"the adapter in {folder} was made for a model of {key} {adapter_value}, and this one has {model_value}")
    differences: dict[str, list[str]] = {}
    with reading(folder):
        is_safetensors = not (folder / "pytorch_adapter.bin").is_file()
        model.load_adapter(
            str(folder), load_as=name, with_head=False, set_active=False, loading_info=differences, use_safetensors=is_safetensors
        )
        model.eval()
    if problems := [*differences.get("missing_keys", []), *(key for key in differences.get("unexpected_keys", []) if "adapters." in key)]:
        raise InvalidRequest(f"the adapter in {folder} does not fit the model: {problems[0]} and {len(problems) - 1} more do not match")


def _check_that_it_changes_states(model: Any, loaded_model: LoadedModel, what: str) -> None:
    """Reject adapters that load but have no effect, a known trap of this library (adapter-hub/adapters #815)."""
    ids = torch.tensor([loaded_model.tokenizer.encode(PROBE).ids[: loaded_model.positions]])
    active_adapters = model.active_adapters
    with torch.no_grad():
        adapted_states = loaded_model.model(ids, torch.ones_like(ids))
        model.set_active_adapters(None)
        plain_states = loaded_model.model(ids, torch.ones_like(ids))
    model.set_active_adapters(active_adapters)
    if torch.equal(adapted_states, plain_states):
        raise InvalidRequest(f"{what} does not change the output of the model; its weights are empty or untrained")
