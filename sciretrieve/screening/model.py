"""Which unread papers are likely to be relevant: a linear classifier over the index's own vectors and terms, learned from decisions.

A paper's vector and its terms have fixed lengths, so that the classifier's kernel is a weighted sum of both cosines. Some unread papers are
presumed to be irrelevant, as almost all are (Cormack and Grossman, "Autonomy and reliability of continuous active learning for
technology-assisted review", 2015): so there is something to learn from the first relevant paper on, or from the query alone. The settings
were measured on real topics, see docs/tried.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.extras import need
from ..base.types import Mask, Query, Rows, Scores
from ..matching.dense.vectors import vectors_at
from ..matching.lexical.bm25 import weigh_terms
from ..matching.lexical.tfidf import term_matrix
from ..query.index import Index

PRESUMED = 100
"""Unread papers that are presumed to be irrelevant, evenly spaced."""
RATIO = 10.0
"""How much more all relevant papers weigh than all others."""
MEANING = 1 / 7
"""The weight of the cosine of two papers' vectors, beside 1 for that of their terms."""
PENALTY = 15.0
"""The weight of the squared length of the classifier's vector."""
STEPS = 100
"""At most so many steps of the optimiser; it begins where it ended the time before."""


class RelevanceModel:
    """Scores papers by decisions on some of them."""

    def __init__(self, index: Index, rows: Rows, query: str) -> None:
        """Read the papers.

        Args:
            index: whose papers they are.
            rows: which papers, (n,).
            query: what is looked for, an example of a relevant paper; empty without one.

        Raises: as `QueryEncoder.encode`.
        """
        self._parts: list[Any] = []
        examples: list[Any] = []
        if index.snapshot.vectors:
            length = MEANING**0.5 if index.snapshot.bm25 is not None else 1.0
            self._parts.append(length * _unit(vectors_at(index.snapshot.vectors, rows)))
            if query and not index.reader.query_encoder.lack("query"):
                examples.append(length * _unit(index.reader.query_encoder.encode([Query("", query)])))
            elif query and index.snapshot.bm25 is not None:  # an example by its words alone
                examples.append(np.zeros((1, index.snapshot.vectors[0].dim), np.float32))
        if index.snapshot.bm25 is not None:
            matrix = term_matrix(index.snapshot.bm25, rows)
            self._parts.append(matrix.weights)
            if query:
                examples.append(matrix.of(weigh_terms(index.snapshot.analyzer.terms(query))))
        self._examples = examples
        self._solution = np.zeros(sum(part.shape[1] for part in self._parts) + 1)

    def scores(self, read: Sequence[int], relevant: Mask, count: int) -> Scores:
        """A score for each paper, (n,), the greater the likelier it is to be relevant.

        Args:
            read: places of the papers on which there is a decision.
            relevant: what the decisions are, (read,).
            count: how many papers there are, n.
        """
        unread = np.setdiff1d(np.arange(count), np.asarray(read, np.int64))
        presumed = unread[np.linspace(0, len(unread) - 1, min(PRESUMED, len(unread))).astype(np.int64)]
        places = np.concatenate([np.asarray(read, np.int64), presumed])
        parts = [part[places] for part in self._parts]
        signs = np.concatenate([np.where(relevant, 1.0, -1.0), np.full(len(presumed), -1.0)])
        if self._examples:
            parts = [_stacked(part, example) for part, example in zip(parts, self._examples, strict=True)]
            signs = np.append(signs, 1.0)
        positives = float((signs > 0).sum())
        weights = np.where(signs > 0, 1.0, positives / (RATIO * max(len(signs) - positives, 1.0)))
        # terms that no example has keep the weight 0
        used = np.concatenate([*(_used(part) for part in parts), [True]])
        parts = [part if isinstance(part, np.ndarray) else part[:, _used(part)] for part in parts]
        self._solution[used] = _fitted(parts, signs, weights * len(weights) / weights.sum(), self._solution[used])
        self._solution[~used] = 0.0
        return _products(self._parts, self._solution)


def _fitted(parts: Sequence[Any], signs: Scores, weights: Scores, start: Scores) -> Scores:
    """The vector, and last the constant, that separate the examples with the least squared hinge loss and length."""
    need("scipy", "a model of decisions")
    from scipy.optimize import minimize  # not for those who only search

    def loss(solution: Scores) -> tuple[float, Scores]:
        margins = np.maximum(1 - signs * _products(parts, solution), 0.0)
        slopes = -2 * weights * signs * margins
        gradient = np.concatenate([*(np.asarray(part.T @ slopes.astype(np.float32)).ravel() for part in parts), [slopes.sum()]])
        return float(weights @ margins**2 + PENALTY * solution @ solution), gradient + 2 * PENALTY * solution

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x, np.float64)


def _products(parts: Sequence[Any], solution: Scores) -> Scores:
    """Each paper's product with the solution, (n,)."""
    ends = np.cumsum([part.shape[1] for part in parts])
    vectors = np.split(solution[:-1].astype(np.float32), ends[:-1])
    total = sum((np.asarray(part @ vector).ravel() for part, vector in zip(parts, vectors, strict=True)), np.zeros(parts[0].shape[0]))
    return np.asarray(total + solution[-1], np.float64)


def _used(part: Any) -> Mask:
    """Which columns have anything in any row."""
    used = np.full(part.shape[1], isinstance(part, np.ndarray))
    if not isinstance(part, np.ndarray):
        used[part.indices] = True
    return used


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


def _stacked(part: Any, example: Any) -> Any:
    """One more row below those of a part."""
    if isinstance(part, np.ndarray):
        return np.concatenate([part, example])
    from scipy.sparse import vstack

    return vstack([part, example]).tocsr()
