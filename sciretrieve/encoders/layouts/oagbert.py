"""OAG-BERT, version 2 (Liu et al. 2022, KDD): a BERT that normalises before attention, with two positions per token.

The files are CogDL's: bert_config.json, vocab.txt, pytorch_model.bin, and `version` with a 2 in it. A paper is read as in CogDL's
`build_inputs` from a title and an abstract: the words' tokens alone, without [CLS] and [SEP], as one span of type "text". A token's first
position is its span's, here 0; its second is its place in the span. CogDL looks both up in one table, `position_embeddings`, and never
reads the files' `position_embeddings_second` (cogdl/oag/dual_position_bert_model.py, at its commit 281f474 of 2023). So do we.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ..resolving import settings_in
from ..specs import EncoderSpec
from .loading import LoadedModel, additive_mask, attended, fill, read_checkpoint, reading

EPSILON = 1e-12
"""The addend to the variance in layer normalisation."""
UNREAD = "embeddings.position_embeddings_second."


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The encoder's token states. With [CLS] pooling, a text has one state, CogDL's `pooled_output`: tanh of a layer on its first token's
    state.

    A text without tokens gives zeros. Raises InvalidRequest also for another version.
    """
    folder = folders["base"]
    with reading(folder):
        version = (folder / "version").read_text(encoding="utf-8").partition("\n")[0].strip()
    if version != "2":
        raise InvalidRequest(f"{folder} has version {version[:20]!r} of OAG-BERT, and only version 2 is read here, with entities")
    settings = settings_in(folder / "bert_config.json")
    sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    for name in (*sizes, "max_position_embeddings", "type_vocab_size"):
        if not isinstance(settings.get(name), int) or settings[name] < 1:
            raise InvalidRequest(f"{folder}/bert_config.json has no {name}, so it describes no OAG-BERT")
    if settings.get("hidden_act") != "gelu":
        raise InvalidRequest(f"{folder}/bert_config.json has hidden_act {settings.get('hidden_act')!r}; OAG-BERT's is 'gelu'")
    words, dim, layers, heads, inner = (settings[name] for name in sizes)
    if dim % heads:
        raise InvalidRequest(f"{folder}/bert_config.json has {heads} attention heads, which do not share hidden_size {dim} evenly")
    tokenizer, separator = _tokenizer(folder, words)
    pooled = spec.pooling == "cls"

    class Layer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.before_attention, self.after_attention = _norm(dim), _norm(dim)
            self.query, self.key, self.value, self.attended = (torch.nn.Linear(dim, dim) for _ in range(4))
            self.up, self.down = torch.nn.Linear(dim, inner), torch.nn.Linear(inner, dim)

        def forward(self, states: Any, mask: Any) -> Any:
            normed = self.before_attention(states)
            states = states + self.attended(attended(self, heads, normed, normed, mask))
            return states + self.down(torch.nn.functional.gelu(self.up(self.after_attention(states))))

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.word, self.position, self.kind = (
                torch.nn.Embedding(count, dim) for count in (words, settings["max_position_embeddings"], settings["type_vocab_size"])
            )
            self.embedded, self.final = _norm(dim), _norm(dim)
            self.layers = torch.nn.ModuleList([Layer() for _ in range(layers)])
            self.pooler = torch.nn.Linear(dim, dim)

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            # the span's position and the type "text" are numbered 0
            positions = self.position.weight[: input_ids.shape[1]] + self.position.weight[0]
            states = self.embedded(self.word(input_ids) + positions + self.kind.weight[0])
            mask = additive_mask(attention_mask).to(states.dtype)
            for layer in self.layers:
                states = layer(states, mask)
            states = self.final(states)
            if not pooled:
                return states
            return torch.tanh(self.pooler(states[:, :1])) * attention_mask[:, :1, None].to(states.dtype)

    model, path = States().eval(), folder / "pytorch_model.bin"
    state = read_checkpoint(path)
    if not isinstance(state, Mapping):
        raise InvalidRequest(f"{path} holds no weights by name, so it is not of the layout that this encoder expects")
    weights = {name.removeprefix("bert."): tensor for name, tensor in state.items() if name.startswith("bert.")}
    fill(model, {_renamed(name): tensor for name, tensor in weights.items() if not name.startswith(UNREAD)}, path)
    return LoadedModel(model, tokenizer, separator, settings["max_position_embeddings"])


def _norm(dim: int) -> Any:
    return torch.nn.LayerNorm(dim, eps=EPSILON)


def _renamed(name: str) -> str:
    """A weight's name in `States`; other names are returned unchanged."""
    for pattern, replacement in (
        (r"embeddings\.(word|position)_embeddings\.", r"\1."),
        (r"embeddings\.token_type_embeddings\.", "kind."),
        (r"embeddings\.LayerNorm\.", "embedded."),
        (r"encoder\.FinalLayerNorm\.", "final."),
        (r"pooler\.dense_act\.", "pooler."),
        (r"encoder\.layer\.(\d+)\.PreAttentionLayerNorm\.", r"layers.\1.before_attention."),
        (r"encoder\.layer\.(\d+)\.PostAttentionLayerNorm\.", r"layers.\1.after_attention."),
        (r"encoder\.layer\.(\d+)\.attention\.self\.", r"layers.\1."),
        (r"encoder\.layer\.(\d+)\.attention\.output\.dense\.", r"layers.\1.attended."),
        (r"encoder\.layer\.(\d+)\.intermediate\.dense_act\.", r"layers.\1.up."),
        (r"encoder\.layer\.(\d+)\.output\.dense\.", r"layers.\1.down."),
    ):
        renamed, count = re.subn(f"^{pattern}", replacement, name)
        if count:
            return renamed
    return name


def _tokenizer(folder: Path, words: int) -> tuple[Any, str]:
    """A lower-casing WordPiece tokenizer, like CogDL's BertTokenizer with vocab.txt, which adds nothing around a text; and no separator."""
    with reading(folder):
        from tokenizers.processors import TemplateProcessing
        from transformers import BertTokenizerFast

        tokenizer = BertTokenizerFast(str(folder / "vocab.txt")).backend_tokenizer
    if tokenizer.get_vocab_size() > words:
        raise InvalidRequest(
            f"vocab.txt in {folder} has {tokenizer.get_vocab_size()} tokens and the model {words}: they do not belong together"
        )
    tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    return tokenizer, ""
