"""What is made of a BERT by new parts inside it, and written in the layout of the paper's authors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....encoders.trained import CHECKPOINT
from ....errors import InvalidRequest
from ...presets import Plan
from .whole import Whole


class OfBert(Whole):
    """Its folder has the configuration, the tokenizer, and what `weights` gives."""

    weights_file = CHECKPOINT

    def prepare(self, plan: Plan) -> None:
        """See `Student`."""
        if self.model.config.model_type != "bert":
            raise InvalidRequest(
                f"{plan.base} is no BERT but a {self.model.config.model_type}, and the method {plan.method!r} takes a BERT: "
                "begin with scibert, pubmedbert or another"
            )
        self.model.pooler = None
        self.extend(plan)

    @abstractmethod
    def extend(self, plan: Plan) -> None:
        """Give the BERT its new parts, and say which weights are trained."""

    @abstractmethod
    def weights(self) -> Mapping[str, Any]:
        """What the file of weights holds."""

    def write_model(self, folder: Path) -> None:
        """See `Student`."""
        import torch

        self.model.config.save_pretrained(folder)
        self.write_tokenizer(folder)
        torch.save(dict(self.weights()), folder / self.weights_file)
