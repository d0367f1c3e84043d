"""The FAISS library: whether it is installed, once. Exact search does without it."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any

from ...base.errors import MissingExtra, Unavailable

FAISS_BUILDS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu12")
"""Distributions that have the module `faiss`. Any of them will do, alone: nothing here asks FAISS for its GPU indexes."""


def has_faiss() -> bool:
    """Whether some build of FAISS is installed."""
    return find_spec("faiss") is not None


@cache
def load_faiss() -> Any:
    """FAISS.

    Raises:
        MissingExtra: it is not installed.
        Unavailable: several builds of it are installed, which overwrite each other's files.
    """
    from importlib.metadata import PackageNotFoundError, version

    installed = []
    for name in FAISS_BUILDS:
        with suppress(PackageNotFoundError):
            version(name)
            installed.append(name)
    if len(installed) > 1:
        raise Unavailable(
            f"{' and '.join(installed)} are installed and overwrite each other's files; one is enough, and none runs on the GPU here: "
            f"pip uninstall -y {' '.join(installed)} && pip install faiss-cpu"
        )
    if not has_faiss():
        raise MissingExtra("faiss-cpu", "a FAISS index", "pip install faiss-cpu; exact search, `dense='flat'`, does without")
    import faiss

    return faiss
