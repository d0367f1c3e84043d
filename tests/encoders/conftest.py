"""What the encoders' tests share."""

from __future__ import annotations

import pytest

import sciretrieve as sr
from sciretrieve.encoders import openvino_runtime
from tests.encoders.fake_core import FakeCore
from tests.made_up import made_up_papers
from tests.toy_encoder import OwnLetters


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """What encoders find in place of OpenVINO's core: a CPU with bf16."""
    fake = FakeCore()
    monkeypatch.setattr(openvino_runtime, "_core", lambda: fake)
    return fake


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """An index of 60 papers by an encoder of one's own, opened with it."""
    return sr.build(made_up_papers(60), tmp_path_factory.mktemp("own") / "index", encoder=OwnLetters(), progress=False)
