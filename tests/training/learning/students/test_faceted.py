"""Multi2SPE: the losses against NumPy, how the facets' layers begin, and what is written against what was trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Query
from sciretrieve.encoders import load_encoder
from sciretrieve.options import TrainingOptions
from sciretrieve.training import train
from sciretrieve.training.learning import losses
from tests.toy_weights import DIM, LAYERS
from tests.training.learning.students.toy_training import (
    Learned,
    learned,
    opened,
    reached,
    vectors_of_student,
    vectors_of_task,
    written,
)

TEXTS = ["graph networks", "a citation of the paper", "vaccine"]
FACETS = 3


@pytest.fixture(scope="module", params=["multi2spe", "multi2spe-code"])
def trained(request: pytest.FixtureRequest, base: Path, sets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    to = tmp_path_factory.mktemp("trained") / request.param
    return learned(request.param, base, [sets["proximity"], sets["adhoc_query"]], to)


def by_hand(parts: Sequence[Any], share: float, *, apart: bool) -> float:
    """Equations 2 and 3 of the paper, or the README's two losses, with loops."""

    def entropy(right: float, wrong: float) -> float:
        return float(np.log(1.0 + np.exp(wrong - right)))

    total = 0.0
    for query, positive, negative in zip(*parts, strict=True):
        greatest = [max(float(left @ right) for left in query for right in paper) for paper in (positive, negative)]
        sums = [float(query.sum(axis=0) @ paper.sum(axis=0)) for paper in (positive, negative)]
        if apart:
            total += share * entropy(*greatest) + (1 - share) * entropy(*sums)
        else:
            total += entropy(*(share * most + (1 - share) * whole for most, whole in zip(greatest, sums, strict=True)))
    return total / len(parts[0])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_losses_are_those_of_the_paper_and_of_the_code(share: float) -> None:
    chance = np.random.default_rng(1)
    parts = [chance.standard_normal((5, FACETS, 4)) * 0.7 for _ in range(3)]
    first, second, third = (torch.from_numpy(part) for part in parts)
    assert float(losses.facets(first, second, third, share)) == pytest.approx(by_hand(parts, share, apart=False), abs=1e-6)
    assert float(losses.facets_apart(first, second, third, share)) == pytest.approx(by_hand(parts, share, apart=True), abs=1e-6)


def test_facets_begin_as_the_paper_says(base: Path) -> None:
    """After a third and two thirds of the layers the identity, after the last random; the rest is the BERT's own."""
    from transformers import BertModel

    student = opened("multi2spe", base, ["proximity"])
    state = {name: value.numpy() for name, value in student.model.state_dict().items()}
    for facet in range(FACETS):
        for number in (0, 1):
            np.testing.assert_array_equal(state[f"linears.layer{number}.{facet}.weight"], np.eye(DIM, dtype=np.float32))
            np.testing.assert_array_equal(state[f"linears.layer{number}.{facet}.bias"], np.zeros(DIM, np.float32))
    last = [state[f"linears.last.{facet}.weight"] for facet in range(FACETS)]
    assert len({weights.tobytes() for weights in last}) == FACETS
    assert 0 < np.abs(np.stack(last)).max() <= DIM**-0.5  # as torch begins a linear layer
    assert {name.split(".")[1] for name in state if name.startswith("linears.")} == {"layer0", "layer1", "last"}
    bert = {f"bert.{name}": value.numpy() for name, value in BertModel.from_pretrained(base).state_dict().items() if "pooler" not in name}
    assert bert.keys() == {name for name in state if name.startswith("bert.")}
    assert all(np.array_equal(value, state[name]) for name, value in bert.items())
    assert student.model.config.num_hidden_layers == LAYERS


def test_a_text_is_learned_from_by_its_facets_and_searched_by_their_sum(base: Path) -> None:
    student = opened("multi2spe", base, ["proximity"])
    batch = student.tokens(["graph"], 64).batches[0]
    names = [student.tokenizer.id_to_token(id) for id in batch.ids[0].tolist()]
    assert names[:FACETS] == ["[CLS]", "[unused1]", "[unused2]"]
    with torch.no_grad():
        parts = student.encode("proximity", torch.from_numpy(batch.ids), torch.from_numpy(batch.mask))
    assert parts.shape == (1, FACETS * DIM)
    whole = vectors_of_student(student, "proximity", ["graph"])
    np.testing.assert_allclose(whole[0], parts.numpy().reshape(FACETS, DIM).sum(axis=0), atol=1e-5)
    # all begin from one state, for weights less their mean of equal matrices are zero; the last layers set them apart
    first, second, _ = parts.numpy().reshape(FACETS, DIM)
    assert np.abs(first - second).max() > 1e-2


def test_a_gradient_reaches_all(trained: Learned) -> None:
    """But in the beginning, when all facets' states are zero after the first layers, by which later ones multiply their gradients."""
    names = reached(trained.student, "proximity")
    for name in trained.student.trained:
        is_key_bias = name.endswith("key.bias")  # which shifts all scores alike, and changes nothing
        is_token_type = name.endswith("token_type_embeddings.weight")
        assert name in names or is_key_bias or is_token_type


def test_what_is_written_reads_as_it_was_trained(trained: Learned) -> None:
    spec = written(trained.folder)
    assert spec.metric == "ip"
    vectors = vectors_of_student(trained.student, "proximity", TEXTS)
    assert vectors.shape == (3, DIM)
    np.testing.assert_allclose(vectors_of_task(spec, "", TEXTS), vectors, atol=1e-4)
    assert {name.split(".")[1] for name in trained.changed() if name.startswith("linears.")} == {"layer0", "layer1", "last"}
    state = trained.student.model.state_dict()
    # less their mean, equal gradients of all facets cancel: what was equal has become different
    assert not np.array_equal(state["linears.layer0.0.weight"].numpy(), state["linears.layer0.1.weight"].numpy())


@pytest.mark.parametrize("trained", ["multi2spe-code"], indirect=True)
@pytest.mark.usefixtures("models")
def test_the_encoder_loads_by_its_folder(trained: Learned) -> None:
    encoder = load_encoder(str(trained.folder), precision="fp32")
    expected = vectors_of_student(trained.student, "proximity", TEXTS)
    np.testing.assert_allclose(encoder.encode_queries([Query(text, text) for text in TEXTS]), expected, atol=1e-4)
    settings = torch.load(trained.folder / "weights.ckpt", weights_only=True)["hyper_parameters"]
    assert settings["add_extra_facet_nonlinearity"]
    assert settings["add_extra_facet_layers_after"] == [0, 1]


def test_one_facet_loses_no_mean(base: Path) -> None:
    """Less its mean its weight would be zero."""
    student = opened("multi2spe", base, ["proximity"], facets=1)
    weights, _ = student.model.pair("layer0")
    np.testing.assert_array_equal(weights.detach().numpy()[0], np.eye(DIM, dtype=np.float32))


def test_what_facets_cannot_learn_from(base: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="not from sets for classification"):
        opened("multi2spe", base, ["classification"])
    for options in (
        TrainingOptions(method="facets"),
        TrainingOptions(loss="facets-apart"),
        TrainingOptions(like="multi2spe", loss="triplet"),
    ):
        with pytest.raises(InvalidRequest, match="facets have losses of their own"):
            train([tmp_path], tmp_path / "to", options, progress=False)
