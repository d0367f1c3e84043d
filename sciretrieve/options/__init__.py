"""Options of indexing, search and evaluation, each once, with its type, help and default.

The Python API, the commands and evaluation all use these: `--help` prints an option's help, and values are checked against its bounds.
Nothing heavy is imported here, so that `--help` is fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from ..base.choices import (
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
    Order,
    PoolingName,
    Precision,
    Schedule,
    SelfMatches,
    SimilarBy,
    check_choice,
    check_types,
    conditions,
    documented,
)
from ..base.errors import InvalidRequest
from ..base.wording import shortened

if TYPE_CHECKING:
    from ..protocols import AnyEncoder, OwnReranker

SHARD_SIZE = 100_000
"""Papers per shard: with 768 dimensions 300 MB of vectors and some 150 MB of text, well within 1 GiB."""
LARGEST_SHARD = 1_000_000
"""The most papers of a shard: with 768 dimensions 3 GB of vectors."""

RECALL = 0.98
"""The default recall of an approximate index: the share of the true best 10 papers that it finds."""
MOST_STEPS = (1 << 31) - 1
"""The greatest `ef` and `nprobe` that FAISS takes."""

# options of several classes or commands

ENCODER = Help(
    "A name of `sciretrieve encoders`, a model's folder or hub id, mean:A+B or concat:A+B for several, vectors:FILE or faiss:FILE.",
    "NAME",
    completes="encoders",
)
EncoderName: TypeAlias = Annotated[str, ENCODER]
RunsOn: TypeAlias = Annotated[Device, Help("Where the encoder runs; auto: on GPUs, if there are any.", setting=True)]
EncoderPrecision: TypeAlias = Annotated[Precision, Help("The encoder's arithmetic; auto: bf16 where supported.", setting=True)]
SearchMode: TypeAlias = Annotated[Mode | None, Help("How to search; default: the best the index has.")]
Passing: TypeAlias = Annotated[
    Filter, Help("Only papers that pass, e.g. 'year >= 2018 and venue == \"ACL\"'. Repeatable.", "EXPR", completes="columns")
]
Since: TypeAlias = Annotated[int | None, Help("Only papers of that year or later.", "YEAR")]
Until: TypeAlias = Annotated[int | None, Help("Only papers of that year or earlier.", "YEAR")]
Expansion: TypeAlias = Annotated[bool, Help("Expand queries by RM3, with words of the papers that BM25 finds first.", setting=True)]
FeedbackPapers: TypeAlias = Annotated[int, Help("RM3: papers that give words.", "N", least=1, setting=True)]
FeedbackTerms: TypeAlias = Annotated[int, Help("RM3: words that are added.", "N", least=1, setting=True)]
OriginalWeight: TypeAlias = Annotated[
    float, Help("RM3: share of the query's own words, above 0 and up to 1.", "W", least=0, most=1, setting=True)
]
Fusion: TypeAlias = Annotated[
    FusionMethod | None, Help("How hybrid combines dense and BM25 scores; default: as tuned, else convex.", setting=True)
]
Rerank: TypeAlias = Annotated[
    str | None,
    Help(
        "Reorder the first papers by an encoder, a cross-encoder's folder or hub id, or by tokens (late interaction).",
        "NAME",
        completes="rerankers",
    ),
]
RerankDepth: TypeAlias = Annotated[int, Help("How many papers are reordered.", "N", least=1, setting=True)]
Count: TypeAlias = Annotated[int, Help("How many papers to answer with.", "N", least=1, short="-n")]
Offset: TypeAlias = Annotated[int, Help("How many of the first papers to leave out.", "N", least=0)]
LIKE = Help("Find more like this paper. Repeatable.", "ID", completes="ids")
UNLIKE = Help("Find fewer like this paper. Repeatable.", "ID", completes="ids")
PAPER_TEXT = Help("'Title. Abstract' of a paper that is not in the index.", "TEXT")
FACETS = Help("Count the values of columns among the papers that match, e.g. year:50 for 50 years.", "COLUMNS", completes="columns")
Clustered: TypeAlias = Annotated[bool, Help("Group the first 200 papers, with their words.")]
Explained: TypeAlias = Annotated[bool, Help("Show why each paper is where it is.")]
Sorted: TypeAlias = Annotated[Order | None, Help("Show the newest papers first.")]
SimilarByWhat: TypeAlias = Annotated[
    SimilarBy | None, Help("By what papers are similar; default: both if the index has references, else text.")
]
Split: TypeAlias = Annotated[str | None, Help("Which queries; default: the published ones.", "NAME", advanced=True)]
Cache: TypeAlias = Annotated[str | Path, Help("Where benchmarks' indexes are kept.", "DIR", setting=True)]
Measures: TypeAlias = Annotated[
    Sequence[str], Help("nDCG@10, R@100, MAP, RBP(p=0.8), or other names of ir_measures or trec_eval. Repeatable.", "M", short="-m")
]


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Options of reading: how an encoder reads texts."""

    adapter: Annotated[
        str | None,
        Help(
            "The adapter, expert, instruction or control code that reads papers; an adapter's folder or hub id; or your "
            "own instruction. Of several encoders, one each: A+B.",
            setting=True,
        ),
    ] = None
    query_adapter: Annotated[str | None, Help("The same for text queries.", "NAME", setting=True)] = None
    pooling: Annotated[
        PoolingName | None,
        Help("A vector is the mean of all tokens, or the first, [CLS]; default: as its files say.", setting=True),
    ] = None
    template: Annotated[str | None, Help("A paper's text to the encoder, e.g. '{title}{sep}{abstract}'.", "TEXT", setting=True)] = None
    query_template: Annotated[str | None, Help("A text query's text to the encoder, e.g. 'query: {text}'.", "TEXT", setting=True)] = None


@dataclass(frozen=True, kw_only=True)
class WeighingOptions:
    """Options of weights and effort: how a search weighs its halves, and how hard it looks for vectors."""

    fusion: Fusion = None
    alpha: Annotated[
        float | None, Help("The dense half's share in hybrid, 0 to 1; default: by the query's length.", "A", least=0, most=1, setting=True)
    ] = None
    depth: Annotated[int | None, Help("Papers that each half of hybrid proposes; default: as tuned.", "N", least=1, setting=True)] = None
    k1: Annotated[float | None, Help("BM25's saturation of term frequency; default: the index's.", least=0, setting=True)] = None
    b: Annotated[float | None, Help("BM25's normalisation of length; default: the index's.", least=0, most=1, setting=True)] = None
    ef: Annotated[int | None, Help("Candidates that an HNSW index keeps; default: for the recall.", "N", least=1, setting=True)] = None
    nprobe: Annotated[int | None, Help("Lists of an IVF index to search; default: for the recall.", "N", least=1, setting=True)] = None
    recall: Annotated[
        float | None, Help("An approximate index's recall of the true best 10; 1 scores every vector.", "SHARE", setting=True)
    ] = None


@documented
@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """The parameters of BM25: `k1` saturates term frequency, `b` normalises length, `delta` is for bm25l and bm25+.

    A term in a title counts `title` times (BM25F with one length normalisation; Robertson, Zaragoza and Taylor, CIKM 2004). The defaults
    were measured, see docs/quality.md.

    >>> parameters = sr.Bm25Parameters(k1=1.2, b=0.5)
    """

    variant: Annotated[Bm25Variant, Help("The variant of BM25.", setting=True)] = "lucene"
    k1: Annotated[float, Help("BM25's saturation of term frequency.", least=0, setting=True)] = 1.2
    b: Annotated[float, Help("BM25's normalisation of length.", least=0, most=1, setting=True)] = 0.75
    delta: Annotated[float, Help("What bm25l and bm25+ add for every term that occurs.", advanced=True)] = 0.5
    title: Annotated[float, Help("How often a term in a title counts.", least=0, advanced=True)] = 2.0

    def __post_init__(self) -> None:
        check_types(self)


@documented
@dataclass(frozen=True, slots=True)
class BuildSettings(ReadingOptions):
    """How to build an index. Two builds with equal settings over the same corpus give the same index.

    `encoder` is a name, an encoder of your own (see `sciretrieve.protocols.OwnEncoder`) or vectors, {id: vector}; it is None for no
    vectors, and `lexical` for no BM25; `bare_titles` and the texts of papers are as in `load_encoder`.
    Queries are always encoded on the CPU.

    >>> settings = sr.BuildSettings(encoder=None, lexical=sr.Bm25Parameters(b=0.5))
    """

    encoder: Annotated[AnyEncoder | None, ENCODER] = DEFAULT_ENCODER
    bare_titles: Annotated[bool, Help("Whether a paper without an abstract is its title alone to the encoder.")] = False
    metric: Annotated[Metric | None, Help("How vectors are compared; default: as the encoder was trained.", setting=True)] = None
    dense: Annotated[
        str, Help("auto, flat (exact), hnsw, ivf, rabitq, a FAISS factory string, or none for BM25 only.", "TYPE", completes="dense_types")
    ] = "auto"
    precision: EncoderPrecision = "auto"
    device: RunsOn = "auto"
    lexical: Annotated[Bm25Parameters | None, Help("BM25's parameters, or none of it.", advanced=True)] = Bm25Parameters()
    shard_size: Annotated[int, Help("Papers per shard.", "N", least=1, most=LARGEST_SHARD, setting=True)] = SHARD_SIZE
    limit: Annotated[int | None, Help("Only the first N papers.", "N", least=1)] = None
    memory: Annotated[int | None, Help("Bytes of memory that the dense index may take that `dense='auto'` chooses.", setting=True)] = None
    recall: Annotated[float, Help("An approximate index's recall of the true best 10.", "SHARE", setting=True)] = RECALL
    late: Annotated[
        bool | None,
        Help("Token vectors for late interaction, some 5 kB a paper; default: with minilm, up to 250,000 papers.", setting=True),
    ] = None

    def __post_init__(self) -> None:
        if self.dense == "none":
            for name in ("encoder", *READING):
                object.__setattr__(self, name, None)
        check_types(self)
        if not isinstance(self.encoder, str | Mapping | None) and not hasattr(self.encoder, "encode_papers"):
            raise InvalidRequest(
                "`encoder` is a name, an encoder with `dim`, `identity`, `encode_papers` and `encode_queries`, or vectors by the ids of "
                f"papers such as dict(zip(ids, vectors)), not of type {type(self.encoder).__name__}"
            )
        if not isinstance(self.encoder, str | None):
            for name in ("bare_titles", *READING):
                if getattr(self, name):
                    raise InvalidRequest(
                        f"`{name}` says how an encoder with a name reads texts; one of your own, and vectors, go without it"
                    )
        if self.encoder is None and self.lexical is None:
            raise InvalidRequest("an index needs vectors or BM25; leave out `dense='none'` or `lexical=None`")
        if self.memory is not None and self.dense != "auto":
            raise InvalidRequest(f"`memory` limits `dense='auto'`; leave it out with `dense={self.dense!r}`")
        check_recall(self.recall)
        if self.late and (self.encoder is None or self.lexical is None):
            raise InvalidRequest("`late` adds a part to hybrid search, which needs vectors and BM25; leave it out")


@documented
@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of a corpus for the fields of papers; None takes a column with one of the field's usual names.

    >>> columns = sr.ColumnMap(title="name")
    """

    id: Annotated[str | None, Help("The column with the papers' ids.", "COLUMN", advanced=True)] = None
    title: Annotated[str | None, Help("The column with the titles.", "COLUMN", advanced=True)] = None
    abstract: Annotated[str | None, Help("The column with the abstracts.", "COLUMN", advanced=True)] = None
    year: Annotated[str | None, Help("The column with years or dates.", "COLUMN", advanced=True)] = None
    venue: Annotated[str | None, Help("The column with the venues.", "COLUMN", advanced=True)] = None
    authors: Annotated[str | None, Help("The column with the authors.", "COLUMN", advanced=True)] = None


@documented
@dataclass(frozen=True, slots=True)
class SearchOptions(WeighingOptions):
    """How to search.

    Dense and hybrid answer with min(k, papers that pass the filter); BM25 with those of them that share a term with the query.
    `diversify` is maximal marginal relevance, see `sciretrieve.query.ranking.diversity`.

    >>> options = sr.SearchOptions(mode="bm25", filter="year >= 2000")
    """

    mode: SearchMode = None
    filter: Passing = None
    since: Since = None
    until: Until = None
    reranker: Annotated[OwnReranker | None, Help("What orders the first papers anew, see `sciretrieve.open_reranker`.")] = None
    rerank_depth: RerankDepth = 100
    group: Annotated[bool, Help("Group papers with one DOI, or one title and first author.", setting=True)] = True
    diversify: Annotated[bool, Help("Rank papers lower that are like earlier ones.")] = False
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
                "reranker is what `sciretrieve.open_reranker(name)` gives, or an object with `score(query, papers)`, not "
                f"{shortened(self.reranker)}"
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
        """Raise InvalidRequest for a setting of BM25 in a mode without words."""
        if mode == "dense" and (of_words := [name for name in OF_WORDS if getattr(self, name) is not None]):
            raise InvalidRequest(f"`{of_words[0]}` is a setting of BM25, which `mode='dense'` does without; leave out one of them")

    @property
    def filters(self) -> tuple[str, ...]:
        """All filters on papers, `since` and `until` included."""
        bounds = ((">=", self.since), ("<=", self.until))
        return (*conditions(self.filter), *(f"year {sign} {year}" for sign, year in bounds if year is not None))


OF_BOTH_HALVES = ("fusion", "alpha", "depth")
"""Options of hybrid search only."""
OF_WORDS = ("k1", "b")
"""Options of BM25, alone or as a half of hybrid."""
OF_RM3 = ("rm3", "fb_docs", "fb_terms", "original_weight")
"""Options of an evaluation that expand queries."""
READING = tuple(field.name for field in fields(ReadingOptions))
"""Options of an evaluation for the encoder's reading."""
KNOBS = ("ef", "nprobe", "recall")
"""Options for the effort of searching an index's vectors."""
PATHS = ("data", "index", "embeddings", "query_embeddings", "scores", "cache")


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions(ReadingOptions, WeighingOptions):
    """A system, and the options of measuring it.

    An encoder, by default the embedded one, indexes the benchmark's papers. With `ef`, `nprobe` or `recall`, an index is searched as by
    users; otherwise, mode "dense" scores every vector by the protocol's metric.

    Raises:
        UnknownName, InvalidRequest: an option has an unknown value, or two options exclude each other.
    """

    split: Split = None
    task: Annotated[str | None, Help("One of the benchmark's tasks; default: all.", "NAME")] = None
    encoder: Annotated[str | None, Help(f"The encoder to evaluate; default: {DEFAULT_ENCODER}.", "NAME", completes="encoders")] = None
    index: Annotated[
        str | Path | None,
        Help("An index of the benchmark's papers.", "NAME", short="-i", completes="indexes"),
    ] = None
    mode: Annotated[Mode, Help("How it searches: dense, the encoder alone, as in papers; hybrid, as `search`; or bm25.")] = "dense"
    rm3: Expansion = False
    fb_docs: FeedbackPapers = 10
    fb_terms: FeedbackTerms = 10
    original_weight: OriginalWeight = 0.5
    embeddings: Annotated[str | Path | None, Help("Papers' vectors made elsewhere: .jsonl, .npy or .parquet.", "FILE", advanced=True)] = (
        None
    )
    query_embeddings: Annotated[str | Path | None, Help("The queries' vectors, if not among the papers'.", "FILE", setting=True)] = None
    scores: Annotated[
        str | Path | None, Help("Scores made elsewhere: a TREC run, {query: {id: score}}, or MDCR's.", "FILE", advanced=True)
    ] = None
    rerank: Rerank = None
    rerank_depth: RerankDepth = SearchOptions().rerank_depth
    metric: Annotated[Metric | None, Help("A metric in place of the protocol's.", setting=True)] = None
    self_matches: Annotated[SelfMatches | None, Help("A paper with the query's own id; default: as the protocol says.", setting=True)] = (
        None
    )
    measures: Measures = ()
    precision: EncoderPrecision = "auto"
    device: RunsOn = "auto"
    cache: Cache = "indexes/benchmarks"

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
        """The option for the effort of searching, if it is given."""
        return next((name for name in KNOBS if getattr(self, name) is not None), None)

    def searching(self) -> SearchOptions:
        """The search options. Raises UnknownName, InvalidRequest."""
        shared = {name: getattr(self, name) for name in ("mode", *OF_BOTH_HALVES, *OF_WORDS, *KNOBS)}
        return SearchOptions(**shared, group=False)

    def check_mode(self) -> None:
        """Raise InvalidRequest for a setting that the mode's halves, or the system, do not have."""
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


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """Options of training an encoder. None takes the value of `like`, see `sciretrieve.training.PRESETS`.

    Raises:
        UnknownName, InvalidRequest: an option has an unknown value.
    """

    like: Annotated[
        str,
        Help("Train as a paper does: specter2, scirepeval-codes, scimult, multi2spe and more (docs/training.md); own: ours.", "NAME"),
    ] = "own"
    base: Annotated[str | None, Help(f"The encoder to begin with: a name, a folder or a hub id; own: {DEFAULT_ENCODER}.", "NAME")] = None
    method: Annotated[Method | None, Help("What is trained.")] = None
    reduction: Annotated[int | None, Help("An adapter is N times narrower than the encoder.", "N", least=1, setting=True)] = None
    loss: Annotated[Loss | None, Help("What a training makes small.")] = None
    teacher: Annotated[str | None, Help("An encoder to learn from, with --loss distil or rank.", "NAME")] = None
    augment: Annotated[
        float | None, Help("Share of papers that are read reordered, cut or in part; default: 0.", "SHARE", setting=True)
    ] = None
    margin: Annotated[float | None, Help("How much nearer the right paper must be than the wrong one.", least=0, setting=True)] = None
    temperature: Annotated[float | None, Help("What similarities are divided by before they are compared.", setting=True)] = None
    facets: Annotated[int | None, Help("Vectors of a text in training, K in Multi2SPE.", "K", least=1, setting=True)] = None
    facet_share: Annotated[
        float | None,
        Help("Weight of the most similar facets beside the sums, lambda in Multi2SPE.", least=0, most=1, setting=True),
    ] = None
    facet_layers: Annotated[bool | None, Help("Linear layers of facets also within the BERT, in Multi2SPE.", setting=True)] = None
    facet_means: Annotated[bool | None, Help("A facet's weights are less their mean over facets, in Multi2SPE.", setting=True)] = None
    keep: Annotated[
        float | None, Help("How strongly vectors stay near those of the encoder as it was; 0: not at all.", least=0, setting=True)
    ] = None
    standardise: Annotated[
        bool | None, Help("Whether numbers to predict are standardised; default: not in the papers' presets.", setting=True)
    ] = None
    rate: Annotated[float | None, Help("The learning rate at its peak.")] = None
    schedule: Annotated[Schedule | None, Help("How the rate goes on after its warm-up.", setting=True)] = None
    warmup: Annotated[float | None, Help("Steps of warm-up; below 1 a share of all steps.", least=0, setting=True)] = None
    decay: Annotated[float | None, Help("AdamW's weight decay.", least=0, setting=True)] = None
    batch: Annotated[int | None, Help("Examples a step, an equal share of each task's.", "N", least=1)] = None
    epochs: Annotated[int | None, Help("How often the largest task is gone through.", "N", least=1)] = None
    steps: Annotated[int | None, Help("Stop after N steps, if that is sooner.", "N", least=1)] = None
    length: Annotated[int | None, Help("Tokens read of a text in training; default: the encoder's.", "N", least=8, setting=True)] = None
    held_out: Annotated[
        str | None,
        Help(
            "Measures and stops the training: beir:DIR (nDCG@10) or cite:DIR (recall@5 by field); default: queries that are set apart.",
            "BENCHMARK",
        ),
    ] = None
    every: Annotated[int | None, Help("Steps between two measurements; default: ten in a training.", "N", least=1, setting=True)] = None
    patience: Annotated[int | None, Help("Stop after N measurements without a gain.", "N", least=1, setting=True)] = None
    seed: Annotated[int, Help("Random seed.", least=0, setting=True)] = 42
    precision: Annotated[Precision, Help("Arithmetic of matrix products; auto: bf16 where it is quicker.", setting=True)] = "auto"
    device: Annotated[Device, Help("Where it trains; auto: on a GPU, if there is one.", setting=True)] = "auto"

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("temperature", "rate"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidRequest(f"`{name}` must be above 0, not {value}")
        if self.augment is not None and not 0 <= self.augment <= 1:
            raise InvalidRequest(f"`augment` is a share of papers, from 0 to 1, not {self.augment}")


def check_recall(recall: float) -> None:
    """Raise InvalidRequest for a value that is not a share."""
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
    return replace(options, **changes) if changes else options  # `options` was checked when it was made


QUERIES, QUERIES_IN_FIELD = 1000, 200
"""The default number of queries: as in SciDocs' tasks, and, per field, as in MDCR."""


@dataclass(frozen=True, slots=True)
class CiteSettings:
    """The settings of a benchmark made from citations.

    Attributes:
        references: the corpus's column with the ids that a paper cites; by default recognised by name.
        citations: a table of citing and cited ids, instead of a column.
        field: the corpus's column with each paper's field; by default recognised by name, and one field if there is none.
        queries: the number of queries, per field if there are several; None for 1,000, or 200 per field.
        cited: the fewest papers of the corpus that a query cites; None for 5 in `build_cite`, and for 1 elsewhere.
        cocited: the fewest papers that cite two papers together, for these to count as co-cited; None for 10 in `build_cite`, and for 1
            elsewhere.
        indexes: indexes of the corpus, whose encoders choose hard negatives.
        seed: the random seed.

    Raises:
        InvalidRequest: a number is too small, or citations are named twice.
    """

    references: Annotated[
        str | None, Help("The column with the ids that a paper cites; default: recognised by name.", "COLUMN", setting=True)
    ] = None
    citations: Annotated[Path | None, Help("A table of citing and cited ids (.tsv, .csv, .parquet), instead of a column.", "FILE")] = None
    field: Annotated[str | None, Help("The column with the papers' fields; default: recognised by name.", "COLUMN", setting=True)] = None
    queries: Annotated[int | None, Help("Papers as queries; default: 1,000, or 200 in each field; to train on, all.", "N", least=1)] = None
    cited: Annotated[int | None, Help("A query cites at least N papers of the corpus; default: 1, cite 5.", "N", least=1, setting=True)] = (
        None
    )
    cocited: Annotated[
        int | None, Help("Papers that at least N others cite together are co-cited; default: 1, cite 10.", "N", least=1, setting=True)
    ] = None
    indexes: tuple[Path, ...] = ()
    seed: Annotated[int, Help("Random seed.", "N", setting=True)] = 0

    def __post_init__(self) -> None:
        for name in ("queries", "cited", "cocited"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidRequest(f"`{name}` must be at least 1, not {value}")
        if self.references is not None and self.citations is not None:
            raise InvalidRequest("citations come from one place: a column (`references`) or a file (`citations`), not both")

    def query_count(self, has_fields: bool) -> int:
        """The number of queries, of the corpus or of each field."""
        return self.queries or (QUERIES_IN_FIELD if has_fields else QUERIES)
