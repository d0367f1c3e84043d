"""What the encoders' tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.encoders import openvino_runtime
from tests.encoders.fake_core import FakeCore
from tests.made_up import made_up_papers
from tests.toy_encoder import OwnLetters
from tests.toy_weights import set_models, write_adapters, write_bert

SPECTER2 = {"[PRX]": "specter2", "[QRY]": "specter2_adhoc_query", "[CLF]": "specter2_classification", "[RGN]": "specter2_regression"}


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """What encoders find in place of OpenVINO's core: a CPU with bf16."""
    fake = FakeCore()
    monkeypatch.setattr(openvino_runtime, "_core", lambda: fake)
    return fake


@pytest.fixture
def specter(models: Path) -> Path:
    """A small SPECTER's folder."""
    write_bert(models / "allenai" / "specter", 1)
    return models / "allenai" / "specter"


@pytest.fixture
def specter2(models: Path) -> Path:
    """The folder of a small SPECTER2 and its adapters."""
    write_bert(models / "allenai" / "specter2_base", 1)
    write_adapters(models / "allenai", models / "allenai" / "specter2_base", {code: Path(name) for code, name in SPECTER2.items()}, 2)
    return models / "allenai"


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small SPECTER's folder, for a module whose tests share the cache."""
    folder = tmp_path_factory.mktemp("toy")
    with pytest.MonkeyPatch.context() as patch:
        set_models(folder, patch)
        write_bert(folder / "models" / "allenai" / "specter", 1)
        yield folder / "models" / "allenai" / "specter"


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """An index of 60 papers by an encoder of one's own, opened with it."""
    return sr.build(made_up_papers(60), tmp_path_factory.mktemp("own") / "index", encoder=OwnLetters(), progress=False)
