"""Plain transformers, the oracle of most encoders: one text at a time, without padding."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tests.toy_weights import ids_of


@cache
def plain_model(folder: Path) -> tuple[Any, Any]:
    """The tokenizer and the model in a folder."""
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def plain_states(folder: Path, text: str, limit: int = 64) -> Any:
    """The last layer's states of a text, (tokens, dim) float32."""
    import torch

    tokenizer, model = plain_model(folder)
    with torch.no_grad():
        return model(ids_of(tokenizer, text, limit)).last_hidden_state[0].numpy()
