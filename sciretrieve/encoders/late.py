"""Late interaction: an encoder's token vectors of papers, and their packed form in an index."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..base.errors import CorruptData, InvalidRequest
from ..base.types import Paper, Vectors
from ..demo import CORPUS
from ..matching.late import Counts, FewBits, Packing, learn, packed_texts, read_packing, write_packing
from ..protocols import Advance, Encoder, ignore_advance
from .text_encoder import TextEncoder
from .tokens import Tokens

LOG = logging.getLogger(__name__)


def has_tokens(encoder: Encoder | None) -> bool:
    """Whether an encoder gives token vectors, see `late`."""
    return isinstance(encoder, TextEncoder) and encoder.late


def late_by_default(encoder: Encoder) -> bool:
    """Whether late interaction was measured to be a gain for an encoder."""
    return isinstance(encoder, TextEncoder) and encoder.spec.late


def late(encoder: Encoder) -> TextEncoder:
    """The encoder, with token vectors. Raises InvalidRequest if it has none."""
    if not isinstance(encoder, TextEncoder):
        raise InvalidRequest(f"late interaction needs a model that reads texts, and {encoder.name} does not; leave out `late`")
    return encoder.with_tokens()


def encode_packed(encoder: Encoder, tokens: Tokens, packing: Packing, advance: Advance = ignore_advance) -> tuple[Vectors, FewBits, Counts]:
    """Encode tokenised papers: vectors, (n, dim); the packed token vectors of all, one after the other; and the number of each, (n,)."""
    vectors, readings = late(encoder).encode_late(tokens, packing.pack, advance)
    return vectors, *packed_texts(readings, [batch.places for batch in tokens.batches])


def packing_of(encoder: Encoder) -> Packing:
    """The packing of an encoder's token vectors. It is learnt once per machine, from the demo's papers, which are part of the package.

    A rotation learnt from an index's own papers would be no better, see docs/quality.md.
    """
    with_tokens = late(encoder)
    path = with_tokens.artifact.folder / "packing.npy"
    with suppress(FileNotFoundError, CorruptData):
        return read_packing(path, with_tokens.dim)
    LOG.info("learning how token vectors of %s are packed, once", encoder.name)
    papers = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    tokens = with_tokens.tokenise([Paper("", paper["title"], paper["abstract"]) for paper in papers])
    parts: Sequence[Any] = with_tokens.encode_late(tokens, _as_they_are)[1]
    packing = learn(np.concatenate(parts))
    with suppress(OSError):  # without a writable cache, it is learnt each time
        write_packing(path, packing)
    return packing


def _as_they_are(states: Vectors, counts: Counts) -> Vectors:  # noqa: ARG001 - it is a `TokenReader`
    return states
