"""Training an encoder from a command or Python: read the sets, set queries apart, learn, write the folder. It goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ..errors import InvalidRequest
from ..files.writing import LOCK, describe, listed, make_folder, remove, remove_lock, sync_file, write_json, write_lock
from ..options import TrainingKeywords, TrainingOptions
from ..progress import shown
from ..protocols import Progress
from .forms import labels_as_pairs
from .presets import Plan, plan_of
from .results import FACTS, Trained, compared, write_results
from .training_set import TrainingSet, read_training_set

if TYPE_CHECKING:
    from .learning.demands import Demand
    from .learning.measuring import HeldOut
    from .learning.students import Student

PLAN = "plan.json"
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
"""What of an encoder each method trains."""


def train(
    data: Sequence[str | Path],
    to: str | Path,
    options: TrainingOptions | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | bool = True,
    **changes: Unpack[TrainingKeywords],
) -> Trained:
    """Train an encoder on training sets, each of which is a task, and write it into the folder `to`, from which `--encoder` reads it.

    Checkpoints are in `to`.partial at least every half a minute: the same call goes on from there, and on a CPU ends with the same weights,
    bit for bit, as one that was never interrupted. Weights that gained nothing on what is held out are not kept.

    Args:
        data: folders that `build_triplets` and the like made, or files of SciRepEval's.
        to: a new folder, or one that was begun.
        options: how; also as keyword arguments.
        overwrite: begin anew if a folder of that name was begun or is there.
        progress: what is told how far it is; by default a bar where a person looks, False for none.

    Raises:
        UnknownName, InvalidRequest, NotFound: an option, the base or a set is invalid; or the folder is of another training.
        Unavailable, CorruptData: the base's weights are not here, or are damaged.
        IndexBusy: another process trains into the same folder.
    """
    options = replace(options or TrainingOptions(), **changes)
    plan = plan_of(options)
    if not data:
        raise InvalidRequest("there is nothing to train on: name a training set, such as `sciretrieve benchmarks build triplets` makes")
    target = Path(to).resolve()
    partial = target.with_name(target.name + ".partial")
    if target.exists() and not overwrite:
        raise InvalidRequest(f"{target} is there already; name another folder, or replace it with `overwrite`")
    sets = {name: (Path(path), read_training_set(path)) for name, path in zip(_names(data), data, strict=True)}
    if plan.ranks_labels:
        sets = {name: (path, labels_as_pairs(found) if found.task == "labels" else found) for name, (path, found) in sets.items()}

    from .learning.processes import joined

    with shown(progress) as progress, joined() as processes:
        if not processes.is_first:
            from ..progress import Silent

            return _trained(sets, plan, options, target, partial, Silent(), processes)
        with write_lock(partial):
            if overwrite:
                for left in listed(partial):
                    if left.name != LOCK:
                        remove(left)
            return _trained(sets, plan, options, target, partial, progress, processes)


def _trained(
    sets: Mapping[str, tuple[Path, TrainingSet]],
    plan: Plan,
    options: TrainingOptions,
    target: Path,
    partial: Path,
    progress: Progress,
    processes: Any,
) -> Trained:
    from .learning.devices import arithmetic_of, machine
    from .learning.students import open_student
    from .learning.trainer import BEST, CHECKPOINT, Training

    arithmetic = arithmetic_of(options, processes)
    if plan.keep and plan.method != "adapter":
        raise InvalidRequest(
            "`keep` compares with the encoder as it was, which only adapters leave in place; leave it out, or train an adapter"
        )
    student = open_student(plan, _formats([training_set for _, training_set in sets.values()], plan))
    demands, held_out, notes = _demands(sets, plan, student)
    for note in notes:
        progress.note(note)
    student.module.to(arithmetic.device)
    for demand in demands:
        if demand.head is not None:
            demand.head.to(arithmetic.device)
    digests = {name: _digest(path) for name, (path, _) in sets.items()}
    facts: dict[str, Any] = {
        "schema": 1,
        "sciretrieve": version("sciretrieve"),
        "base": {"name": plan.base, "sha256": student.hashes()},
        "plan": asdict(plan),
        "data": [_described(name, path, training_set, digests[name]) for name, (path, training_set) in sets.items()],
        "precision": "bf16" if arithmetic.is_bf16 else "fp32",
    }
    identity = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
    if processes.is_first:
        make_folder(partial)
        write_json(partial / PLAN, facts)
    training = Training(student, demands, plan, held_out, arithmetic, processes, partial, identity, _ignored)
    sizes = student.sizes()
    progress.note(f"{plan.base}: {sizes['parameters']:,} of {sizes['parameters_in_all']:,} weights learn, {METHODS[plan.method]}")
    progress.note(f"{', '.join(f'{len(demand):,} examples of {demand.name}' for demand in demands)}; {training.steps:,} steps")
    course = training.run(progress)
    has_values = bool(course.base)
    trained = Trained(
        target,
        held_out.measure if held_out is not None else "",
        sum(course.base.values()) / len(course.base) if has_values else None,
        sum(course.best.values()) / len(course.best) if has_values else None,
        compared(course.base, course.best) if has_values else None,
        course.step,
        course.best_step,
        course.seconds,
        course.stopped,
    )
    if not processes.is_first:
        return trained
    if has_values and not course.best_step:
        raise InvalidRequest(
            f"nothing was gained in {course.step:,} steps, so nothing is kept but {partial}: train with another `rate`, more data, "
            "or other options, and `overwrite`"
        )
    folder = partial / "result"
    remove(folder)
    folder.mkdir()
    student.module.to("cpu")
    student.write(folder)
    facts |= sizes | {
        "parameters_of_base": sizes["parameters_in_all"] - (sizes["parameters"] if student.is_apart else 0),
        "method_in_words": METHODS[plan.method],
        "command": command_of([path for path, _ in sets.values()], target, options),
        "machine": machine(arithmetic),
        "seconds": round(course.seconds, 1),
        "seed": plan.seed,
        "measure": trained.measure,
        "before": trained.base,
        "after": trained.best,
        "best_step": course.best_step,
        "stopped": course.stopped,
    }
    for note in write_results(folder, trained, facts, course.rows):
        progress.note(note)
    for path in (*folder.rglob("*"), folder):
        sync_file(path)
    if target.exists():
        remove(target)
    folder.rename(target)
    sync_file(target.parent)
    for name in (CHECKPOINT, BEST, PLAN):
        remove(partial / name)
    remove_lock(partial)
    return trained


def _ignored(row: Mapping[str, Any]) -> None:
    """What nobody hears of a measurement."""


def _names(data: Sequence[str | Path]) -> list[str]:
    """A name for each set: its file's or folder's, with a number where two are alike."""
    names: list[str] = []
    for path in data:
        name = Path(path).name or "data"
        names.append(name if name not in names else f"{name}-{sum(other.startswith(name) for other in names) + 1}")
    return names


def _formats(sets: Sequence[TrainingSet], plan: Plan) -> list[str]:
    """The formats of some sets, by the names of SPECTER2's adapters, in an order of their own."""
    from .learning.demands import formats_of
    from .learning.students import FORMATS

    formats = {format for training_set in sets for format in formats_of(training_set, plan)}
    return sorted(formats, key=list(FORMATS).index)


def _demands(sets: Mapping[str, tuple[Path, TrainingSet]], plan: Plan, student: Student) -> tuple[list[Demand], HeldOut | None, list[str]]:
    """What each set demands, what the training is measured on, and notes for people."""
    from .learning.demands import Labelled, Measured, OfPapers, Ranked, of_papers_apart
    from .learning.measuring import LossOfExamples, Retrieval, Several, benchmark, set_apart

    demands: list[Demand] = []
    retrievals: list[Retrieval] = []
    notes: list[str] = []
    for name, (_, training_set) in sets.items():
        if training_set.task == "labels":
            demands.append(Labelled(name, training_set, student.dim))
        elif training_set.task == "targets":
            demands.append(Measured(name, training_set, student.dim))
        else:
            examples, apart = (training_set.triplets, None) if plan.held_out else set_apart(training_set, plan.seed)
            if not examples:
                raise InvalidRequest(f"{name} has no examples to train on")
            demand = Ranked(name, training_set, examples, plan)
            demands.append(demand)
            if apart is not None:
                queries, papers, qrels = apart
                retrievals.append(
                    Retrieval(
                        {query: demand.reading(student, query) for query in queries},
                        {paper: demand.reading(student, paper) for paper in papers},
                        qrels,
                    )
                )
                notes.append(f"{len(queries):,} queries of {name} are set apart, and measured among {len(papers):,} papers")
    if plan.held_out:
        return demands, benchmark(plan.held_out, student), notes
    if retrievals:
        return demands, retrievals[0] if len(retrievals) == 1 else Several(retrievals), notes
    of_papers = [demand for demand in demands if isinstance(demand, OfPapers)]
    if len(of_papers) == len(demands):
        return demands, LossOfExamples([of_papers_apart(demand) for demand in of_papers]), notes
    return demands, None, notes


def _digest(path: Path) -> str:
    """The SHA-256 of a set's files, one after the other."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else [file for file in listed(path) if file.is_file()]:
        digest.update(f"{file.name if path.is_dir() else ''} {describe(file)['sha256']}\n".encode())
    return digest.hexdigest()


def _described(name: str, path: Path, training_set: TrainingSet, digest: str) -> dict[str, Any]:
    """The data statement of a set."""
    made = json.loads((path / FACTS).read_text(encoding="utf-8")) if (path / FACTS).is_file() else {}
    return {
        "name": name,
        "task": training_set.task,
        "examples": len(training_set.triplets or training_set.labels or training_set.targets),
        "recipe": made.get("recipe", "unknown"),
        "without": ", ".join(made.get("without", [])) or "nothing",
        "sha256": digest,
    }


def command_of(data: Sequence[Path], target: Path, options: TrainingOptions) -> str:
    """The command that trains so, with names of files and folders alone."""
    defaults = TrainingOptions()
    given = [(name, value) for name, value in asdict(options).items() if value != getattr(defaults, name)]
    said = " ".join(f"--{name.replace('_', '-')} {Path(str(value)).name}" for name, value in given)
    return f"sciretrieve train {' '.join(path.name for path in data)} -o {target.name} {said}".strip()
