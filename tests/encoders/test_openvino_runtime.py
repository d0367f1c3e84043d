"""The compiled encoder against a plain transformers forward of the same weights, text by text."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import CorruptData
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.catalogue import MINILM
from sciretrieve.encoders.openvino_runtime import OpenVinoRuntime
from sciretrieve.encoders.specs import EncoderRequest
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.weights import obtain
from tests.encoders.plain import plain_states

pytestmark = pytest.mark.embedded_encoder

TEXTS = [
    "graph neural networks",
    "",
    "x",
    "Ünïcödé, 漢字 and $\\alpha$-synuclein; IL-6 (p < 0.05)",
    " ".join(["Long papers are cut at 256 tokens, as the model was trained."] * 60),
    *(f"short text {number} " * (number % 40) for number in range(60)),
]


def weights() -> Path:
    return obtain(MINILM.parts["base"], "minilm")


def encode(encoder: Any, texts: list[str]) -> Vectors:
    vectors: Vectors = encoder.encode_queries([Query(str(position), text) for position, text in enumerate(texts)])
    return vectors


@pytest.fixture(scope="module")
def plain() -> Vectors:
    """Mean pooling and normalisation written out, one text at a time: no batching, no padding."""
    means = np.stack([plain_states(weights(), text.strip(), 256).mean(axis=0) for text in TEXTS])
    vectors: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
    return vectors


def test_fp32_is_the_plain_model(plain: Vectors) -> None:
    vectors = encode(load_encoder("minilm", precision="fp32"), TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    assert np.abs(vectors - plain).max() <= 1e-4


ALONE = """
import json, sys
import numpy as np
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.openvino_runtime import has_bf16
from sciretrieve.base.types import Query
encoder = load_encoder("minilm")
np.save(sys.argv[1], encoder.encode_queries([Query(str(number), text) for number, text in enumerate(json.load(sys.stdin))]))
assert encoder.precision == ("bf16" if has_bf16() else "fp32"), encoder.precision
"""


def test_the_default_precision_is_close_to_the_plain_model(plain: Vectors, tmp_path: Path) -> None:
    """In a process that may use all of the processor's instructions: in the others of these tests there is no bf16."""
    assert load_encoder("minilm").precision == "fp32"
    command, environment = [sys.executable, "-c", ALONE, str(tmp_path / "v.npy")], os.environ | {"ONEDNN_MAX_CPU_ISA": "DEFAULT"}
    subprocess.run(command, input=json.dumps(TEXTS), env=environment, text=True, check=True)
    vectors = np.load(tmp_path / "v.npy")
    cosines = (vectors * plain).sum(axis=1) / np.linalg.norm(vectors, axis=1)
    assert cosines.min() >= 0.9999


def test_papers_are_title_and_abstract(plain: Vectors) -> None:
    encoder = load_encoder("minilm", precision="fp32")
    halves = [text.partition(" ") for text in TEXTS[:4]]
    papers = [Paper(str(position), title, rest) for position, (title, _, rest) in enumerate(halves)]
    vectors = encoder.encode_papers(papers)
    np.testing.assert_allclose(vectors, plain[:4], atol=1e-4)
    np.testing.assert_allclose(encoder.encode_queries([Query(paper.id, paper=paper) for paper in papers]), vectors, atol=1e-6)


def minilm_in(folder: Path, **changes: Any) -> TextEncoder:
    """The row with its weights in another folder."""
    part = dataclasses.replace(MINILM.parts["base"], source=str(folder), **changes)
    return TextEncoder(dataclasses.replace(MINILM, parts={"base": part}), EncoderRequest("minilm"))


def test_a_preparation_that_fails_leaves_nothing(models: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(weights(), tmp_path / "model"))
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorruptData, match=f"the weights in {folder} cannot be read"):
        minilm_in(folder, sha256={}).encode_papers([Paper("x", "x")])
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_processor_kept_from_its_instructions_is_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what was found too slow, or failed, without them would never be tried again with them."""
    encoder = load_encoder("minilm", precision="fp32")
    assert isinstance(encoder, TextEncoder)
    machines = set()
    for instructions in ("AVX2", "AVX512_CORE_BF16"):
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", instructions)
        machines.add(OpenVinoRuntime(encoder.artifact, "fp32").machine)
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    assert len({*machines, OpenVinoRuntime(encoder.artifact, "fp32").machine}) == 3
