"""How far people who decided on the same papers agree: per cent, and kappa with its interval.

Cohen's kappa for two: Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20, 1960, with the
large-sample variance of Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa", Psychological Bulletin 72,
1969. Fleiss's kappa for more: Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76, 1971, with the
variance of Gwet, "Large-sample variance of Fleiss generalized kappa", Educational and Psychological Measurement 81, 2021, which also has
papers that not all have decided on. Both intervals are the normal distribution's.
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
"""A variance below which it is 0 but for rounding: all agree, or one of two says the same of all, and the formula says nothing."""

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far several people agree on the papers that at least two of them decided on.

    Attributes:
        reviewers: who they are.
        papers: how many papers these are.
        same: of these, on how many all decided the same.
        alone: how many papers one of them alone decided on; they are not counted above.
        measure: which kappa it is, by the number of reviewers.
        kappa: 1 for full agreement, 0 for what chance gives; None where all decisions are the same one, for which it is not defined.
        low, high: its interval of 95 %; None likewise, with one paper alone, and where the formula gives a variance of 0, as for full
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
    """How far people agree, by what each of them decided on each paper; None if no paper was decided on by two."""
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
    """Cohen's kappa and its variance; None where it is not defined.

    Args:
        table: how many papers the first put into each category and the second into each, (q, q).
    """
    count = table.sum()
    shares = table / count
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float(np.trace(shares)), float(rows @ columns)
    if expected >= 1:
        return None, None
    kappa = (observed - expected) / (1 - expected)
    # what a paper in each cell adds; those of the diagonal agree
    terms = ((1 - kappa) * (columns[:, None] + rows[None, :])) ** 2
    np.fill_diagonal(terms, (1 - (rows + columns) * (1 - kappa)) ** 2)
    total = float((shares * terms).sum()) - (kappa - expected * (1 - kappa)) ** 2
    return kappa, total / (count * (1 - expected) ** 2)


def fleiss_kappa(counts: Counts) -> tuple[float | None, float | None]:
    """Fleiss's kappa and its variance, of papers that two or more decided on; None where it is not defined, the variance of one paper, too.

    Args:
        counts: how many put each paper into each category, (papers, q).
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
    # a paper's share in kappa, and what it does to the agreement by chance
    by_paper = (agreeing - expected) / (1 - expected) - 2 * (1 - kappa) * (counts @ shares / raters - expected) / (1 - expected)
    return kappa, float(((by_paper - kappa) ** 2).sum()) / (count * (count - 1))
