"""Golden vectors: what an encoder gave for one probe a side when an index was built, checked when it is next used.

So an upgrade of a library that changes embeddings in silence is caught before it ranks anything.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import CorruptData, InvalidRequest
from ..protocols import Encoder
from ..types import Paper, Query, Vectors

PROBE = Paper("probe", "How papers cite each other", "Citations join papers into a graph, in which near papers share their topics.")
LEAST_COSINE = 0.9995
"""Below what two precisions differ by (0.9999), above what another tokenizer, pooling or adapter leaves."""


def golden_vectors(encoder: Encoder) -> Vectors:
    """The probe's vector on each side, in the order of `specs.SIDES`: (3, dim) float32."""
    queries = [Query("probe", PROBE.title), Query("probe", paper=PROBE)]
    return np.concatenate([encoder.encode_papers([PROBE]), encoder.encode_queries(queries)])


def check_golden(path: Path, encoder: Encoder, *, papers: bool) -> None:
    """Compare the golden vector of text queries, or of papers in place of queries, with what the encoder gives today.

    Raises:
        InvalidRequest: they differ.
        CorruptData: the file of golden vectors is damaged.
    """
    try:
        golden = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise CorruptData(f"{path} cannot be read ({error}); rebuild the index with --overwrite") from error
    if golden.shape != (3, encoder.dim):
        raise CorruptData(f"{path} has shape {golden.shape}, expected (3, {encoder.dim}); rebuild the index with --overwrite")
    query = Query("probe", paper=PROBE) if papers else Query("probe", PROBE.title)
    then, now = golden[2 if papers else 1].astype(np.float64), encoder.encode_queries([query])[0].astype(np.float64)
    cosine = float(then @ now / max(np.linalg.norm(then) * np.linalg.norm(now), 1e-30))
    if not cosine >= LEAST_COSINE or not np.isclose(np.linalg.norm(then), np.linalg.norm(now), rtol=0.02):
        raise InvalidRequest(
            f"the encoder {encoder.name} gives other vectors today than when the index was built (cosine {cosine:.4f} for the same text); "
            "a library may have changed: install the versions that `sciretrieve info` shows, or rebuild the index with --overwrite"
        )
