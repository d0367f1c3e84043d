"""A RoBERTa in one file, see `packs`, in torch: with an adapter, for training, and as a fallback for OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..bert import Bert
from ..packs import open_pack
from ..specs import EncoderSpec
from .bottleneck import activate
from .loading import LoadedModel, fill, reading, states_of


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The model in fp32, with the adapter of `task` active; without one if `task` is "". Raises CorruptData."""
    from transformers import RobertaModel

    with reading(folders["base"]):
        bert, tokenizer = open_pack(folders["base"], spec.parts["base"])
    model = RobertaModel(config_of(bert), add_pooling_layer=False)
    fill(model, {name: torch.from_numpy(np.array(weights)) for name, weights in bert.weights.items()}, folders["base"])
    loaded_model = LoadedModel(states_of(model), tokenizer, bert.separator, bert.positions)
    if task:
        import adapters

        adapters.init(model)
        activate(model, loaded_model, folders[task], task)
    return loaded_model


def config_of(bert: Bert) -> Any:
    """The configuration of transformers for a RoBERTa of these sizes."""
    from transformers import RobertaConfig

    sizes = {name: bert.weights[f"embeddings.{name}_embeddings.weight"].shape[0] for name in ("word", "position", "token_type")}
    return RobertaConfig(
        vocab_size=sizes["word"],
        hidden_size=bert.dim,
        num_hidden_layers=bert.layers,
        num_attention_heads=bert.heads,
        intermediate_size=len(bert.weights["encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=sizes["position"],
        type_vocab_size=sizes["token_type"],
        layer_norm_eps=bert.eps,
        pad_token_id=bert.first - 1,
    )
