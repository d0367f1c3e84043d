"""Does a test fail for a fault in the engine? `make mutants` draws faults by a seed, makes each in a copy of the project, and runs tests.

A fault is one change of one place: a comparison turned or moved by one, `and` for `or`, a condition that is not asked, a sign, a small
number. The tests are those of the module, then those of its folder and of what stands on it, until one fails. What no test noticed is
printed with its line: a test is missing there, or the fault changes nothing that anybody can see. It takes up to an hour, so no commit
waits for it.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "files": ("files", "storage", "lifecycle"),
    "matching": ("matching", "query"),
    "storage": ("storage", "lifecycle"),
    "query": ("query", "answers"),
    "lifecycle": ("lifecycle", "storage"),
}
"""The folders that faults are made in, and whose tests are asked."""
COMPARISONS = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
SMALL = 8
"""Numbers up to this one are moved by one; larger ones are sizes of blocks and the like."""
LIMIT = 900
"""Seconds that the tests of one fault may take: a fault that makes them hang is noticed, too."""


@dataclass(frozen=True)
class Fault:
    """A change of one place: the file within the project, its line, what stands there from one byte to another, and what is to."""

    path: Path
    line: int
    start: int
    end: int
    now: str
    then: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.now!r} -> {self.then!r}"


def faults(path: Path) -> Iterator[Fault]:
    """All faults that can be made in a file."""
    source = (ROOT / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    def begin(node: ast.expr) -> int:
        return place(node.lineno, node.col_offset)

    def end(node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return place(node.end_lineno, node.end_col_offset)

    def between(first: ast.expr, second: ast.expr, now: str, then: str) -> Iterator[Fault]:
        start = source.find(now.encode(), end(first), begin(second))
        if start >= 0:
            yield Fault(path, first.lineno, start, start + len(now), now, then)

    def whole(node: ast.expr, then: str) -> Fault:
        return Fault(path, node.lineno, begin(node), end(node), source[begin(node) : end(node)].decode(), then)

    tree = ast.parse(source)
    skipped = {id(part) for node in ast.walk(tree) for part in _unseen(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare):
            for first, operator, second in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                now, others = COMPARISONS[type(operator)]
                for then in others:
                    yield from between(first, second, now, then)
        elif isinstance(node, ast.BoolOp):
            now, then = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for first, second in zip(node.values, node.values[1:], strict=False):
                yield from between(first, second, now, then)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield whole(node, f"bool({ast.unparse(node.operand)})")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            now, then = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
            yield from between(node.left, node.right, now, then)
        elif isinstance(node, ast.Constant) and type(node.value) is int and node.value <= SMALL:
            yield whole(node, str(node.value + 1))
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield whole(node.test, "False")


def _unseen(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a file in which a fault shows only as another type, another speed, or another message."""
    unseen: list[ast.AST | None] = []
    if isinstance(node, ast.Module):
        unseen = [part for part in node.body if isinstance(part, ast.Assign | ast.AnnAssign)]
    elif isinstance(node, ast.FunctionDef):
        unseen = [
            *node.decorator_list,
            node.returns,
            *(argument.annotation for argument in ast.walk(node.args) if isinstance(argument, ast.arg)),
        ]
    elif isinstance(node, ast.AnnAssign):
        unseen = [node.annotation]
    elif isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        unseen = [node]
    for part in unseen:
        yield from ast.walk(part) if part is not None else ()


def tests(path: Path) -> Iterator[list[str]]:
    """The tests to run for a fault in a file, the nearest first: each list is run if the one before noticed nothing."""
    inside = path.relative_to("sciretrieve")
    nearest = Path("tests", *inside.parts[:-1])
    own = nearest / f"test_{inside.name}"
    if (ROOT / own).is_file():
        yield [str(own)]
    if nearest != Path("tests", inside.parts[0]) and (ROOT / nearest).is_dir():
        yield [str(nearest)]
    yield [f"tests/{folder}" for folder in FOLDERS[inside.parts[0]]]


def is_noticed(fault: Fault, copy: Path) -> bool:
    """Whether a test fails for a fault, which is made in a copy of the project and taken back."""
    file = copy / fault.path
    source = file.read_bytes()
    file.write_bytes(source[: fault.start] + fault.then.encode() + source[fault.end :])
    try:
        for paths in tests(fault.path):
            command = [sys.executable, "-m", "pytest", "-n0", "-q", "-x", "-p", "no:randomly", *paths]
            environment = {**os.environ, "PYTHONPATH": str(copy), "CI": "true"}
            try:
                done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=LIMIT, check=False)
            except subprocess.TimeoutExpired:
                return True
            if done.returncode:
                return True
        return False
    finally:
        file.write_bytes(source)


def main() -> None:
    """Draw, try, and print what was not noticed; exit status 1 if that is more than a tenth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--within", default="", help="a part of the paths of the files to choose from")
    chosen = parser.parse_args()
    files = [path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / "sciretrieve" / folder).rglob("*.py"))]
    every = [fault for path in files if chosen.within in str(path) for fault in faults(path)]
    drawn = random.Random(chosen.seed).sample(every, min(chosen.faults, len(every)))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(chosen.processes):
            copies.put(_copy(Path(scratch, str(number))))

        def tried(fault: Fault) -> bool:
            copy = copies.get()
            try:
                noticed = is_noticed(fault, copy)
            finally:
                copies.put(copy)
            print(f"{'noticed' if noticed else 'NOT NOTICED':<12} {fault}", flush=True)
            return noticed

        with ThreadPoolExecutor(chosen.processes) as threads:
            noticed = sum(threads.map(tried, drawn))
    minutes = (time.monotonic() - began) / 60
    print(f"{noticed} of {len(drawn)} faults noticed, drawn by seed {chosen.seed} from {len(every):,}, in {minutes:.0f} minutes")
    sys.exit(10 * noticed < 9 * len(drawn))


def _copy(folder: Path) -> Path:
    """A copy of what the tests need, beside a link to the shared data, where there are any."""
    copy = folder / "project"
    left_out = shutil.ignore_patterns(".*", "indexes", "build", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=left_out)
    if (ROOT.parent / "shared").is_dir():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    return copy


if __name__ == "__main__":
    main()
