"""Input that nobody means well with is answered, or refused in one line: no traceback, no hang, no memory without bound, no code run.

The program `tests.torture.hostile` makes the input and gives it to the library, under limits on its memory and its time.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Effort
from tests.promises.test_layers import MODULES, PACKAGE, tree

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    "corpora": {
        "lists_of_dicts": (12, 1300),
        "json_lines": (12, 1300),
        "delimited": (12, 1000),
        "bibtex": (12, 1300),
        "ris": (12, 1000),
        "files_of_other_kinds": (8, 400),
    },
    "questions": {
        "searches": (20, 1200),
        "filters_alone": (20, 1000),
        "command_lines": (12, 500),
        "ids_of_papers": (6, 200),
        "judgements_and_runs": (5, 100),
        "files_of_queries": (10, 400),
        "files_of_vectors": (10, 300),
        "faiss_indexes": (5, 300),
    },
    "long ones": {"long_ones": (0, 1)},
    "bombs": {"bombs": (300, 2048)},
}
"""Of each kind, how many examples there are in every run, and with --torture; for bombs, to how many MB they expand."""
LIMIT = 3600
"""Seconds after which even the computer is at fault."""


@pytest.mark.parametrize("group", EXAMPLES)
def test_hostile_input_is_answered_or_refused(group: str, effort: Effort) -> None:
    orders = [f"{kind}:{examples}" for kind, counts in EXAMPLES[group].items() if (examples := effort(*counts))]
    if not orders:
        pytest.skip(reason="takes minutes: make torture")
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "tests.torture.hostile", *orders]
    result = subprocess.run(command, cwd=ROOT, env=one_thread, capture_output=True, text=True, check=False, timeout=LIMIT)
    assert result.returncode == 0, f"{result.stdout[-3000:]}\n{result.stderr[-6000:]}"
    done = [line.removeprefix("done: ") for line in result.stdout.splitlines() if line.startswith("done: ")]
    assert done == list(EXAMPLES[group])


# what the package never does

FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "code", "codeop", "runpy"}
"""What reads data as programs, or as objects that may be programs."""
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "literal_eval"}
ALLOWED = {("encoders/layouts/loading.py", "pickle"), ("evaluation/handover.py", "pickle")}
"""Only to name the error that torch's restricted loader raises, and to write what S2AND's code reads: neither calls `pickle`."""


def name_of(node: ast.expr) -> str:
    """What is called, as far as it is a name: `np.load`, `eval`."""
    return f"{name_of(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> object:
    """A call's keyword argument, if it is a constant."""
    return next((word.value.value for word in call.keywords if word.arg == name and isinstance(word.value, ast.Constant)), None)


def faults(path: str, module: ast.Module) -> list[str]:
    """What a module does that could run what it reads."""
    found = []
    for node in ast.walk(module):
        imported = []
        if isinstance(node, ast.Import):
            imported = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported = [(node.module or "").split(".")[0]]
        found += [f"{path} imports {name}" for name in imported if name in FORBIDDEN_MODULES and (path, name) not in ALLOWED]
        if not isinstance(node, ast.Call):
            continue
        called = name_of(node.func)
        where = f"{path}, line {node.lineno}: {called}"
        if called in FORBIDDEN_CALLS or called.startswith("pickle."):
            found.append(where)
        if called in ("np.load", "numpy.load", "np.fromfile") and keyword(node, "allow_pickle") is not False:
            found.append(f"{where} without allow_pickle=False")
        if called == "torch.load" and keyword(node, "weights_only") is not True:
            found.append(f"{where} without weights_only=True")
        if keyword(node, "shell") is True or keyword(node, "trust_remote_code") is True:
            found.append(f"{where} runs what it is given")
    return found


def test_nothing_that_is_read_is_run() -> None:
    assert [fault for path in MODULES for fault in faults(path.relative_to(PACKAGE).as_posix(), tree(path))] == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from yaml import load",
        "eval('1')",
        "import numpy as np\nnp.load('x')",
        "np.load('x', mmap_mode='r', allow_pickle=True)",
        "torch.load('x')",
        "__import__('os')",
        "subprocess.run('ls', shell=True)",
    ],
)
def test_what_would_run_it_is_seen(source: str) -> None:
    assert faults("module.py", ast.parse(source))
