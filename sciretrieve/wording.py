"""Numbers as people read them: counts with their nouns, durations, sizes."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: 1 paper, 1,200 papers, 2 queries."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], count: int) -> str:
    """The first of so many names: a, b, c, …"""
    return ", ".join(names) + (", …" if count > len(names) else "")


def in_words(seconds: float) -> str:
    """A duration for people: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, remaining_seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {remaining_seconds} s" if minutes else f"{remaining_seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


def in_bytes(size: int) -> str:
    """A size for people: 812 B, 3.2 MB, 1.4 GB."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
