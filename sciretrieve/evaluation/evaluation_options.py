"""What to evaluate: every option of an evaluation with its type and its default, as saved in a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypedDict

from ..choices import Device, FusionMethod, Metric, Mode, PoolingName, Precision, SelfMatches, check_choice, check_types
from ..errors import InvalidRequest
from ..options import RerankDepth, SearchOptions

CACHE = "indexes/benchmarks"
READING = ("adapter", "query_adapter", "pooling", "template", "query_template")
"""The options that say how an encoder reads texts."""
KNOBS = ("ef", "nprobe", "recall")
PATHS = ("data", "index", "embeddings", "query_embeddings", "scores", "cache")


@dataclass(frozen=True, slots=True)
class Request:
    """A benchmark, one system, and how it is run.

    Attributes:
        benchmark: a name of `sciretrieve benchmarks`, `beir:DIR`, or `cite:DIR`.
        data: the folder with the benchmark's files.
        split: which queries; by default those of the published figures.
        task: one of the benchmark's tasks; by default all.
        encoder: the system is this encoder, by default the embedded one; the benchmark's papers are indexed with it.
        adapter: which of its adapters (experts, instructions) reads papers; by default the one for this kind of benchmark.
        query_adapter: the same for text queries.
        pooling: how the encoder makes one vector of token states, see `load_encoder`.
        template: the text of a paper to the encoder, see `load_encoder`.
        query_template: that of a text query.
        index: the system is this index of the benchmark's papers.
        mode: how an encoder or an index is searched: "dense", which measures the encoder alone, as in papers; "hybrid",
            which measures what `search` answers; or "bm25".
        fusion: how hybrid combines its halves, see `SearchOptions`.
        ef: how hard `index` is searched, see `SearchOptions`; in mode "dense", which else scores every vector by the protocol's
            metric, with any of these three the index is searched as users search it.
        nprobe: as `ef`.
        recall: as `ef`.
        embeddings: the system is this file of papers' vectors made elsewhere.
        query_embeddings: the queries' vectors, if they are not among the papers'.
        scores: the system is this file of scores made elsewhere.
        rerank: a reranker for the first answers of any of these, see `open_reranker`.
        rerank_depth: how many answers it reorders.
        metric: "l2", "ip" or "cosine", instead of the protocol's metric.
        self_matches: whether a paper with the query's own id is "dropped" from the answer or "kept", instead of what the protocol does.
        measures: instead of the protocol's measures.
        precision: see `load_encoder`.
        device: see `load_encoder`.
        cache: the folder for indexes of benchmarks.

    Raises:
        UnknownName, InvalidRequest: an option has an unknown value, or two options exclude each other.
    """

    benchmark: str
    data: str | Path | None = None
    split: str | None = None
    task: str | None = None
    encoder: str | None = None
    adapter: str | None = None
    query_adapter: str | None = None
    pooling: PoolingName | None = None
    template: str | None = None
    query_template: str | None = None
    index: str | Path | None = None
    mode: Mode = "dense"
    fusion: FusionMethod | None = None
    ef: int | None = None
    nprobe: int | None = None
    recall: float | None = None
    embeddings: str | Path | None = None
    query_embeddings: str | Path | None = None
    scores: str | Path | None = None
    rerank: str | None = None
    rerank_depth: RerankDepth = SearchOptions().rerank_depth
    metric: Metric | None = None
    self_matches: SelfMatches | None = None
    measures: Sequence[str] = ()
    precision: Precision = "auto"
    device: Device = "auto"
    cache: str | Path = CACHE

    def __post_init__(self) -> None:
        for name in PATHS:  # a receipt is JSON
            if getattr(self, name) is not None:
                object.__setattr__(self, name, str(getattr(self, name)))
        check_types(self)
        object.__setattr__(self, "measures", tuple(self.measures))
        self.searching()
        systems = [name for name in ("index", "embeddings", "scores", "encoder") if getattr(self, name) is not None]
        if len(systems) > 1:
            raise InvalidRequest(f"one system at a time: `{systems[0]}` or `{systems[1]}`, not both")
        read = next((name for name in READING if getattr(self, name) is not None), None)
        if read is not None and systems and systems[0] != "encoder":
            raise InvalidRequest(f"`{read}` says how an encoder reads texts, so it does not go with `{systems[0]}`")
        if self.query_embeddings and not self.embeddings:
            raise InvalidRequest("`query_embeddings` needs `embeddings`, the papers' vectors")
        knob = self.knob
        if knob is not None and (self.index is None or self.mode == "bm25"):
            raise InvalidRequest(f"`{knob}` says how hard an index's vectors are searched; it goes with `index`, in mode dense or hybrid")
        if knob is not None and self.metric is not None:
            raise InvalidRequest(f"`{knob}` has the index searched by its own metric; leave out `metric`")
        if self.metric is not None and (self.scores or self.mode != "dense"):
            raise InvalidRequest("`metric` compares vectors, so it goes with `mode='dense'` or `embeddings` only")

    @property
    def knob(self) -> str | None:
        """The option that says how hard the index is searched, if one does."""
        return next((name for name in KNOBS if getattr(self, name) is not None), None)

    def searching(self) -> SearchOptions:
        """How an index is searched. Raises UnknownName, InvalidRequest."""
        return SearchOptions(mode=self.mode, fusion=self.fusion, group=False, ef=self.ef, nprobe=self.nprobe, recall=self.recall)

    @property
    def reads_texts(self) -> bool:
        """Whether an encoder, BM25 or a reranker reads the benchmark's texts, not only its ids."""
        return self.rerank is not None or (self.scores is None and self.embeddings is None)


class RequestKeywords(TypedDict, total=False):
    """The fields of `Request` except the benchmark and its data, as keyword arguments."""

    split: str | None
    task: str | None
    encoder: str | None
    adapter: str | None
    query_adapter: str | None
    pooling: PoolingName | None
    template: str | None
    query_template: str | None
    index: str | Path | None
    mode: Mode
    fusion: FusionMethod | None
    ef: int | None
    nprobe: int | None
    recall: float | None
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


def make_request(benchmark: str, data: str | Path | None, options: RequestKeywords) -> Request:
    """A request of keyword arguments. Raises UnknownName for an option that does not exist, and as `Request`."""
    names = [field.name for field in fields(Request)]
    for name in options:
        check_choice("option", name, names)
    return Request(benchmark, data, **options)
