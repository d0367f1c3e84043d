"""Tiny sets to train on, and a training whose student is kept, so that what it wrote can be compared with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.encoders.conversion import load_model
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest, EncoderSpec
from sciretrieve.encoders.weights import obtain
from sciretrieve.training import PRESETS, train
from sciretrieve.training.learning import students
from sciretrieve.training.learning.devices import Arithmetic
from sciretrieve.training.learning.measuring import vectors_of
from sciretrieve.training.learning.students import Student
from tests.made_up import write_jsonl
from tests.training.planted import keep_chance

PAPERS = {"a": "graph paper", "b": "citation", "c": "vaccine", "d": "networks of", "e": "the title", "f": "retrieve"}
PAIRED = "query-id\tpositive-id\tnegative-id\tkind\n"
ARITHMETIC = Arithmetic("cpu", False)


def write_sets(folder: Path) -> dict[str, Path]:
    """A set of each form, by the format that it trains."""
    tables = {
        "proximity": ("triplets.tsv", f"{PAIRED}a\tb\tc\thard\nb\td\te\teasy\nc\tf\ta\teasy\n"),
        "adhoc_query": ("pairs.tsv", f"{PAIRED}q\ta\tf\tshown\nr\tc\td\tshown\n"),
        "classification": ("labels.tsv", "paper-id\tlabel\na\tgraph\nb\tgraph\nc\tvaccine\nd\ttitle\ne\tvaccine\n"),
        "regression": ("targets.tsv", "paper-id\tvalue\na\t1\nb\t2\nc\t4\nd\t3\n"),
    }
    for format, (name, table) in tables.items():
        rows = [{"_id": id, "title": title, "text": f"abstract {id}"} for id, title in PAPERS.items()]
        (folder / format).mkdir()
        write_jsonl(folder / format / "corpus.jsonl", rows)
        (folder / format / name).write_text(table)
    write_jsonl(folder / "adhoc_query" / "queries.jsonl", [{"_id": "q", "text": "graphs"}, {"_id": "r", "text": "of vaccine"}])
    return {format: folder / format for format in tables}


@dataclass
class Learned:
    """A training that is done: the folder, the student as it is now, and its weights as they were."""

    folder: Path
    student: Student
    before: dict[str, Any]

    def changed(self) -> set[str]:
        """The weights that are not, to the last bit, as they were."""
        now = self.student.model.state_dict()
        assert now.keys() == self.before.keys()
        return {name for name, value in now.items() if not np.array_equal(value.numpy(), self.before[name].numpy())}


QUICK: dict[str, Any] = {"rate": 1e-2, "warmup": 0.0, "precision": "fp32", "device": "cpu", "progress": False}


def learned(like: str, base: Path, data: Sequence[Path], to: Path, **options: Any) -> Learned:
    """Train as a paper does, for three steps at a rate that shows."""
    kept: dict[str, Any] = {}

    def kept_student(*arguments: Any) -> Student:
        student = open_student(*arguments)
        kept["student"], kept["before"] = student, {name: value.clone() for name, value in student.model.state_dict().items()}
        return student

    open_student = students.open_student
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(students, "open_student", kept_student)
        keep_chance(patch)
        train(data, to, like=like, base=str(base), batch=2 * len(data), steps=3, **QUICK, **options)
    kept["student"].tokenizer.enable_truncation(64)  # it was written without
    return Learned(to, kept["student"], kept["before"])


def written(folder: Path) -> EncoderSpec:
    """What a folder says of its encoder."""
    return resolve(EncoderRequest(str(folder)))


def vectors_of_task(spec: EncoderSpec, task: str, texts: Sequence[str]) -> Any:
    """Vectors by what a folder holds, one text at a time."""
    import torch

    folders = {role: obtain(spec.parts[role], spec.name) for role in spec.roles(task)}
    model, facts, tokenizer = load_model(spec, task, folders)
    tokenizer.no_padding()
    tokenizer.enable_truncation(facts["max_length"])
    vectors = []
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor([tokenizer.encode(text).ids])
            vectors.append(model(ids, torch.ones_like(ids))[0].numpy())
    return np.stack(vectors)


def vectors_of_student(student: Student, format: str, texts: Sequence[str]) -> Any:
    """Vectors by the student itself, without chance."""
    return vectors_of(student, [(format, text) for text in texts], ARITHMETIC)


def reached(student: Student, format: str) -> set[str]:
    """The weights that a loss of one format's vectors has a gradient for."""
    import torch

    student.module.eval()
    student.module.zero_grad()
    for batch in student.tokens(["graph [SEP] paper", "citation"], 4096).batches:
        vectors = student.encode(format, torch.from_numpy(batch.ids), torch.from_numpy(batch.mask))
        (vectors * torch.arange(1.0, vectors.shape[1] + 1)).sum().backward()
    return {name for name, value in student.model.named_parameters() if value.grad is not None and bool((value.grad.abs() > 1e-9).any())}


def opened(like: str, base: Path, formats: Sequence[str], **changes: Any) -> Student:
    """A student before it has learned."""
    return students.open_student(replace(PRESETS[like], base=str(base), **changes), formats)
