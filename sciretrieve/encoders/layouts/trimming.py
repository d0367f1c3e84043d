"""Trims the last layer to the one token whose state becomes the vector.

This saves most of one of a BERT-base's twelve layers. Keys and values still come from all tokens, so the vector is the same.
"""

from __future__ import annotations

from typing import Any

import torch

from .loading import attended

FIRST = 2
"""The number of first tokens that are kept: [CLS], and the control code after it."""


def trim(states: Any) -> bool:
    """Make the last layer of a BERT compute only its first tokens. Returns False if that may be incorrect.

    `states` is a module from `loading.states_of`, or another layout's, which is left unchanged.
    """
    from transformers.models.bert.modeling_bert import BertEncoder

    encoders = [module for module in states.modules() if isinstance(module, BertEncoder)]
    if (
        not getattr(states, "trimmable", False)
        or len(encoders) != 1
        or getattr(encoders[0].config, "position_embedding_type", "absolute") != "absolute"
    ):
        return False

    class FirstTokens(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, hidden_states: Any, attention_mask: Any = None, *_: Any, **__: Any) -> Any:
            attention = self.layer.attention.self
            first = hidden_states[:, :FIRST]
            mask = None if attention_mask is None else attention_mask[:, :, :FIRST]
            context = attended(attention, attention.num_attention_heads, first, hidden_states, mask)
            return (self.layer.feed_forward_chunk(self.layer.attention.output(context, first)),)

    encoders[0].layer[-1] = FirstTokens(encoders[0].layer[-1])
    return True


def untrim(states: Any) -> None:
    """Undo `trim`."""
    from transformers.models.bert.modeling_bert import BertEncoder

    for module in states.modules():
        if isinstance(module, BertEncoder):
            module.layer[-1] = module.layer[-1].layer
            return
