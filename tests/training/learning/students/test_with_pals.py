"""Projected attention layers: a set for each format, what is written reads as it was trained, and each format changes its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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

FORMATS = ("proximity", "adhoc_query", "classification", "regression")
TEXTS = ["graph networks", "a citation of the paper"]
WIDTH = 204


@pytest.fixture(scope="module")
def trained(base: Path, sets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """On three of four formats."""
    data = [sets[format] for format in ("adhoc_query", "classification", "regression")]
    return learned("scirepeval-pals", base, data, tmp_path_factory.mktemp("trained") / "pals")


def test_what_is_written_reads_as_it_was_trained(trained: Learned) -> None:
    spec = written(trained.folder)
    assert spec.tasks == FORMATS
    assert (spec.sides.paper.task, spec.sides.query.task) == ("proximity", "adhoc_query")
    assert spec.kinds == {"classification": "classification", "regression": "regression"}
    by_format = [vectors_of_student(trained.student, format, TEXTS) for format in FORMATS]
    for format, vectors in zip(FORMATS, by_format, strict=True):
        np.testing.assert_allclose(vectors_of_task(spec, format, TEXTS), vectors, atol=1e-4)
    assert np.abs(by_format[0] - by_format[2]).max() > 1e-3


def test_all_is_trained(trained: Learned) -> None:
    changed = trained.changed()
    assert {name.split(".")[1] for name in changed if name.startswith("sets.")} == {"0", "1", "2", "3"}
    assert "bert.encoder.layer.0.attention.self.query.weight" in changed


def test_the_layers_of_a_set_share_their_projections(base: Path) -> None:
    student = opened("scirepeval-pals", base, FORMATS)
    of_one_set = DIM * WIDTH + WIDTH + WIDTH * DIM + DIM + LAYERS * 3 * (WIDTH * WIDTH + WIDTH)
    of_bert = sum(value.numel() for name, value in student.trained.items() if name.startswith("bert."))
    assert student.sizes()["parameters"] == of_bert + 4 * of_one_set


def test_a_gradient_reaches_one_set_and_the_bert(base: Path) -> None:
    student = opened("scirepeval-pals", base, FORMATS)
    for number, format in enumerate(FORMATS):
        names = reached(student, format)
        assert {name.split(".")[1] for name in names if name.startswith("sets.")} == {str(number)}
        assert "bert.encoder.layer.0.intermediate.dense.weight" in names
