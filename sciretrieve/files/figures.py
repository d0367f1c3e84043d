"""Plots as .svg or .png files. Equal figures give equal bytes for one version of matplotlib. No display is needed."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest
from ..base.extras import need
from .writing import write_whole

FORMATS = (".svg", ".png")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""
SETTINGS = {"svg.hashsalt": "sciretrieve", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10.0, "text.parse_math": False}
"""Makes SVG deterministic and its text real text, and keeps a dollar in a name from starting a formula."""


def check_plot(target: Path) -> None:
    """Check that a plot can be drawn and written, before it is made.

    Raises:
        InvalidRequest: the suffix is not .svg or .png, or the place is not writable.
        MissingExtra: matplotlib is not installed.
    """
    if target.suffix not in FORMATS:
        raise InvalidRequest(f"cannot draw {target.name}: name a .svg or a .png file")
    try:
        if target.is_dir():
            raise InvalidRequest(f"cannot write to {target}: it is a directory; name a file")
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise InvalidRequest(f"cannot write {target.name} to {target.parent}: {error.strerror}") from error
    _load_matplotlib()


def draw(figure: Callable[[], Any], target: Path) -> None:
    """Draw the matplotlib figure that `figure()` returns, with our settings, into an .svg or .png file.

    Raises as `check_plot`.
    """
    check_plot(target)
    write_whole(target, drawn(figure, target.suffix.removeprefix(".")))


def drawn(figure: Callable[[], Any], kind: str = "svg") -> bytes:
    """The same as bytes. Raises MissingExtra if matplotlib is not installed."""
    matplotlib = _load_matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        buffer = io.BytesIO()
        figure().savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()


def _load_matplotlib() -> Any:
    need("matplotlib", "a plot")
    import matplotlib

    return matplotlib
