"""Models that transformers reads by itself: SPECTER, SciNCL, SciBERT, E5, MPNet, MiniLM, control codes and others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..specs import EncoderSpec
from .loading import LoadedModel, open_model, open_reader, positions_of, states_of


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The base model alone; control codes are in the text."""
    from transformers import AutoModel

    config, tokenizer, separator = open_reader(folders["base"])
    return LoadedModel(states_of(open_model(AutoModel, folders["base"])), tokenizer, separator, positions_of(config))
