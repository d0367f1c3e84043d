"""The hardware of a training: a CPU or GPUs, with matrix products in bf16 if that is faster; one process or several.

Several processes train together under torchrun: each encodes its share of a step, and all take the same step.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ...encoders.torch_runtime import check_device, cuda_has_bf16, has_cuda
from ...options import TrainingOptions


@dataclass(frozen=True)
class Arithmetic:
    """The device, and whether matrix products are in bf16."""

    device: str
    is_bf16: bool

    def running(self) -> AbstractContextManager[Any]:
        """A context in which matrix products have this precision."""
        return torch.autocast(self.device.partition(":")[0], torch.bfloat16) if self.is_bf16 else nullcontext()


@dataclass(frozen=True, slots=True)
class Processes:
    """The number of processes, and the rank of this one."""

    count: int = 1
    rank: int = 0

    def gathered(self, vectors: Sequence[Any], sizes: Sequence[int]) -> Any:
        """The vectors of all chunks, (texts, dim), in the chunks' order, gathered from all processes.

        Args:
            vectors: the vectors of this process's chunks, number `rank`, `rank + count` and so on.
            sizes: the number of texts of each chunk, of all processes.
        """
        if self.count == 1:
            return torch.cat(list(vectors))
        # each process adds its own vectors to zeros, which is exact
        starts = [sum(sizes[:number]) for number in range(len(sizes))]
        own = list(zip(range(self.rank, len(sizes), self.count), vectors, strict=True))
        dim = torch.tensor([own[0][1].shape[1] if own else 0])
        device = own[0][1].device if own else torch.device(self.device or "cpu")
        torch.distributed.all_reduce(dim := dim.to(device), op=torch.distributed.ReduceOp.MAX)
        whole = torch.zeros(sum(sizes), int(dim), device=device)
        for number, part in own:
            whole[starts[number] : starts[number] + sizes[number]] = part
        torch.distributed.all_reduce(whole)
        return whole

    def wait(self) -> None:
        """Return when all processes have come this far."""
        if self.count > 1:
            sign = torch.zeros(1, device=self.device or "cpu")
            torch.distributed.all_reduce(sign)
            sign.item()  # waits for a GPU's queue

    def add(self, parameters: Iterable[Any]) -> None:
        """Sum each parameter's gradient over all processes, in place. A parameter that no process has a gradient of stays without one."""
        if self.count > 1:
            parameters = list(parameters)
            reached = torch.tensor([float(parameter.grad is not None) for parameter in parameters], device=self.device or "cpu")
            torch.distributed.all_reduce(reached)
            for parameter in (parameter for parameter, count in zip(parameters, reached.tolist(), strict=True) if count):
                if parameter.grad is None:  # this process encoded nothing for the parameter
                    parameter.grad = torch.zeros_like(parameter)
                torch.distributed.all_reduce(parameter.grad)

    @property
    def device(self) -> str | None:
        """The GPU of this process, if there are several processes and GPUs."""
        return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if self.count > 1 and torch.cuda.is_available() else None

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and messages."""
        return self.rank == 0


@contextmanager
def joined() -> Iterator[Processes]:
    """The processes that torchrun started; otherwise this one alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield Processes(count, torch.distributed.get_rank())
    finally:
        torch.distributed.destroy_process_group()


def arithmetic_of(options: TrainingOptions, processes: Processes) -> Arithmetic:
    """The device and precision for some options. Raises InvalidRequest for a device or a precision that this machine lacks."""
    check_device(options.device)
    device = processes.device or ("cuda:0" if options.device != "cpu" and has_cuda() else "cpu")
    is_gpu = device.startswith("cuda")
    has_bf16 = cuda_has_bf16() if is_gpu else bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    # without tiles, some CPUs take seven times as long in bf16 and others half as long; measured with AVX512-BF16 and torch 2.13
    is_quick = has_bf16 and (is_gpu or torch.cpu._is_amx_tile_supported())
    if options.precision == "bf16" and not has_bf16:
        raise InvalidRequest(f"this machine's {'GPU' if is_gpu else 'CPU'} has no bf16; leave out `precision`")
    if is_gpu:
        torch.cuda.set_device(device)
    return Arithmetic(device, options.precision == "bf16" or (is_quick and options.precision == "auto"))


def machine(arithmetic: Arithmetic) -> str:
    """A description of the device, with torch's version and the precision."""
    if arithmetic.device.startswith("cuda"):
        name = torch.cuda.get_device_name(arithmetic.device)
    else:
        name = f"{torch.get_num_threads()} threads of a CPU ({platform.machine()})"
    return f"{name}, torch {torch.__version__}, {'bf16' if arithmetic.is_bf16 else 'fp32'}"
