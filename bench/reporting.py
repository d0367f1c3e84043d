"""What every benchmark shares: taking turns, a table, and JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def arguments(description: str | None, **defaults: Any) -> argparse.Namespace:
    """Parse `--json` and one option a default, typed by it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    return parser.parse_args()


def taking_turns(
    contenders: Mapping[str, Callable[[], Any]], rounds: int = 5, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Run all contenders in turn, `rounds` times after one warm-up; the median seconds of each, by a clock.

    Their order changes, since what runs before decides what the processor's caches hold.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    shuffled = random.Random(0)
    for turn in range(rounds + 1):
        for name, run in shuffled.sample(list(contenders.items()), len(contenders)):
            start = clock()
            run()
            if turn:
                seconds[name].append(clock() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def report(rows: Sequence[Mapping[str, Any]], path: Path | None) -> None:
    """Print rows with equal keys as a table, and write them with the machine's facts if a path is given."""
    names = list(rows[0])
    cells = [names, *([_shown(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    for line in cells:
        print(
            "  ".join(
                cell.ljust(width) if at == 0 else cell.rjust(width) for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
        )
    if path:
        machine = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
        path.write_text(json.dumps({**machine, "date": time.strftime("%Y-%m-%d"), "rows": list(rows)}, indent=1) + "\n")


def _shown(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
