"""Agreement of reviewers who decided on the same papers: per cent, and kappa with its interval.

Cohen's kappa for two: Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20, 1960, with the
large-sample variance of Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological Bulletin 72,
1969. Fleiss's kappa for more: Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76, 1971, with the
variance of Gwet, "Large-sample variance of Fleiss generalized kappa", Educational and Psychological Measurement 81, 2021, which also covers
papers that only some reviewers decided on. Both intervals assume a normal distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import get_args

import numpy as np
import numpy.typing as npt

from .decisions import Verdict

CATEGORIES: tuple[Verdict, ...] = get_args(Verdict)
LEVEL = 0.95
SMALLEST = 1e-12
"""Variance below which it is 0 but for rounding. Then all agree, or one of two gives every paper the same verdict, and the formula is
void."""

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of several reviewers on papers that at least two of them decided on.

    Attributes:
        reviewers: their names.
        papers: number of these papers.
        same: number of these papers on which all verdicts are equal.
        alone: number of papers that only one reviewer decided on. `papers` excludes them.
        measure: the kappa for this number of reviewers.
        kappa: 1 for full agreement, 0 for agreement by chance; None if all verdicts are equal, where it is undefined.
        low, high: its 95 % interval; None if kappa is, for a single paper, and where the formula gives a variance of 0, as for full
            agreement.
    """

    reviewers: tuple[str, ...]
    papers: int
    same: int
    alone: int
    measure: str
    kappa: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        share = f"{100 * self.same / self.papers:.1f} % the same"
        kappa = f"{self.measure} is not defined, as all decisions are the same"
        if self.kappa is not None:
            interval = "" if self.low is None else f" [{self.low:.2f}, {self.high:.2f}]"
            kappa = f"{self.measure} {self.kappa:.2f}{interval}"
        alone = f"; {self.alone:,} decided by one alone" * bool(self.alone)
        return f"{', '.join(self.reviewers)}: {self.papers:,} papers decided by two or more, {share}, {kappa}{alone}"


def agreement_of(votes: Sequence[Mapping[str, Verdict]]) -> Agreement | None:
    """Agreement of reviewers, from each one's verdict on each paper; None if no paper has two verdicts."""
    reviewers = tuple(dict.fromkeys(name for one in votes for name in one))
    shared = [one for one in votes if len(one) > 1]
    if not shared:
        return None
    if len(reviewers) == 2:
        places = [[CATEGORIES.index(one[name]) for name in reviewers] for one in shared]
        table = np.zeros((len(CATEGORIES), len(CATEGORIES)))
        np.add.at(table, tuple(np.transpose(places)), 1)
        measure, (kappa, variance) = "Cohen's kappa", cohens_kappa(table)
    else:
        counts = np.array([[list(one.values()).count(category) for category in CATEGORIES] for one in shared], np.float64)
        measure, (kappa, variance) = "Fleiss's kappa", fleiss_kappa(counts)
    low = high = None
    if kappa is not None and variance is not None and variance > SMALLEST:
        half = NormalDist().inv_cdf(0.5 + LEVEL / 2) * variance**0.5
        low, high = max(kappa - half, -1.0), min(kappa + half, 1.0)
    same = sum(len(set(one.values())) == 1 for one in shared)
    return Agreement(reviewers, len(shared), same, len(votes) - len(shared), measure, kappa, low, high)


def cohens_kappa(table: Counts) -> tuple[float | None, float | None]:
    """Cohen's kappa and its variance; None where undefined.

    Args:
        table: number of papers by the first reviewer's and the second reviewer's category, (q, q).
    """
    count = table.sum()
    shares = table / count
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    if expected >= 1:
        return None, None
    kappa = (observed - expected) / (1 - expected)
    # contribution of a paper in each cell; the diagonal agrees
    terms = ((1 - kappa) * (columns[:, None] + rows[None, :])) ** 2
    np.fill_diagonal(terms, (1 - (rows + columns) * (1 - kappa)) ** 2)
    total = float((shares * terms).sum()) - (kappa - expected * (1 - kappa)) ** 2
    return kappa, total / (count * (1 - expected) ** 2)


def fleiss_kappa(counts: Counts) -> tuple[float | None, float | None]:
    """Fleiss's kappa and its variance, for papers with at least two verdicts; None where undefined. The variance is also undefined for a
    single paper.

    Args:
        counts: number of reviewers who put each paper into each category, (papers, q).
    """
    count, raters = len(counts), counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
    shares = (counts / raters[:, None]).mean(axis=0)
    observed, expected = float(agreeing.mean()), float(shares @ shares)
    if expected >= 1:
        return None, None
    kappa = (observed - expected) / (1 - expected)
    if count == 1:
        return kappa, None
    # a paper's share in kappa, and its effect on the agreement by chance
    by_paper = (agreeing - expected) / (1 - expected) - 2 * (1 - kappa) * (counts @ shares / raters - expected) / (1 - expected)
    return kappa, float(((by_paper - kappa) ** 2).sum()) / (count * (count - 1))
