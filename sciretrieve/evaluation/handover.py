"""Author disambiguation scored by S2AND's own code (Subramanian et al. 2021): writes vectors for it, and reads its figures.

SciRepEval's figure, from its code and its authors (allenai/scirepeval, BENCHMARKING.md and issue 62; allenai/S2AND,
scripts/custom_block_transfer_experiment_seed_paper.py): gradient-boosted trees learn, from names, metadata and the papers' vectors, which
mentions are one author's. Average linkage clusters their predictions, with the seed 1. The figure is the mean of all values of B³ F1 in the
table that the script prints. A folder's name has a digest of the vectors, so that a table is only read for these vectors.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest, ResultAwaited
from ..files.writing import read_json, replaced
from .material import Handover
from .predicting import Predicted
from .readers.s2and import DATASETS
from .spaces import Space

SCRIPT = "scripts/custom_block_transfer_experiment_seed_paper.py"
ROWS = (*DATASETS, "union", "s2")
"""The training data of the table's rows: one data set; the five others together; Semantic Scholar's own clusters."""


def scored_elsewhere(tasks: Sequence[tuple[Handover, Space]], system: str) -> Mapping[str, Predicted]:
    """The figures of all data sets, from the table that S2AND's code made of these vectors.

    Args:
        tasks: each data set, and its papers' vectors; papers without one have none in the file either, which S2AND's code allows.
        system: the system's name, for the names of files.

    Raises:
        ResultAwaited: there is no such table yet: the vectors are written, and the message says how to make it.
        InvalidRequest: not all data sets are there, none of a set's papers has a vector, or the table is of another run.
        CorruptData: the table's file is no JSON.
    """
    root, blocks = _places([task for task, _ in tasks])
    vectors = {task.name: _vectors(task, space) for task, space in tasks}
    digest = hashlib.sha256()
    for name in DATASETS:
        for array in vectors[name]:
            digest.update(array.tobytes())
    slug = re.sub(r"[^\w.-]+", "-", system).strip("-")
    run = f"{slug}-{digest.hexdigest()[:8]}"
    table = root / "experiments" / run / "average_full_grid.json"
    if not table.exists():
        for name in DATASETS:
            _write(root / name / f"{name}_{run}.pkl", vectors[name])
        raise ResultAwaited(
            f"S2AND's own code must score the vectors now: in its folder, with {str(root)!r} as main_data_dir in "
            f"data/path_config.json, run `python {SCRIPT} --custom_block_path {shlex.quote(str(blocks))} --experiment_name {run} "
            f"--exclude_medline --emb_suffix _{run}.pkl`, then this command again (how to install it: `sciretrieve benchmarks show s2and`)"
        )
    means = _means(table)
    came = {}
    for task, _ in tasks:
        known_ids = set(vectors[task.name][1].tolist())
        left_out = sum(id not in known_ids for id in (*task.learnt, *task.test))
        came[task.name] = Predicted(
            [100 * means[task.name]], len(task.learnt), len(task.test), left_out, unit="mentions of authors", source=str(table)
        )
    return came


def _places(tasks: Sequence[Handover]) -> tuple[Path, Path]:
    """The folder of all data sets and that of their splits, absolute. Raises InvalidRequest."""
    if sorted(task.name for task in tasks) != sorted(DATASETS):
        raise InvalidRequest("S2AND's code scores its six data sets together: leave out `task`")
    places = {(task.root.resolve(), task.blocks.resolve()) for task in tasks}
    if len(places) > 1:
        folders = ", ".join(sorted(str(root) for root, _ in places))
        raise InvalidRequest(f"S2AND's code reads its six data sets from one folder, and these are in several: {folders}")
    return places.pop()


def _vectors(task: Handover, space: Space) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The vectors (n, dim), float32, and the ids (n,) of papers with a vector, each once, in the order of their mentions."""
    ids, vectors = space.papers(list(dict.fromkeys((*task.learnt, *task.test))))
    if not ids:
        raise InvalidRequest(f"none of the papers of {task.name} has a vector; are these its ids?")
    return np.asarray(vectors, np.float32), np.array(ids)


class _Pickler(pickle.Pickler):
    """Pickles arrays for every NumPy: the older version that S2AND needs cannot read NumPy 2's own pickles."""

    def reducer_override(self, value: Any) -> Any:
        """Reduces an array to a call of numpy.ndarray with its shape, type and bytes; other values as usual."""
        if isinstance(value, np.ndarray):
            return np.ndarray, (value.shape, value.dtype.str, value.tobytes())
        return NotImplemented


def _write(path: Path, vectors: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]) -> None:
    """Write the pair of vectors and ids for S2AND's code, in protocol 4, the last that its Python knows."""
    with replaced(path) as file:
        _Pickler(file, protocol=4).dump(vectors)


def _means(path: Path) -> Mapping[str, float]:
    """The mean of each data set's column in the table, from 0 to 1. Raises InvalidRequest if a value is missing."""
    table: Any = read_json(path).get("b3")
    try:
        columns = table[0][1:]
        values = {(row[0], name): value for row in table[1:] for name, value in zip(columns, row[1:], strict=True)}
    except (TypeError, KeyError, IndexError, ValueError) as error:
        raise InvalidRequest(f"{path} has no table 'b3'; was it written by {SCRIPT}?") from error
    for name in DATASETS:
        for row in ROWS:
            value = values.get((row, name))
            if not isinstance(value, float | int) or not 0 <= value <= 1:
                raise InvalidRequest(
                    f"{path}: the table 'b3' has {value!r} for {row} on {name}; remove the file, and evaluate again for the whole command"
                )
    if len(values) > len(ROWS) * len(DATASETS):
        raise InvalidRequest(f"{path}: the table 'b3' has more data sets than {', '.join(DATASETS)}; was --exclude_medline left out?")
    return {name: float(np.mean([values[row, name] for row in ROWS])) for name in DATASETS}
