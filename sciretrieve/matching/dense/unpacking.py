"""A separate process that reads a FAISS index of unknown origin and writes its vectors as plain numbers, see `given`.

FAISS trusts its input: a damaged file can crash it, or make it allocate any amount of memory. Here that ends only this process. It is run
by its path, so it imports nothing from the package.

    python -P unpacking.py FILE MEMORY FOLDER

MEMORY is in bytes. Standard output is a file in FOLDER, which receives n ids (int64), then n vectors (float32, of one dimension). The last
line of standard error is JSON with their properties, or with the reason for a refusal.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK_BYTES = 64 << 20
"""Bytes of vectors in memory at a time, beside the index."""

Numbers = npt.NDArray[np.int64]
Blocks = Iterator[npt.NDArray[np.float32]]


class RefusedIndex(Exception):
    """The reason why the vectors cannot be read, in words that follow the file's name."""


def main() -> None:
    """Read the index, write its vectors, and report."""
    path, memory, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if sys.platform != "win32":  # Windows has no such limits
        import resource

        for limit, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CORE, 0)):
            with suppress(OSError, ValueError):  # the system has a lower limit or none
                resource.setrlimit(limit, (most, most))
    descriptor = os.dup(1)
    os.dup2(2, 1)  # FAISS's output must not enter the file
    try:
        facts = _unpack(path, descriptor, folder)
    except RefusedIndex as refusal:
        facts = {"refused": str(refusal)}
    except MemoryError:
        facts = {"refused": f"needs more than {memory / 1e9:.1f} GB of memory to be read, too much for a file of its size; it is damaged"}
    except OSError as error:
        facts = {"refused": f"has vectors that cannot be written to the folder for temporary files ({error.strerror}); set TMPDIR"}
    except Exception as error:  # a damaged index can cause any error in FAISS or NumPy
        facts = {"refused": f"gives no vectors ({_reason(error)}); write it again, or an index of another type"}
    os.write(2, f"\n{json.dumps(facts)}\n".encode())  # the process that started this one reads it
    os._exit(0)  # skips destructors, which may crash on a damaged index


def _reason(error: Exception) -> str:
    """FAISS's message without its source location."""
    lines = str(error).splitlines() or [type(error).__name__]
    return re.split(r" at \S+:\d+: ", lines[-1])[-1].rsplit("' failed: ", 1)[-1].removeprefix("Error: ").strip()


def _unpack(path: str, descriptor: int, folder: str) -> dict[str, Any]:
    import faiss

    whole = faiss.read_index(path, faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY)
    names, id_map, transforms, index = _layers(whole)
    is_ivf = isinstance(index, faiss.IndexIVF)
    positions = _ivf_numbers(index) if is_ivf else np.arange(index.ntotal)
    count, dim = len(positions), whole.d
    if not count or dim < 1:
        raise RefusedIndex("holds no vectors")
    in_order = bool(np.array_equal(np.sort(positions), np.arange(count)))
    if id_map is not None:
        if len(id_map) != count or not in_order:
            raise RefusedIndex(f"is damaged: it maps {len(id_map):,} ids to {count:,} vectors")
        numbers = id_map[positions]
    else:
        numbers = positions
    size, free = count * (8 + 4 * dim), shutil.disk_usage(folder).free
    if size > free:
        sizes = f"{size / 1e9:,.1f} GB of vectors, and the folder for temporary files has {free / 1e9:,.1f} GB left"
        raise RefusedIndex(f"gives {sizes}; set TMPDIR to another folder")
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(np.ascontiguousarray(numbers, np.int64).tobytes())
        for block in _untransformed(transforms, _ivf_vectors(index) if is_ivf else _vectors(index)):
            file.write(np.ascontiguousarray(block, np.float32).tobytes())
    return {
        "type": " of ".join(names),
        "count": count,
        "dim": dim,
        "metric": {faiss.METRIC_L2: "l2", faiss.METRIC_INNER_PRODUCT: "ip"}.get(whole.metric_type),
        "numbered": id_map is not None or not in_order,
        "exact": not transforms and isinstance(index, faiss.IndexFlat | faiss.IndexIVFFlat),
    }


def _layers(whole: Any) -> tuple[list[str], Numbers | None, list[Any], Any]:
    """Take an index apart: its types, its ids if any, the transforms before it, and the innermost part with the vectors."""
    import faiss

    names, transforms, id_map, index = [], [], None, whole
    while True:
        names.append(type(index).__name__)
        if isinstance(index, faiss.IndexPreTransform):
            transforms.append(index)
            part = index.index
        elif isinstance(index, faiss.IndexIDMap):
            if id_map is not None:
                raise RefusedIndex("maps ids to ids, so that a vector has several ids; write it with one IndexIDMap")
            id_map, part = faiss.vector_to_array(index.id_map), index.index
        elif isinstance(index, faiss.IndexRefine):
            part = index.refine_index
        elif isinstance(index, faiss.IndexHNSW | faiss.IndexNSG):
            part = index.storage
        else:
            return names, id_map, transforms, index
        index = faiss.downcast_index(part)


def _lists(index: Any) -> Iterator[tuple[int, int]]:
    """Each inverted list's number and number of vectors."""
    import faiss

    if isinstance(faiss.downcast_InvertedLists(index.invlists), faiss.OnDiskInvertedLists):
        raise RefusedIndex(
            "keeps its vectors in another file; read it with FAISS, and write it as one: index.replace_invlists, write_index"
        )
    return ((number, index.invlists.list_size(number)) for number in range(index.nlist))


def _ivf_numbers(index: Any) -> Numbers:
    """Ids of the vectors, list by list. A damaged index's `ntotal` may be wrong."""
    import faiss

    parts = [faiss.rev_swig_ptr(index.invlists.get_ids(number), size).copy() for number, size in _lists(index) if size]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _ivf_vectors(index: Any) -> Blocks:
    import faiss

    for number, size in _lists(index):
        for first in range(0, size, _rows_at_once(index)):
            block = np.empty((min(size - first, _rows_at_once(index)), index.d), np.float32)
            for place, row in enumerate(block, first):
                index.reconstruct_from_offset(number, place, faiss.swig_ptr(row))
            yield block


def _vectors(index: Any) -> Blocks:
    for first in range(0, index.ntotal, _rows_at_once(index)):
        yield index.reconstruct_n(first, min(_rows_at_once(index), index.ntotal - first))


def _rows_at_once(index: Any) -> int:
    return max(1, BLOCK_BYTES // (4 * int(index.d)))


def _untransformed(transforms: list[Any], blocks: Blocks) -> Blocks:
    """Vectors before the transforms, as far as FAISS can reverse them."""
    import faiss

    def before(transform: Any) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]:
        def reverse(block: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            result = np.empty((len(block), transform.d), np.float32)
            transform.reverse_chain(len(block), faiss.swig_ptr(np.ascontiguousarray(block)), faiss.swig_ptr(result))
            return result

        return reverse

    for transform in reversed(transforms):
        blocks = map(before(transform), blocks)
    return blocks


if __name__ == "__main__":
    main()
