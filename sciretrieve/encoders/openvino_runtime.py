"""The CPU runtime: one task of an encoder as an OpenVINO graph, compiled once and started without torch ever after."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..choices import Precision
from ..errors import InvalidRequest
from ..types import Vectors
from .artifact import Artifact, guard
from .tokens import Tokens

HINTS = {"bf16": "bf16", "fp32": "f32"}


class OpenVinoModel:
    """An encoder of the cache on this machine's CPU. Nothing loads before the first text."""

    window = 512

    def __init__(self, artifact: Artifact, asked: Precision) -> None:
        self.artifact = artifact
        self._asked = asked
        self._requests: dict[str, Any] = {}

    @cached_property
    def precision(self) -> Literal["bf16", "fp32"]:
        """The precision that the model runs in: bf16 only where the CPU computes in it, for elsewhere it is slower, and
        only if the vectors stay what they are."""
        able = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if self._asked == "bf16" and not able:
            raise InvalidRequest("this CPU has no bf16 arithmetic, which would run several times slower than fp32; use --precision fp32")
        return guard(self.artifact, "bf16" if able and self._asked != "fp32" else "fp32", self._asked, self._machine, self._probe)

    def run(self, tokens: Tokens) -> Vectors:
        """Encode: (texts, dim) float32."""
        return self._infer(self._request(self.precision), tokens)

    def _infer(self, request: Any, tokens: Tokens) -> Vectors:
        vectors = np.empty((tokens.texts, self.artifact.dim), np.float32)
        for batch in tokens.batches:
            result = request.infer({"input_ids": batch.ids, "attention_mask": batch.mask}, share_inputs=True)
            vectors[batch.places] = result[0]
        return vectors

    def _probe(self, precision: str, tokens: Tokens) -> Vectors:
        return self._infer(self._request(precision), tokens)

    @cached_property
    def _core(self) -> Any:
        # its telemetry package would look for a network at import
        os.environ.setdefault("OPENVINO_TELEMETRY_OPT_OUT", "1")
        import openvino

        return openvino.Core()

    @cached_property
    def _machine(self) -> str:
        import openvino

        return f"{self._core.get_property('CPU', 'FULL_DEVICE_NAME')}, OpenVINO {openvino.__version__}"

    def _request(self, precision: str) -> Any:
        """The model compiled for a precision, once: the guard may have had it compiled already."""
        if precision not in self._requests:
            self._requests[precision] = self._compile(precision)
        return self._requests[precision]

    def _compile(self, precision: str) -> Any:
        folder: Path = self.artifact.folder
        # one synchronous request at a time: the latency hint gives it all cores
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": HINTS[precision],
            "CACHE_DIR": str(folder / "compiled"),
        }
        return self._core.compile_model(folder / "model.xml", "CPU", settings).create_infer_request()
