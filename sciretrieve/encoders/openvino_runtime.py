"""The CPU runtime: one task of an encoder as an OpenVINO graph, compiled once and then started without torch.

OpenVINO's converter of models is imported only when it is called: it is slow to import, and a search needs none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from ..base.errors import CorruptData
from ..base.once import once
from ..base.system import thread_limit
from ..base.types import Vectors
from ..base.waiting import raise_if_abandoned
from ..protocols import Advance, ignore_advance
from .artifact import Arithmetic, Artifact
from .tokens import BUDGET, TokenBatch, TokenReader, Tokens, ignored

CONVERTER = "openvino.tools.ovc"
HINTS: dict[Arithmetic, str] = {"bf16": "bf16", "fp32": "f32"}
"""OpenVINO's names of arithmetics."""


class OpenVinoRuntime:
    """An encoder from the cache on this machine's CPU. Nothing is loaded before the first text.

    In one stream, all cores compute a batch together, which is fastest for a single text. In several, each stream computes its own batch
    with its share of the cores, which wait less for each other. The vectors are the same to the last bit.
    """

    budget = BUDGET

    def __init__(self, artifact: Artifact, precision: Arithmetic, streams: int = 1) -> None:
        self._artifact, self._streams = artifact, streams
        self._idle_requests: list[Any] = []
        self.precision = precision
        self.name = f"OpenVINO {precision}"
        self.way = self.name if streams == 1 else f"{self.name} in {streams} streams"

    @once
    def machine(self) -> str:
        """The processor, its usable instruction sets, and the library's version."""
        capabilities = " ".join(sorted(_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")))
        # bf16 needs instructions that a user may disable for OpenVINO; measurements without them do not hold with them
        limit = f", {isa}" if (isa := os.environ.get("ONEDNN_MAX_CPU_ISA")) else ""
        return f"{_core().get_property('CPU', 'FULL_DEVICE_NAME')} ({capabilities}){limit}, OpenVINO {load_openvino().__version__}"

    def run(self, tokens: Tokens, read: TokenReader = ignored, advance: Advance = ignore_advance) -> tuple[Vectors, list[Any]]:
        """See `runtimes.Runtime`.

        Threads that encode at the same time take turns after each batch: OpenVINO computes one batch a stream.
        """
        vectors, readings = np.empty((tokens.texts, self._artifact.dim), np.float32), []
        for number, (batch, output) in enumerate(zip(tokens.batches, self._outputs(tokens), strict=True)):
            raise_if_abandoned()
            vectors[batch.places] = output[0]
            if len(output) > 1 and read is not ignored:
                readings.append(read(*batch.states(output[1], self._artifact.idle)))
            if number + 1 < len(tokens.batches):
                advance(len(batch.places))
        return vectors, readings

    def _outputs(self, tokens: Tokens) -> Iterator[Sequence[Vectors]]:
        """The graph's outputs for each batch: vectors, and for late interaction token vectors."""
        compiled = self._compiled
        self._check_files()

        def infer(batch: TokenBatch) -> Sequence[Vectors]:
            # threads cannot share a request, and while one encodes, making another waits; each holds no more than a batch and its vectors
            try:
                request = self._idle_requests.pop()
            except IndexError:
                request = compiled.create_infer_request()
            output = request.infer({"input_ids": batch.ids, "attention_mask": batch.mask}, share_inputs=True)
            self._idle_requests.append(request)
            return (output[0], output[1]) if self._artifact.late else (output[0],)

        if self._streams == 1:
            yield from map(infer, tokens.batches)
            return
        pool = ThreadPoolExecutor(self._streams)
        try:
            yield from pool.map(infer, tokens.batches)
        finally:
            pool.shutdown(cancel_futures=True)

    @once
    def _compiled(self) -> Any:
        folder = self._artifact.folder
        settings: dict[str, str] = {"INFERENCE_PRECISION_HINT": HINTS[self.precision]}
        if self._streams == 1:
            # threads pinned to a core wait for Python's thread there, while other searches read their queries
            settings |= {"PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": "NO"}
            # a search opens this cached graph, so it keeps the form that opens fastest
            settings["CACHE_DIR"] = str(folder / "compiled")
        else:
            settings |= {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": str(self._streams)}
        if limit := thread_limit():
            settings["INFERENCE_NUM_THREADS"] = str(limit)
        compiled = _core().compile_model(folder / "model.xml", "CPU", settings)
        paths = [folder / "model.bin", *(folder / "compiled").glob("*.blob")]
        self._mapped = [(path, path.stat()) for path in paths]
        return compiled

    def _check_files(self) -> None:
        """Raise CorruptData if a mapped file was truncated since: reading the missing part would kill the process."""
        for path, then in self._mapped:
            with suppress(OSError):  # a removed file stays readable for processes that have it open
                now = path.stat()
                if now.st_ino == then.st_ino and now.st_size < then.st_size:
                    raise CorruptData(f"{path} was cut; clear the cache with `sciretrieve encoders clear`, and start again")


def has_bf16() -> bool:
    """Whether this machine's CPU supports bf16. If it does not, bf16 is slower than fp32."""
    return "BF16" in _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@cache
def _core() -> Any:
    return load_openvino().Core()


@cache
def load_openvino() -> Any:
    """OpenVINO."""
    # OpenVINO's telemetry package would use the network at import
    os.environ.setdefault("OPENVINO_TELEMETRY_OPT_OUT", "1")
    if "openvino" in sys.modules:
        import openvino

        return openvino
    sys.modules[CONVERTER] = None  # type: ignore[assignment] # what is None cannot be imported, and openvino does without this one
    try:
        import openvino
    finally:
        sys.modules.pop(CONVERTER, None)
    openvino.convert_model = _convert_model
    return openvino


def _convert_model(*arguments: Any, **settings: Any) -> Any:
    """Import OpenVINO's converter, and call it: a stand-in for `openvino.convert_model`."""
    from openvino.tools.ovc import convert_model

    return convert_model(*arguments, **settings)
