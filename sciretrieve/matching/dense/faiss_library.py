"""Loading FAISS, which exact search does not need."""

from __future__ import annotations

import logging
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any

from ...base.errors import MissingExtra, Unavailable

LOG = logging.getLogger(__name__)
FAISS_BUILDS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu12")
"""Distributions that contain the module `faiss`. Any single one works; those for GPUs make indexes there."""


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
            f"{' and '.join(installed)} are installed and overwrite each other's files; keep one: "
            f"pip uninstall -y {' '.join(installed)} && pip install faiss-cpu"
        )
    if not has_faiss():
        raise MissingExtra("faiss-cpu", "a FAISS index", "pip install faiss-cpu; exact search, `dense='flat'`, needs no FAISS")
    import faiss

    return faiss


def on_gpu(index: Any) -> Any:
    """An empty FAISS index on a GPU, where it can be trained and filled; itself without a GPU, or if FAISS has no such type there.

    A build of FAISS for CPUs has no GPU. HNSW and RaBitQ stay on the CPU.
    """
    faiss = load_faiss()
    if not faiss.get_num_gpus() or not _gpu_works():
        return index
    try:
        return faiss.index_cpu_to_gpu(_gpu_memory(), 0, index)
    except RuntimeError:
        return index


@cache
def _gpu_works() -> bool:
    """Whether FAISS can use the GPU, tried in a process of its own: a build without code for it ends the process."""
    trial = "import faiss, numpy; x = numpy.eye(8, dtype='float32'); i = faiss.IndexFlatL2(8)\n"
    trial += "i = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, i); i.add(x); i.search(x, 1)"
    ended = subprocess.run([sys.executable, "-c", trial], capture_output=True, check=False)
    if ended.returncode:
        LOG.warning("FAISS cannot use this GPU, so it makes indexes on the CPU: %s", ended.stderr.decode(errors="replace").strip()[-200:])
    return not ended.returncode


@cache
def _gpu_memory() -> Any:
    """Memory for FAISS's intermediate results on the first GPU."""
    return load_faiss().StandardGpuResources()
