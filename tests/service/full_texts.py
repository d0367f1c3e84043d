"""Small indexes with full texts, for the tests of a service's passages."""

from pathlib import Path
from typing import Any

import sciretrieve as sr
from sciretrieve.lifecycle import add_full_texts

WARMUP = "The learning rate is raised over ten thousand steps of warmup."
TRAINING = f"""1 Introduction

Training of deep networks is brittle. Ships are not meant here.

2 Methods

{WARMUP} The optimizer is Adam.

3 Results

Warmup helps in every run. Nothing else does.
"""
HARBOURS = """1 Harbours

Ships wait for the tide before they enter. The warmup of their engines takes an hour.
"""
SEA: list[dict[str, Any]] = [
    {"id": "deep", "title": "Training deep networks", "abstract": "We train networks.", "year": 2019, "authors": ["Ada Lovelace"]},
    {"id": "harbours", "title": "Harbours of the north", "abstract": "Harbours are counted.", "year": 2005, "venue": "Ocean Letters"},
    {"id": "bare", "title": "Warmup of the sea", "abstract": "The sea warms up.", "year": 2010},
]
TEXTS = {"deep": TRAINING, "harbours": HARBOURS}
CLAIM = "It has been shown that ten thousand steps of warmup raise the learning rate"
COUNTED = "It has been reported that harbours of the north are counted"
"""Sentences of a draft that a passage of the first paper, and the abstract of the second, support."""
CITABLE = [{**SEA[0], "abstract": "Ten thousand steps of warmup raise the learning rate of networks."}, *SEA[1:]]


def build(path: Path, rows: list[dict[str, Any]], texts: dict[str, str]) -> Path:
    """An index of words alone, with the full texts of some of its papers in files beside it, whose paths are private."""
    folder = path.parent / f"private-{path.name}"
    folder.mkdir()
    for id, text in texts.items():
        (folder / f"{id}.txt").write_text(text, encoding="utf-8")
    files = [row | ({"body": str(folder / f"{row['id']}.txt")} if row["id"] in texts else {}) for row in rows]
    sr.build(files, path, encoder=None, progress=False).close()
    add_full_texts("body", path, progress=False)
    return path
