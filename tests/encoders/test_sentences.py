"""Vectors of sentences against plain transformers, read and cut as ASPIRE's authors do: piece by piece, in lists of token numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Vectors
from sciretrieve.encoders import encode_sentences, load_encoder, open_sentence_encoder, pieces
from sciretrieve.encoders.catalogue import CATALOGUE
from sciretrieve.encoders.text_encoder import TextEncoder
from tests.command_line import answer, sciretrieve
from tests.encoders.plain import plain_model, plain_states
from tests.toy_weights import write_bert

ROWS = {
    "aspire-ts-compsci": "allenai/aspire-contextualsentence-singlem-compsci",
    "aspire-ts-biomed": "allenai/aspire-contextualsentence-singlem-biomed",
    "aspire-ot-compsci": "allenai/aspire-contextualsentence-multim-compsci",
    "aspire-ot-biomed": "allenai/aspire-contextualsentence-multim-biomed",
}
LIMIT = 62
"""Tokens that a toy reads beside [CLS] and [SEP], where the real models read 500."""
PAPERS = [
    Paper("plain", "Graph networks", "The citation of a paper. Vaccine (2020), e.g. the title? Retrieve!"),
    Paper("one", "the title of a paper", "abstract"),
    Paper("cut", "Graph", "The citation of a paper. " * 30),
    Paper("cut inside", "Graph", f"{'Vaccine ' * 40}. {'Retrieve ' * 25}. Networks."),
    Paper("no title", "", "The citation. Of a paper."),
    Paper("odd", "é 漢字 \x1e  [SEP] title\n", "\u0301 Paper \x07. [CLS] of [SEP] title. \u200b The end."),
]


def read_as_released(folder: Path, title: str, sentences: list[str]) -> Vectors:
    """The authors' prepare_bert_sentences and consent_reps_bert of one paper, (sentences, dim), in float64."""
    import torch

    tokenizer, model = plain_model(folder)
    ids: list[int] = []
    places: list[list[int]] = []
    for piece in [f"{title} [SEP] ", *sentences]:
        numbers = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(piece))[: LIMIT - len(ids)]
        places.append([1 + len(ids) + number for number in range(len(numbers))])
        ids += numbers
    with torch.no_grad():
        states = model(torch.tensor([tokenizer.build_inputs_with_special_tokens(ids)])).last_hidden_state[0].double().numpy()
    return np.stack([states[place].mean(axis=0) for place in places[1:] if place])


@pytest.fixture
def folder(models: Path) -> Path:
    folder = models / ROWS["aspire-ts-compsci"]
    write_bert(folder, 31)
    return folder


def opened(name: str = "aspire-ts-compsci") -> TextEncoder:
    encoder = open_sentence_encoder(name, precision="fp32", device="cpu")
    assert encoder is not None
    return encoder


def vectors_of(*papers: Paper) -> list[Vectors]:
    return encode_sentences(opened(), [pieces(paper) for paper in papers])


def test_sentences_are_read_as_released(folder: Path) -> None:
    expected = [read_as_released(folder, *_parts(paper)) for paper in PAPERS]
    ours = vectors_of(*PAPERS)
    assert [len(vectors) for vectors in ours] == [3, 1, 10, 2, 2, 2]
    for vectors, theirs in zip(ours, expected, strict=True):
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, theirs, atol=1e-4)
    np.testing.assert_allclose(vectors_of(PAPERS[0])[0], expected[0], atol=1e-4)  # alone, without padding


def _parts(paper: Paper) -> tuple[str, list[str]]:
    title, *sentences = pieces(paper)
    return title, sentences


def test_what_has_no_sentence_is_its_title_or_all_that_is_read(folder: Path) -> None:
    def states(title: str) -> Any:
        return plain_states(folder, f"{title} [SEP]", LIMIT + 2)

    long_title = "paper of " * 60
    only, filled, nothing = vectors_of(Paper("1", "graph networks"), Paper("2", long_title, "Not read."), Paper("3"))
    np.testing.assert_allclose(only, states("graph networks")[1:-2].mean(axis=0, keepdims=True), atol=1e-4)  # before two [SEP]
    np.testing.assert_allclose(filled, states(long_title)[1:-1].mean(axis=0, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(nothing, states("").mean(axis=0, keepdims=True), atol=1e-4)


def test_a_hub_id_is_the_row_and_no_row_is_an_encoder(folder: Path) -> None:
    assert {name: spec.parts["base"].source for name, spec in CATALOGUE.items() if spec.pairing} == ROWS
    for name, source in ROWS.items():
        by_name, by_id = opened(name), opened(source)
        assert by_name.spec == by_id.spec
        assert by_name.spec.pairing == ("closest" if "-ts-" in name else "transport")
        for asked in (name, source, f"mean:minilm+{name}"):
            with pytest.raises(
                InvalidRequest, match="has a vector for each sentence and none for a paper, so it only reranks: `search --rerank"
            ):
                load_encoder(asked)
    assert open_sentence_encoder("minilm") is None
    assert open_sentence_encoder("allenai/specter") is None
    np.testing.assert_array_equal(encode_sentences(opened(ROWS["aspire-ts-compsci"]), [pieces(PAPERS[0])])[0], vectors_of(PAPERS[0])[0])


def test_torch_gives_what_openvino_gives(folder: Path) -> None:
    from sciretrieve.encoders.text_encoder import _by_text, _of_texts
    from sciretrieve.encoders.torch_runtime import TorchRuntime, Weights

    encoder = opened()
    tokens = encoder.tokenise(PAPERS)
    model = TorchRuntime(lambda: Weights(encoder.spec, "", encoder.folders), encoder.artifact, "cpu", "fp32")
    for theirs, ours in zip(_of_texts(tokens, model.run(tokens, _by_text)[1]), encoder.encode_papers_late(PAPERS), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
        assert np.abs(np.linalg.norm(ours, axis=1) - 1).max() > 0.1  # as the model gives them, not of unit length


def test_the_commands_fetch_and_show_it(folder: Path) -> None:
    assert "aspire-ts-compsci is ready: " in sciretrieve("encoders", "fetch", "aspire-ts-compsci").stderr
    text = answer("encoders", "show", "aspire-ts-compsci")
    assert "of each sentence of an abstract, the mean of its token states; two papers compare by their nearest sentences" in text
    refused = sciretrieve("encode", folder / "config.json", "-o", folder / "vectors.npy", "--encoder", "aspire-ts-compsci")
    assert refused.returncode == 2
    assert "so it only reranks: `search --rerank aspire-ts-compsci`" in refused.stderr
