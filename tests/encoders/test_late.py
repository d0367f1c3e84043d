"""Token vectors of encoders, against the hidden states of plain transformers; and how they are packed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.encoders import has_tokens, late, load_encoder, packing_of
from sciretrieve.encoders.late import encode_packed
from sciretrieve.encoders.torch_runtime import ManyDevices, TorchRuntime, Weights
from sciretrieve.matching.late import Counts
from tests.encoders.plain import plain_model, plain_states
from tests.toy_encoder import LetterEncoder
from tests.toy_weights import ids_of

PAPERS = [
    Paper("1", "Graph networks", "Citation of the paper: vaccine, graphs (2020)."),
    Paper("2", "the title of a paper", "abstract " * 80),
    Paper("3", "Only a title", ""),
    *(Paper(str(number), "graph networks " * (number % 9 + 1), "citation " * (number % 23)) for number in range(4, 40)),
]
IDLE = {"[PAD]", "[CLS]", "[SEP]", "the", "of", "a", *".,:;!?()'-"}
"""Tokens of our vocabulary that say nothing."""


def as_they_are(states: Vectors, counts: Counts) -> tuple[Vectors, Counts]:
    return states, counts


def test_token_vectors_are_the_models_last_states(specter: Path) -> None:
    """Of an encoder whose vector is that of [CLS], which otherwise computes no other token of the last layer."""
    plain = load_encoder("specter", precision="fp32")
    with_tokens = late(plain)
    assert (has_tokens(plain), has_tokens(with_tokens)) == (False, True)
    assert late(with_tokens) is with_tokens
    assert with_tokens.identity() == plain.identity()
    np.testing.assert_allclose(with_tokens.encode_papers(PAPERS), plain.encode_papers(PAPERS), atol=1e-4)
    tokenizer, _ = plain_model(specter)
    for paper, ours in zip(PAPERS, with_tokens.encode_papers_late(PAPERS), strict=True):
        text = f"{paper.title}[SEP]{paper.abstract}"
        states = plain_states(specter, text)
        kept = [token not in IDLE for token in tokenizer.convert_ids_to_tokens(ids_of(tokenizer, text)[0].tolist())]
        np.testing.assert_allclose(ours, (states / np.linalg.norm(states, axis=1, keepdims=True))[kept], atol=1e-4)


def test_each_side_gives_tokens_by_its_own_adapter(specter2: Path) -> None:
    encoder = late(load_encoder("specter2", precision="fp32"))
    text = "graph networks of the citation"
    queries = [Query("1", text), Query("2", paper=Paper("", text)), Query("3", "vaccine")]
    vectors, tokens = encoder.encode_queries_late(queries)
    np.testing.assert_allclose(vectors, load_encoder("specter2", precision="fp32").encode_queries(queries), atol=1e-4)
    assert tokens[0].shape == tokens[1].shape
    assert np.abs(tokens[0] - tokens[1]).max() > 0.01  # by the adapters for queries and for papers
    np.testing.assert_allclose(tokens[1], encoder.encode_papers_late([Paper("", text)])[0], atol=1e-4)


def test_torch_gives_the_vectors_of_openvino_on_one_device_or_several(specter: Path) -> None:
    encoder = late(load_encoder("specter", precision="fp32"))
    packing = packing_of(encoder)
    tokens = encoder.artifact.tokenise([f"{paper.title}[SEP]{paper.abstract}" for paper in PAPERS], 128)
    weights = Weights(encoder.spec, "", encoder.folders)
    vectors, readings = encoder.encode_late(tokens, as_they_are)
    one = TorchRuntime(lambda: weights, encoder.artifact, "cpu", "fp32")
    many = ManyDevices(lambda: weights, encoder.artifact, ["cpu", "cpu"], "fp32")
    for runtime in (one, many):
        torch_vectors, torch_readings = runtime.run(tokens, as_they_are)
        np.testing.assert_allclose(torch_vectors, vectors, atol=1e-4)
        np.testing.assert_allclose(runtime.run(tokens)[0], vectors, atol=1e-4)
        assert runtime.run(encoder.tokenise([]))[0].shape == (0, encoder.dim)
        for (states, counts), (expected, expected_counts) in zip(torch_readings, readings, strict=True):
            np.testing.assert_allclose(states, expected, atol=1e-4)
            np.testing.assert_array_equal(counts, expected_counts)
    packed = many.run(tokens, packing.pack)[1]  # a method of an object, which goes to other processes
    assert sum(len(codes) for codes, _ in packed) == sum(int(counts.sum()) for _, counts in readings)
    assert len(tokens.batches) > len(many._workers) == 2
    for worker in many._workers:
        worker.shutdown()


@pytest.mark.embedded_encoder
def test_packed_papers_are_those_of_their_token_vectors() -> None:
    encoder = late(load_encoder("minilm"))
    packing = packing_of(encoder)
    vectors, packed, counts = encode_packed(encoder, encoder.tokenise(PAPERS), packing)
    np.testing.assert_array_equal(vectors, encoder.encode_papers(PAPERS))
    states = encoder.encode_papers_late(PAPERS)
    expected, expected_counts = packing.pack(np.concatenate(states), np.array([len(part) for part in states]))
    np.testing.assert_array_equal(counts, expected_counts)
    # a product's last bit may differ with the batch, and with it, rarely, a level
    assert (packed != expected).mean() < 1e-3


def test_the_packing_is_learnt_once_a_machine(models: Path, specter: Path) -> None:
    first = packing_of(load_encoder("specter"))
    (file,) = (models.parent / "cache").rglob("packing.npy")
    written = file.stat().st_mtime_ns
    again = packing_of(load_encoder("specter"))
    np.testing.assert_array_equal(first.array(), again.array())
    assert file.stat().st_mtime_ns == written
    file.write_bytes(b"damaged")
    np.testing.assert_array_equal(packing_of(load_encoder("specter")).array(), first.array())


def test_what_reads_no_text_has_no_tokens() -> None:
    assert not has_tokens(LetterEncoder())
    with pytest.raises(InvalidRequest, match="late interaction needs a model that reads texts, and letters does not; leave out `late`"):
        late(LetterEncoder())
