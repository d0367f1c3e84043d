"""SciMult with instructions (its §3.3): each layer attends to the states of a task's instruction and to the text's own.

The authors have released no such checkpoint. This layout is that of their others; the instruction's encoder, if it has its own weights
(SciMult-Prefix), is under `instruction_model.encoder.*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, additive_mask, attended, fill, positions_of, stripped
from .scimult import PREFIX, base_of, encoder_state, new_bert

INSTRUCTIONS = {
    "search": "Retrieve a scientific paper that is relevant to the query.",
    "link_prediction": "Find a pair of scientific papers that one paper cites the other.",
    "classification": "Tag a scientific paper with relevant scientific topic classes.",
}
"""The instructions of Table 1. Any other task is an instruction itself, as in the paper's Tables A6 and A7."""


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """A BERT whose attention reaches the instruction of `task`. The instruction never changes, so its states are constants.

    Raises InvalidRequest also for an instruction longer than the model's limit.
    """
    path, config, tokenizer, separator = base_of(folders, spec)
    state, all_weights = encoder_state(path, PREFIX)
    model, instructor = new_bert(config), new_bert(config)
    fill(model, state, path)
    fill(instructor, stripped(all_weights, "instruction_model.encoder.") or state, path)
    ids = instruction_ids(tokenizer, task, positions_of(config), spec.name)
    with torch.no_grad():
        contexts = contexts_of(instructor, ids)

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert = model
            for layer, context in enumerate(contexts):
                self.register_buffer(f"context_{layer}", context)

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return states_in_context(
                self.bert, [getattr(self, f"context_{layer}") for layer in range(len(contexts))], input_ids, attention_mask
            )

    return LoadedModel(States().eval(), tokenizer, separator, positions_of(config))


def instruction_ids(tokenizer: Any, task: str, positions: int, name: str) -> Any:
    """The tokens of a task's instruction, (1, length). Raises InvalidRequest if there are too many for the model."""
    ids = torch.tensor([tokenizer.encode(INSTRUCTIONS.get(task, task)).ids])
    if ids.shape[1] > positions:
        raise InvalidRequest(f"the instruction {task[:40]!r} … has {ids.shape[1]} tokens, and {name} reads {positions}")
    return ids


def contexts_of(instructor: Any, ids: Any) -> Sequence[Any]:
    """The context of an instruction for each layer, x^(0) … x^(N-1), each (1, length, dim): the input of that layer."""
    contexts: Sequence[Any] = instructor(input_ids=ids, output_hidden_states=True).hidden_states[:-1]
    return contexts


def states_in_context(bert: Any, contexts: Sequence[Any], input_ids: Any, attention_mask: Any) -> Any:
    """The token states of a BERT each of whose layers attends to a context and to the text's own states (equation 4)."""
    texts = len(input_ids)
    states = bert.embeddings(input_ids)
    whole_mask = torch.cat([torch.ones_like(contexts[0][:, :, 0], dtype=attention_mask.dtype).expand(texts, -1), attention_mask], dim=1)
    mask = additive_mask(whole_mask).to(states.dtype)
    dropout = bert.config.attention_probs_dropout_prob if bert.training else 0.0
    for layer, instruction in zip(bert.encoder.layer, contexts, strict=True):
        context = torch.cat([instruction.expand(texts, -1, -1), states], dim=1)
        mixed = attended(layer.attention.self, bert.config.num_attention_heads, states, context, mask, dropout)
        mixed = layer.attention.output(mixed, states)
        states = layer.output(layer.intermediate(mixed), mixed)
    return states
