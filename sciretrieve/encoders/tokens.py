"""From texts to padded batches of token ids: sorted by length and cut by a budget of tokens, so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

BUDGET = 2048
"""Tokens a batch, padding included; measured in bench/encode.py."""
ROUNDING = 8
"""Batches are padded to a multiple of this, for each new shape costs the runtime some preparation."""

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Token ids and attention mask, both (texts, length), and which of the texts they are."""

    ids: Ids
    mask: Ids
    places: npt.NDArray[np.intp]


def open_tokenizer(path: Path, max_length: int) -> Tokenizer:
    """Open a tokenizer.json, cut at `max_length` tokens and never padding (batches do that)."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)
    return tokenizer


def batches(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[Batch]:
    """Tokenise `texts` and yield them in batches, longest first."""
    encoded = tokenizer.encode_batch_fast(list(texts))
    lengths = np.array([len(item) for item in encoded])
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        width = -(-int(lengths[order[start]]) // ROUNDING) * ROUNDING
        places = order[start : start + max(BUDGET // width, 1)]
        mask = (np.arange(width) < lengths[places, None]).astype(np.int64)
        ids = np.zeros((len(places), width), np.int64)
        ids[mask == 1] = np.concatenate([encoded[place].ids for place in places])
        yield Batch(ids, mask, places)
        start += len(places)
