"""BM25 variants, which differ in the weighting of a term's frequency in a paper and of its rarity.

Source: Kamphuis, de Vries, Boytsov and Lin, "Which BM25 Do You Mean? A Large-Scale Reproducibility Study of Scoring Variants", ECIR 2020,
table 1. `lucene` is the accurate form, without rounded lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.choices import Bm25Variant
from ...options import Bm25Parameters

Floats = npt.NDArray[np.float64]
AnyFloats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant's two formulas, by their names in `FREQUENCY_WEIGHTS` and `RARITIES`. bm25s uses the same names."""

    frequency: str
    rarity: str


VARIANTS: Mapping[Bm25Variant, Variant] = {
    "lucene": Variant("lucene", "lucene"),
    "robertson": Variant("robertson", "robertson"),
    "atire": Variant("atire", "atire"),
    "okapi": Variant("atire", "robertson"),
    "bm25l": Variant("bm25l", "bm25l"),
    "bm25+": Variant("bm25+", "bm25+"),
}
"""The paper's variants, and `okapi`, which is rank_bm25's BM25Okapi with epsilon 0."""


LEAST = 1e-30
"""Least divisor. It avoids 0 / 0 for terms of weight 0 in papers without words."""


def _saturated(counts: AnyFloats, norms: AnyFloats, parameters: Bm25Parameters) -> AnyFloats:
    return counts / np.maximum(counts + parameters.k1 * norms, LEAST)


def _scaled(counts: AnyFloats, norms: AnyFloats, parameters: Bm25Parameters) -> AnyFloats:
    return (parameters.k1 + 1) * _saturated(counts, norms, parameters)


def _bm25l(counts: AnyFloats, norms: AnyFloats, parameters: Bm25Parameters) -> AnyFloats:
    shifted = counts / np.maximum(norms, LEAST) + parameters.delta
    return (parameters.k1 + 1) * shifted / np.maximum(parameters.k1 + shifted, LEAST)


def _bm25_plus(counts: AnyFloats, norms: AnyFloats, parameters: Bm25Parameters) -> AnyFloats:
    return _scaled(counts, norms, parameters) + parameters.delta


FREQUENCY_WEIGHTS: Mapping[str, Callable[[AnyFloats, AnyFloats, Bm25Parameters], AnyFloats]] = {
    "lucene": _saturated,
    "robertson": _saturated,
    "atire": _scaled,
    "bm25l": _bm25l,
    "bm25+": _bm25_plus,
}
"""Functions of a term's frequencies in papers, the papers' lengths normalised by `b`, and the parameters."""

RARITIES: Mapping[str, Callable[[Floats, int], Floats]] = {
    "lucene": lambda frequencies, papers: np.log1p((papers - frequencies + 0.5) / (frequencies + 0.5)),
    # a term in at least half of the papers weighs nothing
    "robertson": lambda frequencies, papers: np.log(np.maximum((papers - frequencies + 0.5) / (frequencies + 0.5), 1.0)),
    "atire": lambda frequencies, papers: np.log(papers / frequencies),
    "bm25l": lambda frequencies, papers: np.log((papers + 1) / (frequencies + 0.5)),
    "bm25+": lambda frequencies, papers: np.log((papers + 1) / frequencies),
}
"""Functions of the number of papers with a term, and the number of all papers."""


def frequency_weights(parameters: Bm25Parameters, counts: AnyFloats, lengths: AnyFloats) -> AnyFloats:
    """Weights of terms that occur `counts` times in papers of `lengths` times the mean length. Arrays have the same shape.

    In bm25l and bm25+ a count of 0 also weighs more than 0, so every paper gets that weight.
    """
    weigh = FREQUENCY_WEIGHTS[VARIANTS[parameters.variant].frequency]
    return weigh(counts, 1 - parameters.b + parameters.b * lengths, parameters)


def term_rarities(parameters: Bm25Parameters, frequencies: Floats, papers: int) -> Floats:
    """Inverse document frequencies of terms that `frequencies` (at least 1) of `papers` have. Shapes are kept."""
    return RARITIES[VARIANTS[parameters.variant].rarity](frequencies, papers)
