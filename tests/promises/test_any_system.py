"""The package is for any system: what differs between systems is in one module, and the main jobs are done without what Windows lacks."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.promises.test_layers import MODULES, PACKAGE, tree
from tests.promises.windows import FUNCTIONS, MODULES_WITHOUT, SIGNALS

SYSTEM = PACKAGE / "base" / "system.py"
LIMITED = PACKAGE / "matching" / "dense" / "unpacking.py"
"""It is run by its path, and imports nothing of the package, so it limits itself where the system has limits."""
SAID = {"sys.platform", "os.name", "platform.system", "os.sep"}
"""What tells systems apart."""
OF_ONE_SYSTEM = {
    *(f"os.{name}" for name in FUNCTIONS),
    *(f"signal.{name}" for name in SIGNALS),
    *("os.geteuid", "os.O_BINARY", "os.startfile"),
}
ALLOWED = {PACKAGE / "config.py": {"os.sep"}, LIMITED: {"resource", "sys.platform"}}


def of_one_system(path: Path) -> Iterator[str]:
    """What a module imports or names that some system lacks, or that tells which system it is."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            origin = "" if isinstance(node, ast.Import) else str(node.module)
            yield from {origin, *(names if not origin else ())} & {*MODULES_WITHOUT, "msvcrt", "winreg", "_winapi"}
            yield from {f"{origin}.{name}" for name in names} & (SAID | OF_ONE_SYSTEM)
        elif isinstance(node, ast.Attribute):
            yield from {ast.unparse(node)} & (SAID | OF_ONE_SYSTEM)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(("/proc/", "/dev/", "/etc/")):
            yield node.value


def text_files(path: Path) -> Iterator[str]:
    """The calls that leave it to the system how line breaks are written in a text file, or which strokes a path has."""
    for call in (node for node in ast.walk(tree(path)) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func).rpartition(".")[2]
        modes = {str(part.value) for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.Constant)}
        writes = any(len(mode) < 4 and set(mode) & set("wxa+") and "b" not in mode for mode in modes)
        is_told = any(option.arg == "newline" for option in call.keywords)
        as_system = name == "str" and any("relative_to" in ast.unparse(argument) for argument in call.args)
        if (name in ("open", "fdopen") and writes and not is_told) or name == "write_text" or as_system:
            yield ast.unparse(call)


def test_one_module_knows_the_systems() -> None:
    others = [path for path in MODULES if path != SYSTEM]
    found = {path: set(of_one_system(path)) - ALLOWED.get(path, set()) for path in others}
    assert {str(path.relative_to(PACKAGE)): names for path, names in found.items() if names} == {}
    assert {str(path.relative_to(PACKAGE)): [*text_files(path)] for path in others if [*text_files(path)]} == {}


def test_the_two_halves_have_the_same_names() -> None:
    """Types are checked for both, see the Makefile."""
    halves = next(node for node in tree(SYSTEM).body if isinstance(node, ast.If))

    def functions(body: list[ast.stmt]) -> set[str]:
        return {node.name for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}

    assert functions(halves.orelse) == functions(halves.body) | {"read_at", "write_at", "user"}  # which are the system's own calls


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux says what a process has open and mapped")
def test_the_main_jobs_need_nothing_that_windows_lacks(tmp_path: Path) -> None:
    own = {f"SCIRETRIEVE_{name}": str(tmp_path / name.lower()) for name in ("CACHE", "DATA", "CONFIG")}
    environment = os.environ | own | {"PYTHONPATH": str(PACKAGE.parent), "PYTHONWARNINGS": "error::ResourceWarning"}
    command = [sys.executable, "-m", "tests.promises.windows", str(tmp_path)]
    result = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    assert [line for line in result.stdout.splitlines() if line.isalpha()] == ["change", "share", "keep", "review", "write", "serve"]
