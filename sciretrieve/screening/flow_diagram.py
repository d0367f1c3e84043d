"""PRISMA's flow diagram as SVG: boxes, arrows and text. The file is self-contained, and equal numbers give equal bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias
from xml.sax.saxutils import escape

from ..base.wording import without_controls, wrapped
from .prisma import Prisma

WIDTH, MARGIN, GAP = 760, 12, 28
PHASE = 32
"""Width of the bar that names a phase."""
LEFT, RIGHT = (64, 300), (424, 324)
"""Left edge and width of the two columns."""
LINE, PADDING, LETTER = 17, 11, 6.9
"""Height of a line, padding around text, and greatest mean width of a letter."""
PHASE_LETTER = 8.3
"""Greatest mean width of a bold letter."""
NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
STYLE = (
    "text{font:13px Helvetica,Arial,'Liberation Sans',sans-serif;fill:#111}.phase{font-weight:bold;fill:#fff}"
    ".box{fill:#fff;stroke:#333}.bar{fill:#3b5b7a}.arrow{stroke:#333;fill:none;marker-end:url(#head)}"
)


_Row: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A phase, its box in the main column, and the boxes to its right."""


def flow_diagram(numbers: Prisma, claim: str = "") -> str:
    """The diagram as the text of an .svg file.

    Args:
        numbers: the numbers to show.
        claim: the statement on recall below the diagram.
    """
    rows = _rows(numbers)
    parts: list[str] = []
    phases: dict[str, tuple[float, float]] = {}
    top, before = float(MARGIN), 0.0
    for phase, main, beside in rows:
        boxes = [(LEFT, _wrap(main, LEFT[1])), *((RIGHT, _wrap(lines, RIGHT[1])) for lines in beside)]
        heights = [float(len(lines) * LINE + 2 * PADDING) for _, lines in boxes]
        if sum(other == phase for other, *_ in rows) == 1:  # leaves room for the phase's name
            heights[0] = max(heights[0], len(phase) * PHASE_LETTER + PADDING)
        row_height = max(heights[0], sum(heights[1:]) + PADDING * (len(heights) - 2))
        leaving = top + min(heights[:2]) / 2  # straight into the first box to the right
        parts += _box(LEFT, top, heights[0], boxes[0][1])
        if before:
            parts.append(_arrow((LEFT[0] + LEFT[1] / 2, before), (LEFT[0] + LEFT[1] / 2, top)))
        beside_top = top
        for (column, lines), box_height in zip(boxes[1:], heights[1:], strict=True):
            parts += _box(column, beside_top, box_height, lines)
            aim = leaving if beside_top == top else beside_top + box_height / 2
            parts.append(_arrow((LEFT[0] + LEFT[1], leaving), (column[0], aim)))
            beside_top += box_height + PADDING
        phases[phase] = phases.get(phase, (top, top))[0], top + row_height
        before, top = top + heights[0], top + row_height + GAP
    bars = [part for name, (begun, end) in phases.items() for part in _bar(name, begun, end)]
    foot = _wrap([claim], WIDTH - 2 * LEFT[0] + 2 * MARGIN) if claim else []
    parts += _text(LEFT[0], top - PADDING, foot)
    size = f'width="{WIDTH}" height="{top - GAP + MARGIN + (len(foot) * LINE + PADDING if foot else 0):g}"'
    title = f"{numbers.identified:,} records identified, {numbers.screened:,} screened, {numbers.included:,} included"
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>PRISMA 2020 flow diagram</title><desc>{title}</desc><style>{STYLE}</style>",
            '<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
            '<path d="M0,0 L9,4 L0,8 z" fill="#333"/></marker></defs>',
            f'<rect {size} fill="#fff"/>',
            *bars,
            *parts,
            "</svg>\n",
        ]
    )


def _rows(numbers: Prisma) -> list[_Row]:
    sought = {"Records not in the index": numbers.not_indexed, "Records not eligible by the filter or the search": numbers.not_eligible}
    removed = {"Duplicate records": numbers.duplicates} | {name: count for name, count in sought.items() if count}
    unresolved = {name: count for name, count in (("Maybe", numbers.maybe), ("In conflict", numbers.conflicts)) if count}
    excluded = _count_lines(_count("Records excluded", sum(numbers.excluded.values())), numbers.excluded)
    return [
        (
            "Identification",
            _count_lines(_count("Records identified", numbers.identified), numbers.sources),
            [_count_lines("Records removed before screening:", removed)],
        ),
        (
            "Screening",
            [_count("Records to screen", numbers.to_screen)],
            [[_count("Records not read, as reading stopped", numbers.not_read)]],
        ),
        (
            "Screening",
            [_count("Records screened", numbers.screened)],
            [excluded, _count_lines("Records not resolved:", unresolved)] if unresolved else [excluded],
        ),
        ("Included", [_count("Records included by title and abstract", numbers.included)], []),
    ]


def _count(name: str, count: int) -> str:
    return f"{name} (n\xa0=\xa0{count:,})"


def _count_lines(heading: str, counts: Mapping[str, int]) -> list[str]:
    """Counts below a heading."""
    return [heading, *(f"  {_count(name, count)}" for name, count in counts.items())]


def _wrap(lines: Sequence[str], width: float) -> list[str]:
    """Wrap lines to a box's width. If a line begins with blanks, so do its parts."""
    most = int((width - 2 * PADDING) / LETTER)
    fitting: list[str] = []
    for line in lines:
        indent = "  " * line.startswith("  ")
        fitting += [indent + part for part in wrapped(NOT_XML.sub("\ufffd", without_controls(line)), most - len(indent))]
    return fitting


def _box(column: tuple[int, int], top: float, height: float, lines: Sequence[str]) -> Iterator[str]:
    left, width = column
    yield f'<rect class="box" x="{left}" y="{top:g}" width="{width}" height="{height:g}" rx="3"/>'
    yield from _text(left + PADDING, top + PADDING, lines)


def _text(left: float, top: float, lines: Sequence[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        indent = 6 * (len(line) - len(line.lstrip()))
        yield f'<text x="{left + indent:g}" y="{top + place * LINE + 13:g}">{escape(line.strip())}</text>'


def _bar(name: str, top: float, end: float) -> Iterator[str]:
    yield f'<rect class="bar" x="{MARGIN}" y="{top:g}" width="{PHASE}" height="{end - top:g}" rx="3"/>'
    across, middle = MARGIN + PHASE / 2 + 4.5, (top + end) / 2
    yield (
        f'<text class="phase" x="{across:g}" y="{middle:g}" text-anchor="middle" '
        f'transform="rotate(-90 {across:g} {middle:g})">{name}</text>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """An arrow down, or to the right with a turn halfway."""
    (left, top), (right, bottom) = start, end
    line = f"V{bottom:g}" if left == right else f"H{(left + right) / 2:g} V{bottom:g} H{right:g}"
    return f'<path class="arrow" d="M{left:g},{top:g} {line}"/>'
