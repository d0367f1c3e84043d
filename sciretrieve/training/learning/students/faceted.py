"""Trains Multi2SPE: several [CLS] tokens, each with its own linear layers; the vector is their sum (Seoh et al. 2023, section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ....base.choices import Metric
from ....base.errors import InvalidRequest
from ....base.types import Paper
from ....encoders.catalogue import CATALOGUE
from ....encoders.layouts.loading import read_checkpoint, weights_file
from ....encoders.layouts.multi2spe import add_facet_tokens, facet_states
from ....encoders.specs import EncoderSpec
from ...presets import Plan
from .whole import OfBert

INNER = "layer{}"
"""The linear layers after a BERT layer, by its number from 0."""


class Faceted(OfBert):
    """Trains all weights. The losses take the facets' concatenated vectors; search takes their sum.

    The facets have layers after one third and two thirds of the BERT layers (the fourth and eighth of twelve) and after the last. The
    former begin as the identity, the latter at random. Each facet uses its weights minus their mean over the facets, as in the paper's
    equation 1; so the identities begin as zeros, as in the authors' code. A plan may leave out the former layers, or the means.
    """

    def prepare(self, plan: Plan) -> None:
        """See `Student`. Raises InvalidRequest for papers with classes or numbers."""
        if unknown := [format for format in self.formats if format in ("classification", "regression")]:
            raise InvalidRequest(f"facets learn from triplets and from pairs with negatives, not from sets for {unknown[0]}")
        self.facets, self.nonlinear = plan.facets, plan.nonlinear
        self.less_mean = plan.facet_means and plan.facets > 1
        self.metric: Metric = "l2" if plan.loss == "triplet" else "ip"
        self.pooler = self.model.pooler if plan.pooler else None
        if self.pooler is not None and not _has_pooler(self.folders["base"]):
            raise InvalidRequest(
                f"the weights of {plan.base} have no pooler, with which this training begins: take scibert, or another BERT"
            )
        super().prepare(plan)

    def extend(self, plan: Plan) -> None:
        layers = self.model.config.num_hidden_layers
        inner = {number for number in (layers // 3 - 1, 2 * layers // 3 - 1) if number >= 0}
        self.after = sorted(inner) if plan.facet_layers else []
        add_facet_tokens(self.tokenizer, plan.facets, self.folders["base"])
        self.model = self.states = with_facets(self.model, plan.facets, self.after, less_mean=self.less_mean, nonlinear=plan.nonlinear)
        if self.pooler is not None:
            for linear in self.states.linears["last"]:
                linear.load_state_dict(self.pooler.dense.state_dict())

    def as_trained(self) -> EncoderSpec:
        """See `Student`: texts are read as Multi2SPE reads them."""
        sides = CATALOGUE["multi2spe"].sides
        return replace(super().as_trained(), layout="multi2spe", sides=sides, pooling="cls", normalise=False, metric=self.metric)

    def of_paper(self, format: str, paper: Paper) -> str:
        """See `Student`: by SPECTER's reader with a separator after the title, though the authors encode papers without one."""
        title = f"{paper.title} {self.separator} " if paper.title else ""
        return f"{title}{paper.abstract}".strip()

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        """The facets' vectors, (texts, facets * dim)."""
        return self.states(ids, mask).flatten(1)

    def searched(self, vectors: Any) -> Any:
        """See `Student`: the facets' sum."""
        return vectors.unflatten(1, (self.facets, -1)).sum(dim=1)

    def weights(self) -> Mapping[str, Any]:
        """See `OfBert`: the checkpoint that PyTorch Lightning saves of the authors' model, with the settings of their code."""
        state = {f"model.{name}": value for name, value in self.states.bert.state_dict().items()}
        for number in self.after:
            inner = self.states.linears[INNER.format(number)].state_dict()
            state |= {f"model.encoder.layer.{number}.extra_facet_layers.{name}": value for name, value in inner.items()}
        state |= {f"extra_facet_layers.{name}": value for name, value in self.states.linears["last"].state_dict().items()}
        settings = {
            "model_behavior": "quartermaster",
            "pretrained_model_name": self.base_spec.name,
            "num_facets": self.facets,
            "sum_into_single_embeddings": "training_and_inference",
            "sum_into_single_embeddings_behavior": "sum",
            "add_extra_facet_layers": True,
            "add_extra_facet_layers_alternate": self.less_mean,
            "add_extra_facet_layers_after": self.after,
            "add_bert_layer_facet_layers_alternate": self.less_mean,
            "add_extra_facet_nonlinearity": self.nonlinear,
            "init_bert_layer_facet_layers": "identity",
        }
        return {"state_dict": state, "hyper_parameters": settings, "epoch": 0, "global_step": 0, "pytorch-lightning_version": "1.4.2"}


def _has_pooler(folder: Path) -> bool:
    """Whether a model's weights have a pooler; transformers makes one of chance if not."""
    return any(name.endswith("pooler.dense.weight") for name in read_checkpoint(weights_file(folder)))


def with_facets(bert: Any, facets: int, after: list[int], *, less_mean: bool, nonlinear: bool) -> Any:
    """A module from a BERT's first tokens to their states through their own linear layers, (texts, facets, dim).

    Args:
        bert: without a pooler.
        facets: the number of tokens.
        after: the BERT layers, counted from 0, that are followed by linear layers; the last one always is.
        less_mean: whether weights are used minus their mean over the facets.
        nonlinear: whether the last output goes through tanh.
    """

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert, self.config = bert, bert.config
            dim = bert.config.hidden_size
            names = [*(INNER.format(number) for number in after), "last"]
            self.linears = torch.nn.ModuleDict(
                {name: torch.nn.ModuleList([torch.nn.Linear(dim, dim) for _ in range(facets)]) for name in names}
            )
            for name in names[:-1]:
                for linear in self.linears[name]:
                    torch.nn.init.eye_(linear.weight)
                    torch.nn.init.zeros_(linear.bias)

        def pair(self, name: str) -> tuple[Any, Any]:
            """The facets' weights and biases."""
            weights = torch.stack([linear.weight for linear in self.linears[name]])
            biases = torch.stack([linear.bias for linear in self.linears[name]])
            return weights - weights.mean(dim=0) if less_mean else weights, biases

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            pairs = {number: self.pair(INNER.format(number)) for number in after}
            pairs[bert.config.num_hidden_layers] = self.pair("last")
            states = facet_states(self.bert, pairs, facets, input_ids, attention_mask)
            return torch.tanh(states) if nonlinear else states

    return States().eval()
