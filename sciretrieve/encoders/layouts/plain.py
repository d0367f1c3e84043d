"""Models that transformers reads by itself: SPECTER, SciNCL, SciBERT, E5, MPNet, MiniLM, control codes and others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, open_config, open_tokenizer, positions_of, reading, states_of


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The base model alone; control codes are in the text.

    Raises:
        CorruptData: the weights cannot be read.
        InvalidRequest: they lack some of the model, or the tokenizer has tokens that the model has no embedding for.
    """
    import torch
    from transformers import AutoModel

    folder = folders["base"]
    with reading(folder):
        config = open_config(folder)
        model, report = AutoModel.from_pretrained(folder, local_files_only=True, output_loading_info=True, dtype=torch.float32)
        tokenizer, separator = open_tokenizer(folder, config)
    check_complete(report, folder)
    check_vocabulary(tokenizer, config, folder)

    return LoadedModel(states_of(model), tokenizer, separator, positions_of(config))


def check_complete(report: Mapping[str, Any], folder: Path, *, unused: tuple[str, ...] = ("pooler.", "position_ids")) -> None:
    """Refuse weights that lack some of the model: transformers fills those with random numbers, and only warns.

    Weights with one of `unused` in their names do not affect the output.
    """
    if missing := [name for name in report["missing_keys"] if not any(part in name for part in unused)]:
        raise InvalidRequest(f"the weights in {folder} lack {missing[0]} and {len(missing) - 1} more: they are of another kind of model")


def check_vocabulary(tokenizer: Any, config: Any, folder: Path) -> None:
    """Refuse a tokenizer with more tokens than the model has embeddings: that would fail in the middle of a corpus."""
    if tokenizer.get_vocab_size() > config.vocab_size:
        raise InvalidRequest(
            f"the tokenizer in {folder} knows {tokenizer.get_vocab_size()} tokens and the model {config.vocab_size}: "
            "they do not belong together"
        )
