"""Projected attention layers (PALs) of SciRepEval: beside each BERT layer a small one per task (its §5; Stickland and Murray 2019).

The files are those of the authors' code: a BERT with `multi_layers.T` in each layer, for task number T, and projections `mult_aug_dense.T`
and `mult_aug_dense2.T` that all layers share. The low-rank form has its own projections in each layer and no attention.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, additive_mask, attended, fill, open_reader, positions_of, read_checkpoint, stripped, weights_file
from .scimult import new_bert

HEADS = 6
"""Attention heads of a PAL, regardless of the model's own number."""
SET = "sets.0."
OTHER_FORMS = ("houlsby", "top", "lhuc", "bert_lay_top")


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """BERT with the PALs of `task`."""
    folder = folders["base"]
    config, tokenizer, separator = open_reader(folder)
    if not getattr(config, "mult", False) or any(getattr(config, form, False) for form in OTHER_FORMS):
        raise InvalidRequest(f"{folder}/config.json describes no projected attention layers (mult: true), or another form of them")
    state = read_checkpoint(weights_file(folder))
    state = stripped(state, "bert." if any(name.startswith("bert.") for name in state) else "")
    weights, number = _rename(state, spec.tasks.index(task), bool(config.pals))
    if number != len(spec.tasks):
        raise InvalidRequest(f"the weights in {folder} have projected attention layers for {number} tasks, not {len(spec.tasks)}")
    model = with_pals(new_bert(config), config, 1).eval()
    fill(model, weights, weights_file(folder))
    return LoadedModel(model, tokenizer, separator, positions_of(config))


def with_pals(bert: Any, config: Any, count: int) -> Any:
    """A module that gives the token states of a BERT with one of several sets of PALs, number `active`, beside its layers.

    Args:
        bert: without a pooler.
        config: its configuration, with `hidden_size_aug` and `pals`.
        count: the number of sets, one per task.
    """
    size = config.hidden_size_aug

    class Pal(torch.nn.Module):  # type: ignore[misc]
        """A projection down, attention or nothing, and a projection up."""

        def __init__(self) -> None:
            super().__init__()
            self.aug_dense = torch.nn.Linear(config.hidden_size, size)
            self.aug_dense2 = torch.nn.Linear(size, config.hidden_size)
            if config.pals:
                self.query, self.key, self.value = (torch.nn.Linear(size, size) for _ in range(3))

        def forward(self, states: Any, mask: Any) -> Any:
            reduced = self.aug_dense(states)
            if not config.pals:
                return self.aug_dense2(torch.nn.functional.gelu(reduced))
            dropout = config.attention_probs_dropout_prob if self.training else 0.0
            return torch.nn.functional.gelu(self.aug_dense2(attended(self, HEADS, reduced, reduced, mask.to(reduced.dtype), dropout)))

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert, self.config, self.active = bert, config, 0
            self.sets = torch.nn.ModuleList()
            for _ in range(count):
                pals = torch.nn.ModuleList([Pal() for _ in range(config.num_hidden_layers)])
                if config.pals:  # the layers share their projections
                    for pal in pals[1:]:
                        pal.aug_dense, pal.aug_dense2 = pals[0].aug_dense, pals[0].aug_dense2
                self.sets.append(pals)

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            mask = additive_mask(attention_mask)
            states = self.bert.embeddings(input_ids)
            mask = mask.to(states.dtype)
            for layer, pal in zip(self.bert.encoder.layer, self.sets[self.active], strict=True):
                attended = layer.attention(states, mask)[0]
                states = layer.output(layer.intermediate(attended), attended + pal(states, mask))
            return states

    return States()


def _rename(state: Mapping[str, Any], task: int, shares_projections: bool) -> tuple[dict[str, Any], int]:
    """The weights by the names of `with_pals`, without those of other tasks; and the number of tasks."""
    weights, tasks = {}, set()
    for name, tensor in state.items():
        layer_match = re.fullmatch(r"encoder\.layer\.(\d+)\.multi_layers\.(\d+)\.(?:attn\.)?(.+)", name)
        shared_match = re.fullmatch(r"encoder\.mult_aug_dense2?\.(\d+)\..+", name)
        if layer_match:
            layer, number, rest = layer_match.groups()
            tasks.add(int(number))
            if int(number) == task:
                weights[f"{SET}{layer}.{rest}"] = tensor
        elif not shared_match:
            weights[f"bert.{name}"] = tensor
    if shares_projections:
        # the file may name the shared projections once, or again in each layer
        layers = {name.removeprefix(SET).partition(".")[0] for name in weights if name.startswith(SET)}
        for name, tensor in state.items():
            if projection := re.fullmatch(rf"encoder\.mult_(aug_dense2?)\.{task}\.(.+)", name):
                weights |= {f"{SET}{layer}.{projection[1]}.{projection[2]}": tensor for layer in layers}
    return weights, len(tasks)
