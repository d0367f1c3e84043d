"""Every row of the catalogue, loaded from small random weights in its published layout, against an independent forward.

The oracles are plain transformers and adapters, and, for what only the papers define, `tests.numpy_bert`. Each text is run
alone, without padding; ours come in batches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.catalogue import CATALOGUE, CODES, SCIMULT_TASKS
from sciretrieve.encoders.layouts.instructed import INSTRUCTIONS
from tests.encoders.plain import plain_states
from tests.numpy_bert import NumpyBert, attention, gelu, linear
from tests.toy_weights import (
    DIM,
    HEADS,
    LAYERS,
    VOCABULARY,
    bert_config,
    ids_of,
    random_bert,
    write_adapters,
    write_aspire_biencoder,
    write_bert,
    write_fusion,
    write_multi2spe,
    write_oagbert,
    write_pals,
    write_scimult,
    write_tokenizer,
)

PAPERS = [
    Paper("1", "Graph networks", "Citation of the paper: vaccine, graphs (2020)."),
    Paper("2", "the title of a paper", "abstract " * 80),
    Paper("3", "", "no title"),
    Paper("4", "Only a title", ""),
    Paper("5", "é 漢字 \U0001f600 \x07 \u200b", "[SEP] inside, and [CLS]"),
    Paper("6", "", ""),
]
TEXTS = ["graph networks", "Which vaccine?", "x"]
BIOMED = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
ASPIRE = ("compsci-spec", "biomed-spec", "biomed-scib")
Oracle = Callable[[str], Any]


def check(encoder: Any, paper: Oracle, query: Oracle, paper_as_query: Oracle | None = None, *, text: Sequence[str] | None = None) -> None:
    """Compare all three sides in fp32; the oracles take the text that the paper's template makes."""
    texts = text or [f"{item.title}[SEP]{item.abstract}" for item in PAPERS]
    compare(encoder.encode_papers(PAPERS), [paper(one) for one in texts])
    mixed = [Query(str(position), one) for position, one in enumerate(TEXTS)] + [Query(item.id, paper=item) for item in PAPERS]
    vectors = encoder.encode_queries(mixed)
    compare(vectors[: len(TEXTS)], [query(one) for one in TEXTS])
    compare(vectors[len(TEXTS) :], [(paper_as_query or paper)(one) for one in texts])


def compare(ours: Vectors, expected: Sequence[Any]) -> None:
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, np.stack([np.asarray(vector) for vector in expected]), atol=1e-4)


def fp32(name: str, **options: Any) -> Any:
    return load_encoder(name, precision="fp32", **options)


def transformers_oracle(folder: Path, position: int = 0, prefix: str = "") -> Oracle:
    return lambda text: plain_states(folder, prefix + text)[position]


def adapters_oracle(base: Path, adapters: Mapping[str, Path], active: Any, fusion: Path | None = None) -> Oracle:
    import torch
    from adapters import AutoAdapterModel
    from transformers import AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(base), AutoAdapterModel.from_pretrained(base)
    for name, path in adapters.items():
        model.load_adapter(str(path), load_as=name)
    if fusion:
        model.load_adapter_fusion(str(fusion))
    model.set_active_adapters(active)
    model.eval()

    def run(text: str) -> Any:
        with torch.no_grad():
            return model(ids_of(tokenizer, text)).last_hidden_state[0, 0].numpy()

    return run


def numpy_oracle(bert: NumpyBert, tokenizer: Any) -> Oracle:
    return lambda text: bert.states(ids_of(tokenizer, text)[0].tolist())[-1][0]


def one_adapter(folder: Path, name: str, base: str = "specter2_base") -> Oracle:
    return adapters_oracle(folder / base, {"it": folder / name}, "it")


def test_specter2_reads_each_side_with_its_own_adapter(specter2: Path) -> None:
    check(fp32("specter2"), one_adapter(specter2, "specter2"), one_adapter(specter2, "specter2_adhoc_query"))


def test_what_is_missing_leaves_no_separator_where_titles_are_bare(specter2: Path) -> None:
    """SciRepEval's code joins the fields that are not empty; the model card's leaves the separator behind a title."""
    oracle = one_adapter(specter2, "specter2")
    joined = ["[SEP]".join(part for part in (item.title, item.abstract) if part) for item in PAPERS]
    check(fp32("specter2", bare_titles=True), oracle, one_adapter(specter2, "specter2_adhoc_query"), text=joined)
    vectors = [fp32("specter2", bare_titles=bare).encode_papers(PAPERS[3:4])[0] for bare in (False, True)]
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3
    assert fp32("specter2").identity() != fp32("specter2", bare_titles=True).identity()


def test_only_the_first_tokens_of_the_last_layer_are_computed_where_only_they_are_read(specter2: Path) -> None:
    encoder = fp32("specter2")
    encoder.encode_papers(PAPERS)
    assert encoder._model("proximity").artifact.trimmed
    minilm = fp32("minilm")
    minilm.encode_papers(PAPERS)
    assert not minilm._model("").artifact.trimmed


def test_specter2_with_other_adapters(specter2: Path) -> None:
    encoder = fp32("specter2", adapter="classification", query_adapter="regression")
    check(encoder, one_adapter(specter2, "specter2_classification"), one_adapter(specter2, "specter2_regression"))


def test_adapters_of_ones_own_by_path(specter2: Path, tmp_path: Path) -> None:
    write_adapters(tmp_path, specter2 / "specter2_base", {"mine": Path("own.adapter.v1")}, 9)
    own_adapter = adapters_oracle(specter2 / "specter2_base", {"it": tmp_path / "own.adapter.v1"}, "it")
    check(fp32("specter2", adapter=str(tmp_path / "own.adapter.v1")), own_adapter, one_adapter(specter2, "specter2_adhoc_query"))
    plain = transformers_oracle(specter2 / "specter2_base")
    check(fp32("allenai/specter2_base", adapter=str(tmp_path / "own.adapter.v1")), own_adapter, plain)
    check(fp32("allenai/specter2_base", adapter="allenai/specter2"), one_adapter(specter2, "specter2"), plain)
    check(fp32(str(specter2 / "specter2_base"), query_adapter=str(tmp_path / "own.adapter.v1")), plain, own_adapter)


def test_cased_scibert_reads_small_letters_as_its_files_on_the_hub_have_it(models: Path) -> None:
    """They are config.json, vocab.txt and weights: nothing says that the vocabulary is cased, for us or for its readers' transformers."""
    folder = models / "allenai/scibert_scivocab_cased"
    write_bert(folder, 3)
    for file in [path for path in folder.iterdir() if "token" in path.name]:
        file.unlink()
    vectors = fp32("scibert-cased").encode_papers([Paper("1", "GRAPH Networks", "Vaccine"), Paper("2", "graph networks", "vaccine")])
    compare(vectors, [transformers_oracle(folder)("GRAPH Networks[SEP]Vaccine")] * 2)


def mean_oracle(model: Any, tokenizer: Any, prefix: str, limit: int = 64, *, normalise: bool = True) -> Oracle:
    import torch

    def run(text: str) -> Any:
        with torch.no_grad():
            mean = model(ids_of(tokenizer, (prefix + text).strip(), limit)).last_hidden_state[0].double().mean(0)
        return (mean / mean.norm() if normalise else mean).numpy()

    return run


READ_BY_TRANSFORMERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("specter2-base", "specter", "scincl", "scibert", "scibert-cased", "linkbert", "biolinkbert", "pubmedbert"), ("cls",)),
    **{f"aspire-biencoder-{name}": ("cls",) for name in ASPIRE},
    "sentbert": ("mean", "[SEP]"),
    "contriever": ("mean", " "),
    "e5-base-v2": ("unit mean", " ", "passage: ", "query: "),
    "all-mpnet-base-v2": ("unit mean", " ", "", ""),
    "all-MiniLM-L6-v2": ("unit mean", " ", "", ""),
}
"""How a row pools, and where it is by the mean, what joins title and abstract, and what comes before papers and before queries."""


@pytest.mark.parametrize("name", READ_BY_TRANSFORMERS)
def test_what_transformers_reads_by_itself(models: Path, name: str) -> None:
    folder, (pooling, *how) = models / CATALOGUE[name].parts["base"].source, READ_BY_TRANSFORMERS[name]
    model, tokenizer = write_mpnet(folder) if "mpnet" in name else (write_bert(folder, 3, safe=len(name) % 2 == 0), write_tokenizer(folder))
    if name == "pubmedbert":  # on the hub it is a masked language model
        from transformers import BertForMaskedLM

        masked = BertForMaskedLM(bert_config()).eval()
        masked.bert.load_state_dict(random_bert(3).state_dict(), strict=False)
        masked.save_pretrained(folder, safe_serialization=False)
        (folder / "model.safetensors").unlink(missing_ok=True)
    if pooling == "cls":
        oracle = transformers_oracle(folder)
        check(fp32(name), oracle, oracle)
        return
    joint, *prefixes = how
    paper, query = (mean_oracle(model, tokenizer, prefix, normalise="unit" in pooling) for prefix in prefixes or ("", ""))
    # E5 reads a paper in place of a query as a query
    check(fp32(name), paper, query, query, text=[f"{item.title}{joint}{item.abstract}".strip() for item in PAPERS])


def test_baselines_are_compared_as_their_authors_or_scimults_compare_them() -> None:
    read = {name: (spec.pooling, spec.metric, spec.max_length) for name, spec in CATALOGUE.items()}
    assert read["pubmedbert"] == read["linkbert"] == read["biolinkbert"] == ("cls", "cosine", 512)  # SciMult's Appendix B
    assert (read["sentbert"], read["contriever"]) == (("mean", "cosine", 128), ("mean", "ip", 512))


def write_mpnet(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizerFast

    words = ["<s>", "<pad>", "</s>", "<unk>", *VOCABULARY, "<mask>"]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    tokenizer = MPNetTokenizerFast(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": DIM, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 2 * DIM}
    model = MPNetModel(MPNetConfig(vocab_size=len(words), max_position_embeddings=66, **sizes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.08)
    model.save_pretrained(folder)
    return model, tokenizer


def test_control_codes_stand_first_and_are_pooled(models: Path) -> None:
    folder = models / "allenai" / "scirepeval_ctrl"
    write_bert(folder, 6, extra=sorted(CODES))
    check(fp32("scirepeval-ctrl"), transformers_oracle(folder, 1, "[PRX] "), transformers_oracle(folder, 1, "[QRY] "))


@pytest.fixture
def scirepeval(models: Path) -> Path:
    write_bert(models / "malteos" / "scincl", 7)
    names = {code: Path(f"scirepeval_adapters_{code[1:4].lower()}") for code in CODES}
    write_adapters(models / "allenai", models / "malteos" / "scincl", names, 8)
    return models


def test_scirepevals_adapters(scirepeval: Path) -> None:
    base, folder = scirepeval / "malteos" / "scincl", scirepeval / "allenai"
    papers, queries = (adapters_oracle(base, {"it": folder / f"scirepeval_adapters_{code}"}, "it") for code in ("prx", "qry"))
    check(fp32("scirepeval-adapters"), papers, queries)


def test_adapter_fusion(scirepeval: Path) -> None:
    from adapters.composition import Fuse

    base = scirepeval / "malteos" / "scincl"
    paths = {code: scirepeval / "allenai" / f"scirepeval_adapters_{code[1:4].lower()}" for code in CODES}
    write_fusion(scirepeval / "scirepeval_fusion", base, paths, 11)

    def oracle(code: str) -> Oracle:
        fuse = Fuse(code, *(other for other in CODES if other != code))
        return adapters_oracle(base, paths, fuse, scirepeval / "scirepeval_fusion" / f"{code}_fusion")

    check(fp32("scirepeval-fusion"), oracle("[PRX]"), oracle("[QRY]"))
    assert np.abs(oracle("[PRX]")("graph") - oracle("[QRY]")("graph")).max() > 0.01


def test_the_ensemble_is_the_mean_of_its_members(scirepeval: Path) -> None:
    write_bert(scirepeval / "allenai" / "scirepeval_ctrl", 6, extra=sorted(CODES))
    members = [fp32(name) for name in ("scirepeval-adapters", "scirepeval-ctrl")]
    both = fp32("scirepeval-ensemble")
    queries = [Query(str(position), text) for position, text in enumerate(TEXTS)] + [Query("p", paper=PAPERS[0])]
    np.testing.assert_allclose(both.encode_papers(PAPERS), sum(one.encode_papers(PAPERS) for one in members) / 2, atol=1e-5)
    np.testing.assert_allclose(both.encode_queries(queries), sum(one.encode_queries(queries) for one in members) / 2, atol=1e-5)
    assert both.symmetric
    assert [member["name"] for member in both.identity()["members"]] == ["scirepeval-adapters", "scirepeval-ctrl"]


@pytest.mark.parametrize(("low_rank", "prefix"), [(False, ""), (False, "bert."), (True, "")])
def test_projected_attention_layers(models: Path, low_rank: bool, prefix: str) -> None:
    folder = models / "allenai" / "scirepeval_pals"
    state = write_pals(folder, 12, low_rank=low_rank, prefix=prefix)
    tokenizer = write_tokenizer(folder)
    bert = NumpyBert(state, HEADS)

    def oracle(code: str) -> Oracle:
        task = CODES.index(code)

        def run(text: str) -> Any:
            states = bert.embed(ids_of(tokenizer, text)[0].tolist())
            for number in range(LAYERS):
                where = f"encoder.layer.{number}.multi_layers.{task}"
                small = linear(bert.state, f"{where}.aug_dense", states)
                if low_rank:
                    extra = linear(bert.state, f"{where}.aug_dense2", gelu(small))
                else:
                    query, key, value = (linear(bert.state, f"{where}.attn.{part}", small) for part in ("query", "key", "value"))
                    extra = gelu(linear(bert.state, f"{where}.aug_dense2", attention(query, key, value, 6)))
                states = bert.layer(number, states, extra=extra)
            return states[0]

        return run

    check(fp32("scirepeval-pals"), oracle("[PRX]"), oracle("[QRY]"))
    check(fp32("scirepeval-pals", adapter="[CLF]", query_adapter="[RGN]"), oracle("[CLF]"), oracle("[RGN]"))


SUMMED_LOSS = {"name": "original", "sum_into_single_embeddings": True}
SCIMULT_TEXTS = [f"{item.title} [SEP] {item.abstract}" for item in PAPERS]


def test_scimult_vanilla(models: Path) -> None:
    state = write_scimult(models / BIOMED, models / "yuz9yuz/SciMult/scimult_vanilla.ckpt", 13)
    oracle = numpy_oracle(NumpyBert(state, HEADS), write_tokenizer(models / BIOMED, bare=True))
    check(unchecked("scimult"), oracle, oracle, text=SCIMULT_TEXTS)


def unchecked(name: str, **options: Any) -> Any:
    """A row whose files have known digests, which random weights have not: the same row without them."""
    import dataclasses

    from sciretrieve.encoders.resolving import resolve
    from sciretrieve.encoders.specs import EncoderRequest
    from sciretrieve.encoders.text_encoder import TextEncoder

    request = EncoderRequest(name, **options)
    spec = resolve(request)
    parts = {role: dataclasses.replace(part, sha256={}) for role, part in spec.parts.items()}
    return TextEncoder(dataclasses.replace(spec, parts=parts), request, "fp32")


def expert_name(kind: str, expert: int) -> Callable[[str], str]:
    """A plain BERT's names to those of an expert: in every other layer, from the second."""

    def rename(name: str) -> str:
        layer = re.match(r"encoder\.layer\.(\d+)\.", name)
        if layer is None or int(layer[1]) % 2 == 0:
            return name
        if kind == "attention":
            name = re.sub(r"attention\.self\.(query|key|value)", rf"attention.self.moe_\1.{expert}", name)
            return re.sub(r"attention\.output\.dense", f"attention.output.moe_dense.{expert}", name)
        name = re.sub(r"(layer\.\d+)\.intermediate", rf"\1.moe_layer.interm_layers.{expert}", name)
        return re.sub(r"(layer\.\d+)\.output", rf"\1.moe_layer.output_layers.{expert}", name)

    return rename


@pytest.mark.parametrize(
    ("name", "file", "kind"),
    [
        ("scimult-mhaexpert", "yuz9yuz/SciMult/scimult_moe.ckpt", "attention"),
        ("scimult-ffnexpert", "scimult-ffnexpert/scimult_ffn.ckpt", "ffn"),
        ("scimult-pmc-par", "yuz9yuz/SciMult/scimult_moe_pmcpatients_par.ckpt", "attention"),
        ("scimult-pmc-ppr", "yuz9yuz/SciMult/scimult_moe_pmcpatients_ppr.ckpt", "attention"),
    ],
)
def test_scimults_experts(models: Path, name: str, file: str, kind: str) -> None:
    """For patients everything is read by the link expert."""
    state = write_scimult(models / BIOMED, models / file, 14, experts=kind)
    tokenizer = write_tokenizer(models / BIOMED, bare=True)
    search, links, classes = (numpy_oracle(NumpyBert(state, HEADS, expert_name(kind, expert)), tokenizer) for expert in range(3))
    usual = links if "pmc" in name else search
    check(unchecked(name), usual, usual, text=SCIMULT_TEXTS)
    if "pmc" not in name:
        check(unchecked(name, adapter="link_prediction", query_adapter="classification"), links, classes, text=SCIMULT_TEXTS)
    assert np.abs(search("graph") - links("graph")).max() > 0.01


@pytest.mark.parametrize("name", ["scimult-prefix", "scimult-instruction"])
def test_scimults_instructions(models: Path, name: str) -> None:
    file = models / name / f"{name.replace('-', '_')}.ckpt"
    state = write_scimult(models / BIOMED, file, 15, instructor=16 if name == "scimult-prefix" else None)
    tokenizer = write_tokenizer(models / BIOMED, bare=True)
    bert = NumpyBert(state, HEADS)
    instructor = NumpyBert(random_bert(16).state_dict(), HEADS) if name == "scimult-prefix" else bert

    def oracle(task: str) -> Oracle:
        contexts = instructor.states(tokenizer(INSTRUCTIONS.get(task, task))["input_ids"])

        def run(text: str) -> Any:
            states = bert.embed(ids_of(tokenizer, text)[0].tolist())
            for number in range(LAYERS):
                states = bert.layer(number, states, context=contexts[number])
            return states[0]

        return run

    check(unchecked(name), oracle("search"), oracle("search"), text=SCIMULT_TEXTS)
    encoder = unchecked(name, adapter="link_prediction", query_adapter="classification")
    check(encoder, oracle("link_prediction"), oracle("classification"), text=SCIMULT_TEXTS)
    words = "Find papers of this title, and their abstract."
    encoder = unchecked(name, adapter=words)
    check(encoder, oracle(words), oracle("search"), text=SCIMULT_TEXTS)
    assert encoder.identity()["sides"]["paper"]["task"] == encoder.identity()["asked"]["adapter"] == words
    with pytest.raises(InvalidRequest, match=r"the instruction 'word word .* has 106 tokens, and scimult-.* reads 64"):
        unchecked(name, adapter="word " * 25 + "word").encode_papers(PAPERS)
    assert set(INSTRUCTIONS) == set(SCIMULT_TASKS)


@pytest.mark.parametrize(
    ("facets", "settings"),
    [
        (1, {"sum_into_single_embeddings": None}),
        (3, {}),
        (5, {"add_extra_facet_layers_alternate_2": True}),
        (3, {"add_extra_facet_nonlinearity": False, "use_facet_embs_normalize": True, "sum_into_single_embeddings": "inference_only"}),
        (
            3,
            {
                "add_extra_facet_layers_alternate": False,
                "add_extra_facet_layers_alternate_2": True,
                "sum_into_single_embeddings_behavior": "mean",
            },
        ),
        (
            3,
            {
                "add_extra_facet_layers": False,
                "add_extra_facet_layers_alternate_2": True,
                "add_bert_layer_facet_layers_alternate": False,
                "sum_into_single_embeddings": None,
                "loss_config": [SUMMED_LOSS],
            },
        ),
    ],
)
def test_multi2spe(models: Path, facets: int, settings: dict[str, Any]) -> None:
    """Against `forward` of the authors' train.py and the layers of custom_bert.py, step by step in float64."""
    base, after = models / "allenai" / "scibert_scivocab_uncased", (1, 2)
    state = write_multi2spe(base, models / "multi2spe" / "multi2spe.ckpt", 17, facets=facets, after=after, **settings)
    tokenizer = write_tokenizer(base, [f"[unused{number}]" for number in range(1, facets)], bare=True)
    bert = NumpyBert({name.removeprefix("model."): tensor for name, tensor in state.items() if name.startswith("model.")}, HEADS)
    everything = {name: tensor.double().numpy() for name, tensor in state.items()}

    def transformed(states: Any, where: str, less_mean: bool) -> Any:
        """Equation 1: each token's own weights, less their mean over the tokens."""
        names = [f"{where}extra_facet_layers.{facet}" for facet in range(facets)]
        mean = np.mean([everything[f"{name}.weight"] for name in names], axis=0) * less_mean
        new = states.copy()
        for facet, name in enumerate(names):
            new[facet] = (everything[f"{name}.weight"] - mean) @ states[facet] + everything[f"{name}.bias"]
        return new

    def oracle(text: str) -> Any:
        tokens = " ".join([*(f"[unused{number}]" for number in range(1, facets)), text])
        states = bert.embed(ids_of(tokenizer, tokens)[0].tolist())
        for number in range(LAYERS):
            states = bert.layer(number, states)
            if number in after:
                states = transformed(states, f"model.encoder.layer.{number}.", settings.get("add_bert_layer_facet_layers_alternate", True))
        if settings.get("add_extra_facet_layers", True):
            states = transformed(states, "", facets > 1 and settings.get("add_extra_facet_layers_alternate", True))
            if settings.get("add_extra_facet_layers_alternate_2"):
                weights = [everything[f"extra_facet_layers.{facet}.weight"] for facet in range(facets)]
                for first, second in combinations(range(facets), 2):
                    states = states @ (weights[first] - weights[second]).T
        firsts = states[:facets]
        if settings.get("add_extra_facet_nonlinearity", True):
            firsts = np.tanh(firsts)
        vector = firsts.mean(axis=0) if settings.get("sum_into_single_embeddings_behavior") == "mean" else firsts.sum(axis=0)
        return vector / np.linalg.norm(vector) if settings.get("use_facet_embs_normalize") else vector

    check(fp32("multi2spe"), oracle, oracle, text=[f"{item.title} {item.abstract}" for item in PAPERS])


@pytest.mark.parametrize("name", ASPIRE)
def test_aspires_biencoders_with_their_layers_weights(models: Path, name: str) -> None:
    """The [CLS] states of the embeddings and of each layer, weighed by the softmax of the checkpoint's numbers, in float64."""
    base = models / "allenai" / ("scibert_scivocab_uncased" if name.endswith("scib") else "specter")
    state = write_aspire_biencoder(base, models / f"aspire-biencoder-{name}-full" / "model_cur_best.pt", 19)
    bert = NumpyBert({key.removeprefix("bert_encoder."): tensor for key, tensor in state.items() if key.startswith("bert_encoder.")}, HEADS)
    tokenizer = write_tokenizer(base, bare=True)
    shares = np.exp(state["bert_layer_weights.weight"][0].double().numpy())
    shares /= shares.sum()

    def oracle(text: str) -> Any:
        return sum(share * states[0] for share, states in zip(shares, bert.states(ids_of(tokenizer, text)[0].tolist()), strict=True))

    check(fp32(f"aspire-biencoder-{name}-full"), oracle, oracle)


def oagbert_states(state: Mapping[str, Any], tokenizer: Any, text: str) -> Any:
    """OAG-BERT's final states in float64, step by step from CogDL's code, (tokens, dim): of the words alone, all in the first span."""
    bert = NumpyBert({name.removeprefix("bert."): tensor for name, tensor in state.items() if name.startswith("bert.")}, HEADS)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"][:64]
    table = {part: bert.state[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")}
    first, second = np.zeros(len(ids), int), np.arange(len(ids))
    states = bert.norm(
        "embeddings.LayerNorm", table["word"][ids] + table["position"][first] + table["position"][second] + table["token_type"][0]
    )
    for number in range(LAYERS):
        where = f"encoder.layer.{number}"
        normed = bert.norm(f"{where}.PreAttentionLayerNorm", states)
        query, key, value = (bert.linear(f"{where}.attention.self.{part}", normed) for part in ("query", "key", "value"))
        states = states + bert.linear(f"{where}.attention.output.dense", attention(query, key, value, HEADS))
        normed = bert.norm(f"{where}.PostAttentionLayerNorm", states)
        states = states + bert.linear(f"{where}.output.dense", gelu(bert.linear(f"{where}.intermediate.dense_act", normed)))
    return bert.norm("encoder.FinalLayerNorm", states)


WORDY = [f"{item.title} {item.abstract}" for item in PAPERS[:5]]


def test_oagbert_is_the_mean_of_its_words_or_what_its_authors_pool(models: Path) -> None:
    from transformers import BertTokenizer

    mean_state, pooled_state = write_oagbert(models / "oagbert-v2", 20), write_oagbert(models / "oagbert-v2-sim", 21)
    tokenizer = BertTokenizer(str(models / "oagbert-v2" / "vocab.txt"))

    def mean(text: str) -> Any:
        return oagbert_states(mean_state, tokenizer, text).mean(axis=0)

    def pooled(state: Mapping[str, Any], text: str) -> Any:
        first = oagbert_states(state, tokenizer, text)[0]
        weights, bias = (state[f"bert.pooler.dense_act.{part}"].double().numpy() for part in ("weight", "bias"))
        return np.tanh(weights @ first + bias)

    papers, queries = PAPERS[:5], [Query(str(place), text) for place, text in enumerate(TEXTS)]
    encoder = fp32("oagbert-v2")
    compare(encoder.encode_papers(papers), [mean(text) for text in WORDY])
    compare(encoder.encode_queries(queries), [mean(text) for text in TEXTS])
    assert encoder.max_length == 64  # fewer than 512, since the model has fewer positions
    compare(fp32("oagbert-v2", pooling="cls").encode_papers(papers), [pooled(mean_state, text) for text in WORDY])
    vectors = [pooled(pooled_state, text) for text in WORDY]
    compare(fp32("oagbert-v2-sim").encode_papers(papers), [vector / np.linalg.norm(vector) for vector in vectors])


def test_oagbert_has_nothing_of_a_paper_without_words(models: Path) -> None:
    """CogDL fails there. The other texts of its batch change nothing."""
    for name in ("oagbert-v2", "oagbert-v2-sim"):
        write_oagbert(models / name, 20)
        for papers in (PAPERS, PAPERS[5:]):
            np.testing.assert_array_equal(fp32(name).encode_papers(papers)[-1], 0)
