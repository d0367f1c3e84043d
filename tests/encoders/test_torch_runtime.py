"""The torch runtime, whose code knows no device: on the CPU it must give what the compiled model gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder, torch_runtime
from sciretrieve.encoders.artifact import Arithmetic
from sciretrieve.encoders.runtimes import Runtimes
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.torch_runtime import TorchRuntime, Weights
from tests.toy_weights import write_bert

PAPERS = [Paper(str(number), "graph networks " * (number % 9), "citation " * (number % 23)) for number in range(70)]


@pytest.fixture
def encoder(specter: Path) -> TextEncoder:
    opened = load_encoder("specter", precision="fp32")
    assert isinstance(opened, TextEncoder)
    opened.encode_papers(PAPERS[:1])
    return opened


def in_torch(encoder: TextEncoder, precision: Arithmetic = "fp32") -> TorchRuntime:
    """The encoder's one task in torch on the CPU."""
    return TorchRuntime(lambda: Weights(encoder.spec, "", encoder.folders), encoder.artifact, "cpu", precision)


@pytest.mark.embedded_encoder
def test_bf16_in_torch_passes_the_guard() -> None:
    opened = load_encoder("minilm", precision="fp32")
    assert isinstance(opened, TextEncoder)
    exact = opened.encode_papers(PAPERS[1:])  # the first is empty, which no paper of a corpus is
    model = Runtimes("minilm", opened.artifact, "bf16", lambda: [in_torch(opened, "bf16")])
    ours = model.run(opened.tokenise(PAPERS[1:]))[0]
    assert model.precision == "bf16"
    assert not np.array_equal(ours, exact)
    assert (ours * exact).sum(axis=1).min() > 0.9999


def test_a_batch_that_does_not_fit_is_halved(encoder: TextEncoder) -> None:
    import torch

    model = in_torch(encoder)
    whole, sizes = model._model, []

    def small(ids: Any, mask: Any) -> Any:
        sizes.append(len(ids))
        if len(ids) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(ids, mask)

    vars(model)["_model"] = small
    np.testing.assert_allclose(model.run(encoder.tokenise(PAPERS))[0], encoder.encode_papers(PAPERS), atol=1e-4)
    assert max(sizes) > 3

    def none(ids: Any, mask: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    vars(model)["_model"] = none
    with pytest.raises(InvalidRequest, match="too little memory for one text"):
        model.run(encoder.tokenise(PAPERS[:4]))


def test_what_openvino_cannot_take_runs_in_torch(
    models_converted_anew: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import openvino

    write_bert(models_converted_anew / "allenai" / "scibert_scivocab_uncased", 2)
    compiled = load_encoder("scibert", precision="fp32").encode_papers(PAPERS)
    for entry in (models_converted_anew.parent / "cache" / "encoders").iterdir():
        entry.rename(entry.with_name("gone"))

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise RuntimeError("this operation is not known")

    monkeypatch.setattr(openvino, "convert_model", refuse)
    encoder = load_encoder("scibert", precision="fp32")
    np.testing.assert_allclose(encoder.encode_papers(PAPERS), compiled, atol=1e-4)
    assert "OpenVINO cannot take scibert (this operation is not known); it runs in torch" in caplog.text
    # so it is when it is opened again, from the cache
    again = load_encoder("scibert", precision="fp32")
    assert isinstance(again, TextEncoder)
    np.testing.assert_allclose(again.encode_queries([Query("q", "graph")]), encoder.encode_queries([Query("q", "graph")]), atol=1e-5)
    assert again._model("").ran_in == ("torch fp32",)


def test_a_device_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_runtime, "has_cuda", lambda: False)
    with pytest.raises(InvalidRequest, match="torch finds no CUDA device"):
        load_encoder("minilm", device="cuda")
