"""A training that a person stops."""

from __future__ import annotations


class Stops:
    """See `protocols.Progress`. Interrupts when more than so many are done of anything."""

    def __init__(self, after: int) -> None:
        self._left = after

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Nothing is shown."""

    def advance(self, papers: int) -> None:
        """Count, and interrupt."""
        self._left -= papers
        if self._left < 0:
            raise KeyboardInterrupt

    def note(self, text: str) -> None:
        """Nothing is shown."""
