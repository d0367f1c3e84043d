"""Weights that are cut short, of another layout, made for another model, or that might run code: each a clear error."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from sciretrieve.base.errors import CorruptData, InvalidRequest, SciretrieveError
from sciretrieve.base.types import Paper
from sciretrieve.encoders import load_encoder
from tests.encoders.test_layouts import BIOMED, unchecked
from tests.toy_weights import (
    DIM,
    LAYERS,
    VOCABULARY,
    bert_config,
    random_bert,
    write_aspire_biencoder,
    write_multi2spe,
    write_oagbert,
    write_pals,
    write_scimult,
    write_tokenizer,
)


def refused(encoder: Any, kind: type[SciretrieveError], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        encoder.encode_papers([Paper("p", "title")])
    assert len(str(caught.value)) < 600


def edit(path: Path, change: Any) -> None:
    state = torch.load(path, weights_only=True)
    change(state)
    torch.save(state, path)


def test_an_adapter_that_changes_nothing(specter2: Path) -> None:
    def empty(state: dict[str, Any]) -> None:
        for name in state:
            if "adapter_up" in name:
                state[name].zero_()

    # an up-projection of zeros, which training starts from, leaves LayerNorm(h + a) as it was
    edit(specter2 / "specter2" / "pytorch_adapter.bin", empty)
    refused(load_encoder("specter2"), InvalidRequest, "does not change the output of the model")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("hidden_size", 768, "made for a model of hidden_size 768, and this one has 48"),
        ("model_type", "roberta", "made for a model of model_type roberta"),
    ],
)
def test_an_adapter_for_another_model(specter2: Path, key: str, value: object, words: str) -> None:
    path = specter2 / "specter2" / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    refused(load_encoder("specter2"), InvalidRequest, words)


def test_an_adapter_for_a_deeper_model(specter2: Path) -> None:
    path = specter2 / "specter2" / "pytorch_adapter.bin"
    edit(path, lambda state: [state.pop(name) for name in list(state) if f".layer.{LAYERS - 1}." in name])
    refused(load_encoder("specter2"), InvalidRequest, "does not fit the model")


@pytest.mark.parametrize("file", ["specter2/pytorch_adapter.bin", "specter2_base/pytorch_model.bin"])
def test_weights_that_are_cut_short(specter2: Path, file: str) -> None:
    data = (specter2 / file).read_bytes()
    (specter2 / file).write_bytes(data[: len(data) // 3])
    refused(load_encoder("specter2"), CorruptData, "cannot be read.*get the files again")


def test_weights_of_another_kind_of_model(specter2: Path) -> None:
    edit(specter2 / "specter2_base" / "pytorch_model.bin", lambda state: [state.pop(name) for name in list(state) if ".layer.2." in name])
    refused(load_encoder("specter2-base"), InvalidRequest, "lack .*layer.2.* they belong to another kind of model")


def test_a_tokenizer_of_another_model(specter2: Path) -> None:
    write_tokenizer(specter2 / "specter2_base", ["[MORE]"])
    refused(load_encoder("specter2-base"), InvalidRequest, "do not belong together")


def test_scimult_checkpoints(models: Path) -> None:
    path = models / "yuz9yuz/SciMult/scimult_vanilla.ckpt"
    write_scimult(models / BIOMED, path, 3, experts="attention")
    refused(unchecked("scimult"), InvalidRequest, "not of the layout that this encoder expects: it lacks encoder.layer.1")
    shutil.copyfile(path, path.with_name("scimult_moe.ckpt"))
    write_scimult(models / BIOMED, path, 3)
    shutil.copyfile(path, path.with_name("scimult_moe.ckpt"))
    refused(unchecked("scimult-mhaexpert"), InvalidRequest, "has no experts; use scimult as `encoder`")
    data = path.read_bytes()
    path.write_bytes(data[:5000])
    refused(unchecked("scimult"), CorruptData, "cut short or not a checkpoint")
    torch.save({"weights": torch.zeros(3)}, path)
    refused(unchecked("scimult"), InvalidRequest, "it has no model_dict")
    torch.save({"model_dict": {"other.x": torch.zeros(3)}}, path)
    refused(unchecked("scimult"), InvalidRequest, r"it has no weights under ctx_model\.encoder")
    torch.save({"model_dict": {}, "encoder_params": {"projection_dim": 128}}, path)
    refused(unchecked("scimult"), InvalidRequest, "with a projection")
    refused(load_encoder("scimult"), CorruptData, "SHA-256")


class Evil:
    """Runs code when it is unpickled by a loader that trusts it."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Path.touch, (Path("ran"),)  # type: ignore[return-value]


def test_a_checkpoint_that_could_run_code_is_refused_and_does_not(models: Path, tmp_path: Path) -> None:
    path = models / "multi2spe" / "multi2spe.ckpt"
    write_multi2spe(models / "allenai/scibert_scivocab_uncased", path, 4)
    torch.save({"state_dict": {}, "hyper_parameters": Evil()}, path)
    refused(load_encoder("multi2spe"), InvalidRequest, "reading it could run code, and it is refused")
    assert not (tmp_path / "ran").exists()
    path.write_bytes(pickle.dumps({"state_dict": {}, "hyper_parameters": Evil()}))
    with pytest.raises(SciretrieveError):
        load_encoder("multi2spe").encode_papers([Paper("p", "title")])
    assert not (tmp_path / "ran").exists()


def test_multi2spe_checkpoints(models: Path) -> None:
    base, path = models / "allenai/scibert_scivocab_uncased", models / "multi2spe" / "multi2spe.ckpt"
    write_multi2spe(base, path, 4)
    whole = torch.load(path, weights_only=True)
    for setting, value in (
        ("add_perturb_embeddings", True),
        ("remove_position_embeddings_for_facets", True),
        ("adjust_attention_mask_for_facets", -2),
        ("debug_use_cls_for_all_facets", True),
        ("model_behavior", "specter"),
        ("sum_into_single_embeddings", "training_only"),
        ("sum_into_single_embeddings", None),
        ("sum_into_single_embeddings_behavior", "max"),
    ):
        torch.save(whole | {"hyper_parameters": whole["hyper_parameters"] | {setting: value}}, path)
        refused(load_encoder("multi2spe"), InvalidRequest, f"was trained with {setting}={value!r}, which is not read here")
    for settings in ({"loss_predict_facet_magnitudes": True}, {"loss_config": [{"name": "original", "predict_facet_magnitudes": True}]}):
        torch.save(whole | {"hyper_parameters": whole["hyper_parameters"] | settings}, path)
        refused(load_encoder("multi2spe"), InvalidRequest, "was trained with predict_facet_magnitudes=True, which is not read here")
    torch.save(whole | {"hyper_parameters": whole["hyper_parameters"] | {"add_extra_facet_layers_after": [0]}}, path)
    refused(load_encoder("multi2spe"), InvalidRequest, "lacks the facets' linear layers after BERT layer 0")
    torch.save(whole | {"hyper_parameters": whole["hyper_parameters"] | {"num_facets": 30}}, path)
    refused(load_encoder("multi2spe"), InvalidRequest, "lacks the facets' linear layers")
    torch.save(random_bert(1).state_dict(), path)
    refused(load_encoder("multi2spe"), InvalidRequest, "no state_dict with hyper_parameters")


def test_pals_of_another_form(models: Path) -> None:
    folder = models / "allenai" / "scirepeval_pals"
    write_pals(folder, 5, tasks=2)
    refused(load_encoder("scirepeval-pals"), InvalidRequest, "for 2 tasks, not 4")
    facts = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(facts | {"houlsby": True}))
    refused(load_encoder("scirepeval-pals"), InvalidRequest, "another form of them")
    bert_config().save_pretrained(folder)
    refused(load_encoder("scirepeval-pals"), InvalidRequest, "describes no projected attention layers")


def test_aspires_biencoders_and_oagbert(models: Path) -> None:
    name, path = "aspire-biencoder-compsci-spec-full", models / "aspire-biencoder-compsci-spec-full" / "model_cur_best.pt"
    state = write_aspire_biencoder(models / "allenai" / "specter", path, 19)
    for content, words in (
        (
            state | {"bert_layer_weights.weight": torch.zeros(1, LAYERS)},
            f"is not a checkpoint .* no bert_layer_weights.weight for {LAYERS + 1} layers",
        ),
        ({name: tensor for name, tensor in state.items() if ".layer.2." not in name}, r"expects: it lacks encoder\.layer\.2"),
        ([torch.zeros(1)], "is not a checkpoint of ASPIRE's bi-encoder"),
    ):
        torch.save(content, path)
        refused(load_encoder(name), InvalidRequest, words)
    write_oagbert(models / "oagbert-v2", 20)
    torch.save([torch.zeros(1)], models / "oagbert-v2" / "pytorch_model.bin")
    refused(load_encoder("oagbert-v2"), InvalidRequest, "holds no weights by name")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"version": "1"}, "has version '1' of OAG-BERT, and only version 2"),
        ({"hidden_act": "relu"}, "has hidden_act 'relu'; OAG-BERT's is 'gelu'"),
        ({"hidden_size": None}, "has no hidden_size, so it describes no OAG-BERT"),
        ({"num_attention_heads": 5}, f"has 5 attention heads, which do not share hidden_size {DIM} evenly"),
        ({"vocab_size": 5}, f"vocab.txt in .* has {len(VOCABULARY)} tokens and the model 5"),
        ({"num_hidden_layers": LAYERS + 1}, rf"is not of the layout .* lacks layers\.{LAYERS}\.after_attention\.bias and 15 more"),
        ({"num_hidden_layers": LAYERS - 1}, rf"is not of the layout .* also has layers\.{LAYERS - 1}\."),
        ({"intermediate_size": DIM}, r"has in another shape layers\.0\."),
    ],
)
def test_another_model_than_oagbert(models: Path, written: dict[str, Any], words: str) -> None:
    write_oagbert(models / "oagbert-v2", 20, **written)
    refused(load_encoder("oagbert-v2"), InvalidRequest, words)
