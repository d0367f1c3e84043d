"""The curves of a training as events for TensorBoard, written while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.errors import MissingExtra

NAME = "tensorboard"


class Board:
    """Events in the folder `tensorboard` of a training that runs; a training that goes on adds to them."""

    def __init__(self, partial: Path) -> None:
        """Raises MissingExtra if TensorBoard is not installed."""
        try:
            import tensorboard  # noqa: F401
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise MissingExtra("tensorboard", "events for TensorBoard", 'pip install "sciretrieve[tensorboard]"') from error
        self._folder = partial / NAME
        self._writer = SummaryWriter(str(self._folder))

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a measurement's row, see `trainer.Course.rows`."""
        for name, value in row["losses"].items():
            self._writer.add_scalar(f"loss/{name}", value, row["step"])
        self._writer.add_scalar("rate", row["rate"], row["step"])
        if row["value"] is not None:
            self._writer.add_scalar("held out", row["value"], row["step"])
        self._writer.flush()

    def close(self, folder: Path) -> None:
        """End, and move what was written into the encoder's folder."""
        self._writer.close()
        self._folder.rename(folder / NAME)
