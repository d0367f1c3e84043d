"""ASPIRE's bi-encoders: a BERT whose token states are a weighted sum over all layers (Mysore et al. 2022, "SPECTER-CoCite").

A checkpoint of the authors' training code, model_cur_best.pt, has the BERT under `bert_encoder.*`. Its `bert_layer_weights.weight` has a
number for the embeddings and for each layer; their softmax is the weights (github.com/allenai/aspire, examples/ex_aspire_bienc.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, fill, positions_of, read_checkpoint, stripped
from .scimult import base_of, new_bert

LAYER_WEIGHTS = "bert_layer_weights.weight"


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """A BERT that gives the weighted sum of its embeddings and its layers' states."""
    path, config, tokenizer, separator = base_of(folders, spec)
    state = read_checkpoint(path)
    count = config.num_hidden_layers + 1
    if not isinstance(state, Mapping) or tuple(getattr(state.get(LAYER_WEIGHTS), "shape", ())) != (1, count):
        raise InvalidRequest(f"{path} is not a checkpoint of ASPIRE's bi-encoder: it has no {LAYER_WEIGHTS} for {count} layers")
    model = new_bert(config)
    fill(model, stripped(state, "bert_encoder."), path)

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert = model
            self.register_buffer("shares", torch.softmax(state[LAYER_WEIGHTS][0].float(), dim=0))

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            layers = self.bert(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
            return sum(share * states for share, states in zip(self.shares, layers, strict=True))

    return LoadedModel(States().eval(), tokenizer, separator, positions_of(config))
