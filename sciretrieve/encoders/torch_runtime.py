"""The torch runtime: CUDA in bf16, several GPUs by a process each, and whatever OpenVINO cannot take."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..choices import Device, Precision
from ..errors import InvalidRequest
from ..types import Vectors
from .artifact import Artifact, guard
from .specs import EncoderSpec
from .tokens import Batch, Tokens

WINDOW = 8192
"""Texts encoded together on a GPU, where batches are large: sorting over so many keeps padding under 5 %."""


def has_cuda() -> bool:
    """Whether torch can use an NVIDIA GPU. torch is only asked where the driver has left a device."""
    if not any(Path(device).exists() for device in ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")):
        return False
    import torch

    return bool(torch.cuda.is_available())


def check_device(device: Device) -> None:
    """Raises InvalidRequest for a device that is not here."""
    if device == "cuda" and not has_cuda():
        import torch

        build = "" if torch.version.cuda else " (this torch is a build without CUDA; install one with it)"
        raise InvalidRequest(f"there is no CUDA device that torch can use{build}; leave out --device, or use --device cpu")


class TorchModel:
    """One task of an encoder in torch, on one device."""

    window = WINDOW

    def __init__(
        self, spec: EncoderSpec, task: str, folders: Mapping[str, Path], artifact: Artifact, device: str, asked: Precision
    ) -> None:
        self._spec, self._task, self._folders, self._device, self._asked = spec, task, folders, device, asked
        self.artifact = artifact
        self._models: dict[str, Any] = {}

    @cached_property
    def precision(self) -> Literal["bf16", "fp32"]:
        """bf16 on a GPU that has it, fp32 elsewhere; see `artifact.guard`."""
        import torch

        on_gpu = self._device.startswith("cuda")
        able = on_gpu and torch.cuda.is_bf16_supported(including_emulation=False)
        if self._asked == "bf16" and on_gpu and not able:
            raise InvalidRequest("this GPU has no bf16 arithmetic; use --precision fp32")
        wanted: Literal["bf16", "fp32"] = "bf16" if self._asked != "fp32" and (able or self._asked == "bf16") else "fp32"
        name = torch.cuda.get_device_name(self._device) if on_gpu else "CPU"
        return guard(self.artifact, wanted, self._asked, f"{name}, torch {torch.__version__}", self._probe)

    def run(self, tokens: Tokens) -> Vectors:
        """Encode: (texts, dim) float32. Batches are sent ahead, and the vectors fetched once at the end."""
        return self._forward(self._model(self.precision), tokens)

    def _probe(self, precision: str, tokens: Tokens) -> Vectors:
        return self._forward(self._model(precision), tokens)

    def _model(self, precision: str) -> Any:
        """The model in a precision, loaded once: the guard may have had it loaded already. Only one is held."""
        if precision not in self._models:
            self._models = {precision: self._load(precision)}
        return self._models[precision]

    def _load(self, precision: str) -> Any:
        import torch

        from .conversion import load_model, pooled
        from .layouts.trimming import trim

        whole, _, _ = load_model(self._spec, self._task, self._folders)
        if self.artifact.trimmed:
            trim(whole.model)
        states = whole.model.to(torch.bfloat16 if precision == "bf16" else torch.float32)
        return pooled(states, self._spec.pooling, self._spec.normalise).to(self._device)

    def _forward(self, model: Any, tokens: Tokens) -> Vectors:
        import torch

        vectors = np.empty((tokens.texts, self.artifact.dim), np.float32)
        if not tokens.batches:
            return vectors
        with torch.inference_mode():
            parts = [self._one(model, *self._sent(batch)) for batch in tokens.batches]
            places = np.concatenate([batch.places for batch in tokens.batches])
            vectors[places] = torch.cat(parts).cpu().numpy()
        return vectors

    def _sent(self, batch: Batch) -> tuple[Any, Any]:
        """A batch on the device. Pinned pages are copied while the GPU computes the batch before."""
        import torch

        ids, mask = torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)
        if self._device.startswith("cuda"):
            ids, mask = ids.pin_memory(), mask.pin_memory()
        return ids.to(self._device, non_blocking=True), mask.to(self._device, non_blocking=True)

    def _one(self, model: Any, ids: Any, mask: Any) -> Any:
        """A batch's vectors; a batch that the device has no memory for is halved."""
        import torch

        try:
            return model(ids, mask)
        except torch.OutOfMemoryError:
            if len(ids) == 1:
                raise InvalidRequest("the device has not the memory for one text; use --device cpu") from None
        half = len(ids) // 2
        return torch.cat([self._one(model, ids[:half], mask[:half]), self._one(model, ids[half:], mask[half:])])


class ManyDevices:
    """One task of an encoder on several devices, each in a process of its own, for one process cannot feed them all."""

    window = WINDOW

    def __init__(
        self, spec: EncoderSpec, task: str, folders: Mapping[str, Path], artifact: Artifact, devices: list[str], asked: Precision
    ) -> None:
        self.artifact = artifact
        self._first = TorchModel(spec, task, folders, artifact, devices[0], asked)
        self._arguments = [(spec, task, dict(folders), artifact.folder, device) for device in devices]
        self.window = WINDOW * len(devices)

    @property
    def precision(self) -> Literal["bf16", "fp32"]:
        """The precision of the first device, which the others share."""
        return self._first.precision

    def run(self, tokens: Tokens) -> Vectors:
        """Encode: (texts, dim) float32. Every device gets each n-th batch, so that long and short ones are shared out."""
        workers = self._workers
        shares = [replace(tokens, batches=tokens.batches[number :: len(workers)]) for number in range(len(workers))]
        waiting = [worker.submit(_run_here, share) for worker, share in zip(workers, shares, strict=True)]
        vectors = np.empty((tokens.texts, self.artifact.dim), np.float32)
        for share, future in zip(shares, waiting, strict=True):
            if share.batches:
                places = np.concatenate([batch.places for batch in share.batches])
                vectors[places] = future.result()[places]
        return vectors

    @cached_property
    def _workers(self) -> list[ProcessPoolExecutor]:
        context = multiprocessing.get_context("spawn")
        precision = self.precision
        return [
            ProcessPoolExecutor(1, mp_context=context, initializer=_start_here, initargs=(*arguments, precision))
            for arguments in self._arguments
        ]


_HERE: dict[str, TorchModel] = {}
"""The model of this process, where it is one of `ManyDevices`' workers."""


def _start_here(spec: EncoderSpec, task: str, folders: Mapping[str, Path], folder: Path, device: str, precision: Precision) -> None:
    _HERE["model"] = TorchModel(spec, task, folders, Artifact(folder), device, precision)


def _run_here(tokens: Tokens) -> Vectors:
    return _HERE["model"].run(tokens)
