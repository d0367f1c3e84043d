"""Relevance model for screening: a linear classifier over the index's vectors and terms, trained on decisions.

A paper's vector and its terms have fixed lengths, so the classifier's kernel is a weighted sum of both cosines. Some unread papers are
presumed irrelevant, as almost all are (Cormack and Grossman, "Autonomy and reliability of continuous active learning for
technology-assisted review", 2015). So training can start with the first relevant paper, or with the query alone. The settings were measured
on real topics, see docs/tried.md.
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
"""Unread papers presumed irrelevant, evenly spaced."""
RATIO = 10.0
"""Total weight of the relevant papers, relative to that of the others."""
MEANING = 1 / 7
"""Weight of the cosine of two papers' vectors; the cosine of their terms weighs 1."""
PENALTY = 15.0
"""Weight of the squared length of the classifier's vector."""
STEPS = 100
"""Most steps of the optimiser, which starts from its previous solution."""


class RelevanceModel:
    """Scores papers by decisions on some of them."""

    def __init__(self, index: Index, rows: Rows, query: str) -> None:
        """Read the papers.

        Args:
            index: the index.
            rows: rows of the papers, (n,).
            query: a text that serves as an example of a relevant paper; may be empty.

        Raises as `QueryEncoder.encode`.
        """
        self._parts: list[Any] = []
        examples: list[Any] = []
        if index.snapshot.vectors:
            length = MEANING**0.5 if index.snapshot.bm25 is not None else 1.0
            self._parts.append(length * _unit_rows(vectors_at(index.snapshot.vectors, rows)))
            if query and not index.reader.query_encoder.lack("query"):
                examples.append(length * _unit_rows(index.reader.query_encoder.encode([Query("", query)])))
            elif query and index.snapshot.bm25 is not None:  # use the example's words alone
                examples.append(np.zeros((1, index.snapshot.vectors[0].dim), np.float32))
        if index.snapshot.bm25 is not None:
            matrix = term_matrix(index.snapshot.bm25, rows)
            self._parts.append(matrix.weights)
            if query:
                examples.append(matrix.of(weigh_terms(index.snapshot.analyzer.terms(query))))
        self._examples = examples
        self._solution = np.zeros(sum(part.shape[1] for part in self._parts) + 1)

    def scores(self, read: Sequence[int], relevant: Mask, count: int) -> Scores:
        """Score for each paper, (n,), greater for papers more likely to be relevant.

        Args:
            read: positions of the papers with a decision.
            relevant: the decisions, (read,).
            count: number of papers, n.
        """
        unread = np.setdiff1d(np.arange(count), np.asarray(read, np.int64))
        presumed = unread[np.linspace(0, len(unread) - 1, min(PRESUMED, len(unread))).astype(np.int64)]
        places = np.concatenate([np.asarray(read, np.int64), presumed])
        parts = [part[places] for part in self._parts]
        signs = np.concatenate([np.where(relevant, 1.0, -1.0), np.full(len(presumed), -1.0)])
        if self._examples:
            parts = [_append_row(part, example) for part, example in zip(parts, self._examples, strict=True)]
            signs = np.append(signs, 1.0)
        positives = float((signs > 0).sum())
        weights = np.where(signs > 0, 1.0, positives / (RATIO * max(len(signs) - positives, 1.0)))
        # terms outside the examples keep weight 0
        used = np.concatenate([*(_used(part) for part in parts), [True]])
        parts = [part if isinstance(part, np.ndarray) else part[:, _used(part)] for part in parts]
        self._solution[used] = _fit(parts, signs, weights * len(weights) / weights.sum(), self._solution[used])
        self._solution[~used] = 0.0
        return _products(self._parts, self._solution)


def _fit(parts: Sequence[Any], signs: Scores, weights: Scores, start: Scores) -> Scores:
    """The vector, followed by the constant, that separates the examples with the least sum of squared hinge loss and squared length."""
    need("scipy", "a model of decisions")
    from scipy.optimize import minimize  # searches do not need it

    def loss(solution: Scores) -> tuple[float, Scores]:
        margins = np.maximum(1 - signs * _products(parts, solution), 0.0)
        slopes = -2 * weights * signs * margins
        gradient = np.concatenate([*(np.asarray(part.T @ slopes.astype(np.float32)).ravel() for part in parts), [slopes.sum()]])
        return float(weights @ margins**2 + PENALTY * solution @ solution), gradient + 2 * PENALTY * solution

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x, np.float64)


def _products(parts: Sequence[Any], solution: Scores) -> Scores:
    """Product of each paper with the solution, (n,)."""
    ends = np.cumsum([part.shape[1] for part in parts])
    vectors = np.split(solution[:-1].astype(np.float32), ends[:-1])
    total = sum((np.asarray(part @ vector).ravel() for part, vector in zip(parts, vectors, strict=True)), np.zeros(parts[0].shape[0]))
    return np.asarray(total + solution[-1], np.float64)


def _used(part: Any) -> Mask:
    """Columns with a nonzero value in some row."""
    used = np.full(part.shape[1], isinstance(part, np.ndarray))
    if not isinstance(part, np.ndarray):
        used[part.indices] = True
    return used


def _unit_rows(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


def _append_row(part: Any, example: Any) -> Any:
    """Append a row to a part."""
    if isinstance(part, np.ndarray):
        return np.concatenate([part, example])
    from scipy.sparse import vstack

    return vstack([part, example]).tocsr()
