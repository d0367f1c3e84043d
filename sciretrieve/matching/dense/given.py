"""FAISS indexes that somebody else has made: their vectors, and what numbers FAISS knows them by.

`unpacking` reads the file in another process, since it may be damaged, and FAISS reads without care.
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
"""Bytes that may be taken to read an index: so many for FAISS itself, which takes a third, and so many times the file's size."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Each thread takes memory of its own."""


@dataclass(frozen=True, slots=True)
class GivenIndex:
    """What a FAISS index holds.

    Attributes:
        numbers: by which FAISS knows the vectors, shape (n,) int64, in any order.
        vectors: shape (n, dim) float32; on disk.
        metric: how they are compared.
        is_numbered: whether somebody chose the numbers; if not they are 0 to n - 1, as the vectors were added.
        is_exact: whether these are the vectors that were added; other types keep them compressed or turned.
        kind: FAISS's names of its type, from the outside in.
    """

    numbers: npt.NDArray[np.int64]
    vectors: Vectors
    metric: Metric
    is_numbered: bool
    is_exact: bool
    kind: str


def read_given(path: Path) -> GivenIndex:
    """Read the FAISS index at `path`, whoever made it. What its vectors are is not checked.

    Raises:
        InvalidRequest: it is no FAISS index or damaged, it is empty, its type does not give back vectors, or they are compared by a
            metric that `choices.METRICS` lacks.
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
