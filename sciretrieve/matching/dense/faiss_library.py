"""Loading FAISS, which exact search does not need."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any

from ...base.errors import MissingExtra, Unavailable

FAISS_BUILDS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu12")
"""Distributions that contain the module `faiss`. Any single one works; FAISS's GPU indexes are not used."""


def has_faiss() -> bool:
    """Whether a build of FAISS is installed."""
    return find_spec("faiss") is not None


@cache
def load_faiss() -> Any:
    """Import FAISS.

    Raises:
        MissingExtra: FAISS is not installed.
        Unavailable: several builds are installed and overwrite each other's files.
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
        raise MissingExtra("faiss-cpu", "a FAISS index", "pip install faiss-cpu; exact search, `dense='flat'`, needs no FAISS")
    import faiss

    return faiss
