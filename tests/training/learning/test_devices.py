"""In which arithmetic a training is computed."""

from __future__ import annotations

import pytest
import torch

from sciretrieve.errors import InvalidRequest
from sciretrieve.options import TrainingOptions
from sciretrieve.training.learning.devices import arithmetic_of
from sciretrieve.training.learning.processes import Processes


@pytest.mark.parametrize(
    ("has_bf16", "has_amx", "has_avx512_bf16", "is_bf16"),
    [(True, True, True, True), (True, False, True, True), (True, False, False, False), (False, False, False, False)],
)
def test_a_cpu_trains_in_bf16_where_it_does_not_emulate_it(
    has_bf16: bool, has_amx: bool, has_avx512_bf16: bool, is_bf16: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: has_bf16)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_amx)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_avx512_bf16)
    assert arithmetic_of(TrainingOptions(device="cpu"), Processes()).is_bf16 == is_bf16
    assert not arithmetic_of(TrainingOptions(device="cpu", precision="fp32"), Processes()).is_bf16
    if has_bf16:
        assert arithmetic_of(TrainingOptions(device="cpu", precision="bf16"), Processes()).is_bf16
    else:
        with pytest.raises(InvalidRequest, match="this machine's CPU has no bf16"):
            arithmetic_of(TrainingOptions(device="cpu", precision="bf16"), Processes())
