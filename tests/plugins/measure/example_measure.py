"""A measure: a half for the first relevant document, a quarter for the second, and so on."""

from collections.abc import Mapping, Sequence


def halved(ranked: Sequence[str], grades: Mapping[str, int], cutoff: int | None) -> float:
    relevant = [id for id in ranked[:cutoff] if grades.get(id, 0) > 0]
    return 1 - 0.5 ** len(relevant)


def text(ranked: Sequence[str], grades: Mapping[str, int], cutoff: int | None) -> str:
    return "good"


def never(ranked: Sequence[str], grades: Mapping[str, int], cutoff: int | None) -> float:
    raise AssertionError
