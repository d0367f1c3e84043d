"""The torch runtime: CUDA in bf16, several GPUs with a process each, and models that OpenVINO cannot convert."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..base.choices import Device
from ..base.errors import InvalidRequest
from ..base.extras import has, need
from ..base.once import once
from ..base.system import GPU_DRIVERS
from ..base.types import Vectors
from ..base.waiting import raise_if_abandoned
from ..protocols import Advance, ignore_advance
from .artifact import Arithmetic, Artifact
from .specs import EncoderSpec
from .tokens import TokenBatch, TokenReader, Tokens, ignored

CPU_BUDGET = 4096
"""Tokens per batch on a CPU, padding included, measured with AMX."""
GPU_BUDGET = 65_536
"""Tokens per batch on a GPU."""
WINDOW = 8192
"""Texts encoded together on each GPU, whose batches are large: sorting so many keeps padding under 5 %."""


def has_cuda() -> bool:
    """Whether torch can use an NVIDIA GPU. Imports torch only if the driver has made a device file."""
    if not any(Path(device).exists() for device in GPU_DRIVERS) or not has("torch"):
        return False
    import torch

    return bool(torch.cuda.is_available())


def check_device(device: Device) -> None:
    """Raises InvalidRequest for a device that this machine lacks."""
    if device == "cuda" and not has_cuda():
        need("torch", "a GPU")
        import torch

        build = "" if torch.version.cuda else " (this torch is a build without CUDA; install one with it)"
        raise InvalidRequest(f"torch finds no CUDA device{build}; leave out `device`, or use `device='cpu'`")


def cuda_devices() -> list[str]:
    """The GPUs, by torch's names."""
    import torch

    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def cuda_has_bf16() -> bool:
    """Whether the GPUs support bf16."""
    import torch

    return bool(torch.cuda.is_bf16_supported(including_emulation=False))


@dataclass(frozen=True, slots=True)
class Weights:
    """The files of one task of an encoder: their folders, by role."""

    spec: EncoderSpec
    task: str
    folders: Mapping[str, Path]


class TorchRuntime:
    """One task of an encoder in torch, on one device. The weights are located when the model is first needed."""

    def __init__(self, weights: Callable[[], Weights], artifact: Artifact, device: str, precision: Arithmetic) -> None:
        self._weights, self._artifact, self._device = weights, artifact, device
        self.precision = precision
        self.name = self.way = f"torch {precision}" if device == "cpu" else f"torch {precision} on {device}"
        self.budget = CPU_BUDGET if device == "cpu" else GPU_BUDGET
        self._lock = Lock()

    @property
    def machine(self) -> str:
        """The device, and the library's version."""
        import torch

        name = torch.cuda.get_device_name(self._device) if self._device.startswith("cuda") else "CPU"
        return f"{name}, torch {torch.__version__}"

    def run(self, tokens: Tokens, read: TokenReader = ignored, advance: Advance = ignore_advance) -> tuple[Vectors, list[Any]]:
        """See `runtimes.Runtime`. Vectors are fetched once at the end; token vectors after each batch, since they would fill the device.

        Between batches the host may wait: transformers asks for each whether any of it is padding.
        """
        import torch

        vectors = np.empty((tokens.texts, self._artifact.dim), np.float32)
        readings: list[Any] = []
        if not tokens.batches:
            return vectors, readings
        model, parts = self._model, []
        with torch.inference_mode():
            for number, batch in enumerate(tokens.batches):
                raise_if_abandoned()
                if number:
                    advance(len(tokens.batches[number - 1].places))
                ids, mask = self._to_device(batch)
                with self._lock:  # some layouts keep state in the model during a forward pass
                    output = self._run_or_halve(model, ids, mask)
                parts.append(output[0])
                if len(output) > 1 and read is not ignored:
                    readings.append(read(*batch.states(output[1].cpu().numpy(), self._artifact.idle)))
            places = np.concatenate([batch.places for batch in tokens.batches])
            vectors[places] = torch.cat(parts).cpu().numpy()
        return vectors, readings

    @once
    def _model(self) -> Any:
        import torch

        from .conversion import load_model, pooled
        from .layouts.trimming import trim

        weights = self._weights()
        pooled_model, _, _ = load_model(weights.spec, weights.task, weights.folders, self._artifact.late)
        if self._artifact.trimmed:
            trim(pooled_model.model)
        states = pooled_model.model.to(torch.bfloat16 if self.precision == "bf16" else torch.float32)
        spec = weights.spec
        return pooled(states, spec.pooling, spec.normalise, self._artifact.late, unit=not spec.pairing).to(self._device)

    def _to_device(self, batch: TokenBatch) -> tuple[Any, Any]:
        """A batch on the device. Its pages are pinned, so the host does not wait for the copy, which follows the previous batch."""
        import torch

        ids, mask = torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)
        if self._device.startswith("cuda"):
            ids, mask = ids.pin_memory(), mask.pin_memory()
        return ids.to(self._device, non_blocking=True), mask.to(self._device, non_blocking=True)

    def _run_or_halve(self, model: Any, ids: Any, mask: Any) -> tuple[Any, ...]:
        """The model's output for a batch; a batch too large for the device's memory is halved."""
        import torch

        try:
            output = model(ids, mask)
            return output if isinstance(output, tuple) else (output,)
        except torch.OutOfMemoryError:
            if len(ids) == 1:
                raise InvalidRequest("the device has too little memory for one text; use `device='cpu'`") from None
        half = len(ids) // 2
        halves = [self._run_or_halve(model, ids[part], mask[part]) for part in (slice(half), slice(half, None))]
        return tuple(torch.cat(parts) for parts in zip(*halves, strict=True))


class ManyDevices:
    """One task of an encoder on several devices, each in its own process, since one process cannot feed them all."""

    def __init__(self, weights: Callable[[], Weights], artifact: Artifact, devices: Sequence[str], precision: Arithmetic) -> None:
        self._weights, self._artifact, self._devices = weights, artifact, devices
        self._first_runtime = TorchRuntime(weights, artifact, devices[0], precision)
        self.precision = precision
        self.budget = GPU_BUDGET
        self.name = self.way = f"torch {precision} on {len(devices)} x {devices[0].partition(':')[0]}"

    @property
    def machine(self) -> str:
        """The first device, which represents the others, and the library's version."""
        return self._first_runtime.machine

    def run(
        self,
        tokens: Tokens,
        read: TokenReader = ignored,
        advance: Advance = ignore_advance,  # noqa: ARG002 - devices in other processes report no progress
    ) -> tuple[Vectors, list[Any]]:
        """See `runtimes.Runtime`. Every device gets each n-th batch, so that long and short ones are spread evenly, and calls `read`."""
        workers = self._workers
        shares = [replace(tokens, batches=tokens.batches[number :: len(workers)]) for number in range(len(workers))]
        futures = [worker.submit(_run_in_worker, share, read) for worker, share in zip(workers, shares, strict=True)]
        vectors = np.empty((tokens.texts, self._artifact.dim), np.float32)
        readings: list[Any] = [None] * len(tokens.batches)
        for number, (share, future) in enumerate(zip(shares, futures, strict=True)):
            if share.batches:
                places = np.concatenate([batch.places for batch in share.batches])
                encoded, part = future.result()
                vectors[places] = encoded[places]
                readings[number :: len(workers)] = part or [None] * len(share.batches)
        return vectors, readings

    @once
    def _workers(self) -> list[ProcessPoolExecutor]:
        context = multiprocessing.get_context("spawn")
        weights, folder = self._weights(), self._artifact.folder
        return [
            ProcessPoolExecutor(1, mp_context=context, initializer=_start_worker, initargs=(weights, folder, device, self.precision))
            for device in self._devices
        ]


_WORKER: dict[str, TorchRuntime] = {}
"""The runtime of this process, if it is a worker of `ManyDevices`."""


def _start_worker(weights: Weights, folder: Path, device: str, precision: Arithmetic) -> None:
    _WORKER["runtime"] = TorchRuntime(lambda: weights, Artifact(folder), device, precision)


def _run_in_worker(tokens: Tokens, read: TokenReader) -> tuple[Vectors, list[Any]]:
    return _WORKER["runtime"].run(tokens, read)
