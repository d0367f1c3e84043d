"""SciMult's experts: every second layer has an attention, or a feed-forward network, for each task (Zhang et al. 2023, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ....encoders.catalogue import SCIMULT_TASKS
from ...presets import Plan
from .scimult import SciMult


def routed(module: Any) -> Any:
    """Copies of a module, one a task, of which the one whose number is `active` is used."""
    import torch

    class Routed(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.experts = torch.nn.ModuleList([deepcopy(module) for _ in SCIMULT_TASKS])
            self.active = 0

        def forward(self, *inputs: Any) -> Any:
            return self.experts[self.active](*inputs)

    return Routed()


class Experts(SciMult):
    """All weights are trained, an expert's by its own task alone. Layers with experts are the second, the fourth and so on."""

    layout = "scimult"
    kind: str
    names: Mapping[str, str]
    """What of a layer has experts, and what a checkpoint calls it."""

    def extend(self, plan: Plan) -> None:
        """See `OfBert`."""
        self.routes = []
        for layer in self.model.encoder.layer[1::2]:
            for name in self.names:
                place, _, last = name.rpartition(".")
                owner = layer.get_submodule(place)
                self.routes.append(routed(getattr(owner, last)))
                setattr(owner, last, self.routes[-1])

    def choose(self, task: str) -> None:
        """See `SciMult`."""
        for route in self.routes:
            route.active = SCIMULT_TASKS.index(task)

    def parameters(self) -> Mapping[str, Any]:
        """See `SciMult`."""
        return {"use_moe": True, "num_expert": len(SCIMULT_TASKS), "moe_type": f"mod2:{self.kind}"}

    def encoder_weights(self) -> Mapping[str, Any]:
        """See `SciMult`."""
        return {self._name(name): value for name, value in self.model.state_dict().items()}

    def _name(self, name: str) -> str:
        match = re.fullmatch(r"(encoder\.layer\.\d+)\.(.+)\.experts\.(\d+)\.(.+)", name)
        return f"{match[1]}.{self.names[match[2]]}.{match[3]}.{match[4]}" if match else name


class AttentionExperts(Experts):
    """SciMult-MHAExpert. Layer normalisation after the attention is shared."""

    kind = "attn"
    names: Mapping[str, str] = {
        **{f"attention.self.{name}": f"attention.self.moe_{name}" for name in ("query", "key", "value")},
        "attention.output.dense": "attention.output.moe_dense",
    }


class FeedForwardExperts(Experts):
    """SciMult-FFNExpert."""

    kind = "fwd"
    names: Mapping[str, str] = {"intermediate": "moe_layer.interm_layers", "output": "moe_layer.output_layers"}
