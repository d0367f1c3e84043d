"""Predicts labels from vectors by linear models, fitted and scored as by SciRepEval's and SciDocs' evaluators. Only this module uses
scikit-learn.

From the authors' evaluator (Singh et al. 2023, App. B.1; allenai/scirepeval, evaluation/evaluator.py and few_shot_evaluator.py): linear
support vectors, C chosen by cross-validation in three folds, models and samples drawn with the seed 42. For several classes per paper,
theirs draws without a seed, ours with the same one. SciDocs' evaluator (Cohan et al. 2020; allenai/scidocs, scidocs/classification.py) does
the same for one class of several, with more values of C, and with zeros for papers without a vector.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidRequest
from ..base.extras import need
from ..metrics.significance import interval_of_f1, interval_of_tau
from .material import FewShot, LabelledPapers, Prediction
from .spaces import Space

SEED = 42
FOLDS = 3
C_OF_CLASSES = np.logspace(-2, 2, 5)
C_OF_NUMBERS = np.logspace(-4, 2, 7)
C_OF_SCIDOCS = np.logspace(-4, 2, 7)
ITERATIONS_OF_CLASSES = 10_000
"""The solver's limit for several classes per paper; otherwise it is scikit-learn's."""
PARALLEL = 1 << 22
"""From so many numbers of training data on, several processes fit the models, which takes a second to start; figures are the same."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Predicted:
    """The result of a prediction.

    Attributes:
        figures: the measure of each run in per cent, to two decimals as printed by the authors (for S2AND a mean of such figures, see
            `handover`); one run if there are no samples.
        learnt: the number of training papers.
        predicted: the number of test papers.
        left_out: the number of labelled papers without a vector.
        unconverged: the runs whose solver reached its limit of iterations.
        wanted: the number of runs of the task; few training papers may give fewer samples.
        unit: the unit of training and test data.
        zeros: the number of papers without a vector that got zeros.
        source: the file of the figures, if the authors' own code computed them.
        interval: 95 % of a bootstrap over the test papers, from 0 to 1; None for several runs, or if none is computed.
    """

    figures: list[float]
    learnt: int
    predicted: int
    left_out: int
    unconverged: int = 0
    wanted: int = 1
    unit: str = "papers"
    zeros: int = 0
    source: str = ""
    interval: tuple[float, float] | None = None


def check_library() -> None:
    """Raise MissingExtra if scikit-learn is not installed."""
    need("sklearn", "fitting classes and numbers")


def predict(prediction: Prediction, space: Space, advance: Callable[[], None]) -> Predicted:
    """Fit and score a task on a system's vectors; papers without one are left out or get zeros, as by the authors.

    Args:
        prediction: the task.
        space: the papers' vectors.
        advance: called after each run.

    Raises:
        MissingExtra: scikit-learn is not installed.
        InvalidRequest: no paper has a vector, or there are too few papers of a class.
    """
    check_library()
    x_train, y_train = _labelled_vectors(prediction.train, space, prediction)
    x_test, y_test = _labelled_vectors(prediction.test, space, prediction)
    figures, unconverged = [], 0
    predicted: Array = y_test
    from sklearn.exceptions import FitFailedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of convergence, counted below, and of classes rarer than folds
        warnings.simplefilter("ignore", FitFailedWarning)  # of folds without a class
        try:
            for rows in _samples(y_train, prediction):
                model = _model(prediction, x_train[rows].size).fit(x_train[rows], y_train[rows])
                predicted = model.predict(x_test)
                figures.append(_figure(prediction, y_test, predicted))
                unconverged += not _converged(model)
                advance()
        except ValueError as error:
            reason = str(error).strip().splitlines()[-1]
            raise InvalidRequest(f"{prediction.name}: no model can be fitted to these labels: {reason}") from error
    labelled_ids = (*prediction.train.ids, *prediction.test.ids)
    return Predicted(
        figures,
        learnt=len(y_train),
        predicted=len(y_test),
        left_out=len(labelled_ids) - len(y_train) - len(y_test),
        unconverged=unconverged,
        wanted=prediction.runs,
        zeros=sum(id not in space.rows for id in labelled_ids) if prediction.solver == "scidocs" else 0,
        interval=_interval(prediction, y_test, predicted) if prediction.few_shot is None else None,
    )


def _labelled_vectors(labelled: LabelledPapers, space: Space, prediction: Prediction) -> tuple[Array, Array]:
    """Vectors (n, dim) and labels of the papers with a vector; papers without one get zeros, if the task's authors do so.

    Raises:
        InvalidRequest: a vector has numbers that are not finite, or no paper has one.
    """
    flags = np.array([id in space.rows for id in labelled.ids])
    ids, vectors = space.papers(labelled.ids)
    if not ids:
        raise InvalidRequest(
            f"none of the labelled papers of {prediction.name} has a vector, {labelled.ids[0]!r} first; are these its ids?"
        )
    if not np.isfinite(vectors).all():
        bad_id = ids[int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])]
        raise InvalidRequest(f"the vector of {bad_id!r} has numbers that are not finite")
    if prediction.solver == "scirepeval":
        return np.asarray(vectors), labelled.labels[flags]
    every = np.zeros((len(labelled.ids), vectors.shape[1]), vectors.dtype)
    every[flags] = vectors
    return every, labelled.labels


def _samples(labels: Array, prediction: Prediction) -> Iterator[Any]:
    """The training rows of each run."""
    if prediction.few_shot is None:
        yield slice(None)
    elif prediction.label == "classes":
        yield from _samples_of_each_class(labels, prediction.few_shot)
    else:
        from sklearn.model_selection import StratifiedKFold

        # a sample is one of the folds, so the size counts papers, not papers of a class
        folds = StratifiedKFold(math.ceil(len(labels) / prediction.few_shot.size)).split(labels, labels)
        yield from (fold for _, fold in islice(folds, prediction.few_shot.runs))


def _samples_of_each_class(labels: Array, few_shot: FewShot) -> Iterator[list[int]]:
    for run in range(few_shot.runs):
        chance = np.random.RandomState(SEED + run)
        rows: set[int] = set()
        for column in labels.T:
            rows.update(chance.choice(np.flatnonzero(column == 1), few_shot.size, replace=False).tolist())
        yield list(rows)  # in the set's order, as theirs: the folds depend on it


def _model(prediction: Prediction, numbers: int) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC, LinearSVR

    jobs = -1 if numbers >= PARALLEL else None
    if prediction.label == "number":
        return GridSearchCV(LinearSVR(random_state=SEED), {"C": C_OF_NUMBERS}, cv=FOLDS, n_jobs=jobs)
    if prediction.label == "classes":
        one = LinearSVC(loss="hinge", max_iter=ITERATIONS_OF_CLASSES, random_state=SEED)
        return OneVsRestClassifier(GridSearchCV(one, {"C": C_OF_CLASSES}, cv=FOLDS), n_jobs=jobs)
    one = LinearSVC(loss="squared_hinge", random_state=SEED)
    values = C_OF_SCIDOCS if prediction.solver == "scidocs" else C_OF_CLASSES
    return one if prediction.few_shot else GridSearchCV(one, {"C": values}, cv=FOLDS, n_jobs=jobs)


def _converged(model: Any) -> bool:
    """Whether all of a fitted model's solvers ended before their limit. A class that all papers have, or none, needs no solver."""
    parts = getattr(model, "estimators_", [model])
    solvers = [getattr(part, "best_estimator_", part) for part in parts]
    return all(solver.n_iter_ < solver.max_iter for solver in solvers if hasattr(solver, "n_iter_"))


def _figure(prediction: Prediction, truth: Array, predicted: Array) -> float:
    if prediction.label == "number":
        from scipy.stats import kendalltau

        value = float(kendalltau(truth, predicted)[0])
        if not math.isfinite(value):
            raise InvalidRequest(f"{prediction.name}: tau is not defined, as all labels, or all predictions, are equal")
    else:
        from sklearn.metrics import f1_score

        value = float(f1_score(truth, predicted, average="macro" if prediction.measure == "macro-F1" else "binary", zero_division=0))
    return float(np.round(100 * value, 2))


def _interval(prediction: Prediction, truth: Array, predicted: Array) -> tuple[float, float]:
    if prediction.label == "number":
        return interval_of_tau(truth, predicted)
    return interval_of_f1(truth, predicted, "macro" if prediction.measure == "macro-F1" else "binary")
