"""BERT's forward pass in float64 NumPy, written from the papers: what loaded encoders are compared with.

Nothing here comes from the package or from transformers; the variants are what the papers add to a layer.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
ERF = np.vectorize(math.erf, otypes=[np.float64])


class NumpyBert:
    """A BERT over a state dict. `name` maps a plain BERT's weight names to the state's own: that is how experts act."""

    def __init__(self, state: Mapping[str, Any], heads: int, name: Callable[[str], str] = lambda name: name) -> None:
        self.state = {key: value.double().numpy() if hasattr(value, "double") else value for key, value in state.items()}
        self.heads = heads
        self.name = name
        self.layers = 1 + max(int(key.split(".")[2]) for key in self.state if key.startswith("encoder.layer."))

    def linear(self, name: str, states: Array) -> Array:
        return linear(self.state, self.name(name), states)

    def norm(self, name: str, states: Array) -> Array:
        centred = states - states.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        weight_name = self.name(name)
        result: Array = scaled * self.state[f"{weight_name}.weight"] + self.state[f"{weight_name}.bias"]
        return result

    def embed(self, ids: list[int]) -> Array:
        table = {part: self.state[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")}
        return self.norm("embeddings.LayerNorm", table["word"][ids] + table["position"][: len(ids)] + table["token_type"][0])

    def layer(self, number: int, states: Array, context: Array | None = None, extra: Array | float = 0.0) -> Array:
        """One layer; keys and values are of `context` followed by `states`, `extra` is added where PALs are."""
        where = f"encoder.layer.{number}"
        source = states if context is None else np.concatenate([context, states])
        mixed = attention(
            self.linear(f"{where}.attention.self.query", states),
            self.linear(f"{where}.attention.self.key", source),
            self.linear(f"{where}.attention.self.value", source),
            self.heads,
        )
        attended = self.norm(f"{where}.attention.output.LayerNorm", self.linear(f"{where}.attention.output.dense", mixed) + states)
        inner = gelu(self.linear(f"{where}.intermediate.dense", attended))
        return self.norm(f"{where}.output.LayerNorm", self.linear(f"{where}.output.dense", inner) + attended + extra)

    def states(self, ids: list[int]) -> list[Array]:
        """What each layer takes in, and the last gives out."""
        states = [self.embed(ids)]
        for number in range(self.layers):
            states.append(self.layer(number, states[-1]))
        return states


def linear(state: Mapping[str, Array], name: str, states: Array) -> Array:
    result: Array = states @ state[f"{name}.weight"].T + state[f"{name}.bias"]
    return result


def gelu(values: Array) -> Array:
    result: Array = values * 0.5 * (1 + ERF(values / math.sqrt(2)))
    return result


def attention(query: Array, key: Array, value: Array, heads: int) -> Array:
    size = query.shape[1] // heads
    parts = []
    for head in range(heads):
        head_columns = slice(head * size, (head + 1) * size)
        scores = query[:, head_columns] @ key[:, head_columns].T / math.sqrt(size)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        parts.append(weights / weights.sum(-1, keepdims=True) @ value[:, head_columns])
    return np.concatenate(parts, axis=1)
