"""How to index and how to search: every option with its type and its default, once.

The Python API, the commands and evaluation all use these. Nothing heavy is imported here, so that `--help` costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from .choices import Bm25Variant, BuildPrecision, Device, Filter, FusionMethod, Metric, Mode, PoolingName, check_choice, check_types
from .errors import InvalidRequest

if TYPE_CHECKING:
    from .protocols import Reranker

SHARD_SIZE = 100_000
"""Papers a shard: with 768 dimensions 300 MB of vectors and some 150 MB of text, well within 1 GiB."""
LARGEST_SHARD = 1_000_000
"""Papers that a shard may have: with 768 dimensions 3 GB of vectors."""

RECALL = 0.98
"""The share of the true best 10 papers that an approximate index should find."""


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """How BM25 weighs terms: `k1` saturates term frequency, `b` normalises length, `delta` is for bm25l and bm25+.

    A term in a title counts `title` times (BM25F with one length normalisation; Robertson, Zaragoza and Taylor, CIKM
    2004). The defaults were measured, see docs/quality.md.
    """

    variant: Bm25Variant = "lucene"
    k1: float = 1.2
    b: float = 0.75
    delta: float = 0.5
    title: float = 2.0

    def __post_init__(self) -> None:
        check_types(self)
        if not (self.k1 >= 0 and 0 <= self.b <= 1 and self.title >= 0):
            raise InvalidRequest(f"BM25 wants k1 >= 0, 0 <= b <= 1 and a title weight >= 0, not {self.k1}, {self.b} and {self.title}")


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How to build an index. Two builds with equal settings over the same corpus give the same index.

    Attributes:
        encoder: a name of the catalogue, a folder or a hub id with a model, `mean:A+B` or `concat:A+B` for several, `vectors:FILE` or
            `faiss:FILE`; None for no vectors.
        adapter: which of the encoder's adapters (experts, instructions) reads papers, or a folder or a hub id with one.
        query_adapter: the same for text queries.
        bare_titles: whether a paper without an abstract is its title alone to the encoder, see `load_encoder`.
        pooling: how token states become one vector, "mean" or "cls"; by default as the model's files or the catalogue say.
        template: the text of a paper to the encoder, see `load_encoder`.
        query_template: that of a text query.
        metric: "l2", "ip" or "cosine"; by default the one that the encoder was trained for.
        dense: "auto", "flat", "hnsw", "ivf", any FAISS factory string, or "none", which is `encoder=None`.
        precision: "bf16", "fp32", or "auto": bf16 where the machine computes in it; or "int8", quantised with the corpus's own papers,
            which is refused where it costs more than half a point of nDCG@10 or recall@100 of these. Queries are never encoded in int8.
        device: "cpu", "cuda", or "auto": a GPU where there is one. Queries are encoded on the CPU later.
        lexical: BM25's parameters; None for no BM25.
        shard_size: papers a shard.
        limit: stop after so many papers.
        memory: bytes that "auto" may choose a dense index of, which a search should find in memory; None for no limit.
        recall: the share of the true best 10 papers that an approximate dense index should find.
        late: whether token vectors are kept for late interaction, some 5 kB a paper, which hybrid search takes as a third part; by default
            where the encoder is one for which that was measured to be a gain, for up to 250,000 papers.
    """

    encoder: str | None = "minilm"
    adapter: str | None = None
    query_adapter: str | None = None
    bare_titles: bool = False
    pooling: PoolingName | None = None
    template: str | None = None
    query_template: str | None = None
    metric: Metric | None = None
    dense: str = "auto"
    precision: BuildPrecision = "auto"
    device: Device = "auto"
    lexical: Bm25Parameters | None = Bm25Parameters()
    shard_size: int = SHARD_SIZE
    limit: int | None = None
    memory: int | None = None
    recall: float = RECALL
    late: bool | None = None

    def __post_init__(self) -> None:
        if self.dense == "none":
            for name in ("encoder", "adapter", "query_adapter", "pooling", "template", "query_template"):
                object.__setattr__(self, name, None)
        check_types(self)
        if self.encoder is None and self.lexical is None:
            raise InvalidRequest("an index needs vectors or BM25; leave out `dense='none'` or `lexical=None`")
        if not 1 <= self.shard_size <= LARGEST_SHARD:
            raise InvalidRequest(f"`shard_size` must lie between 1 and {LARGEST_SHARD:,}, not {self.shard_size}")
        if self.limit is not None and self.limit < 1:
            raise InvalidRequest(f"`limit` must be at least 1, not {self.limit}")
        if self.memory is not None and self.dense != "auto":
            raise InvalidRequest(f"`memory` is what `dense='auto'` goes by; leave it out with `dense={self.dense!r}`")
        check_recall(self.recall)
        if self.late and (self.encoder is None or self.lexical is None):
            raise InvalidRequest("`late` adds a part to hybrid search, which needs vectors and BM25; leave it out")
        if self.late and self.precision == "int8":
            raise InvalidRequest("`late` takes token vectors as they are, and `precision='int8'` changes them; leave out one of them")


class BuildKeywords(TypedDict, total=False):
    """The fields of `BuildSettings` as keyword arguments."""

    encoder: str | None
    adapter: str | None
    query_adapter: str | None
    bare_titles: bool
    pooling: PoolingName | None
    template: str | None
    query_template: str | None
    metric: Metric | None
    dense: str
    precision: BuildPrecision
    device: Device
    lexical: Bm25Parameters | None
    shard_size: int
    limit: int | None
    memory: int | None
    recall: float
    late: bool | None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search.

    Attributes:
        mode: "hybrid", "dense" or "bm25"; by default the best that the index has.
        filter: which papers may be answered; of several filters, all must hold. Dense and hybrid answer with min(k, papers
            that pass); BM25 with those of them that share a term with the query.
        since: only papers of this year or later.
        until: only papers of this year or earlier.
        fusion: how hybrid joins its halves, "blend", "convex" or "rrf"; by default as the index is tuned, else "blend".
        alpha: the share of meaning, of vectors and token vectors, beside BM25's, 0 to 1; by default 0.5 in convex, by length in blend.
        reranker: what orders the first papers anew, see `sciretrieve.open_reranker`.
        rerank_depth: how many papers it orders.
        group: whether papers of one title and first author are answered as one, see `sciretrieve.query.ranking.grouping`.
        diversify: whether papers that are like those before them are put off, see `sciretrieve.query.ranking.diversity`.
        ef: candidates that an HNSW index keeps while it walks its graph; by default as was measured to be enough.
        nprobe: lists of an IVF index that are searched; by default as was measured to be enough.
        recall: the share of the true best 10 papers to find, in place of `ef` and `nprobe`; 1 scores every vector.
        late: whether late interaction has a part in hybrid search; by default where the index has token vectors. Where it has none,
            those of the first papers are made, and remembered in the cache.
    """

    mode: Mode | None = None
    filter: Filter = None
    since: int | None = None
    until: int | None = None
    fusion: FusionMethod | None = None
    alpha: float | None = None
    reranker: Reranker | None = None
    rerank_depth: int = 100
    group: bool = True
    diversify: bool = False
    ef: int | None = None
    nprobe: int | None = None
    recall: float | None = None
    late: bool | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if not hasattr(self.reranker, "score") and self.reranker is not None:
            raise InvalidRequest(f"reranker is what `sciretrieve.open_reranker(name)` gives, not {self.reranker!r}")
        if self.alpha is not None and not 0 <= self.alpha <= 1:
            raise InvalidRequest(f"`alpha`, the dense half's share, lies between 0 and 1, not {self.alpha}")
        if self.since is not None and self.until is not None and self.since > self.until:
            raise InvalidRequest(f"no year is {self.since} or later and {self.until} or earlier; swap `since` and `until`")
        if self.rerank_depth < 1:
            raise InvalidRequest(f"`rerank_depth` must be at least 1, not {self.rerank_depth}")
        for name, value in (("ef", self.ef), ("nprobe", self.nprobe)):
            if value is not None and not 1 <= value < 1 << 31:
                raise InvalidRequest(f"`{name}` must be at least 1 and below 2^31, not {value}")
            if value is not None and self.recall is not None:
                raise InvalidRequest(f"`recall` chooses `{name}`; give one of them")
        if self.recall is not None:
            check_recall(self.recall)

    @property
    def filters(self) -> tuple[str, ...]:
        """All filters that a paper must pass, `since` and `until` among them."""
        listed = () if self.filter is None else (self.filter,) if isinstance(self.filter, str) else tuple(self.filter)
        bounds = ((">=", self.since), ("<=", self.until))
        return (*listed, *(f"year {sign} {year}" for sign, year in bounds if year is not None))


class SearchKeywords(TypedDict, total=False):
    """The fields of `SearchOptions` as keyword arguments."""

    mode: Mode | None
    filter: Filter
    since: int | None
    until: int | None
    fusion: FusionMethod | None
    alpha: float | None
    reranker: Reranker | None
    rerank_depth: int
    group: bool
    diversify: bool
    ef: int | None
    nprobe: int | None
    recall: float | None
    late: bool | None


def check_recall(recall: float) -> None:
    """Raise InvalidRequest for what is no share of papers to find."""
    if not 0 < recall <= 1:
        raise InvalidRequest(f"`recall`, the share of the best papers to find, lies above 0 and up to 1, not {recall}")


Options = TypeVar("Options", BuildSettings, SearchOptions)


def changed(options: Options, changes: Any) -> Options:
    """`options` with other values for some of its fields. Raises UnknownName for a field that it does not have."""
    if not isinstance(options, BuildSettings | SearchOptions):
        raise InvalidRequest(f"{options!r} stands where BuildSettings or SearchOptions do; name a single option, as in mode='bm25'")
    names = [field.name for field in fields(options)]
    for name in changes:
        check_choice("option", name, names)
    return replace(options, **changes)
