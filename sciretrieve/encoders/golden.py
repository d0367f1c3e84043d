"""Golden vectors: an encoder's vectors of one probe on each side when an index was built, checked before the next use.

They show when a library upgrade silently changes embeddings, before it affects any ranking.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base.choices import SIDES, SideName
from ..base.errors import CorruptData, InvalidRequest
from ..base.types import Paper, Query, Vectors
from ..files.writing import read_array
from ..protocols import Encoder

PROBE = Paper("probe", "How papers cite each other", "Citations join papers into a graph, in which near papers share their topics.")
LEAST_COSINE = 0.9995
"""Below the cosine of two precisions (0.9999), above that of another tokenizer, pooling or adapter."""


def golden_vectors(encoder: Encoder) -> Vectors:
    """The probe's vector on each side, in the order of `choices.SIDES`: (3, dim) float32."""
    return np.stack([_probe_vector(encoder, side) for side in SIDES])


def read_golden(path: Path, dim: int) -> Vectors:
    """Golden vectors from a .npy file: (3, dim) float32.

    Raises:
        CorruptData: the file is damaged.
    """
    golden: Vectors = np.array(read_array(path))
    if golden.shape != (len(SIDES), dim) or golden.dtype != np.float32:
        raise CorruptData(
            f"{path} holds {golden.dtype}{golden.shape}, expected float32{(len(SIDES), dim)}; try `sciretrieve verify --repair`"
        )
    return golden


def check_golden(golden: Vectors, encoder: Encoder, side: SideName) -> None:
    """Compare the golden vector of one side with the encoder's vector now.

    Raises:
        InvalidRequest: they differ.
    """
    agree, cosine = compared(golden[SIDES.index(side)], _probe_vector(encoder, side))
    if not agree:
        raise InvalidRequest(
            f"the encoder {encoder.name} gives other vectors today than when the index was built (cosine {cosine:.4f} for the same text); "
            "install the library versions that `sciretrieve info` shows, or rebuild by `sciretrieve index --overwrite`"
        )


def compared(one: Vectors, other: Vectors) -> tuple[bool, float]:
    """Whether one encoder may have made both of these vectors of one text, (dim,), and their cosine."""
    first, second = one.astype(np.float64), other.astype(np.float64)
    lengths = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    cosine = float(first @ second / max(lengths[0] * lengths[1], 1e-30))
    return bool(cosine >= LEAST_COSINE and np.isclose(*lengths, rtol=0.02)), cosine


def _probe_vector(encoder: Encoder, side: SideName) -> Vectors:
    """The encoder's vector for the probe on one side, (dim,)."""
    if side == "paper":
        vectors = encoder.encode_papers([PROBE])
    else:
        vectors = encoder.encode_queries([Query("probe", PROBE.title) if side == "query" else Query("probe", paper=PROBE)])
    vector: Vectors = vectors[0]
    return vector
