"""SciMult: DPR checkpoints of a BERT, plain or with experts in every other layer, one expert per task (its §3.2).

A task uses only one expert of each layer, so the result is a plain BERT with that expert's weights.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, fill, open_reader, positions_of, read_checkpoint, states_of, stripped

PREFIX = "ctx_model.encoder."
"""The encoder of candidates. That of queries, `question_model`, has the same weights."""
EXPERT = re.compile(
    r"(?P<layer>encoder\.layer\.\d+)\.(?:"
    r"attention\.self\.moe_(?P<part>query|key|value)\.(?P<in>\d+)|"
    r"attention\.output\.moe_dense\.(?P<out>\d+)|"
    r"moe_layer\.interm_layers\.(?P<up>\d+)|"
    r"moe_layer\.output_layers\.(?P<down>\d+)"
    r")\.(?P<rest>.+)"
)


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """A BERT with the weights that are active for `task`."""
    path, config, tokenizer, separator = base_of(folders, spec)
    state, _ = encoder_state(path, PREFIX)
    if spec.tasks:
        state = _expert_state(state, spec.tasks.index(task), path)
    model = new_bert(config)
    fill(model, state, path)
    return LoadedModel(states_of(model), tokenizer, separator, positions_of(config))


def base_of(folders: Mapping[str, Path], spec: EncoderSpec) -> tuple[Path, Any, Any, str]:
    """The checkpoint's path, the base model's configuration, tokenizer and separator."""
    return folders["checkpoint"] / spec.parts["checkpoint"].files[0], *open_reader(folders["base"])


def new_bert(config: Any) -> Any:
    """A BERT without a pooler, in evaluation mode, its weights not yet loaded."""
    from transformers import BertModel

    return BertModel(config, add_pooling_layer=False).eval()


def encoder_state(path: Path, prefix: str) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The weights under `prefix` in a DPR checkpoint, and all of its weights. Raises InvalidRequest for another layout."""
    checkpoint = read_checkpoint(path)
    if not isinstance(checkpoint, Mapping) or "model_dict" not in checkpoint:
        raise InvalidRequest(f"{path} is not a checkpoint in SciMult's layout: it has no model_dict")
    parameters = checkpoint.get("encoder_params") or {}
    if parameters.get("projection_dim") or parameters.get("mean_pool"):
        raise InvalidRequest(f"{path} was trained with a projection or with mean pooling, unlike all published ones")
    state = stripped(checkpoint["model_dict"], prefix)
    if not state:
        raise InvalidRequest(f"{path} is not a checkpoint in SciMult's layout: it has no weights under {prefix}*")
    return state, checkpoint["model_dict"]


def _expert_state(state: Mapping[str, Any], expert: int, path: Path) -> dict[str, Any]:
    """The weights, with one expert's under a plain BERT's names."""
    bert_state, has_expert = {}, False
    for name, tensor in state.items():
        match = EXPERT.fullmatch(name)
        if match is None:
            bert_state[name] = tensor
            continue
        number = next(int(match[group]) for group in ("in", "out", "up", "down") if match[group] is not None)
        if number != expert:
            continue
        has_expert = True
        layer, rest = match["layer"], match["rest"]
        if match["part"]:
            bert_state[f"{layer}.attention.self.{match['part']}.{rest}"] = tensor
        elif match["out"]:
            bert_state[f"{layer}.attention.output.dense.{rest}"] = tensor
        else:
            bert_state[f"{layer}.{'intermediate' if match['up'] else 'output'}.{rest}"] = tensor
    if not has_expert:
        raise InvalidRequest(f"{path} has no experts; use scimult as `encoder` for a checkpoint without")
    return bert_state
