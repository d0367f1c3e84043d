"""A peer of bench/fulltext_peers.py: txtai over the passages in a folder, with vectors that are given to it.

A line is a way to search, see `WAYS`; the papers of the passages found, best first, are then in found.json.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from txtai import Embeddings

folder, most = Path(sys.argv[1]), int(sys.argv[2])
passages = json.loads((folder / "passages.json").read_text(encoding="utf-8"))
queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
texts = [f"{passage['title']} {passage['text']}" for passage in passages]
vectors = dict(zip([*texts, *queries], np.vstack([np.load(folder / f"{name}.npy") for name in ("passages", "queries")]), strict=True))
STOPPED = {"tokenizer": {"stopwords": True}}
WAYS: dict[str, tuple[dict[str, Any], float]] = {
    "BM25": ({"keyword": True}, 0.5),
    "BM25, without stop words": ({"keyword": True, "scoring": {"method": "bm25", "terms": True, "normalize": True, **STOPPED}}, 0.5),
    **{f"hybrid, {weight}": ({"hybrid": True}, weight) for weight in (0.5, 0.7, 0.8, 0.9)},
    **{
        f"hybrid by bb25, {weight}": ({"hybrid": True, "scoring": {"method": "bm25", "terms": True, "normalize": "bb25"}}, weight)
        for weight in (0.5, 0.7, 0.8, 0.9)
    },
}
"""Configuration, and the weight of the vectors."""
built: dict[str, Embeddings] = {}


def transform(asked: list[str]) -> npt.NDArray[np.float32]:
    """The vectors of texts."""
    return np.array([vectors[text] for text in asked], np.float32)


def searched(config: dict[str, Any]) -> Embeddings:
    """The passages indexed, without approximation."""
    key = json.dumps(config)
    if key not in built:
        by_vectors = {"method": "external", "transform": transform, "backend": "numpy"} if "hybrid" in config else {}
        built[key] = Embeddings({**config, **by_vectors})
        built[key].index((row, text, None) for row, text in enumerate(texts))
    return built[key]


print(f"txtai {version('txtai')}", flush=True)
for line in sys.stdin:
    config, weight = WAYS[line.strip()]
    answers = [[passages[row]["paper"] for row, _ in found] for found in searched(config).batchsearch(queries, most, weight)]
    (folder / "found.json").write_text(json.dumps(answers), encoding="utf-8")
    print("done", flush=True)
