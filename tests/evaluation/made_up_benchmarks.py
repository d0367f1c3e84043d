"""Small benchmarks in the layouts that their authors publish, with vectors of known values; ties and gaps on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sciretrieve.types import Vectors


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def made_vectors(ids: list[str], seed: int = 0, dim: int = 8) -> dict[str, Vectors]:
    """Random vectors of few values, so that there are ties; every fifth is the one before it again."""
    chance = np.random.default_rng(seed)
    vectors: dict[str, Vectors] = {}
    for position, id in enumerate(ids):
        vector = (chance.integers(-3, 4, dim) / 4).astype(np.float32)
        vectors[id] = vectors[ids[position - 1]] if position % 5 == 4 else vector
    return vectors


def write_vectors(path: Path, vectors: dict[str, Vectors]) -> Path:
    return write_lines(path, ({"paper_id": id, "embedding": [float(value) for value in vector]} for id, vector in vectors.items()))


def paper(id: str, key: str = "paper_id") -> dict[str, Any]:
    return {key: id, "title": f"title of {id}", "abstract": "" if id.endswith("3") else f"abstract of {id}"}
