"""A corpus's rejected rows, written to a file at once: a corpus of millions may have many."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ...base.errors import BadPaper, RowsRejected, warn
from ...base.wording import counted
from .raw import Rejected, Withdrawn

if TYPE_CHECKING:
    from .corpus import Corpus

LOG = logging.getLogger(__name__)
REJECTED = "rejected.jsonl"
"""The file of an index with the rows of the last corpus that were rejected."""
SHOWN = 100
"""How many of the rejected rows are handed to whoever gave the corpus; the file has all."""


class Tally:
    """Is called with a corpus's bad rows.

    Attributes:
        count: how many there were.
        first: the first `SHOWN` of them.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.count = 0
        self.first: list[Rejected] = []

    def __call__(self, rejected: Sequence[Rejected]) -> None:
        """Count them, but for papers that their source has withdrawn. Raises BadPaper for the first if the run is strict."""
        rejected = _lost(rejected)
        if rejected and self._strict:
            raise BadPaper(rejected[0].source, rejected[0].row, rejected[0].reason)
        self.count += len(rejected)
        self.first += rejected[: SHOWN - len(self.first)]


def _lost(rejected: Sequence[Rejected]) -> list[Rejected]:
    return [row for row in rejected if not isinstance(row, Withdrawn)]


class Rejections(Tally):
    """Such a tally that also writes the rows to a file, `path`, one JSON object per line; it is created with the first."""

    def __init__(self, path: Path, strict: bool) -> None:
        super().__init__(strict=strict)
        self.path = path

    def __call__(self, rejected: Sequence[Rejected]) -> None:
        """Write them to the file. Raises BadPaper for the first if the run is strict."""
        is_first, rejected = not self.count, _lost(rejected)
        super().__call__(rejected)
        if rejected:
            if is_first:
                self.path.unlink(missing_ok=True)  # which may be a link to another file
            # ids, reasons and paths may hold bytes that are not UTF-8 as lone surrogates, which such escapes stand for in JSON, too
            with self.path.open("x" if is_first else "a", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.writelines(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rejected)


def accepted(corpus: Corpus) -> Iterator[pa.Table]:
    """The papers of a corpus that is read once, a batch at a time; afterwards a warning of its rejected rows."""
    rejections = Tally()
    for batch in corpus.batches():
        rejections(batch.rejected)
        yield batch.papers
    warn_of(rejections.count, rejections.first, corpus.name)


def read_rejections(path: Path, count: int) -> tuple[Rejected, ...]:
    """The first `SHOWN` rows of such a file, if it has as many as are expected; it may be of another corpus since, or gone."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if count else []
        return tuple(Rejected(**json.loads(line)) for line in lines[:SHOWN]) if len(lines) == count else ()
    except (OSError, TypeError, ValueError):
        return ()


def warn_of(count: int, first: Sequence[Rejected], what: str, path: Path | None = None) -> None:
    """Warn of the rows of `what` that were left out, through `logging` and as RowsRejected, so that none vanishes in silence."""
    if count:
        example = f", the first, row {first[0].row} of {first[0].source}, for {first[0].reason}" if first else ""
        message = f"{what}: rejected {counted(count, 'row')}{example}" + (f"; {path} lists them" if path else "")
        message = message.encode("utf-8", "backslashreplace").decode()  # not every log takes lone surrogates
        LOG.warning("%s", message)
        warn(message, RowsRejected)
