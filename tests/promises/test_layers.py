"""Imports go downwards only. The table below is the architecture; change it on purpose or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "sciretrieve"

LAYERS = [
    {"errors", "once", "wording"},
    {"archives", "choices"},
    {"config"},
    {"cache"},
    {"types"},
    {"files", "streams", "identifiers", "topk", "schema", "fusion", "effort", "scope", "sharding"},
    {"protocols", "verified", "plotting"},
    {"options", "progress"},
    {"manifest", "lexical", "bibliographies", "dense", "late", "demo"},
    {"pending", "finding"},
    {"runs", "corpora", "encoders"},
    {"shards", "search", "rocchio", "ranking"},
    {"narrowing", "lookup", "citations", "commits", "sweeping"},
    {"snapshot"},
    {"queries", "verifying"},
    {"index", "repairing"},
    {"benchmarking", "distributed", "indexing", "vector_files", "exporting", "citing", "answers", "screening"},
    {"outputs"},
    {"evaluation"},
    {"tuning", "perturbation"},
    {"commands"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
OWNED = {
    "faiss": {"dense"},
    "bm25s": set(),
    "Stemmer": {"lexical"},
    "torch": {"encoders", "dense"},
    "transformers": {"encoders"},
    "openvino": {"encoders"},
    "nncf": {"encoders"},
    "adapters": {"encoders"},
    "huggingface_hub": {"encoders"},
    "safetensors": {"encoders"},
    "tokenizers": {"encoders"},
    "lark": {"narrowing"},
    "matplotlib": {"plotting", "benchmarking", "perturbation"},
    "textblob": {"perturbation"},
    "ray": {"distributed"},
    "charset_normalizer": {"corpora"},
    "latexcodec": {"corpora"},
    "pybtex": {"corpora"},
    "openpyxl": {"corpora"},
    "rapidfuzz": {"lookup"},
    "rispy": {"bibliographies", "corpora"},
    "pytrec_eval": {"evaluation"},
    "sklearn": {"evaluation"},
    "rich": {"commands"},
    "typer": {"commands"},
    "tqdm": {"progress"},
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (top-level name, is ours) for each import anywhere in the file, those inside functions too."""
    here = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0], False
        elif isinstance(node, ast.ImportFrom):
            parts = [*here[: len(here) - node.level + 1], *(node.module or "").split(".")]
            names = [parts[0]] if parts[0] else [alias.name for alias in node.names]
            yield from ((name, True) for name in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    me = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name, ours in imports(path):
        if ours:
            assert name == me or LEVEL[name] < LEVEL[me], f"{path.name} (level {LEVEL[me]}) may not import {name} (level {LEVEL[name]})"
        else:
            assert name != "sciretrieve", f"{path.name}: use relative imports inside the package"
            assert me in OWNED.get(name, {me}), f"only {OWNED[name]} may import {name}, not {path.name}"


def test_the_table_is_the_package() -> None:
    there = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
    assert there == set(LEVEL)
