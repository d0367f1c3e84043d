"""Imports go downwards only, and the house stays small. The tables below are the architecture; change them on purpose or not at all."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "sciretrieve"

LAYERS = [
    {"base", "demo"},
    {"config"},
    {"files", "protocols"},
    {"options", "progress"},
    {"papers", "metrics"},
    {"runs"},
    {"matching"},
    {"encoders"},
    {"storage"},
    {"query"},
    {"answers", "lifecycle", "screening"},
    {"evaluation", "strategies"},
    {"studies", "training"},
    {"integrations", "service"},
    {"commands"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
OWNED = {
    "faiss": {"matching"},
    "bm25s": set(),
    "Stemmer": {"matching"},
    "numba": {"matching"},
    "torch": {"encoders", "matching", "training"},
    "transformers": {"encoders"},
    "openvino": {"encoders"},
    "adapters": {"encoders", "training"},
    "huggingface_hub": {"encoders"},
    "safetensors": {"encoders", "training"},
    "tokenizers": {"encoders"},
    "lark": {"query"},
    "matplotlib": {"evaluation", "files", "studies", "training"},
    "textblob": {"studies"},
    "ray": {"lifecycle"},
    "charset_normalizer": {"papers"},
    "latex2mathml": {"service"},
    "latexcodec": {"papers"},
    "pybtex": {"papers"},
    "openpyxl": {"papers"},
    "pypdfium2": {"papers"},
    "py3langid": {"encoders"},
    "rapidfuzz": {"query"},
    "rispy": set(),
    "ir_datasets": {"evaluation"},
    "pytrec_eval": {"metrics"},
    "sklearn": {"answers", "evaluation", "studies"},
    "rich": {"commands"},
    "typer": {"commands"},
    "tqdm": {"progress"},
    "langchain_core": {"integrations"},
    "haystack": {"integrations"},
    "llama_index": {"integrations"},
    "paperqa": {"integrations"},
    "fastapi": {"service"},
    "jinja2": {"service"},
    "mcp": {"service"},
    "prometheus_client": {"service"},
    "pydantic": {"integrations", "service"},
    "pydantic_core": {"service"},
    "starlette": {"service"},
    "uvicorn": {"service"},
}
"""The folders and modules of the root that may import a heavy library."""

ROOT_NAMES = (25, "each name in the root is a word that people who look for something meet first")
ARROWS = (155, "pairs of names in the root of which one imports the other: who changes one looks into so many others")
LINES = {
    "answers": (
        3_480,
        "an answer's views and formats: facets, groups, explanations, profiles, a library's health, authors, saved requests; what drafts "
        "should cite",
    ),
    "base": (
        1_775,
        "errors, papers, passages, queries, values that never change and their forms, what options may be, words for people, plug-ins, "
        "what differs between operating systems",
    ),
    "commands": (5_410, "a function for each command, whose arguments are its options; help, pager and hints"),
    "encoders": (5_800, "a loader for each layout of files that papers published, and the runtimes of CPU and GPU"),
    "evaluation": (8_085, "a reader for each benchmark's files, and its protocol; matrices, sweeps, pools; receipts, ir_datasets"),
    "files": (1_835, "streams, archives and files that are whole or absent; tables whose columns differ; all tables are written here"),
    "integrations": (380, "a retriever for each of three libraries, filters of one in our language, papers for a fourth"),
    "lifecycle": (4_095, "build, add, sync, merge, reindex, full texts, parts, a cluster: each can be interrupted anywhere"),
    "matching": (6_600, "three ways to score: words, also compiled, and names, vectors with FAISS, also on GPUs, tokens; passages"),
    "metrics": (1_115, "measures as their authors and ir_measures name and compute them, significance, power"),
    "options": (700, "each option once, and keyword arguments, which are generated"),
    "papers": (
        12_720,
        "a reader for each of some forty forms of export, names in parts, identifiers, citations in five; full texts, half of that PDFs; "
        "drafts",
    ),
    "query": (7_315, "operators, filters, phrases and names as people type them; the steps of a ranking"),
    "screening": (2_215, "sessions, merging, agreement, stopping rules with their statistics, PRISMA"),
    "service": (7_335, "Semantic Scholar's API, our own, a search page, tools for assistants"),
    "storage": (3_145, "shards, commits, and all that verify checks and repair makes anew"),
    "strategies": (1_750, "strategies of named lines, PubMed's and Ovid's translated, logs"),
    "studies": (1_945, "dense types, tuning, recall, and the 32 changes of Singh and Singh (2022)"),
    "training": (5_680, "sets by the papers' recipes, a class for each method that trains, losses, checkpoints"),
}
"""How large the house may be: names in the root, arrows between them, and lines a folder, which are a hundredth more than there were when
it was last drawn; each with what takes the room. Who raises one says so, and why, in the commit's message."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@cache
def tree(path: Path) -> ast.Module:
    """A module, parsed once for all that look at it."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (top-level name, is ours) for each import anywhere in the file, those inside functions too."""
    for name, is_ours in _dotted_imports(path):
        yield name.split(".")[0], is_ours


@cache
def _dotted_imports(path: Path) -> list[tuple[str, bool]]:
    """(dotted name, is ours) for each import of a file; ours begin at the package's root, and may end with a name in a module."""
    here = path.relative_to(PACKAGE).parts[:-1]
    names: list[tuple[str, bool]] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names += [(alias.name, False) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.append((node.module, False))
        elif isinstance(node, ast.ImportFrom):
            folder = [*here[: len(here) - node.level + 1], *(node.module or "").split(".")]
            names += [(".".join([part for part in folder if part] + [alias.name]), True) for alias in node.names]
    return names


def _home(path: Path) -> str:
    """The name in the root that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_imports_go_down() -> None:
    faults = []
    for path in MODULES:
        me, name = _home(path), path.relative_to(PACKAGE)
        for imported, is_ours in imports(path):
            if is_ours and imported != me and LEVEL[imported] >= LEVEL[me]:
                faults.append(f"{name} (level {LEVEL[me]}) may not import {imported} (level {LEVEL[imported]})")
            if not is_ours and imported == "sciretrieve":
                faults.append(f"{name}: use relative imports inside the package")
            if not is_ours and me not in OWNED.get(imported, {me}):
                faults.append(f"only {OWNED[imported]} may import {imported}, not {name}")
    assert not faults, "\n".join(faults)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Within a folder, too, where the table says nothing. Raises CycleError, which names the circle."""
    dotted = {".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}
    graph = {}
    for module, path in dotted.items():
        targets = [name if name in dotted else name.rpartition(".")[0] for name, is_ours in _dotted_imports(path) if is_ours]
        graph[module] = {target for target in targets if target in dotted and target != module}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(dotted)


def test_the_table_is_the_package() -> None:
    assert {_home(path) for path in MODULES} == set(LEVEL)


def test_the_house_is_no_larger_than_was_decided() -> None:
    arrows = {(_home(path), name) for path in MODULES for name, is_ours in imports(path) if is_ours and name != _home(path)}
    lines: Counter[str] = Counter()
    for path in MODULES:
        if len(path.relative_to(PACKAGE).parts) > 1:
            lines[_home(path)] += len(path.read_text(encoding="utf-8").splitlines())
    assert len(LEVEL) <= ROOT_NAMES[0]
    assert len(arrows) <= ARROWS[0]
    assert {folder: count for folder, count in lines.items() if count > LINES.get(folder, (100, "a new one"))[0]} == {}


def test_only_commands_print() -> None:
    """What other parts have to say they return, or log. The access log is a service's output, and progress goes to stderr."""
    faults = []
    for path in MODULES:
        if _home(path) == "commands" or path == PACKAGE / "service" / "guards.py":
            continue
        nodes = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)]
        used = [node for node in nodes if (node.id if isinstance(node, ast.Name) else node.attr) in ("print", "stdout")]
        faults += [f"{path.relative_to(PACKAGE)}:{node.lineno}" for node in used if ast.unparse(node) in ("print", "sys.stdout")]
    assert faults == []


def test_no_two_classes_have_one_name() -> None:
    """But for the retrievers of two libraries."""
    names = Counter(
        node.name
        for path in MODULES
        if _home(path) != "integrations"
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_every_file_says_what_lives_there() -> None:
    silent = [path.name for path in MODULES if not ast.get_docstring(tree(path))]
    assert silent == []
