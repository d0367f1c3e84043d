"""FAISS indexes from elsewhere: reading their vectors and ids.

`unpacking` reads the file in another process, since FAISS does not check what it reads and the file may be damaged.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...base.choices import METRICS, Metric
from ...base.errors import InvalidRequest
from ...base.types import Vectors
from .faiss_library import load_faiss

MEMORY, MEMORY_SHARE = 1 << 30, 4
"""Memory limit for reading an index: MEMORY bytes for FAISS itself, which takes a third of that, and MEMORY_SHARE times the file's size."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Each thread would take memory of its own."""


@dataclass(frozen=True, slots=True)
class GivenIndex:
    """The content of a FAISS index.

    Attributes:
        numbers: FAISS's ids of the vectors, shape (n,) int64, in any order.
        vectors: shape (n, dim) float32, on disk.
        metric: how they are compared.
        is_numbered: whether the ids were chosen; otherwise they are 0 to n - 1 in the order of insertion.
        is_exact: whether the vectors are the ones that were added. Other types store them compressed or rotated.
        kind: FAISS's type names, outermost first.
    """

    numbers: npt.NDArray[np.int64]
    vectors: Vectors
    metric: Metric
    is_numbered: bool
    is_exact: bool
    kind: str


def read_given(path: Path) -> GivenIndex:
    """Read the FAISS index at `path`, whatever program made it. The meaning of its vectors is not checked.

    Raises:
        InvalidRequest: the file is damaged, empty or no FAISS index, its type does not return vectors, or `choices.METRICS` lacks its
            metric.
        Unavailable: FAISS is not installed.
    """
    load_faiss()
    memory = MEMORY + MEMORY_SHARE * path.stat().st_size
    with tempfile.TemporaryFile() as file:
        arguments = [str(Path(__file__).with_name("unpacking.py")), str(path.absolute()), str(memory), tempfile.gettempdir()]
        process = subprocess.run(
            [sys.executable, "-P", *arguments],
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.PIPE,
            check=False,
        )
        try:
            facts = json.loads(process.stderr.splitlines()[-1])
        except (IndexError, ValueError):
            code = process.returncode
            end = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"
            raise InvalidRequest(
                f"{path} gives no vectors (FAISS crashes on it: {end}); it is damaged, or of a type such as IVF…,PQ…fs that cannot give any"
            ) from None
        if "refused" in facts:
            raise InvalidRequest(f"{path} {facts['refused']}")
        if facts["metric"] not in METRICS:
            raise InvalidRequest(f"{path} compares vectors neither by METRIC_L2 nor by METRIC_INNER_PRODUCT; make it with one of these")
        count, dim = facts["count"], facts["dim"]
        numbers = np.array(np.memmap(file, np.int64, "r", shape=count))
        vectors = np.memmap(file, np.float32, "r", offset=numbers.nbytes, shape=(count, dim))
    return GivenIndex(numbers, vectors, facts["metric"], facts["numbered"], facts["exact"], facts["type"])
