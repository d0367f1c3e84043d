"""Libraries that are compared with ours, each in an environment of its own, where what they need does not meet what we need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


class Peer:
    """A script run by the Python of an environment of its own, which waits for its turns: it answers each line with a line.

    Attributes:
        greeting: the line that it begins with, when it is ready.
    """

    def __init__(self, environment: str, requirements: Sequence[str], script: str, *arguments: object) -> None:
        """Start it, in an environment that is made when it is first needed; "" for this one."""
        python = _python(HERE / f".{environment}", requirements) if environment else Path(sys.executable)
        command = [str(python), "-W", "ignore", str(HERE / script), *map(str, arguments)]
        self._script = script
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.greeting = self._answer()

    def ask(self, line: str) -> str:
        """Its answer to a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._script} ended; its message stands above")
        return line.strip()


def vector_libraries(folder: Path) -> Peer:
    """Libraries of vectors, which ask papers.npy of a folder for the neighbours of its queries.npy."""
    requirements = ["hnswlib>=0.8", "usearch>=2.16", "scalable-vs>=0.5", f"numpy=={np.__version__}"]
    return Peer("vector-libraries", requirements, "turns_of_vector_libraries.py", folder)


def _python(folder: Path, requirements: Sequence[str]) -> Path:
    """The Python of an environment that has what is required."""
    python, installed = folder / "bin" / "python", folder / "installed.txt"
    if not installed.exists() or installed.read_text() != "\n".join(requirements):
        print(f"making an environment for {', '.join(requirements)}, once …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
        installed.write_text("\n".join(requirements))
    return python
