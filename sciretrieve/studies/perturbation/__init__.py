"""Tests whether a system recognises a paper after changes to its text: textual neighbours (Singh and Singh 2022)."""

from .study import Study, robustness

__all__ = ["Study", "robustness"]
