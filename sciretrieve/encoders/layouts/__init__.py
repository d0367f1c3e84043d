"""Reads files in the authors' layouts into torch models, one module per layout. Only code that prepares an encoder imports this.

Each `load` takes the folders of the spec's parts, the spec and a task. It returns a model, from token ids and attention mask, both (texts,
length), to token states, (texts, length, dim), in fp32; and its tokenizer. It raises InvalidRequest for weights of another layout, for
files that might run code, and for files that do not belong together; and CorruptData for unreadable files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ..specs import EncoderSpec, Layout
from . import bottleneck, cross, instructed, loading, mixed, multi2spe, oagbert, packed, pals, scimult
from .loading import LoadedModel

LOADERS: Mapping[Layout, Callable[[Mapping[str, Path], EncoderSpec, str], LoadedModel]] = {
    "transformers": loading.load,
    "adapters": bottleneck.load_adapter,
    "fusion": bottleneck.load_fusion,
    "pals": pals.load,
    "scimult": scimult.load,
    "instructed": instructed.load,
    "multi2spe": multi2spe.load,
    "packed": packed.load,
    "mixed": mixed.load,
    "oagbert": oagbert.load,
    "sentences": loading.load,
    "cross": cross.load,
}

__all__ = ["LOADERS", "LoadedModel"]
