"""The drawings of a page as numbers: bars for values, a histogram of years, and the places of a map. Templates make SVG of them."""

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
"""How wide a letter of a name on the map is, about, and how high its line."""
LONGEST_SPAN = 150
"""Years that a histogram shows at most."""


@dataclass(frozen=True, slots=True)
class FacetBar:
    """A value, how many papers have it, and how long its bar is, of 100."""

    value: str
    papers: int
    length: float
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many papers are of each year from the first to the last; chosen are those that the page is narrowed down to. Where there are
    earlier or later years, the bar at that end is of these, too, and its value is a range."""

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
    """A group on a map: what it is about, its papers, and where its name stands."""

    number: int
    label: str
    points: Sequence[MapPoint]
    x: float
    y: float

    @property
    def short_label(self) -> str:
        """The first two of its words, which stand on the map."""
        return " · ".join(self.label.split(" · ")[:2])


def bars(facet: Facet, chosen: Sequence[str]) -> list[FacetBar]:
    """A facet's values as bars; none where every value is that of one paper, which narrows nothing down."""
    most = max((papers for _, papers in facet.values), default=0)
    if most < 2 and not chosen:
        return []
    return [FacetBar(str(value), papers, round(100 * papers / most, 1), str(value) in chosen) for value, papers in facet.values]


def histogram(facet: Facet, years: tuple[int | None, int | None]) -> Histogram | None:
    """A facet of years as a histogram; None where there are not two of them."""
    counts = {int(year): papers for year, papers in facet.values}
    if len(counts) < 2:
        return None
    last = max(min(max(counts), date.today().year + 1), min(counts) + 1)  # a year of some later century is a slip of the pen
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
    return _apart(groups)


def _apart(groups: Sequence[MapGroup]) -> list[MapGroup]:
    """Groups, the largest first, whose names do not stand on each other: each is as near its papers as those before it leave room."""
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
