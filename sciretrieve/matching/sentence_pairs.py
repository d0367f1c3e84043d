"""Similarity of two papers by the vectors of their sentences, as in ASPIRE: by the nearest sentences, or by optimal transport.

Sources: Mysore et al. 2022, "Multi-Vector Models with Textual Guidance for Fine-Grained Scientific Document Similarity", NAACL, and the
authors' release (github.com/allenai/aspire, examples/ex_aspire_consent_multimatch.py and src/evaluation/utils/models.py), which uses the
transport of GeomLoss 0.2.4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.types import Vectors

BLUR = 0.05
"""Distance below which transport does not resolve, as released."""
SCALING = 0.9
"""Factor between the resolutions of consecutive steps, as released."""

Array = npt.NDArray[np.float64]


def closest(query: Vectors, paper: Vectors) -> float:
    """Negative Euclidean distance of the two nearest sentences (tsAspire); greater is more similar.

    Args:
        query, paper: vectors of the sentences, (sentences, dim), at least one.
    """
    return -float(_distances(query, paper).min())


def transport(query: Vectors, paper: Vectors, blur: float = BLUR, scaling: float = SCALING) -> float:
    """Negative cost of moving one paper's sentences to the other's (otAspire); greater is more similar.

    A sentence's weight is a softmax, at temperature 1, over each sentence's negative distance to the nearest sentence of the other paper.
    The cost is the dual value of entropic optimal transport over Euclidean distances, regularised by `blur`, as GeomLoss computes it:
    symmetric Sinkhorn steps with a regularisation that falls from the sentences' diameter to `blur`, and a last step there. The value is
    near the fixed point of these steps: within some hundredths of the cost at the released `scaling`, nearer with a greater one.

    Args:
        query, paper: vectors of the sentences, (sentences, dim), at least one.
        blur: in units of distance.
        scaling: a step's regularisation divided by the previous step's, below 1.
    """
    distances = _distances(query, paper)
    log_query, log_paper = _log_softmax(-distances.min(axis=1)), _log_softmax(-distances.min(axis=0))
    both = np.concatenate([query, paper]).astype(np.float64)
    scales = _scales(float(np.linalg.norm(both.max(axis=0) - both.min(axis=0))), blur, scaling)
    to_query, to_paper = _soft_minimum(scales[0], distances, log_paper), _soft_minimum(scales[0], distances.T, log_query)
    for scale in scales:
        new_query = _soft_minimum(scale, distances, log_paper + to_paper / scale)
        new_paper = _soft_minimum(scale, distances.T, log_query + to_query / scale)
        to_query, to_paper = (to_query + new_query) / 2, (to_paper + new_paper) / 2
    final_query = _soft_minimum(scales[-1], distances, log_paper + to_paper / scales[-1])
    final_paper = _soft_minimum(scales[-1], distances.T, log_query + to_query / scales[-1])
    return -float(np.exp(log_query) @ final_query + np.exp(log_paper) @ final_paper)


def _distances(query: Vectors, paper: Vectors) -> Array:
    """Euclidean distances in float64, (query's sentences, paper's sentences)."""
    differences = query[:, None].astype(np.float64) - paper[None]
    distances: Array = np.sqrt(np.einsum("ijk,ijk->ij", differences, differences))
    return distances


def _scales(diameter: float, blur: float, scaling: float) -> list[float]:
    """Regularisation of each step: the diameter, then from the diameter down by `scaling`, then `blur`; for a single point only `blur`."""
    if diameter == 0:
        return [blur]
    return [diameter, *np.exp(np.arange(np.log(diameter), np.log(blur), np.log(scaling))).tolist(), blur]


def _log_softmax(values: Array) -> Array:
    shifted = values - values.max()
    logarithms: Array = shifted - np.log(np.exp(shifted).sum())
    return logarithms


def _soft_minimum(scale: float, distances: Array, potential: Array) -> Array:
    """Soft minimum of each row's distances minus the potential, softened by `scale`: (rows,)."""
    exponents = potential - distances / scale
    peaks = exponents.max(axis=1)
    minimum: Array = -scale * (peaks + np.log(np.exp(exponents - peaks[:, None]).sum(axis=1)))
    return minimum
