"""The fields of the classes of options as keyword arguments, for type checkers. Written by `make docs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..base.choices import (
    Device,
    Filter,
    FusionMethod,
    Loss,
    Method,
    Metric,
    Mode,
    PoolingName,
    Precision,
    Schedule,
    SelfMatches,
)

if TYPE_CHECKING:
    from ..protocols import AnyEncoder, IndexPlace, OwnReranker
    from . import Bm25Parameters


class BuildKeywords(TypedDict, total=False):
    """The fields of `BuildSettings`."""

    adapter: str | None
    query_adapter: str | None
    pooling: PoolingName | None
    template: str | None
    query_template: str | None
    encoder: AnyEncoder | None
    bare_titles: bool
    metric: Metric | None
    dense: str
    precision: Precision
    device: Device
    lexical: Bm25Parameters | None
    shard_size: int
    limit: int | None
    memory: int | None
    recall: float
    late: bool | None


class SearchKeywords(TypedDict, total=False):
    """The fields of `SearchOptions`."""

    fusion: FusionMethod | None
    alpha: float | None
    depth: int | None
    k1: float | None
    b: float | None
    ef: int | None
    nprobe: int | None
    recall: float | None
    mode: Mode | None
    filter: Filter
    since: int | None
    until: int | None
    reranker: OwnReranker | None
    rerank_depth: int
    group: bool
    diversify: bool
    late: bool | None


class EvaluationKeywords(TypedDict, total=False):
    """The fields of `EvaluationOptions`."""

    fusion: FusionMethod | None
    alpha: float | None
    depth: int | None
    k1: float | None
    b: float | None
    ef: int | None
    nprobe: int | None
    recall: float | None
    adapter: str | None
    query_adapter: str | None
    pooling: PoolingName | None
    template: str | None
    query_template: str | None
    split: str | None
    task: str | None
    encoder: AnyEncoder | None
    index: IndexPlace | None
    mode: Mode
    rm3: bool
    fb_docs: int
    fb_terms: int
    original_weight: float
    embeddings: str | Path | None
    query_embeddings: str | Path | None
    scores: str | Path | None
    rerank: str | None
    rerank_depth: int
    metric: Metric | None
    self_matches: SelfMatches | None
    measures: Sequence[str]
    precision: Precision
    device: Device
    cache: str | Path


class TrainingKeywords(TypedDict, total=False):
    """The fields of `TrainingOptions`."""

    like: str
    base: str | None
    method: Method | None
    reduction: int | None
    loss: Loss | None
    teacher: str | None
    augment: float | None
    margin: float | None
    temperature: float | None
    facets: int | None
    facet_share: float | None
    facet_layers: bool | None
    facet_means: bool | None
    keep: float | None
    standardise: bool | None
    rate: float | None
    schedule: Schedule | None
    warmup: float | None
    decay: float | None
    batch: int | None
    epochs: int | None
    steps: int | None
    length: int | None
    held_out: str | None
    every: int | None
    patience: int | None
    seed: int
    precision: Precision
    device: Device
