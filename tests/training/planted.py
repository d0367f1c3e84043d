"""Training sets with a signal that is planted: papers of a topic share letters, and belong together."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.training.learning import trainer
from tests.listeners import Notes
from tests.toy_weights import write_bert

TOPICS, PAPERS = 12, 240
SMALL: dict[str, Any] = {"batch": 32, "epochs": 4, "rate": 5e-3, "reduction": 2, "length": 32, "precision": "fp32", "patience": 20}
"""Options by which a toy learns in a second or two."""


def write_base(folder: Path) -> Path:
    """A small BERT to begin with, which says how its states become a vector."""
    write_bert(folder, 3, safe=True)
    kinds = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]
    modules = [{"idx": int(at), "name": at, "path": path, "type": f"sentence_transformers.models.{kind}"} for at, path, kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    return folder


def write_papers(folder: Path, seed: int = 1) -> None:
    """corpus.jsonl: paper n is of topic n modulo `TOPICS`, whose three letters stand in its title."""
    chance = random.Random(seed)
    topics = [chance.sample("abcdefghijklmnop", 3) for _ in range(TOPICS)]
    lines = []
    for number in range(PAPERS):
        words = [chance.choice("qrstuvwxyz") for _ in range(4)] + topics[number % TOPICS]
        chance.shuffle(words)
        lines.append(json.dumps({"_id": f"p{number}", "title": " ".join(words), "text": chance.choice(["graph", "paper", "vaccine"])}))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")


def write_triplets(folder: Path, seed: int = 1) -> Path:
    """Two triplets a paper."""
    write_papers(folder)
    chance = random.Random(seed)
    rows = ["query-id\tpositive-id\tnegative-id\tkind"]
    for number in range(PAPERS):
        alike = [other for other in range(number % TOPICS, PAPERS, TOPICS) if other != number]
        others = [other for other in range(PAPERS) if other % TOPICS != number % TOPICS]
        rows += [f"p{number}\tp{chance.choice(alike)}\tp{chance.choice(others)}\teasy" for _ in range(2)]
    (folder / "triplets.tsv").write_text("\n".join(rows) + "\n")
    return folder


def write_pairs(folder: Path) -> Path:
    """Topics' letters as text queries, and papers without wrong ones."""
    write_papers(folder)
    chance = random.Random(1)
    topics = [chance.sample("abcdefghijklmnop", 3) for _ in range(TOPICS)]
    rows, queries = ["query-id\tpositive-id\tnegative-id\tkind"], []
    for number in range(PAPERS):
        queries.append(json.dumps({"_id": f"q{number}", "text": " ".join(topics[number % TOPICS])}))
        rows.append(f"q{number}\tp{number}\t\tplanted")
    (folder / "queries.jsonl").write_text("\n".join(queries) + "\n")
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n")
    return folder


def write_labels(folder: Path, *, several: bool = False) -> Path:
    """The topic of a paper as its label; `several`: and whether it is even."""
    write_papers(folder)
    rows = ["paper-id\tlabel"]
    for number in range(PAPERS):
        rows.append(f"p{number}\ttopic {number % TOPICS}")
        if several and number % 2:
            rows.append(f"p{number}\todd")
    (folder / "labels.tsv").write_text("\n".join(rows) + "\n")
    return folder


def write_targets(folder: Path) -> Path:
    """The number of its topic as a paper's."""
    write_papers(folder)
    rows = ["paper-id\tvalue", *(f"p{number}\t{1990 + number % TOPICS}" for number in range(PAPERS))]
    (folder / "targets.tsv").write_text("\n".join(rows) + "\n")
    return folder


class Stopper(Notes):
    """A progress that interrupts, as a person does, when more than so many steps, or anything else, are done."""

    def __init__(self, steps: int | None = None) -> None:
        super().__init__()
        self.left = steps

    def advance(self, papers: int) -> None:
        """Interrupt when it is time."""
        if self.left is not None:
            self.left -= papers
            if self.left < 0:
                raise KeyboardInterrupt


def keep_chance(patch: pytest.MonkeyPatch) -> None:
    """A gain is kept although so few held-out queries cannot tell it from chance."""
    patch.setattr(import_module("sciretrieve.training.train"), "is_kept", lambda _: True)  # the folder's name for it is a function's


@pytest.fixture
def all_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a few steps gain differs from processor to processor: here any measurement is a gain, and none is chance."""
    monkeypatch.setattr(trainer, "LEAST_GAIN", -2.0)
    keep_chance(monkeypatch)


@contextmanager
def checkpoint_at_every_step() -> Iterator[None]:
    """Within this, a training that is interrupted goes on from where it was."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "EVERY_SECONDS", -1.0)
        yield


def weights_in(path: Path) -> dict[str, Any]:
    """The tensors of a file, by name."""
    from safetensors.numpy import load_file

    return {name: np.asarray(tensor) for name, tensor in load_file(path).items()}
