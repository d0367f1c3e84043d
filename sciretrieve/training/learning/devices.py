"""What a training is computed on: a CPU or a GPU, with matrix products in bf16 where that is quicker."""

from __future__ import annotations

import platform

from ...encoders.torch_runtime import check_device, cuda_has_bf16, has_cuda
from ...errors import InvalidRequest
from ...options import TrainingOptions
from .gradients import Arithmetic
from .processes import Processes


def arithmetic_of(options: TrainingOptions, processes: Processes) -> Arithmetic:
    """The device and precision that options ask for. Raises InvalidRequest for a device or a precision that this machine lacks."""
    import torch

    check_device(options.device)
    device = processes.device or ("cuda" if options.device != "cpu" and has_cuda() else "cpu")
    is_gpu = device.startswith("cuda")
    has_bf16 = cuda_has_bf16() if is_gpu else bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    # without tiles some CPUs take seven times as long in bf16, and others half as long; measured with AVX512-BF16 and torch 2.13
    is_quick = has_bf16 and (is_gpu or torch.cpu._is_amx_tile_supported())
    if options.precision == "bf16" and not has_bf16:
        raise InvalidRequest(f"this machine's {'GPU' if is_gpu else 'CPU'} has no bf16; leave out `precision`")
    if is_gpu:
        torch.cuda.set_device(device)
    return Arithmetic(device, options.precision == "bf16" or (is_quick and options.precision == "auto"))


def machine(arithmetic: Arithmetic) -> str:
    """The device in words, with the library's version and the precision."""
    import torch

    if arithmetic.device.startswith("cuda"):
        name = torch.cuda.get_device_name(arithmetic.device)
    else:
        name = f"{torch.get_num_threads()} threads of a CPU ({platform.machine()})"
    return f"{name}, torch {torch.__version__}, {'bf16' if arithmetic.is_bf16 else 'fp32'}"
