"""A plain RoBERTa as an OpenVINO graph, built without torch. Torch reads all other models, see `layouts`.

Sources: the layers are those of Devlin et al. (2019); positions are counted from the mask as in transformers' RoBERTa.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .openvino_runtime import load_openvino
from .specs import Pooling

Weights = Mapping[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Bert:
    """A RoBERTa's weights and sizes.

    Attributes:
        weights: in fp32, by their names in transformers, without a prefix such as "bert.".
        layers, heads: their numbers.
        eps: the addend to the variance in a layer norm.
        first: the position of the first token, the one after the padding's.
        positions: the number of tokens that the model has positions for.
        separator: its tokenizer's separator token.
    """

    weights: Weights
    layers: int
    heads: int
    eps: float
    first: int
    positions: int
    separator: str

    @property
    def dim(self) -> int:
        """The dimension of a token's state."""
        return int(self.weights["embeddings.LayerNorm.bias"].shape[0])


def graph(bert: Bert, pooling: Pooling, normalise: bool, late: bool) -> tuple[Any, bool]:
    """The model with its pooling as an `openvino.Model`, like `conversion.pooled` in torch; and whether its last layer is trimmed to [CLS],
    as it is if nothing else is read.
    """
    return _Graph(bert).model(pooling, normalise, late)


class _Graph:
    """Builds the operations of one model's graph."""

    def __init__(self, bert: Bert) -> None:
        openvino = load_openvino()
        from openvino import opset13

        self.ops, self.bert = opset13, bert
        self.model_class, self.float = openvino.Model, openvino.Type.f32
        self.ids, self.mask = (self._input(name) for name in ("input_ids", "attention_mask"))

    def model(self, pooling: Pooling, normalise: bool, late: bool) -> tuple[Any, bool]:
        """See `graph`."""
        ops, trimmed = self.ops, pooling == "cls" and not late
        states = self._states(trimmed)
        if pooling == "mean":
            mask = ops.unsqueeze(ops.convert(self.mask, self.float), _whole(2))
            total = ops.reduce_sum(ops.multiply(states, mask), _whole(1))
            vectors = ops.divide(total, ops.maximum(ops.reduce_sum(mask, _whole(1)), np.float32(1)))
        else:
            vectors = ops.gather(states, np.int64(0), np.int64(1))
        outputs = [self._unit(vectors, 1) if normalise else vectors]
        if late:
            outputs.append(self._unit(states, 2))
        return self.model_class(outputs, [self.ids, self.mask]), trimmed

    def _input(self, name: str) -> Any:
        node = self.ops.parameter([-1, -1], np.int64, name=name)
        node.output(0).set_names({name})
        return node

    def _states(self, trimmed: bool) -> Any:
        """The last layer's states, (texts, length, dim); of the first token alone if they are `trimmed`."""
        ops, bert = self.ops, self.bert
        words, places, types = (self._weight(f"embeddings.{name}_embeddings") for name in ("word", "position", "token_type"))
        # padding has the position before the first one
        position = ops.add(ops.multiply(ops.cum_sum(self.mask, np.int64(1)), self.mask), np.int64(bert.first - 1))
        states = ops.add(ops.gather(words, self.ids, np.int64(0)), ops.gather(places, position, np.int64(0)))
        states = self._norm("embeddings.LayerNorm", ops.add(states, types[:1]))
        # masks the padding
        absent = ops.subtract(np.float32(1), ops.convert(ops.unsqueeze(self.mask, _whole(1, 2)), self.float))
        penalty = ops.multiply(absent, np.finfo(np.float32).min)
        for layer in range(bert.layers):
            at = f"encoder.layer.{layer}"
            rows = states
            if trimmed and layer == bert.layers - 1:
                rows = ops.slice(states, _whole(0), _whole(1), _whole(1), _whole(1))
            query, key, value = (
                self._by_head(self._linear(f"{at}.attention.self.{role}", source))
                for role, source in (("query", rows), ("key", states), ("value", states))
            )
            mixed = ops.transpose(ops.scaled_dot_product_attention(query, key, value, penalty), _whole(0, 2, 1, 3))
            mixed = self._linear(f"{at}.attention.output.dense", ops.reshape(mixed, _whole(0, 0, -1), special_zero=True))
            attended = self._norm(f"{at}.attention.output.LayerNorm", ops.add(mixed, rows))
            inner = ops.gelu(self._linear(f"{at}.intermediate.dense", attended), "erf")
            states = self._norm(f"{at}.output.LayerNorm", ops.add(self._linear(f"{at}.output.dense", inner), attended))
        return states

    def _by_head(self, states: Any) -> Any:
        """(texts, length, dim) to (texts, heads, length, dim of a head)."""
        parts = self.ops.reshape(states, _whole(0, 0, self.bert.heads, -1), special_zero=True)
        return self.ops.transpose(parts, _whole(0, 2, 1, 3))

    def _linear(self, name: str, states: Any) -> Any:
        return self.ops.add(self.ops.matmul(states, self._weight(name), False, True), self._weight(name, "bias"))

    def _norm(self, name: str, states: Any) -> Any:
        scaled = self.ops.mvn(states, _whole(-1), True, self.bert.eps, "inside_sqrt")
        return self.ops.add(self.ops.multiply(scaled, self._weight(name)), self._weight(name, "bias"))

    def _unit(self, states: Any, axis: int) -> Any:
        """States of unit length; the least length is that of torch's `normalize`."""
        return self.ops.normalize_l2(states, _whole(axis), 1e-24, "max")

    def _weight(self, name: str, kind: str = "weight") -> npt.NDArray[np.float32]:
        return self.bert.weights[f"{name}.{kind}"]


def _whole(*numbers: int) -> npt.NDArray[np.int64]:
    return np.array(numbers, np.int64)
