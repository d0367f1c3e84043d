"""Checks the types of the programs in docs/python.md, as their readers do: by mypy --strict, and by pyright in its strict mode.

Exits with 1 if either finds anything. Each program stands in the document's order, as program_1.py and so on.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def check() -> bool:
    """Whether both find nothing."""
    programs = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT)]}
    mypy = ["mypy", "--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={ROOT / '.mypy_cache' / 'programs'}", "."]
    with tempfile.TemporaryDirectory() as folder:
        for number, program in enumerate(programs, 1):
            (Path(folder) / f"program_{number}.py").write_text(program, encoding="utf-8")
        (Path(folder) / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        environment = os.environ | {"MYPYPATH": str(ROOT)}
        commands = (mypy, ["basedpyright", "--pythonpath", sys.executable])
        done = [subprocess.run([sys.executable, "-m", *command], cwd=folder, env=environment, check=False) for command in commands]
    return bool(programs) and not any(one.returncode for one in done)


if __name__ == "__main__":
    sys.exit(not check())
