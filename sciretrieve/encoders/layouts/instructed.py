"""SciMult with instructions (its §3.3): each layer attends to the states of a task's instruction and to the text's own.

The authors have released no such checkpoint. The layout read here is that of their others, with the instruction's
encoder, if it has its own weights (SciMult-Prefix), under `instruction_model.encoder.*`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, additive_mask, fill, positions_of, stripped
from .scimult import PREFIX, base_of, encoder_state, new_bert

INSTRUCTIONS = {
    "search": "Retrieve a scientific paper that is relevant to the query.",
    "link_prediction": "Find a pair of scientific papers that one paper cites the other.",
    "classification": "Tag a scientific paper with relevant scientific topic classes.",
}
"""Table 1. Any other task is an instruction itself, as in the paper's Tables A6 and A7."""


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """A BERT whose attention reaches the instruction of `task`. As the instruction never changes, its states are constants.

    Raises:
        InvalidRequest: the checkpoint has another layout, or might run code; or the instruction is longer than the model reads.
        CorruptData: it cannot be read.
    """
    import torch

    path, config, tokenizer, separator = base_of(folders, spec)
    state, all_weights = encoder_state(path, PREFIX)
    model, instructor = new_bert(config), new_bert(config)
    fill(model, state, path)
    fill(instructor, stripped(all_weights, "instruction_model.encoder.") or state, path)
    ids = torch.tensor([tokenizer.encode(INSTRUCTIONS.get(task, task)).ids])
    if ids.shape[1] > positions_of(config):
        raise InvalidRequest(f"the instruction {task[:40]!r} … has {ids.shape[1]} tokens, and {spec.name} reads {positions_of(config)}")
    with torch.no_grad():
        # x^(0) … x^(N-1): the input of each layer
        instruction = instructor(ids, output_hidden_states=True).hidden_states[:-1]
    heads = config.num_attention_heads

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert = model
            for layer, context in enumerate(instruction):
                self.register_buffer(f"context_{layer}", context)

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            texts, length = input_ids.shape
            states = self.bert.embeddings(input_ids)
            extended_mask = torch.cat([torch.ones_like(ids).expand(texts, -1).to(attention_mask.device), attention_mask], dim=1)
            mask = additive_mask(extended_mask).to(states.dtype)
            for number, layer in enumerate(self.bert.encoder.layer):
                context = torch.cat([getattr(self, f"context_{number}").expand(texts, -1, -1), states], dim=1)
                attention = layer.attention.self
                query, key, value = (
                    part(source).view(texts, source.shape[1], heads, -1).transpose(1, 2)
                    for part, source in ((attention.query, states), (attention.key, context), (attention.value, context))
                )
                attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
                attended = layer.attention.output(attended.transpose(1, 2).reshape(texts, length, -1), states)
                states = layer.output(layer.intermediate(attended), attended)
            return states

    return LoadedModel(States().eval(), tokenizer, separator, positions_of(config))
