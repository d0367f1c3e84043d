"""Which type of dense index `--dense auto` takes: exact search while that is quick, else the quickest that fits into memory."""

from __future__ import annotations

from collections.abc import Callable

from ...base.errors import InvalidRequest
from .faiss_library import has_faiss

FLAT_BYTES = 2 << 30
"""Up to this size of vectors, exact search takes some 0.2 s a query on two cores."""
QUICKEST_FIRST = {False: ("hnsw", "ivf", "rabitq"), True: ("ivf", "rabitq")}
"""Without BM25 and with it: for the first 10, HNSW is the quickest; for hybrid search's 1,000, IVF is, and it is smaller.
See docs/performance.md."""


def resident_bytes(dense: str, papers: int, dim: int) -> int:
    """About how many bytes a search passes over, which memory should hold: all vectors of an exact search, else the FAISS index.

    Of the vectors themselves, an approximate search reads only those that it proposes.
    """
    a_paper = {
        "flat": 4 * dim,
        "hnsw": dim + 272,  # 8 bits a dimension, and a graph of 64 links of 4 bytes at its lowest level
        "ivf": dim + 8,  # and a number of 8 bytes
        "rabitq": dim / 8 + 32,  # a bit a dimension, numbers of 24 bytes that correct them, and one of 8 bytes
    }[dense]
    lists = 4 * papers**0.5 * 4 * dim if dense in ("ivf", "rabitq") else 0
    return int(papers * a_paper + lists)


def auto_dense(papers: int, dim: int, memory: int | None, hybrid: bool, note: Callable[[str], None]) -> str:
    """The type of dense index for so many papers, with BM25 beside it or not, which fits into so many bytes. Without FAISS, exact search,
    and a note.

    Raises:
        InvalidRequest: none does.
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
