"""The optimiser of a training: which weights decay, the rate of each step and layer, and the norm of the gradient."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch

from ..presets import Plan

LAYER = re.compile(r"\bencoder\.layer\.(\d+)\.")
ABOVE = 2
"""Rates fall so many layers above the last one (SciMult's authors' code)."""


def optimiser_of(parameters: Mapping[str, Any], plan: Plan) -> Any:
    """AdamW for some weights by name, each a group of its own. Biases and weights of normalisations, which are vectors, do not decay."""
    numbers = [int(match[1]) for match in map(LAYER.search, parameters) if match]
    layers = max(numbers, default=-1) + 1
    groups = [
        {
            "params": [value],
            "weight_decay": plan.decay if value.dim() > 1 else 0.0,
            "share": plan.layer_decay ** (layers + ABOVE - _depth(name, layers)),
        }
        for name, value in parameters.items()
    ]
    return torch.optim.AdamW(groups, lr=plan.rate, betas=plan.betas, eps=plan.epsilon, foreach=False)


def _depth(name: str, layers: int) -> int:
    """The depth of a BERT's weights: 0 for its embeddings, then its layers, then what is above them."""
    match = LAYER.search(name)
    return int(match[1]) + 1 if match else 0 if "embeddings." in name else layers + ABOVE


def take_step(optimiser: Any, plan: Plan, step: int, steps: int) -> float:
    """Change the weights by their gradients. Returns the rate of the step, which is counted from 0."""
    rate = plan.rate * factor(plan, step, steps)
    if plan.clip is not None:
        torch.nn.utils.clip_grad_norm_([value for group in optimiser.param_groups for value in group["params"]], plan.clip)
    for group in optimiser.param_groups:
        group["lr"] = rate * group["share"]
        if plan.early_epsilon:
            done = float(optimiser.state[group["params"][0]].get("step", 0))
            group["eps"] = plan.epsilon / (1 - plan.betas[1] ** (done + 1)) ** 0.5
    optimiser.step()
    return rate


def factor(plan: Plan, step: int, steps: int) -> float:
    """The learning rate of a step, counted from 0, as a share of the peak.

    After the warm-up, "linear" falls to zero at the horizon or the end; "inverse-root" falls with the root of the step (Vaswani et al.
    2017, section 5.3); "constant" stays.
    """
    up = int(plan.warmup if plan.warmup >= 1 else plan.warmup * steps)
    if step < up:
        return plan.start + (1 - plan.start) * (step + plan.counts_from) / up
    if plan.schedule == "linear":
        end = plan.horizon or steps
        return max(0.0, (end - step) / max(end - up, 1))
    if plan.schedule == "inverse-root":
        return float((max(up, 1) / (step + 1)) ** 0.5)
    return 1.0
