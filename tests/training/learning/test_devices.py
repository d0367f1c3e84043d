"""Where a training computes."""

import pytest
import torch

from sciretrieve.options import TrainingOptions
from sciretrieve.training.learning import devices


def test_the_device_is_one_that_torch_can_be_set_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """`torch.cuda.set_device` takes no GPU without a number; this test needs no GPU."""
    numbers = []
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: numbers.append(torch.cuda._utils._get_device_index(device)))
    monkeypatch.setattr(devices, "check_device", lambda device: None)
    monkeypatch.setattr(devices, "has_cuda", lambda: True)
    monkeypatch.setattr(devices, "cuda_has_bf16", lambda: True)
    arithmetic = devices.arithmetic_of(TrainingOptions(device="cuda"), devices.Processes())
    assert (arithmetic.device, arithmetic.is_bf16, numbers) == ("cuda:0", True, [0])
