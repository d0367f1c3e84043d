"""What is trained here, and on what."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toy_weights import write_bert
from tests.training.learning.students.toy_training import write_sets


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small BERT."""
    folder = tmp_path_factory.mktemp("bert")
    write_bert(folder, 3)
    return folder


@pytest.fixture(scope="session")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """See `write_sets`."""
    return write_sets(tmp_path_factory.mktemp("sets"))
