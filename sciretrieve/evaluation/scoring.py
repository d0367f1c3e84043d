"""Runs a benchmark: a system answers, trec_eval scores each query, and the protocol averages and rounds the figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ..base.choices import Metric
from ..base.errors import InvalidRequest
from ..files.writing import make_folder, replaced
from ..metrics import measures
from ..metrics.judgements import RunScores
from ..metrics.measures import Evaluator
from ..metrics.naming import Measure, parse_measures
from ..metrics.significance import interval, interval_of_f1, interval_over_tasks
from ..metrics.trec import run_line
from ..protocols import Progress
from .click_prediction import predict_clicks
from .handover import scored_elsewhere
from .material import Clicks, Handover, Material, Prediction, Protocol, Task
from .predicting import Predicted, predict
from .systems import Answer, Dense, System

CHUNK = 512
"""The number of queries whose answers are held in memory."""


@dataclass
class TaskResult:
    """The results of one task.

    Attributes:
        name: the task's name.
        per_query: by query id and measure, the value, for answered and judged queries.
        judged_queries: the number of judged queries.
        unanswered: the judged queries without an answer.
        missing_candidates: candidates without a score, over all queries.
        ties: documents that share their score with another document of the same query.
        self_matches: removed documents with the query's own id.
        judged_share: the mean share of judged documents among the first ten.
        prediction: the result of predicting labels: then `per_query` has a row for each run or click, and the other counts stay 0; None for
            a ranking.
        classes: by query, its true class and the predicted one, "" for none; empty if no classes are ranked.
    """

    name: str
    per_query: dict[str, dict[str, float]] = field(default_factory=dict)
    judged_queries: int = 0
    unanswered: frozenset[str] = frozenset()
    missing_candidates: int = 0
    ties: int = 0
    self_matches: int = 0
    judged_share: float = 0.0
    prediction: Predicted | None = None
    classes: dict[str, tuple[str, str]] = field(default_factory=dict)

    def values(self, measure: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The values of one measure, for all queries that have it."""
        return np.array([row[measure] for row in self.per_query.values() if measure in row])


@dataclass
class Result:
    """A benchmark's figures, from 0 to 1.

    Attributes:
        tasks: each task's results.
        means: (task, measure) -> mean; the task "" is the benchmark as a whole, by its protocol's average, if it has one.
        rounded: the same in per cent, rounded by the protocol.
        intervals: (task, measure) -> the bootstrap's 95 % interval; none for a mean of measures, a mean with a task without a value, or
            clusters.
        measures: the names of the measures, in the protocol's order.
        overall: the names of the figures of the benchmark as a whole; empty if its authors define no average.
    """

    tasks: list[TaskResult]
    means: dict[tuple[str, str], float]
    rounded: dict[tuple[str, str], float]
    intervals: dict[tuple[str, str], tuple[float, float]]
    measures: list[str]
    overall: list[str]


Write: TypeAlias = Callable[[str, Mapping[str, float]], None]
"""Writes a query's answer."""


@contextmanager
def writing(folder: Path | None, tag: str) -> Iterator[Write]:
    """A context with a function that writes answers as they arrive, in trec_eval's order: a TREC run and the JSON of PMC-Patients'
    leaderboard.

    The files are complete when the block ends; without a folder there are none.
    """
    if folder is None:
        yield lambda *_: None
        return
    make_folder(folder)
    with replaced(folder / "run.trec") as trec, replaced(folder / "run.json") as json_file:
        separator = "{"

        def write(query: str, row: Mapping[str, float]) -> None:
            nonlocal separator
            for rank, id in enumerate(measures.trec_order(row), 1):
                trec.write(f"{run_line(query, id, rank, repr(row[id]), tag)}\n".encode())
            json_file.write(f"{separator}\n{json.dumps(query)}: {json.dumps(dict(row))}".encode())
            separator = ","

        yield write
        json_file.write(b"\n}\n" if separator == "," else b"{\n}\n")


def run_task(
    system: System,
    task: Task,
    protocol: Protocol,
    metric: Metric | None,
    chosen_measures: Sequence[Measure],
    write: Write,
    progress: Progress,
) -> TaskResult:
    """Score a system's answers to a task. Raises InvalidRequest for scores that are not numbers, and without any answer."""
    result = TaskResult(task.name, judged_queries=len(task.qrels))
    if task.classes:
        result.classes = {query: (next(iter(row)), "") for query, row in task.qrels.items()}
    evaluator = Evaluator(task.qrels, chosen_measures)
    of_judged = Evaluator(task.qrels, [] if task.candidates is not None else [Measure("judged", 10)])
    judged_shares: list[float] = []
    answered_queries: set[str] = set()
    answers = system.answers(task, protocol.depth, metric)
    if task.first is not None:
        answers = _matched_first(answers, system, task, metric)
    if system.times is not None:
        answers = system.times.answers(answers)
    while chunk := list(islice(answers, CHUNK)):
        run: RunScores = {}
        for query, ids, scores in chunk:
            if task.candidates is not None:
                result.missing_candidates += len(task.candidates.get(query, ())) - len(ids)
            if protocol.skips and not len(ids):
                continue  # the authors' run lacks such queries
            run[query] = row = _row(query, ids, scores, protocol, result)
            if row:
                answered_queries.add(query)
            write(query, row)
        result.ties += measures.ties(run)
        for query, values in evaluator.per_query(run).items():
            if task.classes:
                true_class, predicted_class = result.classes[query][0], next(iter(measures.trec_order(run[query])), "")
                result.classes[query] = true_class, predicted_class
                values["micro-F1"] = float(predicted_class == true_class)
            result.per_query[query] = values
        judged_shares += [sum(values.values()) for values in of_judged.per_query(run).values()]
        progress.advance(len(chunk))
    if not judged_shares:
        raise InvalidRequest(f"{system.name} answered none of the queries of {task.name}; are these the ids of this benchmark?")
    if unanswered := {"micro-F1": 0.0} if task.classes else evaluator.unanswered:
        for query in task.qrels:
            result.per_query.setdefault(query, dict(unanswered))
    result.unanswered = frozenset(task.qrels.keys() - answered_queries)
    result.judged_share = float(np.mean(judged_shares))
    return result


def summarise(tasks: list[TaskResult], protocol: Protocol, chosen_measures: Sequence[Measure | str]) -> Result:
    """The figures of tasks, by the protocol's average and rounding."""
    names = [str(measure) for measure in chosen_measures]
    means: dict[tuple[str, str], float] = {}
    intervals = {}
    for task in tasks:
        for name in names:
            values = task.values(name)
            means[task.name, name] = _mean(values, protocol)
            if name == "macro-F1" and task.classes:
                truth, predicted = zip(*task.classes.values(), strict=True)
                means[task.name, name] = measures.macro_f1(truth, predicted)
                intervals[task.name, name] = interval_of_f1(np.array(truth), np.array(predicted), "macro")
            elif task.prediction is None or len(values) > 1:
                intervals[task.name, name] = interval(values)
            elif task.prediction is not None and task.prediction.interval is not None:
                intervals[task.name, name] = task.prediction.interval
    rounded = {key: _per_cent(value, protocol) for key, value in means.items()}
    overall = names
    if len(tasks) == 1:
        for name in names:
            means["", name] = means[tasks[0].name, name]
            if (tasks[0].name, name) in intervals:
                intervals["", name] = intervals[tasks[0].name, name]
    elif protocol.average in ("tasks", "rounded tasks"):
        for name in names:
            per_task = [task.values(name) for task in tasks]
            means["", name] = float(np.mean([means[task.name, name] for task in tasks]))
            if protocol.average == "rounded tasks":
                means["", name] = float(np.mean([rounded[task.name, name] for task in tasks])) / 100
            if all(len(values) for values in per_task) and not any(task.prediction for task in tasks):
                intervals["", name] = interval_over_tasks(per_task)
    elif protocol.average == "figures" and names == list(protocol.measures):  # the mean is only defined for these measures
        means["", "mean"] = float(np.mean([means[task.name, name] for task in tasks for name in names]))
        overall = ["mean"]
    else:
        overall = []
    rounded |= {("", name): _per_cent(means["", name], protocol) for name in overall}
    return Result(tasks, means, rounded, intervals, names, overall)


def run(
    system_for: Mapping[str, System],
    materials: Sequence[Material],
    protocol: Protocol,
    measure_names: Sequence[str],
    metric: Metric | None,
    output: Path | None,
    progress: Progress,
) -> Result:
    """Score the answers to all tasks of all sets of a benchmark.

    Args:
        system_for: by name of a set, its system.
        materials: the sets.
        protocol: the benchmark's scoring.
        measure_names: the measures; by default the protocol's.
        metric: the metric of vectors; None for the protocol's, or else the encoder's.
        output: a folder for runs, with a subfolder for each task if there are several.
        progress: a listener for answered queries.
    """
    if any(material.predictions for material in materials):
        return _run_predictions(system_for, materials, protocol, progress)
    has_classes = any(task.classes for material in materials for task in material.tasks)
    chosen_measures = [] if has_classes else parse_measures(measure_names or protocol.measures)
    if protocol.beir_mrr:
        chosen_measures = [Measure("mrr") if measure.base == "recip_rank" else measure for measure in chosen_measures]
    has_several_tasks = sum(len(material.tasks) for material in materials) > 1
    progress.start(sum(len(task.queries) for material in materials for task in material.tasks))
    results = []
    for material in materials:
        system = system_for[material.name]
        for task in material.tasks:
            slug = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in task.name).strip("-").lower() or "task"
            folder = output / slug if output is not None and has_several_tasks else output
            with writing(folder, system.name) as write:
                result = run_task(system, task, protocol, metric or protocol.metric, chosen_measures, write, progress)
            results.append(result)
    return summarise(results, protocol, protocol.measures if has_classes else chosen_measures)


def _run_predictions(system_for: Mapping[str, System], materials: Sequence[Material], protocol: Protocol, progress: Progress) -> Result:
    """The figures of predictions. Raises InvalidRequest for a system without vectors; ResultAwaited, see `scored_elsewhere`."""
    pairs = []
    for material in materials:
        system = system_for[material.name]
        if not isinstance(system, Dense):
            raise InvalidRequest(f"labels are predicted from vectors, and {system.name} has none: use `mode='dense'` or `embeddings`")
        pairs += [(system, prediction) for prediction in material.predictions]
    progress.start(sum(prediction.runs for _, prediction in pairs), unit="models")
    handed_over = [(task, system.space) for system, task in pairs if isinstance(task, Handover)]
    elsewhere = scored_elsewhere(handed_over, pairs[0][0].name) if handed_over else {}
    results = []
    for system, prediction in pairs:
        if isinstance(prediction, Prediction):
            came = predict(prediction, system.space, lambda: progress.advance(1))
        elif isinstance(prediction, Clicks):
            came, clicks = predict_clicks(prediction, system.space, lambda: progress.advance(1))
            results.append(TaskResult(prediction.name, clicks, prediction=came))
            continue
        else:
            came = elsewhere[prediction.name]
            progress.advance(1)
        rows = {str(run): {protocol.measures[0]: figure / 100} for run, figure in enumerate(came.figures, 1)}
        results.append(TaskResult(prediction.name, rows, prediction=came))
    return summarise(results, protocol, protocol.measures)


def _row(
    query: str, ids: Sequence[str], scores: np.ndarray[tuple[int], np.dtype[np.float64]], protocol: Protocol, result: TaskResult
) -> dict[str, float]:
    """One query's answer for trec_eval: Python floats, rounded if the protocol says so, without the query itself."""
    if not np.isfinite(scores).all():
        bad = ids[int(np.flatnonzero(~np.isfinite(scores))[0])]
        raise InvalidRequest(f"query {query!r}: the score of {bad!r} is not a finite number; check its vector, or the file of scores")
    values = (np.round(scores, protocol.score_decimals) if protocol.score_decimals is not None else scores).tolist()
    row: dict[str, float] = {}
    for id, value in zip(ids, values, strict=True):
        if protocol.drop_self and id == query:
            result.self_matches += 1
        else:
            row.setdefault(id, float(value))
    return row


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]], protocol: Protocol) -> float:
    """The mean over queries, 0 for none; see `material.Rounding`."""
    if not len(values):
        return 0.0
    return float(np.cumsum(values)[-1]) / len(values) if protocol.rounding == "summed" else float(values.mean())


def _per_cent(value: float, protocol: Protocol) -> float:
    """A figure rounded by the protocol; see `material.Rounding`."""
    if protocol.rounding == "numpy":
        return float(np.round(100 * value, protocol.decimals))
    return round(100 * (round(value, 5) if protocol.rounding == "beir" else value), protocol.decimals)


def _matched_first(answers: Iterator[Answer], system: System, task: Task, metric: Metric | None) -> Iterator[Answer]:
    """Documents that the task puts first, ordered by score, then the others; the new scores are ranks."""
    assert task.first is not None
    matched_task = Task(task.name, task.queries, task.qrels, {query: tuple(sorted(ids)) for query, ids in task.first.items()})
    for (query, ids, scores), (_, matched_ids, first_scores) in zip(answers, system.answers(matched_task, 0, metric), strict=True):
        first_ids = measures.trec_order(dict(zip(matched_ids, first_scores.tolist(), strict=True)))
        other_ids = measures.trec_order({id: score for id, score in zip(ids, scores.tolist(), strict=True) if id not in task.first[query]})
        ranked_ids = [*first_ids, *other_ids]
        yield query, ranked_ids, np.arange(len(ranked_ids), 0, -1, dtype=np.float64)
