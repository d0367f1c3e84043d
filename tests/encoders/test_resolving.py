"""From a name, a hub id or a folder to a spec; folders of sentence-transformers as that library reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import CorruptData, InvalidRequest, Unavailable, UnknownName
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.catalogue import CATALOGUE, TITLE_SEP_ABSTRACT
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest, Side
from tests.encoders.plain import plain_states
from tests.toy_weights import write_bert, write_pals


def write_modules(folder: Path, *kinds: str, pooling: str = "mean_tokens") -> None:
    """modules.json and what belongs to it, in the layout of sentence-transformers."""
    paths = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize", "Dense": "2_Dense"}
    modules = [
        {"idx": position, "name": str(position), "path": paths[kind], "type": f"sentence_transformers.models.{kind}"}
        for position, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    modes = {f"pooling_mode_{mode}": mode == pooling for mode in ("cls_token", "mean_tokens", "max_tokens")}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 48, **modes}))


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture
def folder(models: Path) -> Path:
    write_bert(models / "mine", 1, safe=True)
    return models / "mine"


def test_the_specs_are_whole() -> None:
    for name, spec in CATALOGUE.items():
        assert spec.name == name
        assert "base" in spec.parts
        assert spec.sides.query.text.endswith("{text}")
        for side in (spec.sides.paper, spec.sides.query, spec.sides.paper_as_query):
            assert side.task == "" or side.task in spec.tasks
            side.text.format(title="t", abstract="a", text="q", sep="[SEP]")
        assert all(CATALOGUE[member.name] is member for member in spec.members)


def test_adapters_by_name() -> None:
    spec = resolve(EncoderRequest("specter2", "classification"))
    assert [side.task for side in (spec.sides.paper, spec.sides.query, spec.sides.paper_as_query)] == [
        "classification",
        "adhoc_query",
        "classification",
    ]
    assert resolve(EncoderRequest("scimult-mhaexpert", "link_prediction", "link_prediction")).sides.query.task == "link_prediction"
    with pytest.raises(UnknownName, match="did you mean 'proximity'"):
        resolve(EncoderRequest("specter2", "proximty"))
    with pytest.raises(InvalidRequest, match="minilm has no adapter 'proximity'"):
        resolve(EncoderRequest("minilm", "proximity"))
    with pytest.raises(UnknownName, match="unknown adapter of scirepeval-adapters 'proximity'"):
        resolve(EncoderRequest("scirepeval-ensemble", "proximity"))
    with pytest.raises(UnknownName, match="adapter of scimult-ffnexpert"):
        resolve(EncoderRequest("scimult-ffnexpert", "./somewhere"))


def test_control_codes_are_chosen_as_adapters_are() -> None:
    sides = resolve(EncoderRequest("scirepeval-ctrl", "[CLF]", bare_titles=True)).sides
    assert sides.paper == sides.paper_as_query == Side("[CLF] {title}{sep}{abstract}", alone="[CLF] {title}{abstract}")
    assert sides.query == Side("[QRY] {text}")
    assert resolve(EncoderRequest("scirepeval-ctrl", None, "[RGN]")).sides.query == Side("[RGN] {text}")


def test_a_hub_id_of_the_catalogue_is_its_row() -> None:
    assert resolve(EncoderRequest("allenai/specter")).pooling == "cls"
    assert resolve(EncoderRequest("intfloat/e5-base-v2")).sides.query == Side("query: {text}")


def test_a_bare_folder_is_pooled_by_its_mean_and_says_so(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    spec = resolve(EncoderRequest(str(folder)))
    assert (spec.pooling, spec.normalise, spec.metric) == ("mean", False, "cosine")
    assert "their mean is taken" in caplog.text


def test_an_adapter_makes_a_bare_folder_one_of_specters_family(folder: Path) -> None:
    spec = resolve(EncoderRequest(str(folder), str(folder)))
    assert (spec.pooling, spec.metric, spec.sides.paper.text) == ("cls", "l2", TITLE_SEP_ABSTRACT)
    assert (spec.sides.paper.task, spec.sides.query.task) == ("adapter", "")


@pytest.mark.parametrize("pooling", ["cls_token", "mean_tokens"])
@pytest.mark.parametrize("normalise", [False, True])
def test_sentence_transformers_folders(folder: Path, pooling: str, normalise: bool) -> None:
    write_modules(folder, "Transformer", "Pooling", *(["Normalize"] if normalise else []), pooling=pooling)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 12, "do_lower_case": False})
    prompts = {"query": "search {x}: ", "document": "paper: "}
    write_json(folder / "config_sentence_transformers.json", {"prompts": prompts, "similarity_fn_name": "dot"})
    encoder = load_encoder(str(folder), precision="fp32")
    assert encoder.metric == "ip"
    assert not encoder.symmetric

    def oracle(text: str) -> Any:
        states = plain_states(folder, text, 12)
        vector = states[0] if pooling == "cls_token" else states.mean(0)
        return vector / np.linalg.norm(vector) if normalise else vector

    paper = Paper("p", "graph networks", "citation " * 20)
    np.testing.assert_allclose(encoder.encode_papers([paper])[0], oracle(f"paper: graph networks {paper.abstract}"), atol=1e-4)
    ours = encoder.encode_queries([Query("q", "vaccine"), Query("p", paper=paper)])
    np.testing.assert_allclose(ours, [oracle("search {x}: vaccine"), oracle(f"search {{x}}: graph networks {paper.abstract}")], atol=1e-4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: write_modules(folder, "Transformer", "Pooling", pooling="max_tokens"), "pools by max_tokens"),
        (lambda folder: write_modules(folder, "Transformer", "Pooling", "Dense"), "module Dense in 2_Dense, which is not supported"),
        (lambda folder: write_modules(folder, "Transformer"), "has no Pooling"),
        (lambda folder: write_json(folder / "sentence_bert_config.json", {"do_lower_case": True}), "lower-cases texts"),
        (lambda folder: write_json(folder / "config_sentence_transformers.json", {"similarity_fn_name": "manhattan"}), "'manhattan'"),
        (lambda folder: write_json(folder / "config.json", {"hidden_size": 48}), "names no model_type"),
    ],
)
def test_what_is_not_supported_is_refused(folder: Path, change: Any, words: str) -> None:
    change(folder)
    with pytest.raises(InvalidRequest, match=words):
        resolve(EncoderRequest(str(folder)))


def test_broken_json_names_the_file(folder: Path) -> None:
    (folder / "modules.json").write_text("[{")
    with pytest.raises(CorruptData, match=r"modules\.json cannot be read as JSON"):
        resolve(EncoderRequest(str(folder)))


def test_a_folder_with_projected_attention_layers_is_known_by_its_configuration(models: Path) -> None:
    write_pals(models / "pals", 3)
    spec = resolve(EncoderRequest(str(models / "pals")))
    assert (spec.layout, spec.sides.query.task) == ("pals", "[QRY]")


def test_an_unknown_name_and_an_unreachable_one() -> None:
    for name, words in (("zzz", "there are:"), ("mini-lm", "did you mean 'minilm'"), ("spectre2", "'specter2'")):
        with pytest.raises(UnknownName, match=words):
            resolve(EncoderRequest(name))
    with pytest.raises(Unavailable, match="nobody/nothing"):
        resolve(EncoderRequest("nobody/nothing"))
