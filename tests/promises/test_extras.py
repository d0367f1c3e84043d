"""What the package imports is required, or is of an extra and asked for by its name."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from sciretrieve.base.extras import EXTRAS
from tests.promises.test_layers import MODULES, imports

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INTEGRATED = {
    "IPython",
    "anyio",
    "haystack",
    "ir_datasets",
    "langchain_core",
    "latex2mathml",
    "llama_index",
    "markupsafe",
    "mcp_types",
    "pandas",
    "paperqa",
    "polars",
    "pydantic",
    "pydantic_core",
    "starlette",
    "typing_extensions",
}
"""Modules of those who have them: what one hands over or takes, and what comes with a library that is required."""


def modules_of(requirements: list[str]) -> set[str]:
    """The modules that requirements bring."""
    names = {normalised(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}
    return {module for module, distributions in packages_distributions().items() if names & set(map(normalised, distributions))}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def test_an_extra_brings_what_is_asked_for_by_its_name() -> None:
    assert {extra for extra in PROJECT["optional-dependencies"] if extra not in ("all", "dev")} == set(EXTRAS)
    for extra, modules in EXTRAS.items():
        assert set(modules) <= modules_of(PROJECT["optional-dependencies"][extra]), extra


def test_what_is_imported_is_required_or_of_an_extra() -> None:
    imported = {name for path in MODULES for name, is_ours in imports(path) if not is_ours} - sys.stdlib_module_names
    known = modules_of(PROJECT["dependencies"]) | {module for modules in EXTRAS.values() for module in modules}
    assert imported - known - INTEGRATED == set()
    assert modules_of(PROJECT["dependencies"]) >= {"faiss", "numpy", "openvino", "pyarrow"}
