"""The choice of `--dense auto`: exact search while it is fast, else the fastest FAISS type that fits into memory."""

from __future__ import annotations

from collections.abc import Callable

from ...base.errors import InvalidRequest
from .faiss_library import has_faiss

FLAT_BYTES = 2 << 30
"""Largest total of vectors for exact search, which then takes some 0.2 s per query on two cores."""
QUICKEST_FIRST = {False: ("hnsw", "ivf", "rabitq"), True: ("ivf", "rabitq")}
"""FAISS types in order of speed, without BM25 and with it. HNSW is fastest for the first 10 papers. IVF is fastest for hybrid search's
1,000, and smaller. See docs/performance.md."""


def resident_bytes(dense: str, papers: int, dim: int) -> int:
    """Approximate number of bytes that a search reads and memory should hold: all vectors for an exact search, else the FAISS index.

    An approximate search reads only the candidates' vectors.
    """
    a_paper = {
        "flat": 4 * dim,
        "hnsw": dim + 272,  # 8 bits per dimension, and 64 graph links of 4 bytes at the lowest level
        "ivf": dim + 8,  # and an id of 8 bytes
        "rabitq": dim / 8 + 32,  # one bit per dimension, 24 bytes of correction, and an id of 8 bytes
    }[dense]
    lists = 4 * papers**0.5 * 4 * dim if dense in ("ivf", "rabitq") else 0
    return int(papers * a_paper + lists)


def auto_dense(papers: int, dim: int, memory: int | None, hybrid: bool, note: Callable[[str], None]) -> str:
    """The dense index type for this many papers that fits into `memory` bytes. `hybrid` says whether BM25 is used, too. Without FAISS,
    returns exact search and calls `note`.

    Raises:
        InvalidRequest: no type fits.
    """
    quick = ["flat"] if resident_bytes("flat", papers, dim) <= FLAT_BYTES else []
    for dense in (*quick, *QUICKEST_FIRST[hybrid]):
        if memory is None or resident_bytes(dense, papers, dim) <= memory:
            if dense == "flat" or has_faiss():
                return dense
            note(
                "FAISS is not installed, so all vectors are searched exactly; pip install faiss-cpu, then sciretrieve reindex --dense auto"
            )
            return "flat"
    least = resident_bytes("rabitq", papers, dim)
    raise InvalidRequest(
        f"no dense index of {papers:,} papers fits into {memory:,} bytes; the smallest needs about {least:,}: "
        f"give {-(-least // 10**6)} MB or more as `memory`"
    )
