"""The numbers of a page's drawings: bars for values, a histogram of years, and the places of a map. Templates draw them as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from ...answers.mapping import AnswerMap
from ...answers.overview import Facet
from ...base.types import Hit

MAP_WIDTH, MAP_HEIGHT = MAP_SIZE = 900, 560
MAP_MARGIN = 40
LETTER, LABEL_HEIGHT = 9.5, 24
"""About the width of a letter of a name on the map, and the height of its line."""
LONGEST_SPAN = 150
"""The most years of a histogram."""


@dataclass(frozen=True, slots=True)
class FacetBar:
    """A value, its number of papers, and the length of its bar, of 100."""

    value: str
    papers: int
    length: float
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of papers of each year from the first to the last; the years that the page is limited to are chosen. An end bar also
    counts earlier or later years, if there are any, and its value is then a range.
    """

    first: int
    last: int
    bars: Sequence[FacetBar]


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A paper on a map."""

    hit: Hit
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class MapGroup:
    """A group on a map: its topic, its papers, and the place of its name."""

    number: int
    label: str
    points: Sequence[MapPoint]
    x: float
    y: float

    @property
    def short_label(self) -> str:
        """The first two of its words, for the map."""
        return " · ".join(self.label.split(" · ")[:2])


def bars(facet: Facet, chosen: Sequence[str]) -> list[FacetBar]:
    """A facet's values as bars; none if each value has one paper, which cannot narrow anything."""
    most = max((papers for _, papers in facet.values), default=0)
    if most < 2 and not chosen:
        return []
    return [FacetBar(str(value), papers, round(100 * papers / most, 1), str(value) in chosen) for value, papers in facet.values]


def histogram(facet: Facet, years: tuple[int | None, int | None]) -> Histogram | None:
    """A facet of years as a histogram; None for fewer than two."""
    counts = {int(year): papers for year, papers in facet.values}
    if len(counts) < 2:
        return None
    last = max(min(max(counts), date.today().year + 1), min(counts) + 1)  # later years are typing errors
    first = max(min(counts), last - LONGEST_SPAN + 1)
    papers_of = dict.fromkeys(range(first, last + 1), 0)
    for year, papers in counts.items():
        papers_of[min(max(year, first), last)] += papers
    values = {year: str(year) for year in papers_of}
    values |= {first: f"-{first}"} if min(counts) < first else {}
    values |= {last: f"{last}-"} if max(counts) > last else {}
    most = max(papers_of.values())
    since, until = (years[0] or 0, years[1] or math.inf) if any(years) else (math.inf, 0)
    return Histogram(
        first,
        last,
        [FacetBar(values[year], papers, round(100 * papers / most, 1), since <= year <= until) for year, papers in papers_of.items()],
    )


def map_groups(answer_map: AnswerMap) -> list[MapGroup]:
    """The groups of a map with their points."""
    hits, places = answer_map.answer.hits, np.round(MAP_MARGIN + answer_map.points * (np.array(MAP_SIZE) - 2 * MAP_MARGIN), 1)
    groups = []
    for number, label in enumerate(answer_map.labels):
        inside = np.flatnonzero(np.array(answer_map.groups) == number)
        points = [MapPoint(hits[place], *places[place].tolist()) for place in inside.tolist()]
        x, y = np.sort(places[inside], axis=0)[len(inside) // 2].tolist()
        groups.append(MapGroup(number, " · ".join(label) or "no words of its own", points, x, y))
    return _without_overlaps(groups)


def _without_overlaps(groups: Sequence[MapGroup]) -> list[MapGroup]:
    """Groups, the largest first, with names that do not overlap: each is as near its papers as earlier names allow."""
    placed: list[MapGroup] = []
    for group in groups:
        width = len(group.short_label) * LETTER / 2
        group = replace(group, x=min(max(group.x, width), MAP_WIDTH - width))
        low, high = LABEL_HEIGHT, MAP_HEIGHT - LABEL_HEIGHT
        tries = [group.y + sign * step * LABEL_HEIGHT / 2 for step in range(2 * MAP_HEIGHT // LABEL_HEIGHT) for sign in (-1, 1)]
        free = [y for y in tries if low <= y <= high and not any(_overlap(group, y, other) for other in placed)]
        placed.append(replace(group, y=free[0] if free else group.y))
    return placed


def _overlap(group: MapGroup, y: float, other: MapGroup) -> bool:
    width = (len(group.short_label) + len(other.short_label)) * LETTER / 2
    return abs(y - other.y) < LABEL_HEIGHT and abs(group.x - other.x) < width
