"""The plots of a study: the results of each class, similarities between papers and between one paper's texts, and a t-SNE map of the
vectors.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...files.figures import COLOURS, check_plot, draw
from .neighbours import CATEGORIES
from .report import NAMES
from .similarities import check_neighbour_map, neighbour_map
from .study import PAPERS, TITLES, Study

MAPPED = 2_000
"""The most papers of the t-SNE map, which is slow; a random sample if there are more."""


def check_plots(folder: Path) -> None:
    """Check that plots can be drawn into a folder, before a study. Raises as `files.figures.check_plot`, for t-SNE, too."""
    check_plot(folder / "classes.svg")
    check_neighbour_map()


def plots(study: Study, folder: Path) -> dict[str, str]:
    """Draw a study's plots as .svg files in an existing folder. Returns their names by plot. Raises as `files.figures.draw`."""
    figures = {"classes": _classes}
    if study.space is not None:
        figures |= {"similarities": _similarities, "between": _between, "map": _map}
    for name, figure in figures.items():
        draw(partial(figure, study), folder / f"{name}.svg")
    return {name: f"{name}.svg" for name in figures}


def _classes(study: Study) -> Any:
    """A heat map: each class's NN1_Ret and AOP-10, by search mode."""
    results = [result for category in CATEGORIES for result in study.classes if result.category == category]
    figure, axes = _figure(9, 0.26 * len(results) + 1.5)
    columns = [(mode, field) for field in ("nn1", "aop10") for mode in study.modes]
    values = np.array([[100 * getattr(result.found[mode], field) for mode, field in columns] for result in results])
    image = axes.imshow(values, cmap="viridis", vmin=0, vmax=100, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", fontsize=8, color="white" if value < 60 else "black")
    axes.set_xticks(range(len(columns)), [f"{NAMES[mode]}\n{'NN1_Ret' if field == 'nn1' else 'AOP-10'}" for mode, field in columns])
    axes.set_yticks(range(len(results)), [f"{result.category}  {result.code}" for result in results])
    figure.colorbar(image, label="per cent")
    return figure


def _similarities(study: Study) -> Any:
    """The cosines of different papers in each class: mean, deviation, least, greatest; and the mean with the originals."""
    results = [
        result for category in CATEGORIES for result in study.classes if result.category == category and result.similarities is not None
    ]
    figure, axes = _figure(10, 0.24 * len(results) + 1.5)
    colour = dict(zip(CATEGORIES, COLOURS, strict=False))
    for place, result in enumerate(results):
        alike = result.similarities
        assert alike is not None
        axes.plot([alike.least, alike.greatest], [place, place], color=colour[result.category], linewidth=1)
        axes.plot(
            [alike.mean - alike.deviation, alike.mean + alike.deviation],
            [place, place],
            color=colour[result.category],
            linewidth=5,
            alpha=0.5,
            solid_capstyle="butt",
        )
        axes.plot(alike.mean, place, "|", color="black", markersize=9)
        axes.plot(result.to_original, place, "o", color=colour[result.category], markersize=5)
    axes.set_yticks(range(len(results)), [f"{result.category}  {result.code}" for result in results])
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("cosine: line, all pairs of different papers; bar, mean and deviation; dot, mean with the paper's own original")
    return figure


def _between(study: Study) -> Any:
    """A heat map of the mean cosine between the same paper's texts in each two sets."""
    assert study.space is not None
    count = len(study.sets)
    figure, axes = _figure(0.27 * count + 3, 0.27 * count + 2)
    image = axes.imshow(study.space.between, cmap="viridis", vmax=1)
    axes.set_xticks(range(count), study.sets, rotation=90, fontsize=8)
    axes.set_yticks(range(count), study.sets, fontsize=8)
    figure.colorbar(image, label="mean cosine of the same paper's texts", shrink=0.8)
    return figure


def _map(study: Study) -> Any:
    """A joint t-SNE map of papers and titles."""
    assert study.space is not None
    chosen = np.arange(study.papers)
    if study.papers > MAPPED:
        chosen = np.sort(np.random.default_rng(study.seed).choice(study.papers, MAPPED, replace=False))
    points = neighbour_map(study.space.vectors[np.concatenate([chosen, study.papers + chosen])], study.seed)
    figure, axes = _figure(7, 6)
    for number, name in enumerate((PAPERS, TITLES)):
        x, y = points[number * len(chosen) : (number + 1) * len(chosen)].T
        label = f"{name}: {'title and abstract' if name == PAPERS else 'title alone'}"
        axes.scatter(x, y, s=9, alpha=0.6, linewidths=0, color=COLOURS[number], label=label, rasterized=True)
    axes.set_xlabel("t-SNE")
    axes.legend(frameon=False)
    return figure


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()
