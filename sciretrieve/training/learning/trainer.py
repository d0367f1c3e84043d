"""The training loop: steps and rates, measurements, checkpoints, early stopping. An interrupted training goes on."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...base.errors import CorruptData, InvalidRequest
from ...base.wording import duration_text
from ...files.writing import write_whole
from ...protocols import Progress
from ..presets import Plan
from ..results import Board
from . import losses
from .demands import Reading, TrainingDemand, altering, unaltered
from .devices import Arithmetic, Processes
from .gradients import backward, chunks_of, draw, encoded
from .measuring import Measuring, evaluating, mean_of
from .optimising import optimiser_of, take_step
from .students import Student

CHECKPOINT, BEST = "checkpoint.safetensors", "best.safetensors"
FACTS = "facts"
"""The name of a checkpoint's facts, beside its tensors."""
EVERY_SECONDS = 30.0
"""Seconds between two checkpoints, the most that a killed training loses."""
MEASUREMENTS = 10
LEAST_GAIN = 1e-9


@dataclass
class Course:
    """The history of a training.

    Attributes:
        step: steps done.
        seconds: of computing, over all runs.
        rows: for each measurement the step, the mean losses since the last one, by task, the rate, and the measure or None.
        base: the measure of each held-out query before the training.
        best: the same at the best step.
        best_step: the step of the weights that are kept.
        misses: measurements without a gain since then.
        stopped: why it ended before its last step; "" if it did not.
    """

    step: int = 0
    seconds: float = 0.0
    rows: list[dict[str, Any]] = field(default_factory=list)
    base: dict[str, float] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)
    best_step: int = 0
    misses: int = 0
    stopped: str = ""


@dataclass(frozen=True)
class Training:
    """A training, ready to run.

    Attributes:
        student: the encoder.
        demands: the tasks.
        plan: the plan.
        held_out: the measurement; None for none.
        arithmetic: the device and precision.
        processes: the processes that compute it together.
        folder: the folder of checkpoints.
        identity: everything that decides the result; checkpoints of other trainings are rejected.
        board: shows each measurement's row; None for none.
    """

    student: Student
    demands: Sequence[TrainingDemand]
    plan: Plan
    held_out: Measuring | None
    arithmetic: Arithmetic
    processes: Processes
    folder: Path
    identity: str
    board: Board | None = None

    @property
    def share(self) -> int:
        """Examples of a task in a step."""
        return self.plan.batch if self.plan.one_task else max(self.plan.batch // len(self.demands), 1)

    @property
    def steps(self) -> int:
        """The number of steps."""
        turns = [max(len(demand) // self.share, 1) for demand in self.demands]
        steps = self.plan.epochs * (sum(turns) if self.plan.one_task else max(turns))
        return min(steps, self.plan.steps or steps)

    def run(self, progress: Progress) -> Course:
        """Train, from the start or from a checkpoint, and load the best weights into the student.

        Raises:
            InvalidRequest: the checkpoint is of another training; or the loss is not a number from the start.
            OSError: a checkpoint cannot be written.
        """
        parameters = dict(self.student.trained)
        for number, demand in enumerate(self.demands):
            if demand.head is not None:
                parameters |= {f"head {number} {name}": value for name, value in demand.head.named_parameters()}
        optimiser = optimiser_of(parameters, self.plan)
        course, sums = self._restored(parameters, optimiser)
        self.student.module.train()
        every = self.plan.every or max(self.steps // MEASUREMENTS, 1)
        if self.held_out is not None and not course.base:
            progress.start(None, unit="measurements")
            course.base = course.best = self._values()
            progress.note(f"before training: {self.held_out.measure} {_printed(mean_of(course.base), self.held_out.measure)}")
            self._save(BEST, self.student.trained, {"step": 0})
        progress.start(self.steps, course.step, unit="steps")
        saved_at, started = time.monotonic(), time.monotonic() - course.seconds
        since = course.rows[-1]["step"] if course.rows else 0
        while course.step < self.steps and not course.stopped:
            optimiser.zero_grad(set_to_none=False)  # weights of a task that is not in a step go on by their momentum, as in SciMult's code
            parts = self._gradient(course.step)
            if not all(map(math.isfinite, parts.values())):
                if self.held_out is None or course.best_step == 0:
                    raise InvalidRequest(
                        f"the loss is not a number at step {course.step + 1}; train with a lower `rate` than {self.plan.rate:g}"
                    )
                course.stopped = f"the loss was not a number at step {course.step + 1}"
                break
            rate = take_step(optimiser, self.plan, course.step, self.steps)
            course.step += 1
            course.seconds = time.monotonic() - started
            for name, value in parts.items():
                total, count = sums.get(name, (0.0, 0))
                sums[name] = total + value, count + 1
            progress.advance(1)
            if course.step % every == 0 or course.step == self.steps:
                self._measure(course, {name: total / count for name, (total, count) in sums.items()}, rate, progress)
                sums, since = {}, course.step
            if (course.step - since == 0 or time.monotonic() - saved_at > EVERY_SECONDS) and self.processes.is_first:
                self._checkpoint(parameters, optimiser, course, sums)
                saved_at = time.monotonic()
        if self.held_out is not None:
            best = read_checkpoint(self.folder / BEST)[0]
            with torch.no_grad():
                for name, parameter in self.student.trained.items():
                    parameter.copy_(best[name])
        else:
            course.best_step = course.step
        return course

    def _gradient(self, step: int) -> Mapping[str, float]:
        """Add the gradient of a step's loss, the sum over its tasks (Singh et al. 2023, appendix B). Returns the losses, by task."""
        turns, augment = self._turns(step), self.plan.augment
        demands = [self.demands[number] for number in turns]
        chosen = [self._examples(number, turn) for number, turn in turns.items()]
        task_readings = [
            demand.readings(self.student, examples, altering(augment, self.plan.seed, number, step) if augment else unaltered)
            for number, demand, examples in zip(turns, demands, chosen, strict=True)
        ]
        place_of: dict[Reading, int] = {}
        for reading in (reading for readings in task_readings for reading in readings):
            place_of.setdefault(reading, len(place_of))
        chunks = chunks_of(self.student, list(place_of))
        former = self._former(chunks, len(place_of)) if self.plan.keep else None

        def loss(vectors: Any) -> tuple[Any, dict[str, float]]:
            total, parts = torch.zeros((), device=vectors.device), {}
            for demand, examples, readings in zip(demands, chosen, task_readings, strict=True):
                value = demand.loss(vectors[[place_of[reading] for reading in readings]], examples)
                total, parts[demand.name] = total + value, float(value.detach())
            if former is not None:
                value = self.plan.keep * losses.nearness(vectors, former)
                total, parts["keep"] = total + value, float(value.detach())
            return total, parts

        key = (self.plan.seed, step)
        return backward(self.student, chunks, loss, key, self.arithmetic, self.processes, self.student.bytes_a_token)

    def _former(self, chunks: Sequence[Any], count: int) -> Any:
        """The vectors of some chunks by the encoder before training, (count, dim)."""
        with evaluating(self.student), torch.no_grad():
            parts = [(chunk.places, encoded(self.student, chunk, self.arithmetic, former=True)) for chunk in chunks]
        vectors = torch.empty(count, parts[0][1].shape[1], device=parts[0][1].device)
        for places, part in parts:
            vectors[places] = part
        return vectors

    def _turns(self, step: int) -> dict[int, int]:
        """The tasks of a step, by number, and how many steps each had before. One task a step: each has as many in an epoch as its examples
        fill, in random order.
        """
        if not self.plan.one_task:
            return dict.fromkeys(range(len(self.demands)), step)
        counts = [max(len(demand) // self.share, 1) for demand in self.demands]
        epoch, place = divmod(step, sum(counts))
        order = np.random.default_rng([self.plan.seed, epoch]).permutation(np.repeat(np.arange(len(counts)), counts))
        number = int(order[place])
        return {number: epoch * counts[number] + int((order[:place] == number).sum())}

    def _examples(self, number: int, turn: int) -> list[int]:
        """A task's examples of one of its steps: all of them in random order before any comes again."""
        count = len(self.demands[number])
        places = range(turn * self.share, (turn + 1) * self.share)
        rounds = {place // count for place in places}
        orders = {round: np.random.default_rng([self.plan.seed, number, round]).permutation(count) for round in rounds}
        return [int(orders[place // count][place % count]) for place in places]

    def _measure(self, course: Course, parts: Mapping[str, float], rate: float, progress: Progress) -> None:
        row: dict[str, Any] = {"step": course.step, "losses": dict(parts), "rate": rate, "value": None}
        text = f"step {course.step:,} of {self.steps:,}: loss {', '.join(f'{name} {value:.4f}' for name, value in parts.items())}"
        if self.held_out is not None:
            values = self._values()
            row["value"] = value = mean_of(values)
            text += f"; {self.held_out.measure} {_printed(value, self.held_out.measure)}"
            if value > mean_of(course.best) + LEAST_GAIN:
                course.best, course.best_step, course.misses = values, course.step, 0
                self._save(BEST, self.student.trained, {"step": course.step})
                text += ", the best so far"
            else:
                course.misses += 1
                if course.misses >= self.plan.patience:
                    course.stopped = f"nothing was gained in {course.misses} measurements"
        course.rows.append(row)
        if self.board is not None:
            self.board.add(row)
        progress.note(f"{text} ({duration_text(course.seconds)})")

    def _values(self) -> dict[str, float]:
        assert self.held_out is not None
        return self.held_out.values(self.student, self.arithmetic)

    def _save(self, name: str, tensors: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        if self.processes.is_first:
            save_checkpoint(self.folder / name, tensors, {"identity": self.identity, **facts})

    def _checkpoint(self, parameters: Mapping[str, Any], optimiser: Any, course: Course, sums: Mapping[str, Sequence[float]]) -> None:
        tensors = dict(parameters)
        for name, parameter in parameters.items():
            for moment, value in optimiser.state[parameter].items():
                tensors[f"{moment} {name}"] = value
        self._save(CHECKPOINT, tensors, {"course": vars(course), "sums": dict(sums)})

    def _restored(self, parameters: Mapping[str, Any], optimiser: Any) -> tuple[Course, dict[str, Sequence[float]]]:
        """The course of the checkpoint, whose weights are loaded, and the losses since its last measurement; a new course without a
        checkpoint.
        """
        path = self.folder / CHECKPOINT
        if not path.is_file():
            draw(self.plan.seed, "start")
            return Course(), {}
        tensors, facts = read_checkpoint(path)
        if facts["identity"] != self.identity:
            raise InvalidRequest(
                f"{self.folder} has the checkpoint of another training; begin anew with `overwrite`, or name another folder"
            )
        course = Course(**facts["course"])
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(tensors[name])
                if f"exp_avg {name}" in tensors:
                    optimiser.state[parameter] = {
                        "step": tensors[f"step {name}"],
                        "exp_avg": tensors[f"exp_avg {name}"].to(parameter.device),
                        "exp_avg_sq": tensors[f"exp_avg_sq {name}"].to(parameter.device),
                    }
                    parameter.grad = torch.zeros_like(parameter)
        return course, facts["sums"]


def _printed(value: float, measure: str) -> str:
    """A measure for printing: in per cent, unless it is a loss."""
    return f"{value:.4f}" if "loss" in measure else f"{100 * value:.1f}"


def save_checkpoint(path: Path, tensors: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Write tensors by name, and facts as plain JSON values, atomically. A full disk raises OSError and leaves the old file."""
    from safetensors.torch import save as as_bytes

    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, as_bytes(whole, metadata={FACTS: json.dumps(facts)}))


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and facts in a file of `save_checkpoint`. Raises CorruptData if it is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            facts: dict[str, Any] = json.loads((file.metadata() or {})[FACTS])
            return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise CorruptData(f"{path} is not a checkpoint ({error}); remove the folder, or begin anew with `overwrite`") from error
