"""Histograms of years count every paper, whatever years a corpus has; names on a map do not stand on each other."""

from datetime import date
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.answers.mapping import AnswerMap
from sciretrieve.answers.overview import Facet
from sciretrieve.service.pages.charts import LABEL_HEIGHT, LETTER, LONGEST_SPAN, MAP_HEIGHT, MAP_WIDTH, histogram, map_groups

COUNTS = st.dictionaries(st.integers(-50, 9999), st.integers(1, 50), min_size=2, max_size=40)


def facet(counts: dict[int, int]) -> Facet:
    """A facet of years."""
    return Facet("year", tuple(sorted(counts.items())), 0, 0, sum(counts.values()))


@given(COUNTS)
def test_every_paper_is_in_a_bar(counts: dict[int, int]) -> None:
    drawn = histogram(facet(counts), (None, None))
    assert drawn is not None
    assert sum(bar.papers for bar in drawn.bars) == sum(counts.values())
    assert len(drawn.bars) == drawn.last - drawn.first + 1 <= LONGEST_SPAN
    assert max(bar.length for bar in drawn.bars) == 100
    for bar in drawn.bars[1:-1]:
        assert counts.get(int(bar.value), 0) == bar.papers
    assert not any(bar.is_chosen for bar in drawn.bars)


def test_slips_of_the_pen_are_at_the_ends() -> None:
    drawn = histogram(facet({19: 1, 1990: 4, 1995: 2, 9999: 3}), (None, None))
    assert drawn is not None
    last = date.today().year + 1
    assert (drawn.bars[-1].value, drawn.bars[-1].papers) == (f"{last}-", 3)
    assert drawn.bars[0].value == f"-{last - LONGEST_SPAN + 1}"
    assert histogram(facet({2000: 5}), (None, None)) is None


def test_chosen_years_are_a_range_with_open_ends() -> None:
    counts = facet({2000: 1, 2001: 1, 2002: 1, 2003: 1})
    for years, expected in (((2001, 2002), "2001 2002"), ((2002, None), "2002 2003"), ((None, 2000), "2000")):
        drawn = histogram(counts, years)
        assert drawn is not None
        assert " ".join(bar.value for bar in drawn.bars if bar.is_chosen) == expected


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=8), st.integers(0, 99))
def test_names_on_a_map_stand_apart(index: sr.Index, labels: list[str], seed: int) -> None:
    found = sr.answer(index, sr.Request("graph", k=24))
    points = np.random.default_rng(seed).random((24, 2)) ** 3
    groups = map_groups(AnswerMap(found, points, [(label, label) for label in labels], [place % len(labels) for place in range(24)]))
    for one, other in combinations(groups, 2):
        apart = (len(one.short_label) + len(other.short_label)) * LETTER / 2
        assert abs(one.y - other.y) >= LABEL_HEIGHT or abs(one.x - other.x) >= apart
    assert all(0 < group.x < MAP_WIDTH and 0 < group.y < MAP_HEIGHT for group in groups)
