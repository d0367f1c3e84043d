"""What SciMult's models share (Zhang et al. 2023): three tasks, each of which reads queries and candidates alike, and the checkpoint."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ....encoders.catalogue import SCIMULT_KINDS, SCIMULT_TASKS
from ....encoders.specs import EncoderSpec, Layout
from ....errors import InvalidRequest
from ...presets import Plan
from .bert import OfBert
from .student import read_by

TASKS: Mapping[str, str] = {"adhoc_query": "search", "proximity": "link_prediction", "classification": "classification"}
"""SciMult's tasks by the format that a task is named after. Sets of pairs whose queries are texts train search, other pairs and triplets
link prediction, and papers with labels classification."""


class SciMult(OfBert):
    """It begins as a plain BERT, best one that was trained on all tasks without their parts (appendix C: two stages). Its vector is the
    state of [CLS] (section 3.1)."""

    layout: Layout

    def prepare(self, plan: Plan) -> None:
        """See `Student`. Raises InvalidRequest for a task that SciMult does not have."""
        if unknown := [format for format in self.formats if format not in TASKS]:
            raise InvalidRequest(f"SciMult has no task of {unknown[0]}: train {plan.method!r} on pairs, triplets and labels alone")
        super().prepare(plan)

    def as_trained(self) -> EncoderSpec:
        """See `Student`: by default all is read for search, or for the first task that is trained."""
        spec = super().as_trained()
        trained = {TASKS[format] for format in self.formats}
        task = next(task for task in SCIMULT_TASKS if task in trained)
        sides = read_by(spec.sides, task, task)
        return replace(spec, layout=self.layout, sides=sides, pooling="cls", tasks=SCIMULT_TASKS, kinds=SCIMULT_KINDS)

    def format_of(self, task: str, *, is_text: bool) -> str:
        """See `Student`: the task's own, whatever is read."""
        return task

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        """See `Student`."""
        self.choose(TASKS[format])
        return self.module(ids, mask)

    @abstractmethod
    def choose(self, task: str) -> None:
        """Let the module read for one of SciMult's tasks from here on."""

    @abstractmethod
    def encoder_weights(self) -> Mapping[str, Any]:
        """The weights of the encoder of queries and candidates, by the names that the authors' code has."""

    def parameters(self) -> Mapping[str, Any]:
        """What a checkpoint says of the model beyond DPR's own settings."""
        return {}

    def weights(self) -> Mapping[str, Any]:
        """See `OfBert`: the one encoder stands twice, as in the authors' checkpoints."""
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
