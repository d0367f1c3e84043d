"""The public face: names that are listed exist, and nothing public lacks a docstring."""

from __future__ import annotations

from importlib import metadata
from importlib.metadata import version
from pathlib import Path

import pytest

import sciretrieve as sr

PACKAGE = Path(sr.__file__).parent


def test_all_is_sorted_and_resolves() -> None:
    assert sr.__all__ == sorted(sr.__all__)
    assert dir(sr) == sr.__all__
    assert sr.__version__ == version("sciretrieve")
    for name in set(sr.__all__) - {"__version__"}:
        assert getattr(sr, name).__module__.startswith("sciretrieve.")
    with pytest.raises(AttributeError, match="nonsense"):
        _ = sr.nonsense


def test_a_source_tree_that_is_not_installed_knows_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    installed = sr.__version__
    monkeypatch.setattr(metadata, "version", missing)
    assert sr.__version__ == installed
