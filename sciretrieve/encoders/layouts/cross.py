"""Cross-encoders: transformers classifiers of pairs of texts, whose output is the pair's score."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, open_model, open_reader, positions_of

LABELS = 2
"""The most labels that make one score: the score of the second, "relevant", minus that of the first."""


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """The classifier as a model with one state per pair, of one dimension: the score, before any softmax or sigmoid.

    Raises InvalidRequest also for a model with more than two labels, or one not made for pairs.
    """
    from transformers import AutoModelForSequenceClassification

    folder = folders["base"]
    config, tokenizer, separator = open_reader(folder)
    if config.num_labels > LABELS:
        raise InvalidRequest(
            f"the model in {folder} gives {config.num_labels} labels, not a score; "
            "take a cross-encoder with one label, or with two (not relevant, relevant)"
        )
    # unlike an encoder's, a classifier's pooler affects the output
    model = open_model(AutoModelForSequenceClassification, folder, unused=("position_ids",))
    is_typed = _is_typed(tokenizer, separator, config, folder)
    separator_id = tokenizer.token_to_id(separator)

    class Scores(torch.nn.Module):  # type: ignore[misc]
        trimmable = True  # a BERT's score comes from its first token alone; see `trimming`

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            types = {}
            if is_typed:
                # computed here, so that a pair is ids and mask, like a text; the types of padding do not matter
                separators = (input_ids == separator_id).long()
                types["token_type_ids"] = (separators.cumsum(1) - separators).clamp(max=1)
            logits = self.model(input_ids=input_ids, attention_mask=attention_mask, **types).logits.float()
            scores = logits[:, 1:] - logits[:, :1] if config.num_labels == LABELS else logits
            return scores[:, None]

    return LoadedModel(Scores().eval(), tokenizer, separator, positions_of(config))


def _is_typed(tokenizer: Any, separator: str, config: Any, folder: Path) -> bool:
    """Whether the model takes token types: 0 up to and including the first separator, 1 after it.

    Raises:
        InvalidRequest: it has no separator, or other types.
    """
    pair = tokenizer.encode("a query", "a paper")
    if not separator or separator not in pair.tokens:
        raise InvalidRequest(f"the tokenizer in {folder} puts no separator between two texts, so the model is not a cross-encoder")
    border = pair.tokens.index(separator)
    type_ids = [number for number, attended in zip(pair.type_ids, pair.attention_mask, strict=True) if attended]
    if (getattr(config, "type_vocab_size", 0) or 0) < 2 or not any(type_ids):
        return False
    if type_ids != [int(place > border) for place in range(len(type_ids))]:
        raise InvalidRequest(f"the tokenizer in {folder} numbers two texts in another way than BERT's, which is not supported")
    return True
