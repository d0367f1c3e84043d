"""One task of an encoder as a folder in the cache. `conversion` writes it; opening it needs no torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..base.once import once
from ..files.writing import read_json
from .tokens import Text, Tokens, open_tokenizer, tokenise

Arithmetic = Literal["bf16", "fp32"]
"""The number format that a runtime computes in."""
FORM = 5
"""The version of the folder's format; older folders are not used."""
PROBES = (
    "graph neural networks",
    "Does vitamin D prevent respiratory infections?",
    "CRISPR/Cas9, IL-6 and α-synuclein (p < 0.05)",
    "A tokenizer may meet 漢字, naïve façades, 100% or $\\alpha_{2}$, and must not fail.",
    "Retrieval with sparse and dense representations is compared on short queries. " * 3,
    "We measure how the quality of a ranking depends on the length of what was asked for, and on how common its words are. " * 8,
    "Title words alone. " * 30,
    "Long papers are cut where the model's positions end, whatever comes after. " * 60,
)
"""Texts of all lengths, to check runtimes."""
PAIRS = (*((text, text) for text in PROBES), *zip(PROBES, reversed(PROBES), strict=True))
"""Probes for a cross-encoder: each text with itself and with another, for scores that lie far apart."""


def probes(dim: int) -> Sequence[Text]:
    """The probes for a model. A model of one dimension is a cross-encoder, whose one number is the score of a pair."""
    return PAIRS if dim == 1 else PROBES


class Artifact:
    """One task of an encoder, ready in the cache.

    Attributes:
        dim: the vectors' dimension.
        separator: the tokenizer's separator token.
        has_graph: whether OpenVINO could convert the model.
        trimmed: whether the last layer computes only the first tokens; see `layouts.trimming`.
        late: whether the graph also gives the vectors of all tokens, for late interaction.
        idle: the ids of tokens that late interaction leaves out: special tokens, stop words, and tokens without a letter or digit.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        facts = self._facts = read_json(folder / "facts.json")
        self.dim, self.separator = int(facts["dim"]), str(facts["separator"])
        self.has_graph, self.trimmed, self.late = bool(facts["graph"]), bool(facts["trimmed"]), bool(facts.get("late", False))
        self.idle: npt.NDArray[np.int64] = np.array(facts.get("idle", ()), np.int64)
        with suppress(OSError):  # the cache may be read-only
            os.utime(folder)  # marks it as used, since the cache removes the least recently used entries

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether the folder exists and is complete."""
        return (folder / "facts.json").is_file()

    def words(self, text: str) -> list[str]:
        """The word of each token of a text, in order, without `idle` tokens."""
        encoding = self._tokenizer.encode(text)
        ends: dict[int, tuple[int, int]] = {}
        for word, (start, end) in zip(encoding.word_ids, encoding.offsets, strict=True):
            if word is not None:
                first, last = ends.get(word, (start, end))
                ends[word] = min(first, start), max(last, end)
        idle = set(self.idle.tolist())
        words = [word for word, id in zip(encoding.word_ids, encoding.ids, strict=True) if id not in idle]
        return ["" if word is None else text[slice(*ends[word])] for word in words]

    def lengths(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """The number of tokens of each text, without special ones, (texts,)."""
        return np.array([len(item) for item in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)], np.int64)

    def tokenise(self, texts: Sequence[Text], budget: int) -> Tokens:
        """Turn texts, or pairs, into batches for this model."""
        return tokenise(self._tokenizer, texts, budget=budget, padding=int(self._facts["padding"]))

    @once
    def _tokenizer(self) -> Any:
        return open_tokenizer(self.folder / "tokenizer.json", int(self._facts["max_length"]))
