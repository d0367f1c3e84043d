"""Actions in folders where the system lets nobody write, root neither."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

Result = TypeVar("Result")
CAPABILITIES = 0x20080522
"""The version of the interface to capabilities."""


def give_up_rights() -> None:
    """Give up what root may do beyond others, in this thread and those that it starts."""
    header, nothing = (ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capset(header, nothing)


def may_write(folder: Path) -> bool:
    """Whether a file can be made in a folder."""
    try:
        (folder / "file").touch()
    except PermissionError:
        return False
    (folder / "file").unlink()
    return True


def read_only(folder: Path, action: Callable[[], Result]) -> Result:
    """What an action returns while nothing at or below a folder may be written. Skips the test where the system has no such folders."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux lets a thread give up its rights")
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with ThreadPoolExecutor(1, initializer=give_up_rights) as thread:
            if thread.submit(may_write, folder).result():
                pytest.skip("this process may write to every folder, and cannot give that up")
            return thread.submit(action).result()
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
