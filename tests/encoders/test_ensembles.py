"""Ensembles of encoders: their vectors against NumPy on the members' own, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest, UnknownName
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder, members_of, reopen_encoder
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest
from tests.command_line import answer, sciretrieve
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_weights import DIM, LAYERS, VOCABULARY, write_bert, write_tokenizer

NARROW = 32
"""OpenVINO 2026.4, told to use AVX2 alone on a CPU that has AVX-512, crashes on 24."""
PAPERS = [Paper("1", "Graph networks", "Citation of the paper"), Paper("2", "a title", ""), Paper("3", "vaccine", "the abstract " * 30)]
QUERIES = [Query("q", "graph networks"), Query("1", paper=PAPERS[0])]


def write_narrow(folder: Path) -> None:
    """A model of a smaller dimension."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(3)
    sizes = {"hidden_size": NARROW, "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": DIM}
    BertModel(BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=64, **sizes)).eval().save_pretrained(folder)
    write_tokenizer(folder)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """Two models of one dimension, and a narrower one, converted once."""
    folder = tmp_path_factory.mktemp("models")
    for seed, name in enumerate("ab"):
        write_bert(folder / name, seed)
    write_narrow(folder / "narrow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIRETRIEVE_CACHE", str(folder / "cache"))
        yield str(folder / "a"), str(folder / "b"), str(folder / "narrow")


def numpy_joined(join: str, parts: list[Any]) -> Any:
    if join == "mean":
        return np.mean([part.astype(np.float64) for part in parts], axis=0)
    return np.hstack([part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts]) / np.sqrt(len(parts))


def test_an_ensembles_vectors_are_those_of_its_members_joined(names: tuple[str, ...]) -> None:
    members = [load_encoder(name, precision="fp32", template="{title}: {abstract}") for name in names]
    papers, queries = [member.encode_papers(PAPERS) for member in members], [encoded_queries(member) for member in members]
    for join, chosen in (("mean", (0, 1)), ("concat", (2, 0, 1))):
        name = f"{join}:{'+'.join(names[number] for number in chosen)}"
        ensemble = load_encoder(name, precision="fp32", template="{title}: {abstract}")
        expected = numpy_joined(join, [papers[number] for number in chosen])
        vectors = ensemble.encode_papers(PAPERS)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
        np.testing.assert_allclose(encoded_queries(ensemble), numpy_joined(join, [queries[number] for number in chosen]), atol=1e-5)
        assert (ensemble.dim, ensemble.metric, ensemble.symmetric) == (expected.shape[1], "cosine", True)
        again = reopen_encoder(json.loads(json.dumps(ensemble.identity())), "fp32")
        assert again.identity() == ensemble.identity()
    np.testing.assert_array_equal(encoded_queries(again), encoded_queries(ensemble))
    # the cosine of the whole is the mean of the members' cosines
    units = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in papers]
    np.testing.assert_allclose(vectors @ vectors.T, np.mean([unit @ unit.T for unit in units], axis=0), atol=1e-5)


def encoded_queries(encoder: Any) -> Any:
    return encoder.encode_queries(QUERIES)


def test_the_whole_way_from_an_index_to_an_answer_without_torch(names: tuple[str, ...], tmp_path: Path) -> None:
    name = f"concat:{names[2]}+{names[0]}"
    papers = made_up_papers(20)
    corpus = write_jsonl(tmp_path / "papers.jsonl", papers)
    answer("index", corpus, "-o", tmp_path / "index", "--encoder", name, "--set", "precision=fp32")
    index = sr.open(tmp_path / "index")
    vectors = np.concatenate([shard.vectors for shard in index.snapshot.vectors])
    assert (vectors.shape, index.snapshot.manifest.metric) == ((20, NARROW + DIM), "cosine")
    query = load_encoder(name, precision="fp32").encode_queries([Query("q", "graph networks")])[0]
    expected = [index.snapshot.live_ids()[row] for row in np.argsort(-(vectors @ query), kind="stable")]
    script = (
        "import sciretrieve as sr, sys; run = sr.open('index').search('graph networks', 5, mode='dense'); "
        "print(*run.rankings[0].ids); assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path).stdout.split()
    assert found == expected[:5]
    first = papers[0]["id"]
    like = index.similar([first], 3, mode="dense")[0].ids
    similar = np.argsort(-(vectors @ vectors[index.snapshot.live_ids().index(first)]), kind="stable")
    assert list(like) == [index.snapshot.live_ids()[row] for row in similar if index.snapshot.live_ids()[row] != first][:3]
    answer("encode", corpus, "-o", tmp_path / "vectors.npy", "--encoder", name, "--set", "precision=fp32")
    np.testing.assert_allclose(np.load(tmp_path / "vectors.npy"), vectors, atol=1e-6)


def test_a_mean_of_different_dimensions_is_refused_before_anything_is_encoded(names: tuple[str, ...], tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(3))
    result = sciretrieve("index", corpus, "-o", tmp_path / "index", "--encoder", f"mean:{names[0]}+{names[2]}", "--set", "precision=fp32")
    assert result.returncode == 2
    assert f"{names[0]} has {DIM}, {names[2]} has {NARROW}; use `concat:{names[0]}+{names[2]}" in result.stderr.splitlines()[-1]
    assert not (tmp_path / "index" / "manifest.json").exists()


def test_each_member_has_its_own_adapter_and_metric() -> None:
    spec = resolve(EncoderRequest("mean:specter2+scirepeval-ctrl", "classification+[CLF]", "+[RGN]", bare_titles=True))
    assert [member.name for member in spec.members] == ["specter2", "scirepeval-ctrl"]
    assert [member.sides.paper.task or member.sides.paper.text.split()[0] for member in spec.members] == ["classification", "[CLF]"]
    assert [member.sides.query.task or member.sides.query.text.split()[0] for member in spec.members] == ["adhoc_query", "[RGN]"]
    assert all(member.sides.paper.alone for member in spec.members)
    assert (spec.join, spec.metric) == ("mean", "l2")
    assert [resolve(EncoderRequest(name)).metric for name in ("mean:specter+e5-base-v2", "concat:specter+scincl")] == ["cosine", "cosine"]
    every_member = resolve(EncoderRequest("scirepeval-ensemble", "[CLF]")).members
    assert [(side.task, side.text.split()[0]) for side in (member.sides.paper for member in every_member)] == [
        ("[CLF]", "{title}{sep}{abstract}"),
        ("", "[CLF]"),
    ]
    assert members_of("scirepeval-ensemble") == ("mean", ("scirepeval-adapters", "scirepeval-ctrl"))
    assert members_of("specter2") is None


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("mean:specter2", {}, InvalidRequest, "is not an ensemble; join two or more encoders"),
        ("concat:specter2+", {}, InvalidRequest, "is not an ensemble"),
        ("mean:specter2+vectors:x.npy", {}, InvalidRequest, "vectors:x.npy reads no texts"),
        ("mean:specter2+faiss:x", {}, InvalidRequest, "reads no texts"),
        ("mean:specter2+spectre", {}, UnknownName, "did you mean 'specter"),
        ("mean:specter2+scincl", {"adapter": "a+b+c"}, InvalidRequest, "`adapter` a.b.c is for 3 encoders, and there are 2"),
        ("mean:specter2+scirepeval-ctrl", {"adapter": "[CLF]"}, UnknownName, r"unknown adapter of specter2 '\[CLF\]'"),
        ("mean:specter2+scirepeval-ctrl", {"pooling": "mean"}, InvalidRequest, "which `pooling` cannot change"),
        ("vectors:x.npy", {"adapter": "proximity"}, InvalidRequest, "has vectors from elsewhere"),
    ],
)
def test_what_cannot_be_joined_is_refused(name: str, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        load_encoder(name, **options)


def test_a_damaged_identity_is_told() -> None:
    with pytest.raises(CorruptData, match="the manifest's encoder is damaged"):
        reopen_encoder({"name": "x", "layout": "ensemble", "asked": {"encoder": "x"}, "members": []})


def test_show_names_the_members_and_how_each_reads() -> None:
    text = answer("encoders", "show", "concat:specter2+scirepeval-ctrl", "--set", "adapter=classification+[CLF]")
    assert "each scaled to unit length" in text
    assert "{title}{sep}{abstract}  through classification" in text
    assert "[CLF] {title}{sep}{abstract}" in text
