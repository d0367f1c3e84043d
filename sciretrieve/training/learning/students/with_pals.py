"""Trains a whole model with projected attention layers for each format (Singh et al. 2023, §5; Stickland and Murray 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ....encoders.layouts.pals import OTHER_FORMS, with_pals
from ....encoders.specs import EncoderSpec
from ...presets import PAL_WIDTH, Plan
from .student import read_through
from .whole import OfBert


class WithPals(OfBert):
    """Trains all weights, each format's PALs by that format alone. The layers of one format share their projections."""

    weights_file = "pytorch_model.bin"

    def extend(self, plan: Plan) -> None:
        """See `OfBert`: new weights begin with normal random numbers, as BERT's own did, and biases with zeros (the authors' code)."""
        config, forms = self.model.config, dict.fromkeys(OTHER_FORMS, False)
        config.update({"mult": True, "pals": True, "hidden_size_aug": PAL_WIDTH, "num_tasks": len(self.formats), **forms})
        self.model = self.states = with_pals(self.model, config, len(self.formats)).eval()
        for module in self.states.sets.modules():
            if isinstance(module, torch.nn.Linear):
                torch.nn.init.normal_(module.weight, std=config.initializer_range)
                torch.nn.init.zeros_(module.bias)

    def as_trained(self) -> EncoderSpec:
        return read_through(super().as_trained(), dict(zip(self.formats, self.formats, strict=True)), "pals")

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        self.states.active = self.formats.index(format)
        return self.module(ids, mask)

    def weights(self) -> Mapping[str, Any]:
        """See `OfBert`: the names of the authors' code, which repeats the shared projections in each layer."""
        state = dict(self.states.bert.state_dict())
        for number, pals in enumerate(self.states.sets):
            for name, value in pals.state_dict().items():
                layer, _, rest = name.partition(".")
                is_attention = rest.partition(".")[0] in ("query", "key", "value")
                state[f"encoder.layer.{layer}.multi_layers.{number}.{'attn.' if is_attention else ''}{rest}"] = value
                if layer == "0" and not is_attention:
                    state[f"encoder.mult_{rest.replace('.', f'.{number}.', 1)}"] = value
        return state
