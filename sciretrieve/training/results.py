"""The results of a training beside the weights: facts, curves, and a model card with data and gains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import MissingExtra
from ..base.extras import need
from ..base.wording import duration_text
from ..files.figures import COLOURS, draw
from ..files.writing import write_json, write_lines, write_whole
from ..metrics.significance import Comparison, compare

FACTS, LOG, CARD, CURVES, EVENTS = "training.json", "log.jsonl", "README.md", "curves.svg", "tensorboard"


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished training.

    Attributes:
        folder: the encoder's folder.
        measure: the measure's name; "" for none.
        base, best: the measure's mean before training, and of the weights that were kept; None if nothing was measured.
        comparison: the two, query by query, or held-out paper by paper for a loss; None for fewer than two.
        steps: steps done.
        best_step: the step of the weights that were kept; 0 for the encoder as it was, if nothing was gained.
        seconds: of computing.
        stopped: why it ended before its last step; "" if it did not.
        rank: the rank of this process among those of torchrun; process 0 wrote the folder.
        counted: the units of the comparison: "queries", or "papers" if each has several.
    """

    folder: Path
    measure: str
    base: float | None
    best: float | None
    comparison: Comparison | None
    steps: int
    best_step: int
    seconds: float
    stopped: str
    rank: int = 0
    counted: str = "queries"


def compared(base: Mapping[str, float], best: Mapping[str, float]) -> Comparison | None:
    """The gain, query by query."""
    if len(base) < 2:
        return None
    return compare(np.array(list(base.values())), np.array([best[query] for query in base]))


def write_results(folder: Path, trained: Trained, facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the facts, the log, the curves and the card into an encoder's folder. Returns notes for the user."""
    write_json(folder / FACTS, dict(facts))
    write_lines(folder / LOG, (json.dumps(row) for row in rows))
    write_whole(folder / CARD, card(trained, facts).encode())
    try:
        draw(lambda: _figure(rows, trained), folder / CURVES)
    except MissingExtra as error:
        return [f"no curves were drawn: {error}"]
    return []


def is_kept(trained: Trained) -> bool:
    """Whether a gain is more than chance, by its 95 % interval, or nothing was measured."""
    return trained.base is None or (trained.comparison is not None and trained.comparison.is_gain)


def gain(trained: Trained) -> str:
    """The gain, in a sentence, with the number of queries that would show it if these do not."""
    if trained.base is None or trained.best is None:
        return "nothing was measured: the training sets have too few queries to hold some out, and `held_out` names no benchmark"
    is_loss = "loss" in trained.measure
    factor, form, units = (1, ".4f", "papers") if is_loss else (100, ".1f", trained.counted)
    text = f"{trained.measure} of held-out {units}: {factor * trained.base:{form}} before, {factor * trained.best:{form}} after"
    if (c := trained.comparison) is not None:
        ends = " to ".join(f"{factor * end:+{form}}" for end in (c.low, c.high))
        text += f" ({factor * c.difference:+{form}}, 95 % interval {ends}, p = {c.p_randomisation:.4f}, {c.queries:,} {units})"
        text += f"; {c.needed.replace('queries', units)}" if c.needed and not c.is_gain else ""
    return text


def card(trained: Trained, facts: Mapping[str, Any]) -> str:
    """The model card, in Markdown."""
    plan = facts["plan"]
    lines = [
        f"# {trained.folder.name}",
        "",
        f"{Path(plan['base']).name}, trained by sciretrieve {facts['sciretrieve']}: {facts['method_in_words']}.",
        "",
        "```",
        f"sciretrieve index papers.parquet --encoder {trained.folder.name}",
        "```",
        "",
        "## Gain",
        "",
        f"{gain(trained)}. Weights of step {trained.best_step:,} of {trained.steps:,}"
        + (f"; {trained.stopped}" if trained.stopped else "")
        + ".",
        "",
        (
            "These figures are of held-out papers of the same index. Each was searched by its title and by one of its sentences, and its"
            " cited papers by the paper itself. So the figures hold for this library, not for others:"
            if facts["judged_apart"]
            else "The training was measured and stopped by these figures. So they hold for data of this kind, not for others:"
        )
        + " for these, `sciretrieve evaluate`.",
        "",
        "## Data",
        "",
        "| set | form | examples | made by | left out | SHA-256 |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {row['name']} | {row['task']} | {row['examples']:,} | {row['recipe']} | {row['without']} | {row['sha256'][:12]}… |"
            for row in facts["data"]
        ),
        "",
        "## Training",
        "",
        f"- command: `{facts['command']}`",
        f"- seed {plan['seed']}; {facts['parameters']:,} weights trained of {facts['parameters_in_all']:,};"
        f" {duration_text(trained.seconds)} on {facts['machine']}",
        *(
            f"- {name}: {json.dumps(value)}"
            for name, value in sorted(plan.items())
            if name not in ("base", "seed", "source") and value is not None
        ),
        f"- source of these figures: {plan['source']}",
        f"- base: {Path(plan['base']).name}, "
        + ", ".join(f"{name} {digest[:12]}…" for name, digest in sorted(facts["base_files"].items())),
        "",
    ]
    return "\n".join(lines)


def _figure(rows: Sequence[Mapping[str, Any]], trained: Trained) -> Any:
    """Losses by step, with the measure below them."""
    from matplotlib.figure import Figure

    measured = [(0, trained.base), *((row["step"], row["value"]) for row in rows)] if trained.base is not None else []
    figure = Figure(figsize=(7, 6 if measured else 3), layout="constrained")
    axes = figure.subplots(2 if measured else 1, 1, sharex=True, squeeze=False)[:, 0]
    names = list(dict.fromkeys(name for row in rows for name in row["losses"]))
    for name, colour in zip(names, COLOURS * (1 + len(names) // len(COLOURS)), strict=False):
        points = [(row["step"], row["losses"][name]) for row in rows if name in row["losses"]]
        axes[0].plot(*zip(*points, strict=True), marker="o", markersize=3, color=colour, label=name)
    axes[0].set_ylabel("training loss")
    if len(names) > 1:
        axes[0].legend(frameon=False)
    if measured:
        axes[1].plot(*zip(*measured, strict=True), marker="o", markersize=3, color=COLOURS[1])
        axes[1].axvline(trained.best_step, color="#999999", linewidth=1)
        axes[1].set_ylabel(trained.measure)
    axes[-1].set_xlabel("step")
    return figure


class Board:
    """TensorBoard events in the folder `tensorboard` of a running training; a resumed training appends."""

    def __init__(self, partial: Path) -> None:
        """Raises MissingExtra if TensorBoard is not installed."""
        need("tensorboard", "events for TensorBoard")
        from torch.utils.tensorboard import SummaryWriter

        self._folder = partial / EVENTS
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
        """Close the board, and move its files into the encoder's folder."""
        self._writer.close()
        self._folder.rename(folder / EVENTS)
