"""Learns and predicts clicks on recommended papers, as SciDocs does (Cohan et al. 2020; allenai/scidocs, recommender/, and in its history
experiment_configs/train_similar_papers_model.json).

A network with one hidden layer scores a pair of papers by the cosine of their vectors and nine facts. It learns to score a clicked paper
above each paper shown with it. The authors' reader overwrites positions by 0. So one input is always 0, and the propensity that divides a
loss is always that of the last place; we do the same.

Our random numbers differ: initial weights, the order of triplets and dropout. Words of titles are split at blanks and around signs; theirs
are spaCy's tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidRequest
from .material import Click, Clicks, LinkedPaper
from .predicting import Predicted
from .spaces import Space

Array: TypeAlias = npt.NDArray[np.float64]
INPUTS, HIDDEN, DROPOUT, MARGIN = 11, 50, 0.4, 0.1
BATCH, EPOCHS, MOST_TRIPLETS, LARGEST = 128, 5, 10, 5.0
"""Triplets per batch, rounds, the most triplets of a click, and the largest entry of a gradient."""
RHO, TINY = 0.95, 1e-6
"""Adadelta's decay, and its addend under roots (Zeiler 2012); its rate is 1."""
SEED = 7
WORD = re.compile(r"\w+|[^\w\s]")


def predict_clicks(task: Clicks, space: Space, advance: Callable[[], None]) -> tuple[Predicted, dict[str, dict[str, float]]]:
    """Train the network on clicks, and rank the papers shown with each test click. Papers without a vector get zeros, as in the authors'
    code.

    Returns:
        The counts of training; and for each test click, by its number from 1, its nDCG and whether it came first. Both are divided by the
            propensity of its place, so that rarely clicked places weigh more. Their means are adj-NDCG and adj-P@1.

    Raises:
        InvalidRequest: no paper has a vector, or a vector has numbers that are not finite.
    """
    pairs = _Pairs(task, space)
    learnt, checked = (_triplets(pairs, clicks) for clicks in (task.train, task.val))
    propensities = np.array(task.propensities) * len(task.propensities) / sum(task.propensities)
    network = fit(*learnt, *checked, float(propensities[-1]))
    weights = np.array([1 / propensities[click.shown.index(click.clicked)] for click in task.test])
    weights *= len(weights) / weights.sum()
    rows = {}
    for number, (click, weight) in enumerate(zip(task.test, weights.tolist(), strict=True), 1):
        others = [id for id in click.shown if id != click.clicked]
        scores = network.scores(pairs.of([(click.query, id) for id in (click.clicked, *others)]))
        above = float((scores[1:] > scores[0]).sum() + 0.5 * (scores[1:] == scores[0]).sum())
        rows[str(number)] = {"adj-NDCG": weight / np.log2(2 + above), "adj-P@1": weight * (above == 0)}
    advance()
    figure = float(np.round(100 * np.mean([row["adj-NDCG"] for row in rows.values()]), 2))
    return Predicted([figure], len(task.train), len(task.test), 0, unit="clicks", zeros=pairs.without_vector), rows


class _Pairs:
    """The network's inputs for pairs of papers."""

    def __init__(self, task: Clicks, space: Space) -> None:
        self._papers = task.papers
        ids = list(dict.fromkeys(id for click in (*task.train, *task.val, *task.test) for id in (click.query, *click.shown)))
        known, vectors = space.papers(ids)
        if not known:
            raise InvalidRequest(f"none of the papers of {task.name} has a vector; are these its ids?")
        if not np.isfinite(vectors).all():
            raise InvalidRequest(f"the vectors of {task.name} have numbers that are not finite")
        rows = np.asarray(vectors, np.float64)
        self._rows = dict(zip(known, rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), strict=True))
        self._zeros = np.zeros(rows.shape[1])
        self._words = {id: frozenset(WORD.findall(paper.title)) for id, paper in task.papers.items()}
        self.without_vector = len(ids) - len(known)

    def of(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """The inputs for pairs of a query and a candidate, (n, 11)."""
        return np.array([self._pair(*pair) for pair in pairs]).reshape(-1, INPUTS)

    def _pair(self, query: str, candidate: str) -> list[float]:
        one, other = self._papers.get(query), self._papers.get(candidate)
        cosine = float(self._rows.get(query, self._zeros) @ self._rows.get(candidate, self._zeros))
        words = _jaccard(self._words.get(query, ()), self._words.get(candidate, ()))
        position = 0.0
        cites = float(_cites(candidate, other, query, one)), float(_cites(query, one, candidate, other))
        authors = cited_by = references = relative_age = 0.0
        if one is not None and other is not None:
            authors = _jaccard(one.authors, other.authors)
            cited_by, references = _jaccard(one.cited_by, other.cited_by), _jaccard(one.references, other.references)
            if one.year is not None and other.year is not None:
                relative_age = float(np.clip((one.year - other.year) / 20, -1, 1))
        age = float(np.clip((2020 - other.year) / 20, -1, 1)) if other is not None and other.year is not None else 0.0
        citations = float(np.log(len(other.cited_by) + 1) / 10) if other is not None else 0.0
        return [authors, position, words, cosine, cited_by, references, *cites, age, relative_age, citations]


def _jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    """Jaccard's index: the share of common items among the items of both."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first | second else 0.0


def _cites(id: str, paper: LinkedPaper | None, other: str, cited: LinkedPaper | None) -> bool:
    """Whether a paper cites another, by the records of either."""
    return (cited is not None and id in cited.cited_by) or (paper is not None and other in paper.references)


def _triplets(pairs: _Pairs, clicks: Sequence[Click]) -> tuple[Array, Array]:
    """Up to ten triplets of each click: the inputs of its clicked paper, and those of another shown one, (n, 11) each."""
    clicked, others = [], []
    for click in clicks:
        rest = [id for id in click.shown if id != click.clicked][:MOST_TRIPLETS]
        clicked += [(click.query, click.clicked)] * len(rest)
        others += [(click.query, id) for id in rest]
    return pairs.of(clicked), pairs.of(others)


@dataclass(frozen=True, slots=True)
class Network:
    """A network with ReLU and a sigmoid: weights (11, 50) and (50, 1), biases (50,) and (1,)."""

    first: Array
    first_bias: Array
    second: Array
    second_bias: Array

    @classmethod
    def drawn(cls, chance: np.random.Generator) -> Network:
        """Random weights, uniform within one over the root of a layer's number of inputs, as torch draws them."""
        shapes = ((INPUTS, (INPUTS, HIDDEN)), (INPUTS, (HIDDEN,)), (HIDDEN, (HIDDEN, 1)), (HIDDEN, (1,)))
        return cls(*(chance.uniform(-1, 1, shape) / np.sqrt(inputs) for inputs, shape in shapes))

    @property
    def parts(self) -> tuple[Array, Array, Array, Array]:
        """All weights and biases."""
        return self.first, self.first_bias, self.second, self.second_bias

    def scores(self, pairs: Array) -> Array:
        """Scores from 0 to 1, (n,)."""
        return self._forward(pairs, np.ones((len(pairs), HIDDEN)))[1]

    def _forward(self, pairs: Array, kept: Array) -> tuple[Array, Array]:
        """The hidden layer's outputs after dropout, (n, 50), and scores, (n,)."""
        hidden = np.maximum(pairs @ self.first + self.first_bias, 0) * kept
        return hidden, 1 / (1 + np.exp(-(hidden @ self.second + self.second_bias)[:, 0]))

    def gradient(self, clicked: Array, others: Array, kept: Array, kept_others: Array, propensity: float) -> list[Array]:
        """The gradient of the loss by each part: the loss is the mean of max(0, margin - clicked + other), over the propensity. `kept`
        masks dropout.
        """
        sums = [np.zeros_like(part) for part in self.parts]
        passes = [(pairs, *self._forward(pairs, mask), mask) for pairs, mask in ((clicked, kept), (others, kept_others))]
        is_close = passes[0][2] - passes[1][2] < MARGIN
        for sign, (pairs, hidden, scores, mask) in zip((-1, 1), passes, strict=True):
            before_sigmoid = (sign * is_close / (len(clicked) * propensity) * scores * (1 - scores))[:, None]
            before_relu = before_sigmoid @ self.second.T * mask * (hidden > 0)
            for part, more in zip(
                sums, (pairs.T @ before_relu, before_relu.sum(axis=0), hidden.T @ before_sigmoid, before_sigmoid.sum(axis=0)), strict=True
            ):
                part += more
        return sums


def fit(clicked: Array, others: Array, val_clicked: Array, val_others: Array, propensity: float) -> Network:
    """Train the network by Adadelta for five rounds. Returns the round with the least loss on the validation clicks, or the last without
    any.

    Args:
        clicked, others: the pairs of each training triplet, (n, 11).
        val_clicked, val_others: the pairs for validation, (m, 11).
        propensity: divides every loss.
    """
    chance = np.random.default_rng(SEED)
    network = best = Network.drawn(chance)
    squares, steps = ([np.zeros_like(part) for part in network.parts] for _ in range(2))
    least = np.inf
    for _ in range(EPOCHS):
        order = chance.permutation(len(clicked))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            kept, kept_others = (chance.random((2, len(rows), HIDDEN)) >= DROPOUT) / (1 - DROPOUT)
            slopes = network.gradient(clicked[rows], others[rows], kept, kept_others, propensity)
            parts = []
            for part, slope, square, step in zip(network.parts, slopes, squares, steps, strict=True):
                slope = np.clip(slope, -LARGEST, LARGEST)
                square += (1 - RHO) * (slope**2 - square)
                change = np.sqrt(step + TINY) / np.sqrt(square + TINY) * slope
                step += (1 - RHO) * (change**2 - step)
                parts.append(part - change)
            network = Network(*parts)
        loss = _loss(network, val_clicked, val_others) if len(val_clicked) else -np.inf
        if loss < least or not len(val_clicked):
            least, best = loss, network
    return best


def _loss(network: Network, clicked: Array, others: Array) -> float:
    """The mean over batches of the mean loss, by which AllenNLP chooses the best round."""
    losses: Any = np.maximum(MARGIN - network.scores(clicked) + network.scores(others), 0)
    return float(np.mean([losses[start : start + BATCH].mean() for start in range(0, len(losses), BATCH)]))
