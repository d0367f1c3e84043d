"""Turns texts into padded batches of token ids, sorted by length and limited in tokens, for little padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from ..base.errors import CorruptData, InvalidRequest
from ..base.types import Vectors

BUDGET = 2048
"""Tokens per batch on a CPU, padding included; measured in bench/encode.py."""
ROUNDING = 8
"""Batches are padded to a multiple of this, since each new shape costs the runtime some preparation."""

Ids = npt.NDArray[np.int64]
Text: TypeAlias = str | tuple[str, str]
"""One text, or two for a cross-encoder."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Token ids and attention mask, both (texts, length), and the positions of the texts."""

    ids: Ids
    mask: Ids
    places: npt.NDArray[np.intp]

    def states(self, states: Vectors, idle: Ids) -> tuple[Vectors, Ids]:
        """The token vectors, from (texts, length, dim), of tokens that are not idle, (tokens, dim); and the number of each text."""
        kept = (self.mask == 1) & ~np.isin(self.ids, idle)
        return states[kept], kept.sum(axis=1)


TokenReader: TypeAlias = Callable[[Vectors, Ids], Any]
"""Called with a batch's token vectors, (tokens, dim) of unit length, without idle tokens, see `Artifact.idle`; and with the number of each
text's tokens, (texts,).
"""


def ignored(states: Vectors, counts: Ids) -> None:
    """Ignores token vectors: a `TokenReader`."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Texts as batches, longest first. `truncated` counts the texts that exceed the model's length."""

    texts: int
    batches: tuple[TokenBatch, ...]
    truncated: int

    @property
    def size(self) -> int:
        """The number of tokens, without padding."""
        return sum(int(batch.mask.sum()) for batch in self.batches)


def open_tokenizer(path: Path, max_length: int) -> Tokenizer:
    """Open a tokenizer.json that truncates at `max_length` tokens and does not pad; batches do that."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no exception class
        raise CorruptData(f"{path} cannot be read ({error}); clear the cache with `sciretrieve encoders clear`") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)
    return tokenizer


def tokenise(tokenizer: Tokenizer, texts: Sequence[Text], *, budget: int = BUDGET, padding: int = 0) -> Tokens:
    """Tokenise `texts` in parallel, in batches of at most `budget` tokens, padded with the id `padding`.

    If a pair is too long, tokens are removed one by one from the end of the longer text.
    """
    encodings = tokenizer.encode_batch_fast(list(texts))
    longest = tokenizer.truncation["max_length"]
    cut = sum(len(item) == longest and bool(item.overflowing) for item in encodings)
    return Tokens(len(texts), tuple(_batches(encodings, longest, budget, padding)), cut)


def _batches(encodings: Sequence[Encoding], longest: int, budget: int, padding: int) -> Iterator[TokenBatch]:
    lengths = np.array([len(item) for item in encodings], np.intp)
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        width = min(-(-max(int(lengths[order[start]]), 1) // ROUNDING) * ROUNDING, longest)
        places = order[start : start + max(budget // width, 1)]
        mask = (np.arange(width) < lengths[places, None]).astype(np.int64)
        ids = np.full((len(places), width), padding, np.int64)
        ids[mask == 1] = np.concatenate([encodings[place].ids for place in places])
        yield TokenBatch(ids, mask, places)
        start += len(places)


def check_vocabulary(tokenizer: Tokenizer, words: int, source: Path) -> None:
    """Reject a tokenizer with more tokens than the model has embeddings, which would fail within a corpus. Raises InvalidRequest."""
    if tokenizer.get_vocab_size() > words:
        raise InvalidRequest(
            f"the tokenizer in {source} knows {tokenizer.get_vocab_size()} tokens and the model {words}: they do not belong together"
        )
