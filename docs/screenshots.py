"""Draws docs/pictures/*.svg: real commands over the demo's papers, as a terminal shows them; a test fails when they are stale.

Only the time is left out, since it varies. Scores are those of the machine that draws; other CPUs round them otherwise.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from generate import no_settings
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

import sciretrieve as sr
from sciretrieve import commands, demo

FOLDER = Path(__file__).parent / "pictures"
PICTURES = {
    "search": ("search", "how do vaccines teach the immune system?", "-k", "3"),
    "show": ("show", demo.PAPER),
}
WIDTH = 84
FONT_OF_THE_WEB = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
TIME = re.compile(r" · \d+\.\d s(?= ·|\x1b\[0m$)", re.MULTILINE)


def pictures(index: Path) -> dict[str, str]:
    """Each picture as SVG, by name, of commands over the demo's index."""
    return {name: _drawn(name, command, _printed(index, command)) for name, command in PICTURES.items()}


@no_settings()
def _printed(index: Path, command: tuple[str, ...]) -> str:
    """What a command prints to a terminal that is in a folder with the index as ./indexes/demo."""
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLORTERM": "", "COLUMNS": str(WIDTH)}
    with tempfile.TemporaryDirectory() as folder, chdir(folder), mock.patch.dict(os.environ, terminal):
        os.environ.pop("NO_COLOR", None)
        Path("indexes").mkdir()
        Path("indexes/demo").symlink_to(index)
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as error:
            code = commands.run(command)
    assert not code, error.getvalue()
    return TIME.sub("", out.getvalue())


def _drawn(name: str, command: tuple[str, ...], printed: str) -> str:
    line = f"$ {shlex.join(('sciretrieve', *command))}"
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text(line, "bold green"), Text.from_ansi(printed), sep="\n", highlight=False)
    svg = console.export_svg(title="sciretrieve", theme=SVG_EXPORT_THEME, unique_id=name)
    return FONT_OF_THE_WEB.sub("", svg)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        index = sr.build(demo.CORPUS, Path(folder) / "demo").path
        FOLDER.mkdir(exist_ok=True)
        for name, svg in pictures(index).items():
            (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
