"""An OpenVINO whose processor, faults and errors of rounding are made up, so that no test depends on the kind of CPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
import openvino


class FakeCore:
    """Computes everything in fp32, whatever was requested, and records the requests.

    Attributes:
        compiled: the precisions ("bf16", "f32") that were compiled, in order.
        batches: how many batches each precision has been given.
        before_batch: called with the precision and the batch's number, from 0; may raise.
        streams: into how many streams the cores were split for each, in order.
        before_compiling: called with the precision; may raise.
        before_compiling_with: called with all settings; may raise.
        disturb: called with the precision and the vectors; gives those that are answered.
    """

    def __init__(self, capabilities: Sequence[str] = ("FP32", "BF16")) -> None:
        self._core, self._capabilities = openvino.Core(), list(capabilities)
        self.compiled: list[str] = []
        self.streams: list[int] = []
        self.batches: Counter[str] = Counter()
        self.before_batch: Callable[[str, int], None] = lambda precision, number: None
        self.before_compiling: Callable[[str], None] = lambda precision: None
        self.before_compiling_with: Callable[[dict[str, str]], None] = lambda settings: None
        self.disturb: Callable[[str, Any], Any] = lambda precision, vectors: vectors

    def get_property(self, device: str, name: str) -> Any:
        return {"OPTIMIZATION_CAPABILITIES": self._capabilities, "FULL_DEVICE_NAME": "a made-up processor"}[name]

    def compile_model(self, graph: Any, device: str, settings: dict[str, str]) -> Any:
        precision = settings["INFERENCE_PRECISION_HINT"]
        self.compiled.append(precision)
        self.streams.append(int(settings.get("NUM_STREAMS", 1)))
        self.before_compiling(precision)
        self.before_compiling_with(settings)
        return _Compiled(self, self._core.compile_model(graph, device, settings | {"INFERENCE_PRECISION_HINT": "f32"}), precision)


class _Compiled:
    def __init__(self, core: FakeCore, compiled: Any, precision: str) -> None:
        self._core, self._compiled, self._precision = core, compiled, precision

    def create_infer_request(self) -> Any:
        return _Request(self._core, self._compiled.create_infer_request(), self._precision)


class _Request:
    def __init__(self, core: FakeCore, request: Any, precision: str) -> None:
        self._core, self._request, self._precision = core, request, precision
        self._in_use = Lock()

    def infer(self, inputs: Any, **options: Any) -> Any:
        if not self._in_use.acquire(blocking=False):
            raise RuntimeError("Infer Request is busy")
        try:
            return self._infer(inputs, **options)
        finally:
            self._in_use.release()

    def _infer(self, inputs: Any, **options: Any) -> Any:
        number = self._core.batches[self._precision]
        self._core.batches[self._precision] += 1
        self._core.before_batch(self._precision, number)
        return [self._core.disturb(self._precision, np.array(self._request.infer(inputs, **options)[0]))]
