"""How to index, how to search and what to evaluate: every option with its type, its help and its default, once.

The Python API, the commands and evaluation all use these: `--help` prints an option's help, and values are checked against its bounds.
Nothing heavy is imported here, so that `--help` costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict, TypeVar

from .choices import (
    DEFAULT_ENCODER,
    Bm25Variant,
    Device,
    Filter,
    FusionMethod,
    Help,
    Loss,
    Method,
    Metric,
    Mode,
    PoolingName,
    Precision,
    Schedule,
    SelfMatches,
    check_choice,
    check_types,
    conditions,
    documented,
)
from .errors import InvalidRequest

if TYPE_CHECKING:
    from .protocols import AnyEncoder, Reranker

SHARD_SIZE = 100_000
"""Papers a shard: with 768 dimensions 300 MB of vectors and some 150 MB of text, well within 1 GiB."""
LARGEST_SHARD = 1_000_000
"""Papers that a shard may have: with 768 dimensions 3 GB of vectors."""

RECALL = 0.98
"""The share of the true best 10 papers that an approximate index should find."""
MOST_STEPS = (1 << 31) - 1
"""The greatest `ef` and `nprobe` that FAISS takes."""

# options of several classes or commands

ENCODER = Help(
    "A name that `sciretrieve encoders` lists, a folder or hub id with a model, mean:A+B or concat:A+B for several, vectors:FILE or "
    "faiss:FILE.",
    "NAME",
    completes="encoders",
)
EncoderName: TypeAlias = Annotated[str, ENCODER]
Adapter: TypeAlias = Annotated[
    str | None,
    Help(
        "Which adapter, expert, instruction or control code reads papers; or a folder or hub id with an adapter; or an instruction in "
        "your own words. One for each encoder of several: A+B.",
        "NAME",
        advanced=True,
    ),
]
QueryAdapter: TypeAlias = Annotated[str | None, Help("The same for text queries.", "NAME", advanced=True)]
Pooling: TypeAlias = Annotated[
    PoolingName | None,
    Help("What of a model becomes the vector: the mean of all tokens, or the first, [CLS]; default: what its files say.", advanced=True),
]
Template: TypeAlias = Annotated[str | None, Help("A paper's text to the encoder, e.g. '{title}{sep}{abstract}'.", "TEXT", advanced=True)]
QueryTemplate: TypeAlias = Annotated[str | None, Help("A text query's text to the encoder, e.g. 'query: {text}'.", "TEXT", advanced=True)]
RunsOn: TypeAlias = Annotated[Device, Help("Where the encoder runs; auto: on the GPUs, if there are any.", advanced=True)]
EncoderPrecision: TypeAlias = Annotated[Precision, Help("The encoder's arithmetic; auto: bf16 where supported.", advanced=True)]
SearchMode: TypeAlias = Annotated[Mode | None, Help("How to search; default: the best the index has.")]
Passing: TypeAlias = Annotated[
    Filter,
    Help(
        "Answer only with papers that pass, e.g. 'year >= 2018 and venue == \"ACL\"'; if repeated, all must hold.",
        "EXPR",
        completes="columns",
    ),
]
Since: TypeAlias = Annotated[int | None, Help("Only papers of that year or later.", "YEAR")]
Until: TypeAlias = Annotated[int | None, Help("Only papers of that year or earlier.", "YEAR")]
Fusion: TypeAlias = Annotated[
    FusionMethod | None, Help("How hybrid combines dense and BM25 scores; default: as the index is tuned, else convex.", advanced=True)
]
Ef: TypeAlias = Annotated[
    int | None, Help("Candidates that an HNSW index keeps; default: as many as the recall needs.", "N", least=1, advanced=True)
]
Nprobe: TypeAlias = Annotated[
    int | None, Help("Lists of an IVF index to search; default: as many as the recall needs.", "N", least=1, advanced=True)
]
RecallWanted: TypeAlias = Annotated[
    float | None, Help("Of the true best 10, what an approximate index should find; 1 scores every vector.", "SHARE", advanced=True)
]
Alpha: TypeAlias = Annotated[
    float | None, Help("The dense half's share in hybrid, 0 to 1; default: by the query's length.", "A", least=0, most=1, advanced=True)
]
Depth: TypeAlias = Annotated[
    int | None, Help("Papers that each half of hybrid proposes; default: as the index is tuned.", "N", least=1, advanced=True)
]
K1: TypeAlias = Annotated[float | None, Help("BM25's saturation of term frequency; default: the index's.", least=0, advanced=True)]
B: TypeAlias = Annotated[float | None, Help("BM25's normalisation of length; default: the index's.", least=0, most=1, advanced=True)]
Expansion: TypeAlias = Annotated[
    bool, Help("Expand a query's words by RM3: with the commonest ones of the papers that BM25 finds first.", advanced=True)
]
FeedbackPapers: TypeAlias = Annotated[int, Help("RM3: how many papers the words are taken from.", "N", least=1, advanced=True)]
FeedbackTerms: TypeAlias = Annotated[int, Help("RM3: how many words are added.", "N", least=1, advanced=True)]
OriginalWeight: TypeAlias = Annotated[
    float, Help("RM3: the share of the query's own words, above 0 and up to 1.", "W", least=0, most=1, advanced=True)
]
Rerank: TypeAlias = Annotated[
    str | None,
    Help(
        "Reorder the first papers: an encoder, or a folder or hub id with a cross-encoder; or tokens: late interaction, for an index "
        "without token vectors.",
        "NAME",
        completes="rerankers",
    ),
]
RerankDepth: TypeAlias = Annotated[int, Help("How many papers are reordered.", "N", least=1, advanced=True)]
Split: TypeAlias = Annotated[str | None, Help("Which queries; default: the published ones.", "NAME", advanced=True)]
Measures: TypeAlias = Annotated[
    Sequence[str], Help("nDCG@10, R@100, MAP, MRR, P@5, or trec_eval's names; may be given more than once.", "M", short="-m")
]


@documented
@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """How BM25 weighs terms: `k1` saturates term frequency, `b` normalises length, `delta` is for bm25l and bm25+.

    A term in a title counts `title` times (BM25F with one length normalisation; Robertson, Zaragoza and Taylor, CIKM
    2004). The defaults were measured, see docs/quality.md.
    """

    variant: Annotated[Bm25Variant, Help("The variant of BM25.", advanced=True, name="bm25")] = "lucene"
    k1: Annotated[float, Help("BM25's saturation of term frequency.", least=0, advanced=True)] = 1.2
    b: Annotated[float, Help("BM25's normalisation of length.", least=0, most=1, advanced=True)] = 0.75
    delta: Annotated[float, Help("What bm25l and bm25+ add for every term that occurs.", advanced=True)] = 0.5
    title: Annotated[float, Help("How often a term in a title counts.", least=0, advanced=True)] = 2.0

    def __post_init__(self) -> None:
        check_types(self)


@documented
@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How to build an index. Two builds with equal settings over the same corpus give the same index.

    `encoder` is a name, an encoder of your own (see `sciretrieve.protocols.OwnEncoder`) or vectors, {id: vector}; it is None for no
    vectors, and `lexical` for no BM25; `bare_titles` and the texts of papers are as in `load_encoder`.
    Queries are always encoded on the CPU.
    """

    encoder: Annotated[AnyEncoder | None, ENCODER] = DEFAULT_ENCODER
    adapter: Adapter = None
    query_adapter: QueryAdapter = None
    bare_titles: Annotated[bool, Help("Whether a paper without an abstract is its title alone to the encoder.")] = False
    pooling: Pooling = None
    template: Template = None
    query_template: QueryTemplate = None
    metric: Annotated[Metric | None, Help("How vectors are compared; default: as the encoder was trained.", advanced=True)] = None
    dense: Annotated[
        str, Help("auto, flat (exact), hnsw, ivf, rabitq, a FAISS factory string, or none for BM25 only.", "TYPE", completes="dense_types")
    ] = "auto"
    precision: EncoderPrecision = "auto"
    device: RunsOn = "auto"
    lexical: Annotated[Bm25Parameters | None, Help("BM25's parameters, or none of it.", advanced=True)] = Bm25Parameters()
    shard_size: Annotated[int, Help("Papers per shard.", "N", least=1, most=LARGEST_SHARD, advanced=True)] = SHARD_SIZE
    limit: Annotated[int | None, Help("Index only the first N papers.", "N", least=1)] = None
    memory: Annotated[int | None, Help("Bytes of memory that the dense index may take that `dense='auto'` chooses.", advanced=True)] = None
    recall: Annotated[float, Help("Of the true best 10, what an approximate index should find.", "SHARE", advanced=True)] = RECALL
    late: Annotated[
        bool | None,
        Help(
            "With or without token vectors for late interaction, some 5 kB a paper; default: with minilm, to 250,000 papers.", advanced=True
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.dense == "none":
            for name in ("encoder", "adapter", "query_adapter", "pooling", "template", "query_template"):
                object.__setattr__(self, name, None)
        check_types(self)
        if not isinstance(self.encoder, str | Mapping | None) and not hasattr(self.encoder, "encode_papers"):
            raise InvalidRequest(
                "`encoder` is a name, an encoder with `dim`, `identity`, `encode_papers` and `encode_queries`, or vectors by the ids of "
                f"papers such as dict(zip(ids, vectors)), not of type {type(self.encoder).__name__}"
            )
        if not isinstance(self.encoder, str | None):
            for name in ("adapter", "query_adapter", "bare_titles", "pooling", "template", "query_template"):
                if getattr(self, name):
                    raise InvalidRequest(
                        f"`{name}` says how an encoder with a name reads texts; one of your own, and vectors, go without it"
                    )
        if self.encoder is None and self.lexical is None:
            raise InvalidRequest("an index needs vectors or BM25; leave out `dense='none'` or `lexical=None`")
        if self.memory is not None and self.dense != "auto":
            raise InvalidRequest(f"`memory` is what `dense='auto'` goes by; leave it out with `dense={self.dense!r}`")
        check_recall(self.recall)
        if self.late and (self.encoder is None or self.lexical is None):
            raise InvalidRequest("`late` adds a part to hybrid search, which needs vectors and BM25; leave it out")


class BuildKeywords(TypedDict, total=False):
    """The fields of `BuildSettings` as keyword arguments."""

    encoder: AnyEncoder | None
    adapter: str | None
    query_adapter: str | None
    bare_titles: bool
    pooling: PoolingName | None
    template: str | None
    query_template: str | None
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


@documented
@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of a corpus that stand for fields; of None, those that have one of a field's usual names."""

    id: Annotated[str | None, Help("The column with the papers' ids.", "COLUMN", advanced=True)] = None
    title: Annotated[str | None, Help("The column with the titles.", "COLUMN", advanced=True)] = None
    abstract: Annotated[str | None, Help("The column with the abstracts.", "COLUMN", advanced=True)] = None
    year: Annotated[str | None, Help("The column with years or dates.", "COLUMN", advanced=True)] = None
    venue: Annotated[str | None, Help("The column with the venues.", "COLUMN", advanced=True)] = None
    authors: Annotated[str | None, Help("The column with the authors.", "COLUMN", advanced=True)] = None


@documented
@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search.

    Dense and hybrid answer with min(k, papers that pass the filter); BM25 with those of them that share a term with the query.
    `diversify` is maximal marginal relevance, see `sciretrieve.query.ranking.diversity`.
    """

    mode: SearchMode = None
    filter: Passing = None
    since: Since = None
    until: Until = None
    fusion: Fusion = None
    alpha: Alpha = None
    depth: Depth = None
    k1: K1 = None
    b: B = None
    reranker: Annotated[Reranker | None, Help("What orders the first papers anew, see `sciretrieve.open_reranker`.")] = None
    rerank_depth: RerankDepth = 100
    group: Annotated[
        bool, Help("Group papers with one DOI, or with the same title and first author (preprint and journal).", advanced=True)
    ] = True
    diversify: Annotated[bool, Help("Rank papers lower that are similar to those before them.")] = False
    ef: Ef = None
    nprobe: Nprobe = None
    recall: RecallWanted = None
    late: Annotated[
        bool | None,
        Help(
            "With or without late interaction in hybrid search; default: with it where the index has token vectors. Where it has none, "
            "those of the first papers are made, and kept in the cache.",
            advanced=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        check_types(self)
        if self.reranker is not None and (isinstance(self.reranker, type) or not callable(getattr(self.reranker, "score", None))):
            raise InvalidRequest(
                f"reranker is what `sciretrieve.open_reranker(name)` gives, or an object with `score(query, papers)`, not {self.reranker!r}"
            )
        if self.since is not None and self.until is not None and self.since > self.until:
            raise InvalidRequest(f"no year is {self.since} or later and {self.until} or earlier; swap `since` and `until`")
        for name, value in (("ef", self.ef), ("nprobe", self.nprobe)):
            if value is not None and value > MOST_STEPS:
                raise InvalidRequest(f"`{name}` must be below 2^31, not {value}")
            if value is not None and self.recall is not None:
                raise InvalidRequest(f"`recall` chooses `{name}`; give one of them")
        if self.recall is not None:
            check_recall(self.recall)
        if self.fusion == "rrf" and self.alpha is not None:
            raise InvalidRequest("`fusion='rrf'` goes by ranks alone; leave out `alpha`")

    def check_words(self, mode: Mode) -> None:
        """Raise InvalidRequest for a setting of BM25 where a mode does not search by words."""
        if mode == "dense" and (of_words := [name for name in OF_WORDS if getattr(self, name) is not None]):
            raise InvalidRequest(f"`{of_words[0]}` is a setting of BM25, which `mode='dense'` does without; leave out one of them")

    @property
    def filters(self) -> tuple[str, ...]:
        """All filters that a paper must pass, `since` and `until` among them."""
        bounds = ((">=", self.since), ("<=", self.until))
        return (*conditions(self.filter), *(f"year {sign} {year}" for sign, year in bounds if year is not None))


class SearchKeywords(TypedDict, total=False):
    """The fields of `SearchOptions` as keyword arguments."""

    mode: Mode | None
    filter: Filter
    since: int | None
    until: int | None
    fusion: FusionMethod | None
    alpha: float | None
    depth: int | None
    k1: float | None
    b: float | None
    reranker: Reranker | None
    rerank_depth: int
    group: bool
    diversify: bool
    ef: int | None
    nprobe: int | None
    recall: float | None
    late: bool | None


OF_BOTH_HALVES = ("fusion", "alpha", "depth")
"""Options of a search that only hybrid has a use for."""
OF_WORDS = ("k1", "b")
"""Those that BM25 has a use for, alone or as a half of hybrid."""
OF_RM3 = ("rm3", "fb_docs", "fb_terms", "original_weight")
"""Those of an evaluation that expand a query's words."""
READING = ("adapter", "query_adapter", "pooling", "template", "query_template")
"""Options of an evaluation that say how an encoder reads texts."""
KNOBS = ("ef", "nprobe", "recall")
"""Those that say how hard an index's vectors are searched."""
PATHS = ("data", "index", "embeddings", "query_embeddings", "scores", "cache")


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """One system, and how a benchmark measures it.

    Of an encoder, which is the embedded one by default, the benchmark's papers are indexed. With `ef`, `nprobe` or `recall`, an index
    is searched as users search it, where mode "dense" else scores every vector by the protocol's metric.

    Raises:
        UnknownName, InvalidRequest: an option has an unknown value, or two options exclude each other.
    """

    split: Split = None
    task: Annotated[str | None, Help("One of the benchmark's tasks; default: all.", "NAME")] = None
    encoder: Annotated[str | None, Help(f"The encoder to evaluate; default: {DEFAULT_ENCODER}.", "NAME", completes="encoders")] = None
    adapter: Adapter = None
    query_adapter: QueryAdapter = None
    pooling: Pooling = None
    template: Template = None
    query_template: QueryTemplate = None
    index: Annotated[
        str | Path | None,
        Help("An index of the benchmark's papers to evaluate, its folder or its name.", "NAME", short="-i", completes="indexes"),
    ] = None
    mode: Annotated[Mode, Help("How it searches: dense, the encoder alone, as in papers; hybrid, as `search`; or bm25.")] = "dense"
    fusion: Fusion = None
    alpha: Alpha = None
    depth: Depth = None
    k1: K1 = None
    b: B = None
    rm3: Expansion = False
    fb_docs: FeedbackPapers = 10
    fb_terms: FeedbackTerms = 10
    original_weight: OriginalWeight = 0.5
    ef: Ef = None
    nprobe: Nprobe = None
    recall: RecallWanted = None
    embeddings: Annotated[str | Path | None, Help("Papers' vectors made elsewhere: .jsonl, .npy or .parquet.", "FILE", advanced=True)] = (
        None
    )
    query_embeddings: Annotated[str | Path | None, Help("The queries' vectors, if not among the papers'.", "FILE", advanced=True)] = None
    scores: Annotated[
        str | Path | None, Help("Scores made elsewhere: a TREC run, {query: {id: score}}, or MDCR's.", "FILE", advanced=True)
    ] = None
    rerank: Rerank = None
    rerank_depth: RerankDepth = SearchOptions().rerank_depth
    metric: Annotated[Metric | None, Help("Compare vectors by this, not by the protocol's metric.", advanced=True)] = None
    self_matches: Annotated[
        SelfMatches | None, Help("What becomes of a paper with the query's own id; default: what the protocol does.")
    ] = None
    measures: Measures = ()
    precision: EncoderPrecision = "auto"
    device: RunsOn = "auto"
    cache: Annotated[str | Path, Help("Where benchmarks' indexes are kept.", "DIR", advanced=True)] = "indexes/benchmarks"

    def __post_init__(self) -> None:
        for name in PATHS:  # a receipt is JSON
            if getattr(self, name, None) is not None:
                object.__setattr__(self, name, str(getattr(self, name)))
        check_types(self)
        object.__setattr__(self, "measures", tuple(self.measures))
        self.searching()
        if not self.original_weight > 0:
            raise InvalidRequest(
                f"`original_weight`, the share of the query's own words, lies above 0 and up to 1, not {self.original_weight}"
            )
        if not self.rm3 and (
            of_rm3 := [field.name for field in fields(self) if field.name in OF_RM3[1:] and getattr(self, field.name) != field.default]
        ):
            raise InvalidRequest(f"`{of_rm3[0]}` is a setting of RM3; add `rm3`, or leave it out")
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
        shared = {name: getattr(self, name) for name in ("mode", *OF_BOTH_HALVES, *OF_WORDS, *KNOBS)}
        return SearchOptions(**shared, group=False)

    def check_mode(self) -> None:
        """Raise InvalidRequest for a setting of a half of hybrid search that the mode, or the system, does not have."""
        elsewhere = next((name for name in ("embeddings", "scores") if getattr(self, name) is not None), None)
        given = [name for name in (*OF_BOTH_HALVES, *OF_WORDS, "rm3") if getattr(self, name) not in (None, False)]
        if elsewhere is not None and given:
            raise InvalidRequest(f"`{given[0]}` says how an index is searched, so it does not go with `{elsewhere}`; leave out one of them")
        if self.mode != "hybrid" and (of_both := [name for name in OF_BOTH_HALVES if getattr(self, name) is not None]):
            raise InvalidRequest(
                f"`{of_both[0]}` says how hybrid search joins its halves, and this is `mode={self.mode!r}`; leave out one of them"
            )
        if self.mode == "dense" and self.rm3:
            raise InvalidRequest("`rm3` expands words, which `mode='dense'` does without; leave out one of them")
        self.searching().check_words(self.mode)

    @property
    def reads_texts(self) -> bool:
        """Whether an encoder, BM25 or a reranker reads the benchmark's texts, not only its ids."""
        return self.rerank is not None or (self.scores is None and self.embeddings is None)


class EvaluationKeywords(TypedDict, total=False):
    """The fields of `EvaluationOptions` as keyword arguments."""

    split: str | None
    task: str | None
    encoder: str | None
    adapter: str | None
    query_adapter: str | None
    pooling: PoolingName | None
    template: str | None
    query_template: str | None
    index: Any  # a name, a folder, or an `Index`, which stands above here
    mode: Mode
    fusion: FusionMethod | None
    alpha: float | None
    depth: int | None
    k1: float | None
    b: float | None
    rm3: bool
    fb_docs: int
    fb_terms: int
    original_weight: float
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


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How to train an encoder. What is None is as `like` has it, see `sciretrieve.training.PRESETS`.

    Raises:
        UnknownName, InvalidRequest: an option has an unknown value.
    """

    like: Annotated[
        str,
        Help(
            "Train as a paper does: specter2, specter2-adapters, scirepeval-codes, scirepeval-adapters, scirepeval-fusion, "
            "scirepeval-pals, scimult, scimult-mhaexpert, scimult-ffnexpert, scimult-prefix, scimult-instruction, multi2spe, "
            "multi2spe-code; own: ours.",
            "NAME",
        ),
    ] = "own"
    base: Annotated[str | None, Help(f"The encoder to begin with: a name, a folder or a hub id; own: {DEFAULT_ENCODER}.", "NAME")] = None
    method: Annotated[
        Method | None,
        Help(
            "What is trained: an adapter on frozen weights; the whole encoder; that with a control code a format; others are in "
            "docs/training.md."
        ),
    ] = None
    reduction: Annotated[int | None, Help("An adapter is N times narrower than the encoder.", "N", least=1)] = None
    loss: Annotated[
        Loss | None,
        Help(
            "Of triplets and pairs: a margin between two papers' distances; the right paper among those of the batch; facets: among the "
            "two of a triplet, by facets and sums together, or by each apart (facets-apart); or the teacher's ranking of the batch (rank). "
            "distil: the teacher's vectors of all texts."
        ),
    ] = None
    teacher: Annotated[str | None, Help("An encoder to learn from, with --loss distil or rank.", "NAME")] = None
    augment: Annotated[float | None, Help("The share of papers that are read reordered, cut or in part; default: 0.", "SHARE")] = None
    margin: Annotated[float | None, Help("How much nearer the right paper is to be than the wrong one.", least=0)] = None
    temperature: Annotated[float | None, Help("What similarities are divided by before they are compared.")] = None
    facets: Annotated[int | None, Help("Vectors that a text has while facets are trained, K in Multi2SPE.", "K", least=1)] = None
    facet_share: Annotated[
        float | None, Help("What the most similar facets count for beside the facets' sums, lambda in Multi2SPE.", least=0, most=1)
    ] = None
    keep: Annotated[float | None, Help("How much vectors are held near to those of the encoder as it was; 0: not at all.", least=0)] = None
    rate: Annotated[float | None, Help("The learning rate at its peak.")] = None
    schedule: Annotated[Schedule | None, Help("How the rate goes on after its warm-up.")] = None
    warmup: Annotated[float | None, Help("Steps of warm-up; below 1 a share of all steps.", least=0)] = None
    decay: Annotated[float | None, Help("AdamW's weight decay.", least=0)] = None
    batch: Annotated[int | None, Help("Examples a step, an equal share of each task's.", "N", least=1)] = None
    epochs: Annotated[int | None, Help("How often the largest task is gone through.", "N", least=1)] = None
    steps: Annotated[int | None, Help("Stop after N steps, if that is sooner.", "N", least=1)] = None
    length: Annotated[
        int | None, Help("Tokens of a text that are read in training; default: as many as the encoder reads.", "N", least=8)
    ] = None
    held_out: Annotated[
        str | None,
        Help(
            "What the training is measured on, and stopped by: beir:DIR (nDCG@10) or cite:DIR (recall@5 of each field's candidates); "
            "default: queries that are set apart.",
            "BENCHMARK",
        ),
    ] = None
    every: Annotated[int | None, Help("Steps between two measurements; default: ten in a training.", "N", least=1)] = None
    patience: Annotated[int | None, Help("Stop after N measurements without a gain.", "N", least=1)] = None
    seed: Annotated[int, Help("What is drawn by chance depends on it alone.", "N", least=0, advanced=True)] = 42
    precision: Annotated[
        Precision, Help("The arithmetic of matrix products; auto: bf16 where it is quicker: GPUs, AMX.", advanced=True)
    ] = "auto"
    device: Annotated[Device, Help("Where it trains; auto: on a GPU, if there is one.", advanced=True)] = "auto"

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("temperature", "rate"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidRequest(f"`{name}` must be above 0, not {value}")
        if self.augment is not None and not 0 <= self.augment <= 1:
            raise InvalidRequest(f"`augment` is a share of papers, from 0 to 1, not {self.augment}")


class TrainingKeywords(TypedDict, total=False):
    """The fields of `TrainingOptions` as keyword arguments."""

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
    keep: float | None
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
    return replace(options, **changes) if changes else options  # which was checked when it was made


QUERIES, QUERIES_IN_FIELD = 1000, 200
"""How many papers are queries by default: as in SciDocs' tasks, and, in each field, as in MDCR's."""


@dataclass(frozen=True, slots=True)
class CiteSettings:
    """How a benchmark is made from citations.

    Attributes:
        references: the corpus's column with the ids that a paper cites; by default recognised by name.
        citations: a table of citing and cited ids, in place of a column.
        field: the corpus's column with each paper's field; by default recognised by name, and one field if there is none.
        queries: how many papers are queries, in each field if there are several; None for 1,000, or 200 in each field.
        cited: how many papers of the corpus a query cites at least; None for 5 in `build_cite`, and for 1 elsewhere.
        cocited: how many papers cite two papers together at least, for these to count as co-cited; None for 10 in `build_cite`, and for 1
            elsewhere.
        indexes: indexes of the corpus, whose encoders choose hard negatives.
        seed: the random seed.

    Raises:
        InvalidRequest: a number is too small, or citations are named twice.
    """

    references: Annotated[str | None, Help("The column with the ids that a paper cites; default: recognised by name.", "COLUMN")] = None
    citations: Annotated[Path | None, Help("A table of citing and cited ids (.tsv, .csv, .parquet), instead of a column.", "FILE")] = None
    field: Annotated[str | None, Help("The column with the papers' fields; default: recognised by name.", "COLUMN")] = None
    queries: Annotated[int | None, Help("Papers as queries; default: 1,000, or 200 in each field; to train on, all.", "N", least=1)] = None
    cited: Annotated[int | None, Help("A query cites at least N papers of the corpus; default: 1, cite 5.", "N", least=1)] = None
    cocited: Annotated[int | None, Help("Papers that at least N others cite together are co-cited; default: 1, cite 10.", "N", least=1)] = (
        None
    )
    indexes: tuple[Path, ...] = ()
    seed: Annotated[int, Help("Random seed.", "N", advanced=True)] = 0

    def __post_init__(self) -> None:
        for name in ("queries", "cited", "cocited"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidRequest(f"`{name}` must be at least 1, not {value}")
        if self.references is not None and self.citations is not None:
            raise InvalidRequest("citations come from one place: a column (`references`) or a file (`citations`), not both")

    def query_count(self, has_fields: bool) -> int:
        """How many papers are queries, of the corpus or of each field."""
        return self.queries or (QUERIES_IN_FIELD if has_fields else QUERIES)
