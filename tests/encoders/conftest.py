"""What the encoders' tests share."""

from __future__ import annotations

import pytest

from sciretrieve.encoders import openvino_runtime
from tests.encoders.fake_core import FakeCore


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """What encoders find in place of OpenVINO's core: a CPU with bf16."""
    fake = FakeCore()
    monkeypatch.setattr(openvino_runtime, "_core", lambda: fake)
    return fake
