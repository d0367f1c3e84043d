"""Trains an encoder: reads the sets, holds queries out, learns, writes the folder. An interrupted training goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ..base.arguments import checked
from ..base.choices import check_choice, command_line
from ..base.errors import InvalidRequest
from ..encoders.resolving import is_path
from ..files.writing import LOCK, describe, folder_entries, make_folder, remove, remove_lock, rename, sync_file, work_lock, write_json
from ..options import TrainingOptions
from ..options.keywords import TrainingKeywords
from ..progress import Silent, shown
from ..protocols import Progress
from .forms import FORMATS, Splits, TrainingSet, ranking_labels
from .presets import Plan, plan_of
from .results import FACTS, Board, Trained, compared, gain, is_kept, write_results
from .training_set import read_training_set

if TYPE_CHECKING:
    from .learning.devices import Processes

PLAN = "plan.json"
LIBRARY = "library"
"""The folder of sets made for a training, inside the unfinished encoder's folder."""
METHODS: Mapping[str, str] = {
    "adapter": "bottleneck adapters (seq_bn) on frozen weights",
    "whole": "all weights",
    "codes": "all weights, and a control code for each format",
    "fusion": "for each format a layer that joins adapters, which stay (AdapterFusion)",
    "pals": "all weights, and projected attention layers for each format",
    "mha-experts": "all weights, in every second layer with an attention of its own for each task",
    "ffn-experts": "all weights, in every second layer with a feed-forward network of its own for each task",
    "prefix": "the encoder of the tasks' instructions, to which a frozen encoder attends",
    "instruction": "all weights, which also encode the task's instruction",
    "facets": "all weights, and linear layers of several [CLS] tokens, whose sum is the vector",
}
"""The weights that each method trains."""


@checked
def train(
    data: Sequence[str | Path],
    to: str | Path,
    options: TrainingOptions | None = None,
    *,
    formats: Mapping[str, str] | None = None,
    overwrite: bool = False,
    tensorboard: bool = False,
    progress: Progress | bool = True,
    **changes: Unpack[TrainingKeywords],
) -> Trained:
    """Train an encoder on training sets, each of which is a task, and write it into the folder `to`, for `--encoder`.

    Checkpoints are in `to`.partial, at least every half a minute. The same call goes on from there; on a CPU it ends with the same weights,
    bit for bit, as an uninterrupted one. The weights are kept only if held-out queries show a gain whose 95 % interval is above zero.

    Args:
        data: folders of `build_set`, or files of SciRepEval's.
        to: a new folder, or an unfinished one.
        options: the options; also as keyword arguments.
        formats: by a set's name, the format of all its texts, if it differs from its form's: "proximity", "adhoc_query", "classification"
            or "regression". So sets of several forms can share an adapter or a code.
        overwrite: begin anew if the folder exists, finished or unfinished.
        tensorboard: also write the curves as events for TensorBoard.
        progress: a listener for progress; by default a bar on a terminal or in a notebook, False for none.

    Raises:
        MissingExtra: `tensorboard` is set, and TensorBoard is not installed.
        UnknownName, InvalidRequest, NotFound: an option, the base or a set is invalid; or the folder is of another training.
        Unavailable, CorruptData: the base's weights are missing or damaged.
        IndexBusy: another process trains into the same folder.
    """
    options = replace(options or TrainingOptions(), **changes)
    plan = plan_of(options)
    if not data:
        raise InvalidRequest("there is nothing to train on: name a training set, such as `sciretrieve train build triplets` makes")
    check_target(to, overwrite=overwrite)
    sets = {name: (Path(path), read_training_set(path)) for name, path in zip(_names(data), data, strict=True)}
    for name, format in (formats or {}).items():
        check_choice("training set", name, tuple(sets))
        check_choice("format", format, FORMATS)
        sets[name] = sets[name][0], replace(sets[name][1], read_as=format)
    if plan.ranks_labels:
        sets = {name: (path, ranking_labels(training_set)) for name, (path, training_set) in sets.items()}
    words = [Path(path).name for path in data]
    splits = Splits(sets, words=words)
    return learn(lambda *_: splits, plan, options, to, overwrite=overwrite, tensorboard=tensorboard, progress=progress)


def check_target(to: str | Path, *, overwrite: bool) -> None:
    """Raise InvalidRequest if the encoder's folder exists."""
    if Path(to).exists() and not overwrite:
        raise InvalidRequest(f"{Path(to).resolve()} is there already; name another folder, or replace it with `overwrite`")


def learn(
    make: Callable[[Path, Progress], Splits],
    plan: Plan,
    options: TrainingOptions,
    to: str | Path,
    *,
    overwrite: bool,
    tensorboard: bool,
    progress: Progress | bool,
) -> Trained:
    """Train by a plan on the sets of `make`, which may store them in a folder that a resumed training has again. Raises as `train`."""
    target = Path(to).resolve()
    partial = target.with_name(target.name + ".partial")

    from .learning.devices import joined

    with shown(progress) as progress, joined() as processes:
        if not processes.is_first:
            processes.wait()  # otherwise this one may resume from a checkpoint that the first process is about to remove
            return _trained(make, plan, options, target, partial, Silent(), processes, None)
        with work_lock(partial):
            if overwrite:
                for left in folder_entries(partial):
                    if left.name != LOCK:
                        remove(left)
            processes.wait()
            try:
                return _trained(make, plan, options, target, partial, progress, processes, Board(partial) if tensorboard else None)
            except BaseException:
                if {path.name for path in folder_entries(partial)} <= {LOCK, PLAN}:  # nothing to resume
                    remove(partial / PLAN)
                    remove_lock(partial)
                raise


def _trained(
    make: Callable[[Path, Progress], Splits],
    plan: Plan,
    options: TrainingOptions,
    target: Path,
    partial: Path,
    progress: Progress,
    processes: Processes,
    board: Board | None,
) -> Trained:
    from .learning.devices import arithmetic_of, machine
    from .learning.students import open_student
    from .learning.tasks import formats_of, tasks_of
    from .learning.taught import Teacher
    from .learning.trainer import BEST, CHECKPOINT, Training

    arithmetic = arithmetic_of(options, processes)
    if plan.keep and plan.method != "adapter":
        raise InvalidRequest(
            "`keep` compares with the encoder before training, which only adapters preserve; leave it out, or train an adapter"
        )
    splits = make(partial, progress)
    sets = splits.sets
    student = open_student(plan, formats_of(splits, plan))
    teacher = Teacher(plan.teacher) if plan.teacher else None
    tasks = tasks_of(splits, plan, student, teacher)
    demands, held_out, judged = tasks.demands, tasks.held_out, tasks.judged
    for note in tasks.notes:
        progress.note(note)
    student.module.to(arithmetic.device)
    for demand in demands:
        if demand.head is not None:
            demand.head.to(arithmetic.device)
    digests = {name: _digest(path) for name, (path, _) in sets.items()}
    facts: dict[str, Any] = {
        "schema": 1,
        "sciretrieve": version("sciretrieve"),
        "base": plan.base,
        "base_files": student.hashes(),
        "plan": asdict(plan),
        "teacher": teacher.identity() if teacher else None,
        "data": [_described(name, path, training_set, digests[name]) for name, (path, training_set) in sets.items()],
        "precision": "bf16" if arithmetic.is_bf16 else "fp32",
    }
    identity = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
    if processes.is_first:
        make_folder(partial)
        write_json(partial / PLAN, facts)
    training = Training(student, demands, plan, held_out, arithmetic, processes, partial, identity, board)
    sizes = student.sizes()
    progress.note(f"{plan.base}: {sizes['parameters']:,} of {sizes['parameters_in_all']:,} weights learn, {METHODS[plan.method]}")
    progress.note(f"{', '.join(f'{len(demand):,} examples of {demand.name}' for demand in demands)}; {training.steps:,} steps")
    base = judged.values(student, arithmetic) if judged is not None else {}
    course = training.run(progress)
    has_values = bool(course.base)
    best = judged.values(student, arithmetic) if judged is not None and course.best_step else {}
    base, best = (base, best) if best else (course.base, course.best)
    trained = Trained(
        target,
        held_out.measure if held_out is not None else "",
        sum(base.values()) / len(base) if has_values else None,
        sum(best.values()) / len(best) if has_values else None,
        compared(base, best) if has_values else None,
        course.step,
        course.best_step,
        course.seconds,
        course.stopped,
        processes.rank,
        "queries" if judged is None else "papers",
    )
    if not processes.is_first:
        return trained
    if has_values and not course.best_step:
        raise InvalidRequest(
            f"nothing was gained in {course.step:,} steps, so only {partial} is kept: train with another `rate`, more data, "
            "or other options, and `overwrite`"
        )
    if not is_kept(trained):
        raise InvalidRequest(
            f"the gain may be chance, so only {partial} is kept: {gain(trained)}; hold out more queries, or train with other options, "
            "and `overwrite`"
        )
    folder = partial / "result"
    remove(folder)
    folder.mkdir()
    student.module.to("cpu")
    student.write(folder)
    facts |= sizes | {
        "parameters_of_base": sizes["parameters_in_all"] - (sizes["parameters"] if student.is_apart else 0),
        "method_in_words": METHODS[plan.method],
        "command": command_of(splits.words, target, options),
        "machine": machine(arithmetic),
        "seconds": round(course.seconds, 1),
        "seed": plan.seed,
        "measure": trained.measure,
        "judged_apart": judged is not None,
        "before": trained.base,
        "after": trained.best,
        "best_step": course.best_step,
        "stopped": course.stopped,
    }
    if board is not None:
        board.close(folder)
    for note in write_results(folder, trained, facts, course.rows):
        progress.note(note)
    for path in (*folder.rglob("*"), folder):
        if path.is_file():  # some libraries make their files private
            path.chmod((folder / FACTS).stat().st_mode)
        sync_file(path)
    if target.exists():
        remove(target)
    rename(folder, target)
    sync_file(target.parent)
    for name in (CHECKPOINT, BEST, PLAN, LIBRARY):
        remove(partial / name)
    remove_lock(partial)
    return trained


def _names(data: Sequence[str | Path]) -> list[str]:
    """A name for each set: that of its file or folder, with a number for repeated ones."""
    names: list[str] = []
    for path in data:
        name = Path(path).name or "data"
        names.append(name if name not in names else f"{name}-{sum(other.startswith(name) for other in names) + 1}")
    return names


def _digest(path: Path) -> str:
    """The SHA-256 of a set's files together."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else [file for file in folder_entries(path) if file.is_file()]:
        digest.update(f"{file.name if path.is_dir() else ''} {describe(file)['sha256']}\n".encode())
    return digest.hexdigest()


def _described(name: str, path: Path, training_set: TrainingSet, digest: str) -> dict[str, Any]:
    """The data statement of a set."""
    facts = json.loads((path / FACTS).read_text(encoding="utf-8")) if (path / FACTS).is_file() else {}
    return {
        "name": name,
        "task": training_set.task,
        "format": training_set.asked,
        "examples": len(training_set.triplets or training_set.labels or training_set.targets or training_set.rankings),
        "recipe": facts.get("recipe", "unknown"),
        "without": ", ".join(facts.get("without", [])) or "nothing",
        "sha256": digest,
    }


def _without_folders(value: Any) -> Any:
    """The value of an option for publication: of a path, as in `beir:DIR`, only the last name."""
    if not isinstance(value, str):
        return value
    kind, colon, path = value.rpartition(":")
    return f"{kind}{colon}{Path(path).name}" if is_path(path) else value


def command_of(words: Sequence[str], target: Path, options: TrainingOptions) -> str:
    """The command of a training, with the last names of files and folders alone."""
    defaults = TrainingOptions()
    given = {name: _without_folders(value) for name, value in asdict(options).items() if value != getattr(defaults, name)}
    return f"sciretrieve train {' '.join(words)} -o {target.name} {command_line(TrainingOptions, given)}".strip()
