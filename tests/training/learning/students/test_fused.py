"""AdapterFusion: adapters and model stay to the last bit, each format's own layers are trained, its own adapter first."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.training import train
from tests.training.learning.students.toy_training import (
    QUICK,
    Learned,
    learned,
    opened,
    reached,
    vectors_of_student,
    vectors_of_task,
    written,
)

FORMATS = ("proximity", "adhoc_query")
TEXTS = ["graph networks", "a citation of the paper"]


@pytest.fixture(scope="module")
def adapters(base: Path, sets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two adapters that were trained here."""
    folder = tmp_path_factory.mktemp("base") / "adapters"
    train([sets["adhoc_query"]], folder, like="scirepeval-adapters", base=str(base), batch=2, steps=2, **QUICK)
    return folder


@pytest.fixture(scope="module")
def trained(adapters: Path, sets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    return learned("scirepeval-fusion", adapters, [sets["adhoc_query"]], tmp_path_factory.mktemp("trained") / "fusion")


def test_what_is_written_reads_as_it_was_trained(trained: Learned) -> None:
    spec = written(trained.folder)
    assert spec.tasks == FORMATS
    assert (spec.sides.paper.task, spec.sides.query.task) == FORMATS
    by_format = [vectors_of_student(trained.student, format, TEXTS) for format in FORMATS]
    for format, vectors in zip(FORMATS, by_format, strict=True):
        np.testing.assert_allclose(vectors_of_task(spec, format, TEXTS), vectors, atol=1e-4)
    assert np.abs(by_format[0] - by_format[1]).max() > 1e-3


def test_the_rest_stays_as_it_was(trained: Learned) -> None:
    changed = trained.changed()
    assert {name.partition("adapter_fusion_layer.")[2].partition(".")[0] for name in changed} == {
        "proximity,adhoc_query",
        "adhoc_query,proximity",
    }
    assert changed <= set(trained.student.trained)


def test_each_format_has_its_own_adapter_first(trained: Learned) -> None:
    for format in FORMATS:
        facts = json.loads((trained.folder / f"{format}_fusion" / "adapter_fusion_config.json").read_text())
        assert facts["adapter_names"][0] == format
        assert "/" not in facts["model_name"]


def test_a_gradient_reaches_the_formats_own_layers(adapters: Path) -> None:
    student = opened("scirepeval-fusion", adapters, FORMATS)
    for format, other in zip(FORMATS, FORMATS[::-1], strict=True):
        names = reached(student, format)
        assert {name.partition("adapter_fusion_layer.")[2].partition(".")[0] for name in names} == {f"{format},{other}"}


def test_what_cannot_be_joined(base: Path, adapters: Path) -> None:
    with pytest.raises(InvalidRequest, match="has no adapters to join"):
        opened("scirepeval-fusion", base, FORMATS)
    with pytest.raises(InvalidRequest, match="has no adapter for regression; it has proximity, adhoc_query"):
        opened("scirepeval-fusion", adapters, [*FORMATS, "regression"])
    with pytest.raises(InvalidRequest, match="there is one adapter to join"):
        opened("scirepeval-fusion", adapters, ["proximity"])
