"""Trains SciMult's models (Zhang et al. 2023): three tasks, each of which reads queries and candidates alike, by experts or instructions.

With experts, every second layer has an attention, or a feed-forward network, for each task (section 3.2). With instructions, each layer
also attends to the states of the task's instruction (section 3.3).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch

from ....base.errors import InvalidRequest
from ....encoders.catalogue import SCIMULT_KINDS, SCIMULT_TASKS
from ....encoders.layouts.instructed import contexts_of, instruction_ids, states_in_context
from ....encoders.specs import EncoderSpec, Layout
from ...presets import Plan
from .student import TASKS, read_by
from .whole import OfBert


class SciMult(OfBert):
    """A student that begins as a plain BERT, best as one trained on all tasks (appendix C: two stages). Its vector is the state of [CLS]
    (section 3.1).
    """

    layout: Layout

    def prepare(self, plan: Plan) -> None:
        """See `Student`. Raises InvalidRequest for a task that SciMult does not have."""
        if unknown := [format for format in self.formats if format not in TASKS]:
            raise InvalidRequest(f"SciMult has no task of {unknown[0]}: train {plan.method!r} on pairs, triplets and labels alone")
        super().prepare(plan)

    def as_trained(self) -> EncoderSpec:
        """See `Student`: all texts are read for search, or for the first trained task."""
        spec = super().as_trained()
        trained = {TASKS[format] for format in self.formats}
        task = next(task for task in SCIMULT_TASKS if task in trained)
        sides = read_by(spec.sides, task, task)
        return replace(spec, layout=self.layout, sides=sides, pooling="cls", tasks=SCIMULT_TASKS, kinds=SCIMULT_KINDS)

    def format_of(self, task: str, *, is_text: bool) -> str:
        """See `Student`: always the task's own format."""
        return task

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        self.choose(TASKS[format])
        return self.module(ids, mask)

    @abstractmethod
    def choose(self, task: str) -> None:
        """Switch the module to one of SciMult's tasks."""

    @abstractmethod
    def encoder_weights(self) -> Mapping[str, Any]:
        """The weights of the encoder of queries and candidates, under the names of the authors' code."""

    def parameters(self) -> Mapping[str, Any]:
        """The checkpoint's parameters beyond DPR's own settings."""
        return {}

    def weights(self) -> Mapping[str, Any]:
        """See `OfBert`: the one encoder is saved twice, as in the authors' checkpoints."""
        encoder = self.encoder_weights()
        parameters = {
            "pretrained_model_cfg": self.base_spec.name,
            "projection_dim": 0,
            "mean_pool": False,
            "shared_encoder": True,
            **self.parameters(),
        }
        return {
            "model_dict": {f"{side}_model.encoder.{name}": value for side in ("question", "ctx") for name, value in encoder.items()},
            "optimizer_dict": {},
            "scheduler_dict": {},
            "offset": 0,
            "epoch": 0,
            "encoder_params": parameters,
        }


def routed(module: Any) -> Any:
    """Copies of a module, one per task, of which number `active` is used."""

    class Routed(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.experts = torch.nn.ModuleList([deepcopy(module) for _ in SCIMULT_TASKS])
            self.active = 0

        def forward(self, *inputs: Any) -> Any:
            return self.experts[self.active](*inputs)

    return Routed()


class Experts(SciMult):
    """Trains all weights, each expert by its own task alone. The second, the fourth and every further second layer have experts."""

    layout = "scimult"
    kind: str
    names: Mapping[str, str]
    """The parts of a layer that have experts, and their names in a checkpoint."""

    def extend(self, plan: Plan) -> None:
        self.routes = []
        for layer in self.model.encoder.layer[1::2]:
            for name in self.names:
                place, _, last = name.rpartition(".")
                owner = layer.get_submodule(place)
                self.routes.append(routed(getattr(owner, last)))
                setattr(owner, last, self.routes[-1])

    def choose(self, task: str) -> None:
        for route in self.routes:
            route.active = SCIMULT_TASKS.index(task)

    def parameters(self) -> Mapping[str, Any]:
        return {"use_moe": True, "num_expert": len(SCIMULT_TASKS), "moe_type": f"mod2:{self.kind}"}

    def encoder_weights(self) -> Mapping[str, Any]:
        return {self._name(name): value for name, value in self.model.state_dict().items()}

    def _name(self, name: str) -> str:
        match = re.fullmatch(r"(encoder\.layer\.\d+)\.(.+)\.experts\.(\d+)\.(.+)", name)
        return f"{match[1]}.{self.names[match[2]]}.{match[3]}.{match[4]}" if match else name


class AttentionExperts(Experts):
    """SciMult-MHAExpert. The layer normalisation after the attention is shared."""

    kind = "attn"
    names: Mapping[str, str] = {
        **{f"attention.self.{name}": f"attention.self.moe_{name}" for name in ("query", "key", "value")},
        "attention.output.dense": "attention.output.moe_dense",
    }


class FeedForwardExperts(Experts):
    """SciMult-FFNExpert."""

    kind = "fwd"
    names: Mapping[str, str] = {"intermediate": "moe_layer.interm_layers", "output": "moe_layer.output_layers"}


def with_instructor(bert: Any, instructor: Any, instructions: Mapping[str, Any]) -> Any:
    """A module that gives the token states of a BERT that attends to the instruction of `task`.

    Args:
        bert: the encoder.
        instructor: the encoder of instructions, which may be the same.
        instructions: tokens by task, (1, length).
    """

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert, self.instructor, self.config = bert, instructor, bert.config
            self.task = next(iter(instructions))

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            contexts = contexts_of(self.instructor, instructions[self.task].to(input_ids.device))
            return states_in_context(self.bert, contexts, input_ids, attention_mask)

    return States().eval()


class Instruction(SciMult):
    """SciMult-Instruction: one encoder reads texts and instructions, and all of its weights are trained."""

    layout = "instructed"

    def extend(self, plan: Plan) -> None:
        ids = {task: instruction_ids(self.tokenizer, task, self.positions, plan.base) for task in SCIMULT_TASKS}
        self.model = self.states = with_instructor(self.model, self.instructor(), ids)

    def instructor(self) -> Any:
        """The encoder of instructions."""
        return self.model

    def choose(self, task: str) -> None:
        self.states.task = task

    def encoder_weights(self) -> Mapping[str, Any]:
        weights: Mapping[str, Any] = self.states.bert.state_dict()
        return weights


class Prefix(Instruction):
    """SciMult-Prefix: instructions have their own encoder, a copy of the other; only this copy is trained."""

    def instructor(self) -> Any:
        instructor = deepcopy(self.model)
        self.model.requires_grad_(False)
        return instructor

    def weights(self) -> Mapping[str, Any]:
        """See `OfBert`. The authors have released no such checkpoint; the names are our own."""
        weights = dict(super().weights())
        instructor = {f"instruction_model.encoder.{name}": value for name, value in self.states.instructor.state_dict().items()}
        return weights | {"model_dict": weights["model_dict"] | instructor}
