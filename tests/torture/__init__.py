"""Torture: crashes, power failures, faults, damage, and hostile input, a few in every run of the tests, thousands by `make torture`."""

from __future__ import annotations

import sys


def examples(small: int, large: int) -> int:
    """How many examples hypothesis tries: the second with `pytest --torture`."""
    return large if "--torture" in sys.argv else small
