"""What an encoder learns from, and what is kept out of it to measure and to judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .training_set import TrainingSet


@dataclass(frozen=True)
class Lessons:
    """What is learned from, and what is kept out of it.

    Attributes:
        sets: by name, with where they are.
        choosing: sets of other papers, on which the training is measured and stopped; empty: some queries of `sets` are set apart.
        judging: sets of papers that are in neither, for what is said of its gain.
        words: what of a command names them.
    """

    sets: Mapping[str, tuple[Path, TrainingSet]]
    choosing: Sequence[TrainingSet] = ()
    judging: Sequence[TrainingSet] = ()
    words: Sequence[str] = ()
