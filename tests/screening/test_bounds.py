"""Bounds and tests on what nobody has read: against SciPy, exact sums of binomials, and simulated reviews with a fixed seed."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import hypergeom

from sciretrieve.screening.bounds import at_most, fewest_failing, least_relevant, most_relevant, ranked_p_value


def exactly_at_most(found: int, sample: int, relevant: int, papers: int) -> Fraction:
    """By whole numbers alone."""
    ways = sum(comb(relevant, count) * comb(papers - relevant, sample - count) for count in range(min(found, sample) + 1))
    return Fraction(ways, comb(papers, sample))


def test_the_hypergeometric_distribution_is_exact_for_all_small_urns() -> None:
    for papers in range(1, 9):
        for relevant in range(papers + 1):
            for sample in range(papers + 1):
                for found in range(sample + 1):
                    exact = float(exactly_at_most(found, sample, relevant, papers))
                    assert at_most(found, sample, relevant, papers) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("papers", [500, 70_000, 3_000_000])
def test_the_hypergeometric_distribution_is_scipys_for_large_urns(papers: int) -> None:
    chance = np.random.default_rng(papers)
    for _ in range(100):
        relevant, sample = (int(number) for number in chance.integers(0, papers // 10, 2))
        found = int(chance.integers(0, 2 + 2 * relevant * sample // papers))
        assert at_most(found, sample, relevant, papers) == pytest.approx(
            hypergeom.cdf(found, papers, relevant, sample), rel=1e-6, abs=1e-12
        )


def test_the_upper_bound_is_the_largest_number_that_is_not_ruled_out() -> None:
    """From the definition, with exact numbers: at every size of the sample and for every number of relevant papers."""
    papers, places = 40, [3, 17]
    for size in range(41):
        seen = [place for place in places if place < size]
        bounds = []
        for earlier in range(size + 1):
            found = sum(place < earlier for place in places)
            level = Fraction(53, 1000) / ((found + 1) * (found + 2))
            bounds.append(
                max(k for k in range(papers + 1) if exactly_at_most(found, earlier, k, papers) > level and k <= papers - earlier + found)
            )
        assert most_relevant(seen, size, papers, 0.947) == max(min(bounds), len(seen))


@pytest.mark.parametrize(("papers", "relevant"), [(200, 1), (400, 4), (200, 12)])
def test_the_bounds_hold_at_all_moments_of_nineteen_reviews_in_twenty(papers: int, relevant: int) -> None:
    """Looked at after every single paper, which a test at one level does not survive."""
    chance = np.random.default_rng(7)
    reviews, wrong_above, wrong_below = 200, 0, 0
    for _ in range(reviews):
        places = sorted(chance.choice(papers, relevant, replace=False).tolist())
        # the best of all bounds counts, so those just before, and with, the last relevant paper tell of all before
        wrong_above += most_relevant(places[:-1], places[-1], papers, 0.95) < relevant
        wrong_below += least_relevant(places, papers, 0.95) > relevant
    # were it 5 %, more than 21 of 200 would be a chance of one in a thousand
    assert wrong_above <= 21
    assert wrong_below <= 21


def test_a_sample_of_everything_leaves_no_doubt() -> None:
    assert most_relevant([2, 5], 10, 10, 0.95) == 2
    assert most_relevant([], 10, 10, 0.999) == 0
    assert most_relevant([], 0, 10, 0.95) == 10
    assert least_relevant([], 10, 0.95) == 0
    assert least_relevant([0, 1, 2, 3], 100, 0.95) > 10


@pytest.mark.parametrize(
    ("found", "recall", "failing"), [(0, 0.95, 1), (19, 0.95, 21), (20, 0.95, 22), (95, 0.95, 101), (3, 1.0, 4), (1, 0.1, 11)]
)
def test_a_recall_fails_from_this_number_of_relevant_papers_on(found: int, recall: float, failing: int) -> None:
    assert fewest_failing(found, recall) == failing
    assert Fraction(found, failing) < Fraction(str(recall))
    assert failing == found + 1 or Fraction(found, failing - 1) >= Fraction(str(recall))


def test_the_p_value_of_a_ranking_is_the_least_over_all_its_endings() -> None:
    """From the definition (Callaghan and Müller-Hansen 2020): every number of papers at the end is taken for a sample, with SciPy."""
    chance = np.random.default_rng(1)
    for _ in range(20):
        papers = int(chance.integers(30, 120))
        read = int(chance.integers(1, papers))
        relevant = (chance.random(read) < np.linspace(0.8, 0, read)).tolist()  # more of them at the beginning, as in a ranking
        found = sum(relevant)
        total = fewest_failing(found, 0.9)
        expected = 1.0
        for start in range(len(relevant)):
            before = sum(relevant[:start])
            urn, in_urn = papers - start, total - before
            expected = min(expected, hypergeom.cdf(found - before, urn, in_urn, len(relevant) - start) if in_urn <= urn else 0.0)
        assert ranked_p_value(relevant, papers, 0.9) == pytest.approx(expected, abs=1e-9)
    assert ranked_p_value([], 10, 0.95) == 1.0
