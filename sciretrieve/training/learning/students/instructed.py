"""SciMult with instructions: each layer attends to the states of the task's instruction, too (Zhang et al. 2023, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ....encoders.catalogue import SCIMULT_TASKS
from ....encoders.layouts.instructed import contexts_of, instruction_ids, states_in_context
from ...presets import Plan
from .scimult import SciMult


def with_instructor(bert: Any, instructor: Any, instructions: Mapping[str, Any]) -> Any:
    """A module that gives the token states of a BERT that attends to an instruction, `task`'s.

    Args:
        bert: the encoder.
        instructor: the encoder of instructions, which may be the same.
        instructions: tokens by task, (1, length).
    """
    import torch

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
        """See `OfBert`."""
        ids = {task: instruction_ids(self.tokenizer, task, self.positions, plan.base) for task in SCIMULT_TASKS}
        self.model = self.states = with_instructor(self.model, self.instructor(), ids)

    def instructor(self) -> Any:
        """The encoder of instructions."""
        return self.model

    def choose(self, task: str) -> None:
        """See `SciMult`."""
        self.states.task = task

    def encoder_weights(self) -> Mapping[str, Any]:
        """See `SciMult`."""
        weights: Mapping[str, Any] = self.states.bert.state_dict()
        return weights


class Prefix(Instruction):
    """SciMult-Prefix: instructions have an encoder of their own, a copy of the other, and it alone is trained."""

    def instructor(self) -> Any:
        """See `Instruction`."""
        instructor = deepcopy(self.model)
        self.model.requires_grad_(False)
        return instructor

    def weights(self) -> Mapping[str, Any]:
        """See `OfBert`. The authors have released no such checkpoint; these names are our layout's."""
        weights = dict(super().weights())
        instructor = {f"instruction_model.encoder.{name}": value for name, value in self.states.instructor.state_dict().items()}
        return weights | {"model_dict": weights["model_dict"] | instructor}
