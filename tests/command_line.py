"""Commands in a process of their own, as users start them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

Result = subprocess.CompletedProcess[str]


def sciretrieve(*arguments: str | Path, stdin: str | None = None, **environment: str) -> Result:
    """Run a command to its end, with `environment` besides this process's."""
    command = [sys.executable, "-m", "sciretrieve", *map(str, arguments)]
    return subprocess.run(command, env=os.environ | environment, input=stdin, capture_output=True, text=True, check=False, timeout=300)


def answer(*arguments: str | Path, **options: Any) -> str:
    """What a command that must succeed prints."""
    result = sciretrieve(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout
