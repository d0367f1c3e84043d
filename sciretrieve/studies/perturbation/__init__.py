"""Whether a system knows a paper again whose text was changed: textual neighbours (Singh and Singh 2022)."""

from .study import Study, robustness

__all__ = ["Study", "robustness"]
