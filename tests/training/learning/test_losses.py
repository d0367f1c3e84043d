"""Each loss against NumPy written anew, the rates against their formulas, and steps of the optimiser against AdamW's own equations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from sciretrieve.training.learning import losses
from sciretrieve.training.learning.optimising import factor
from sciretrieve.training.presets import PRESETS

CHANCE = np.random.default_rng(7)


def draws(*shape: int) -> Any:
    return CHANCE.standard_normal(shape).astype(np.float32)


def softmax_loss(similarities: Any, right: Any) -> float:
    """The mean over rows of -log softmax at the right column, in float64."""
    values = similarities.astype(np.float64)
    normal = np.log(np.exp(values - values.max(1, keepdims=True)).sum(1)) + values.max(1)
    return float(np.mean(normal - values[np.arange(len(right)), right]))


def test_the_triplet_loss_is_the_margin_between_two_distances() -> None:
    queries, positives, negatives = draws(9, 5), draws(9, 5), draws(9, 5)
    near, far = (np.linalg.norm(queries - other, axis=1) for other in (positives, negatives))
    for margin in (0.0, 1.0, 3.0):
        ours = losses.triplet(torch.from_numpy(queries), torch.from_numpy(positives), torch.from_numpy(negatives), margin)
        assert float(ours) == pytest.approx(np.maximum(near - far + margin, 0).mean(), abs=2e-6)


@pytest.mark.parametrize("both", [False, True])
def test_the_contrastive_loss_is_a_softmax_over_the_batchs_papers_but_for_barred_ones(both: bool) -> None:
    queries, papers = draws(6, 4), draws(10, 4)
    right = np.array([0, 1, 2, 3, 4, 5])
    barred = CHANCE.random((6, 10)) < 0.2
    barred[np.arange(6), right] = False
    similarities = np.where(barred, -np.inf, queries @ papers.T / 0.5)
    expected = softmax_loss(similarities, right)
    if both:
        backwards = similarities[:, right].T
        expected = (expected + softmax_loss(backwards, np.arange(6))) / 2
    arguments = (torch.from_numpy(queries), torch.from_numpy(papers), torch.from_numpy(right), torch.from_numpy(barred))
    assert float(losses.contrastive(*arguments, 0.5, both=both)) == pytest.approx(expected, abs=1e-6)


def test_losses_of_classes_and_numbers() -> None:
    scores, one = draws(7, 4), CHANCE.integers(0, 4, 7)
    assert float(losses.classes(torch.from_numpy(scores), torch.from_numpy(one))) == pytest.approx(softmax_loss(scores, one), abs=1e-6)
    several = (CHANCE.random((7, 4)) < 0.5).astype(np.float32)
    shares = 1 / (1 + np.exp(-scores.astype(np.float64)))
    binary = -(several * np.log(shares) + (1 - several) * np.log(1 - shares)).mean()
    assert float(losses.classes(torch.from_numpy(scores), torch.from_numpy(several))) == pytest.approx(binary, abs=1e-6)
    values, wanted = draws(7), draws(7)
    ours = losses.numbers(torch.from_numpy(values), torch.from_numpy(wanted))
    assert float(ours) == pytest.approx(((values - wanted) ** 2).mean(), abs=1e-6)
    vectors, former = draws(5, 3), draws(5, 3)
    ours = losses.nearness(torch.from_numpy(vectors), torch.from_numpy(former))
    assert float(ours) == pytest.approx(((vectors - former) ** 2).sum(1).mean(), abs=1e-6)


def by_hand(parts: Any, share: float, *, apart: bool) -> float:
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
    parts = [chance.standard_normal((5, 3, 4)) * 0.7 for _ in range(3)]
    first, second, third = (torch.from_numpy(part) for part in parts)
    assert float(losses.facets(first, second, third, share)) == pytest.approx(by_hand(parts, share, apart=False), abs=1e-6)
    assert float(losses.facets_apart(first, second, third, share)) == pytest.approx(by_hand(parts, share, apart=True), abs=1e-6)


def softmax(values: Any) -> Any:
    weights = np.exp(values - values.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def test_the_losses_of_a_teacher_are_what_their_sources_say() -> None:
    student, teacher = CHANCE.standard_normal((2, 5, 7))
    barred = CHANCE.random((5, 7)) < 0.2
    expected = []
    for row in range(5):
        open_places = np.flatnonzero(~barred[row])
        p, q = (softmax(part[row : row + 1, open_places] / 0.3)[0] for part in (teacher, student))
        expected.append(float((p * np.log(p / q)).sum()))
    own, others, is_barred = (torch.from_numpy(part) for part in (student, teacher, barred))
    assert float(losses.rank(own, others, is_barred, 0.3)) == pytest.approx(np.mean(expected), abs=1e-6)
    assert float(losses.rank(own, own, is_barred, 0.3)) == pytest.approx(0.0, abs=1e-9)
    distances = np.sqrt(((student - teacher) ** 2).sum(axis=1))
    assert float(losses.distil(own, others)) == pytest.approx(distances.mean(), abs=1e-6)


def test_rates_are_those_of_the_formulas() -> None:
    def rates(steps: Iterable[int], count: int, **changes: Any) -> list[float]:
        return [factor(replace(PRESETS["own"], **changes), step, count) for step in steps]

    linear = rates(range(100), 100, schedule="linear", warmup=0.1)
    assert linear[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert linear[10:] == pytest.approx([(100 - step) / 90 for step in range(10, 100)])
    root = rates((0, 349, 699, 700, 2799), 5000, schedule="inverse-root", warmup=700)
    assert root == pytest.approx([1 / 700, 0.5, 1.0, (700 / 701) ** 0.5, 0.5])
    assert rates((0, 3, 4, 9), 10, schedule="constant", warmup=4) == pytest.approx([0.25, 1, 1, 1])
    # so short a training that its warm-up has no step begins at the peak
    assert rates([0], 10, schedule="linear", warmup=0.05) == [1.0]


def test_presets_have_the_papers_figures() -> None:
    assert all(plan.source for plan in PRESETS.values())
    specter2, scimult = PRESETS["specter2"], PRESETS["scimult"]
    assert (specter2.batch, specter2.rate, specter2.epochs, specter2.margin, specter2.epsilon) == (1024, 2e-5, 2, 1.0, 1e-8)
    assert (scimult.batch, scimult.rate, scimult.epochs, scimult.decay, scimult.temperature) == (32 * 48, 3e-4, 20, 0.01, 1.0)
    adapters = PRESETS["specter2-adapters"]
    assert (adapters.batch, adapters.rate, adapters.epochs, adapters.reduction) == (256, 1e-4, 6, 16)
    codes = PRESETS["scirepeval-codes"]
    assert (codes.batch, codes.rate, codes.epochs, codes.schedule, codes.warmup) == (256, 5e-5, 2, "inverse-root", 700)
