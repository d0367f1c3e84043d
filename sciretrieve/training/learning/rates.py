"""How the learning rate goes: up to its peak in the warm-up, then down, as a factor of the peak."""

from __future__ import annotations

from ...choices import Schedule


def factor(schedule: Schedule, step: int, warmup: float, steps: int) -> float:
    """The share of the peak that a step's rate is.

    Args:
        schedule: "linear" falls to zero at the end; "inverse-root" with the root of the step (Vaswani et al. 2017, section 5.3);
            "constant" stays.
        step: from 0.
        warmup: steps of warm-up; below 1 a share of all steps.
        steps: all steps.
    """
    up = warmup if warmup >= 1 else warmup * steps
    if step < up:
        return (step + 1) / up if up >= 1 else 1.0
    if schedule == "linear":
        return max(0.0, (steps - step) / max(steps - up, 1.0))
    if schedule == "inverse-root":
        return float((max(up, 1.0) / (step + 1)) ** 0.5)
    return 1.0
