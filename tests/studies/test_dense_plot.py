"""The plot of what types of dense index are worth."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import matplotlib.image
import pytest

from sciretrieve.studies.dense_plot import plot
from sciretrieve.studies.dense_types import Bench, TypeMeasured
from tests.command_line import sciretrieve

ROWS = (
    TypeMeasured("flat", None, None, 1.0, 20.0, 1536.0, 0.0),
    TypeMeasured("hnsw", "ef", 48, 0.95, 0.5, 656.4, 7.0),
    TypeMeasured("hnsw", "ef", 96, 0.99, 0.9, 656.4, 7.0),
    TypeMeasured("IVF64,PQ48x4fsr", "nprobe", 8, 0.9, 0.7, 1043.0, 9.0),
)
BENCH = Bench(30_000, 29_800, 200, 10, 384, "cosine", ROWS)
SVG = "{http://www.w3.org/2000/svg}"


def test_an_svg_says_what_was_measured(tmp_path: Path) -> None:
    plot(BENCH, tmp_path / "types.svg")
    root = ElementTree.parse(tmp_path / "types.svg").getroot()
    texts = ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]
    assert {
        *("Pareto front", "flat, 1,536 bytes a paper", "hnsw, 656 bytes a paper", "IVF64,PQ48x4fsr, 1,043 bytes a paper"),
        *("milliseconds a query, one at a time", "recall@10 against exact search"),
        "29,800 papers, 200 others as queries, 384 dimensions, cosine",
    } <= set(texts)


def test_the_front_goes_through_the_markers_of_its_rows(tmp_path: Path) -> None:
    plot(BENCH, tmp_path / "types.svg")
    (axes,) = ElementTree.parse(tmp_path / "types.svg").getroot().findall(f".//{SVG}g[@id='axes_1']")
    lines = [[(float(use.get("x", 0)), float(use.get("y", 0))) for use in line.findall(f"{SVG}g/{SVG}use")] for line in axes]
    front, flat, hnsw, ivf = (line for line in lines if line)
    assert front == [*hnsw, *flat]
    assert len(front) == 3
    assert front == sorted(front)  # later is further right
    assert front == sorted(front, key=lambda place: -place[1])  # more is further up
    assert ivf[0][1] > max(height for _, height in front)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_same_figures_are_the_same_bytes_however_matplotlib_is_set_up(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first.{suffix}", tmp_path / f"second.{suffix}"
    plot(BENCH, first)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        plot(BENCH, second)
        assert mpl.rcParams["font.size"] == 30
    assert first.read_bytes() == second.read_bytes()
    plot(replace(BENCH, rows=ROWS[:2]), second)
    assert first.read_bytes() != second.read_bytes()


def test_a_png_is_an_image_and_no_display_is_asked_for(tmp_path: Path) -> None:
    plot(BENCH, tmp_path / "types.png")
    assert matplotlib.image.imread(tmp_path / "types.png").shape == (750, 1500, 4)
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sciretrieve("bench", "-i", tmp_path / "no-index-is-looked-for", "-o", tmp_path / "types.svg")
    assert (result.returncode, result.stdout) == (4, "")
    assert result.stderr == 'sciretrieve: a plot needs the package matplotlib, which is not installed: pip install "sciretrieve[plots]"\n'
    assert not list(tmp_path.iterdir())
