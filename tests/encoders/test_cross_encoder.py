"""Cross-encoders against plain transformers, pair by pair, and what of their files is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.choices import Precision
from sciretrieve.base.errors import CorruptData, InvalidRequest, NotFound, Unavailable
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.encoders import CrossEncoder, open_cross_encoder
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.torch_runtime import TorchRuntime, Weights
from tests.encoders.fake_core import FakeCore
from tests.toy_weights import DIM, HEADS, LAYERS, VOCABULARY, bert_config, write_bert, write_tokenizer

LONG = "the citation of graph networks, a vaccine and a title " * 9
PAPERS = [
    Paper("plain", "graph networks", "the citation of a paper"),
    Paper("no-abstract", "vaccine"),
    Paper("nothing"),
    Paper("no-title", "", "retrieve the abstract"),
    Paper("long", "title", LONG),
    *(Paper(str(number), "graph " * (number % 5), "networks citation " * (number % 17)) for number in range(30)),
]
QUERIES = [
    Query("text", "graph networks"),
    Query("empty"),
    Query("long", LONG[::-1]),
    Query("paper", paper=Paper("asked", "paper of papers", LONG)),
    Query("short-paper", paper=Paper("asked", "vaccine")),
]


def disturbed(model: Any) -> Any:
    """The model with weights far from those of training's start, so that a mistake anywhere shows."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.15)
    return model.eval()


def write_bert_classifier(folder: Path, seed: int) -> None:
    """One label, token types, WordPiece: as cross-encoder/ms-marco-MiniLM."""
    import torch
    from transformers import BertForSequenceClassification

    write_tokenizer(folder)
    torch.manual_seed(seed)
    disturbed(BertForSequenceClassification(bert_config(num_labels=1))).save_pretrained(folder)


def write_roberta_classifier(folder: Path, seed: int) -> None:
    """Two labels, no token types, byte pairs, and two separators between the texts of a pair."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaTokenizerFast

    folder.mkdir(parents=True)
    pairs = ByteLevelBPETokenizer()
    pairs.train_from_iterator([LONG] * 3, 300, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False)
    pairs.save_model(str(folder))
    tokenizer = RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=62)
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": DIM, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 2 * DIM}
    config = RobertaConfig(len(tokenizer), max_position_embeddings=64, type_vocab_size=1, num_labels=2, **sizes)
    torch.manual_seed(seed)
    disturbed(RobertaForSequenceClassification(config)).save_pretrained(folder)


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of models of our own, with a cache beside it that all tests here share."""
    folder = tmp_path_factory.mktemp("cross")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIRETRIEVE_MODELS", str(folder / "models"))
        patch.setenv("SCIRETRIEVE_CACHE", str(folder / "cache"))
        write_bert_classifier(folder / "models" / "toy" / "bert", 1)
        write_roberta_classifier(folder / "models" / "toy" / "roberta", 2)
        yield folder / "models" / "toy"


def opened(name: str | Path, precision: Precision = "fp32") -> CrossEncoder:
    encoder = open_cross_encoder(str(name), precision=precision, device="cpu")
    assert encoder is not None
    return encoder


def text_encoder(encoder: CrossEncoder) -> TextEncoder:
    return encoder._encoder


def plain_scores(folder: Path, query: Query, papers: Sequence[Paper]) -> Vectors:
    """One pair at a time, as transformers reads, cuts and scores it."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSequenceClassification.from_pretrained(folder).eval()
    scores = []
    for paper in papers:
        text = f"{paper.title} {paper.abstract}".strip()
        with torch.no_grad():
            # in lists, for otherwise transformers reads an empty second text as none
            logits = model(**tokenizer([query.words.strip()], [text], truncation=True, return_tensors="pt")).logits[0]
        scores.append(float(logits[0] if len(logits) == 1 else logits[1] - logits[0]))
    return np.array(scores, np.float32)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.id)
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_scores_are_those_of_the_plain_model(toys: Path, kind: str, query: Query) -> None:
    expected = plain_scores(toys / kind, query, PAPERS)
    assert expected.std() > 0.02  # or the comparison says nothing
    scores = opened(f"toy/{kind}").score(query, PAPERS)
    assert scores.dtype == np.float64
    assert scores.shape == (len(PAPERS),)
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    assert opened(f"toy/{kind}").score(query, []).shape == (0,)


def test_a_berts_last_layer_is_trimmed_and_both_have_a_graph(toys: Path) -> None:
    for kind, trimmed in (("bert", True), ("roberta", False)):
        encoder = opened(f"toy/{kind}")
        encoder.score(QUERIES[0], PAPERS[:1])
        artifact = text_encoder(encoder)._model("").artifact
        assert (artifact.dim, artifact.has_graph, artifact.trimmed) == (1, True, trimmed)


def test_torch_gives_what_openvino_gives(toys: Path) -> None:
    encoder = opened("toy/bert")
    inner = text_encoder(encoder)
    pairs = [(QUERIES[0].words, paper.title) for paper in PAPERS]
    artifact = inner._model("").artifact
    model = TorchRuntime(lambda: Weights(inner.spec, "", inner.folders), artifact, "cpu", "fp32")
    np.testing.assert_allclose(model.run(artifact.tokenise(pairs, 128))[0], inner.encode_pairs(pairs), atol=1e-4)


def test_a_folder_is_what_its_hub_id_is(toys: Path) -> None:
    by_path, by_id = opened(toys / "bert"), opened("toy/bert")
    assert (by_path.name, by_id.name) == (str(toys / "bert"), "toy/bert")
    assert text_encoder(by_path).hashes == text_encoder(by_id).hashes


def test_what_is_no_cross_encoder_is_none(models: Path) -> None:
    write_bert(models / "toy" / "encoder", 1)
    for name in ("toy/encoder", str(models / "toy" / "encoder"), "minilm", "vectors:some.npz", "no-such-name"):
        assert open_cross_encoder(name) is None
    with pytest.raises(Unavailable, match="nobody/nothing"):
        open_cross_encoder("nobody/nothing")
    with pytest.raises(NotFound, match="there is no folder"):
        open_cross_encoder("./nothing")


@pytest.mark.parametrize(("told", "length"), [(40, 40), (64, 64), (65, 512), (10**30, 512), (None, 512)])
def test_the_length_is_the_tokenizers_where_the_model_has_the_positions(toys: Path, tmp_path: Path, told: int | None, length: int) -> None:
    folder = copied(toys / "bert", tmp_path, "tokenizer_config.json", {"model_max_length": told})
    assert text_encoder(opened(folder)).spec.max_length == length


def copied(folder: Path, tmp_path: Path, file: str, change: dict[str, Any]) -> Path:
    """A copy of a model's folder with some settings changed."""
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / file).write_text(json.dumps(json.loads((copy / file).read_text()) | change))
    return copy


def numbered_otherwise(folder: Path) -> dict[str, Any]:
    processor = json.loads((folder / "tokenizer.json").read_text())["post_processor"]
    for piece in processor["pair"]:
        next(iter(piece.values()))["type_id"] ^= 1
    return {"post_processor": processor}


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("config.json", lambda folder: {"id2label": {"0": "a", "1": "b", "2": "c"}}, "gives 3 labels, not a score"),
        ("tokenizer.json", lambda folder: {"post_processor": None}, "puts no separator between two texts"),
        ("tokenizer.json", numbered_otherwise, "in another way than BERT's"),
        ("vocabulary", None, f"knows {len(VOCABULARY) + 1} tokens and the model {len(VOCABULARY)}"),
        ("classifier.", None, "lack classifier..* and 1 more"),
        ("bert.pooler.", None, "lack bert.pooler..* and 1 more"),
    ],
)
def test_what_gives_no_score_is_refused(toys: Path, tmp_path: Path, file: str, change: Any, words: str) -> None:
    from safetensors.torch import load_file, save_file

    folder = copied(toys / "bert", tmp_path, file if change else "config.json", change(toys / "bert") if change else {})
    if file == "vocabulary":
        write_tokenizer(folder, ["[NEW]"])
    elif change is None:  # weights of that name are lost
        state = load_file(folder / "model.safetensors")
        kept = {name: tensor for name, tensor in state.items() if not name.startswith(file)}
        save_file(kept, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InvalidRequest, match=words) as caught:
        opened(folder).score(QUERIES[0], PAPERS[:1])
    assert "\n" not in str(caught.value)


def test_settings_that_are_none(toys: Path, tmp_path: Path) -> None:
    folder = copied(toys / "bert", tmp_path, "config.json", {})
    (folder / "config.json").write_text("[]")
    with pytest.raises(CorruptData, match="holds a list instead of settings"):
        open_cross_encoder(str(folder))


@pytest.mark.parametrize(
    ("disturb", "precision"),
    [
        (lambda scores: scores, "bf16"),
        # one constant on all scores changes no ranking
        (lambda scores: scores + 1, "bf16"),
        # every score has its own sign still, and so a cosine of 1 with what it should be
        (lambda scores: np.sign(scores) * np.abs(scores[::-1]), "fp32"),
    ],
    ids=["same", "shifted", "scrambled"],
)
def test_bf16_must_keep_how_scores_lie_to_each_other(
    core: FakeCore, toys: Path, disturb: Callable[[Vectors], Vectors], precision: str
) -> None:
    for path in toys.parents[1].glob("cache/encoders/*/checked.json"):
        path.unlink()
    core.disturb = lambda running, scores: disturb(scores) if running == "bf16" else scores
    encoder = opened("toy/bert", "auto")
    encoder.score(QUERIES[0], PAPERS[:1])
    assert encoder.precision == precision
