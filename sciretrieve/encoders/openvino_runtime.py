"""The CPU runtime: one task of an encoder as an OpenVINO graph, compiled once and then started without torch."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np

from ..once import once
from ..protocols import Advance, unheard
from ..types import Vectors
from .artifact import Arithmetic, Artifact
from .tokens import Tokens

HINTS: dict[Arithmetic, str] = {"bf16": "bf16", "fp32": "f32"}


class OpenVinoRuntime:
    """An encoder from the cache on this machine's CPU. Nothing loads before the first text."""

    def __init__(self, artifact: Artifact, precision: Arithmetic) -> None:
        self._artifact = artifact
        self.precision = precision
        self.name = f"OpenVINO {precision}"

    @property
    def machine(self) -> str:
        """The processor, the number formats it supports, and the library's version."""
        import openvino

        capabilities = " ".join(sorted(_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")))
        return f"{_core().get_property('CPU', 'FULL_DEVICE_NAME')} ({capabilities}), OpenVINO {openvino.__version__}"

    def run(self, tokens: Tokens, advance: Advance = unheard) -> Vectors:
        """Encode: (texts, dim) float32.

        Threads that encode at the same time take turns after each batch: OpenVINO computes one batch on all cores.
        """
        # threads cannot share a request; one takes microseconds to make and holds no more than a batch and its vectors
        request = self._compiled.create_infer_request()
        vectors = np.empty((tokens.texts, self._artifact.dim), np.float32)
        for number, batch in enumerate(tokens.batches):
            if number:
                advance(len(tokens.batches[number - 1].places))
            outputs = request.infer({"input_ids": batch.ids, "attention_mask": batch.mask}, share_inputs=True)
            vectors[batch.places] = outputs[0]
        return vectors

    @once
    def _compiled(self) -> Any:
        # the latency hint gives each batch all cores
        settings: dict[str, str] = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": HINTS[self.precision],
            "CACHE_DIR": str(self._artifact.folder / "compiled"),
        }
        # the one setting that NumPy, FAISS and torch heed by themselves
        if (threads := os.environ.get("OMP_NUM_THREADS", "")).isdigit() and int(threads):
            settings["INFERENCE_NUM_THREADS"] = threads
        return _core().compile_model(self._artifact.folder / "model.xml", "CPU", settings)


def has_bf16() -> bool:
    """Whether this machine's CPU supports bf16. If it does not, bf16 is slower than fp32."""
    return "BF16" in _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@cache
def _core() -> Any:
    # its telemetry package would use the network at import
    os.environ.setdefault("OPENVINO_TELEMETRY_OPT_OUT", "1")
    import openvino

    return openvino.Core()
