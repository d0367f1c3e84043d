"""Reading full texts for `index`, `add` and `sync`, at once or in the background."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from ..base.choices import Device, Help
from ..base.wording import counted, duration_text, size_text
from .console import Console, interruptible

if TYPE_CHECKING:
    from ..protocols import AnyEncoder

FullTextSource: TypeAlias = Annotated[
    str | None,
    Help("Full texts of the papers: a folder of PDF, XML and other files, `zotero`, or a column with paths or texts.", "SOURCE"),
]
Later: TypeAlias = Annotated[bool, Help("Read full texts in the background; papers can be searched at once.")]
SHOWN = 5
"""Files left out that are named."""
LOG = "fulltext.log"
"""What a reader in the background says, in the index's folder."""


def read_full_texts(
    index: Path, source: str, console: Console, *, encoder: AnyEncoder | None = None, device: Device = "auto", later: bool = False
) -> None:
    """Read full texts of an index's papers, and print what came of it."""
    if later:
        _begin(index, source, device, console)
        return
    from ..lifecycle import add_full_texts
    from ..lifecycle.full_texts import UNREAD

    start = time.perf_counter()
    with interruptible(console, f"finished work is kept in {index}, and the same command resumes it"):
        result = add_full_texts(source, index, encoder=encoder, device=device, progress=console)
    for rejected in result.rejections[:SHOWN]:
        console.note(rejected.reason)
    if len(result.rejections) > SHOWN:
        console.note(f"{len(result.rejections) - SHOWN:,} more were left out: see {index / UNREAD}")
    seconds = duration_text(time.perf_counter() - start)
    console.note(
        f"{index}: {counted(result.read, 'full text')} read, {result.unchanged:,} unchanged; {counted(result.passages, 'passage')} of "
        f"{counted(result.papers, 'paper')} now, {size_text(result.bytes)}, {seconds}"
    )


def _begin(index: Path, source: str, device: Device, console: Console) -> None:
    """Start a process that goes on after this command."""
    with (index / LOG).open("ab") as log:
        command = [sys.executable, "-m", "sciretrieve", "add", "--fulltext", source, "-i", str(index), "--set", f"device={device}"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    process.returncode = 0  # nothing waits for it
    console.note(f"full texts are read in the background; {index / LOG} says how far, and searches find them once all are read")
