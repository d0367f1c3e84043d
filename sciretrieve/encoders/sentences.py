"""Models that read a paper sentence by sentence (ASPIRE): a vector for each sentence of its abstract, none for the paper.

As in the authors' code (github.com/allenai/aspire, examples/ex_aspire_consent.py), title, separator and abstract are read together. A
sentence's vector is the mean of its tokens' last states. The title is read, but is not a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..base.choices import Device, Precision
from ..base.types import Paper, Vectors
from ..papers.sentences import sentences
from .catalogue import CATALOGUE
from .specs import EncoderRequest
from .text_encoder import TextEncoder

AT_ONCE = 64
"""The number of papers whose token states are held at once: at most 100 MB of a BERT-base's."""


def open_sentence_encoder(name: str, *, precision: Precision = "auto", device: Device = "auto") -> TextEncoder | None:
    """The model of that name or hub id, if it is a sentence model of the catalogue; else None.

    Its files are downloaded when first needed. Raises InvalidRequest if this machine lacks the device.
    """
    for spec in CATALOGUE.values():
        if spec.pairing and name in (spec.name, spec.parts["base"].source):
            return TextEncoder(spec, EncoderRequest(name), precision, device, late=True)
    return None


def pieces(paper: Paper) -> tuple[str, ...]:
    """The texts of a paper that are read: its title, "" for none, and the sentences of its abstract."""
    return (" ".join(paper.title.split()), *sentences(paper.abstract))


def encode_sentences(encoder: TextEncoder, papers: Sequence[tuple[str, ...]]) -> list[Vectors]:
    """The vectors of papers' sentences, from `pieces` of papers: for each (sentences, dim) float32, at least one.

    Sentences beyond the model's length are left out. If none is left, the title is the one sentence; without a title, everything that is
    read.

    Raises: as `TextEncoder.encode_papers`.
    """
    vectors: list[Vectors] = []
    for start in range(0, len(papers), AT_ONCE):
        part = papers[start : start + AT_ONCE]
        states = encoder.encode_papers_late([Paper("", title, " ".join(rest)) for title, *rest in part])
        vectors += [_means(encoder, paper, its_states) for paper, its_states in zip(part, states, strict=True)]
    return vectors


def _means(encoder: TextEncoder, paper: tuple[str, ...], states: Vectors) -> Vectors:
    """The mean of each sentence's token states, without the model's own first and last tokens."""
    title, *rest = encoder.artifact.lengths(paper).tolist()
    first, last = 1 + title + 1, len(states) - 1  # [CLS], title, [SEP]
    ends = np.minimum(np.cumsum([first, *rest]), last).tolist()
    spans = [(start, end) for start, end in pairwise(ends) if end > start]
    spans = spans or ([(1, min(1 + title, last))] if title else [(0, last + 1)])
    return np.stack([states[start:end].mean(axis=0, dtype=np.float64) for start, end in spans]).astype(np.float32)
