"""What options may be: the names of modes, metrics, fusions and the like, each as a type and as the tuple of its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from .errors import UnknownName

Mode: TypeAlias = Literal["hybrid", "dense", "bm25"]
Metric: TypeAlias = Literal["l2", "ip", "cosine"]
FusionMethod: TypeAlias = Literal["blend", "convex", "rrf"]
Bm25Variant: TypeAlias = Literal["lucene", "robertson", "atire", "okapi", "bm25l", "bm25+"]
Precision: TypeAlias = Literal["auto", "bf16", "fp32"]
BuildPrecision: TypeAlias = Literal["auto", "bf16", "fp32", "int8"]
"""In int8 only the papers of an index can be encoded, since it takes papers to quantise an encoder."""
Device: TypeAlias = Literal["auto", "cpu", "cuda"]
PoolingName: TypeAlias = Literal["mean", "cls"]
"""How token states become one vector, as far as it can be chosen: their mean, or the state of the first token."""
SideName: TypeAlias = Literal["paper", "query", "paper_as_query"]
"""What an encoder reads: a paper of the corpus, a text query, or a paper in place of a query."""
Filter: TypeAlias = str | Sequence[str] | None
"""A filter, or several that must all hold; see `sciretrieve.narrowing.filters`."""

MODES: tuple[Mode, ...] = get_args(Mode)
METRICS: tuple[Metric, ...] = get_args(Metric)
FUSION_METHODS: tuple[FusionMethod, ...] = get_args(FusionMethod)
BM25_VARIANTS: tuple[Bm25Variant, ...] = get_args(Bm25Variant)
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
BUILD_PRECISIONS: tuple[BuildPrecision, ...] = get_args(BuildPrecision)
DEVICES: tuple[Device, ...] = get_args(Device)
POOLINGS: tuple[PoolingName, ...] = get_args(PoolingName)
SIDES: tuple[SideName, ...] = get_args(SideName)


def check_choice(kind: str, value: str, choices: Sequence[str]) -> None:
    """Raise UnknownName for a value that is none of the choices."""
    if value not in choices:
        raise UnknownName(kind, value, choices)
