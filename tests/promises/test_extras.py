"""Optional parts are installed for a reason: the package imports what each extra brings."""

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.promises.test_layers import MODULES, imports

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


NAMED_OTHERWISE = {"llama_index_core": "llama_index", "paper_qa": "paperqa"}
"""The module of a distribution of another name, which need not be installed here."""


def unused(extras: dict[str, list[str]], imported: set[str]) -> list[str]:
    """The requirements of extras, but for `dev`, none of whose modules is imported."""
    modules: dict[str, set[str]] = {}
    for module, distributions in packages_distributions().items():
        for name in distributions:
            modules.setdefault(_normalised(name), {_normalised(name)}).add(module)
    for distribution, module in NAMED_OTHERWISE.items():
        modules.setdefault(distribution, set()).add(module)
    names = [_normalised(re.split(r"[^\w.-]", requirement)[0]) for extra in extras if extra != "dev" for requirement in extras[extra]]
    return [name for name in names if not modules.get(name, {name}) & imported]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def test_every_extra_brings_what_the_package_imports() -> None:
    assert unused(PROJECT["optional-dependencies"], {name for path in MODULES for name, _ in imports(path)}) == []


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        ({"dev": ["nothing-of-ours"]}, []),
        ({"serve": ["fastapi>=0.115", "pyarrow[extra]>=20"]}, ["fastapi"]),
        ({"words": ["PyStemmer>=2.2"]}, []),
    ],
)
def test_an_extra_that_nothing_imports_would_be_seen(extras: dict[str, list[str]], expected: list[str]) -> None:
    assert unused(extras, {"pyarrow", "Stemmer"}) == expected
