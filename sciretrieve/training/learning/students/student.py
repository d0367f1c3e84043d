"""The base class of encoders in training: reads texts in formats, gives vectors with gradients, and writes the trained encoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ....base.errors import InvalidRequest
from ....base.types import Paper
from ....encoders.conversion import pooled
from ....encoders.layouts import LOADERS
from ....encoders.layouts.loading import LoadedModel, silence
from ....encoders.resolving import is_path, resolve
from ....encoders.specs import EncoderRequest, EncoderSpec, Kind, Layout, Side, Sides
from ....encoders.tokens import Tokens, tokenise
from ....encoders.trained import ENCODER, describe_trained
from ....encoders.weights import Hashes, hashes_of, obtain
from ....files.writing import write_json
from ...presets import Plan

FORMATS: Mapping[str, str] = {"proximity": "[PRX]", "adhoc_query": "[QRY]", "classification": "[CLF]", "regression": "[RGN]"}
"""The formats of tasks by the names of SPECTER2's adapters, with SciRepEval's control code of each (Singh et al. 2023, §4)."""
TASKS: Mapping[str, str] = {"adhoc_query": "search", "proximity": "link_prediction", "classification": "classification"}
"""SciMult's tasks by format: pairs with text queries train search, other pairs and triplets link prediction, papers with labels
classification.
"""
PREDICTED: tuple[Kind, ...] = ("classification", "regression")
"""Benchmarks of these kinds read papers in the format of the same name, if it is trained."""
TRAINABLE = ("transformers", "adapters", "packed", "scimult")
"""Layouts whose base is one of transformers' own models."""


class Student(ABC):
    """An encoder in training.

    Attributes:
        spec: the trained encoder, whose sides read through the trained parts.
        base_spec: the encoder before training.
        formats: its formats, by the names in `FORMATS`.
        model: all trained weights and others, with the model's configuration.
        states: from token ids and mask, (texts, length), to token states, (texts, length, dim).
        module: from the same to vectors, (texts, dim).
        trained: the weights that change, by name.
    """

    kept = (34, 5)
    """The most that a backward pass keeps per token and layer: states, and numbers per head and token of the text."""

    def __init__(self, plan: Plan, formats: Sequence[str]) -> None:
        """
        Args:
            plan: names the base, and what of it is trained.
            formats: those of the tasks.

        Raises:
            UnknownName, InvalidRequest, Unavailable, CorruptData: the base cannot be found, read or trained.
        """
        name = str(Path(plan.base).expanduser().resolve()) if is_path(plan.base) else plan.base
        self.base = EncoderRequest(name)
        self.base_spec = resolve(self.base)
        is_routed = self.base_spec.layout == "scimult" and bool(self.base_spec.tasks)
        self.expert = TASKS.get(chosen_formats(formats)[0], "") if is_routed and plan.method == "whole" else ""
        if self.base_spec.layout not in TRAINABLE or (is_routed and not self.expert) or self.base_spec.members or self.base_spec.codes:
            raise InvalidRequest(
                f"{plan.base} cannot be trained so: begin with a single transformers model, such as specter2-base or granite"
            )
        self.formats = tuple(formats)
        self.folders = {role: obtain(self.base_spec.parts[role], plan.base) for role in self.base_spec.roles("")}
        loaded_model = self._load()
        self.tokenizer, self.separator = loaded_model.tokenizer, loaded_model.separator
        self.states, self.model = loaded_model.model, loaded_model.model.model
        self.positions = loaded_model.positions
        torch.manual_seed(plan.seed)
        with silence():
            self.prepare(plan)
        self.spec = self.as_trained()
        self._is_bare = plan.bare
        if plan.unit is False:
            self.spec = replace(self.spec, normalise=False, metric="ip")
        self.module = pooled(self.states, self.spec.pooling, self.spec.normalise)
        longest = min(self.spec.max_length, self.positions)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(min(plan.length or longest, longest))
        self.padding = int(getattr(self.model.config, "pad_token_id", None) or 0)
        self.trained: dict[str, Any] = {name: value for name, value in self.model.named_parameters() if value.requires_grad}

    def _load(self) -> LoadedModel:
        layout = "transformers" if self.base_spec.layout == "adapters" else self.base_spec.layout
        with silence():
            return LOADERS[layout](self.folders, replace(self.base_spec, layout=layout), self.expert)

    @abstractmethod
    def prepare(self, plan: Plan) -> None:
        """Mark the weights to train, and make the new ones."""

    @abstractmethod
    def as_trained(self) -> EncoderSpec:
        """The spec of the trained encoder."""

    @abstractmethod
    def write_model(self, folder: Path) -> None:
        """Write the trained parts into a folder, in the spec's layout."""

    @property
    def is_apart(self) -> bool:
        """Whether the trained parts are separate from the base, which is needed to read them."""
        return False

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        """Vectors of texts in a format, (texts, dim).

        Args:
            format: one of `formats`.
            ids, mask: of tokens, (texts, length).
            former: whether to use the encoder before training; only for frozen base weights, see `is_apart`.
        """
        return self.module(ids, mask)

    def format_of(self, task: str, *, is_text: bool) -> str:
        """The format in which a task reads a text query or a paper.

        Args:
            task: the name of a format; "adhoc_query" if any query is a text.
            is_text: whether to read a text query.
        """
        return "proximity" if task == "adhoc_query" and not is_text else task

    def searched(self, vectors: Any) -> Any:
        """The vectors for search, (texts, dim), from those of `encode`."""
        return vectors

    def write(self, folder: Path) -> None:
        """Write the encoder into a folder for `--encoder`."""
        with silence():
            self.write_model(folder)
        write_json(folder / ENCODER, describe_trained(self.spec, self.base if self.is_apart else None))

    @property
    def dim(self) -> int:
        """The vectors' dimension."""
        return int(self.model.config.hidden_size)

    @property
    def bytes_a_token(self) -> float:
        """About how many bytes a backward pass keeps per token of the longest text: states of each layer, and attention of each head."""
        config = self.model.config
        states, attention = self.kept
        of_a_layer = states * config.hidden_size + attention * config.num_attention_heads * self.tokenizer.truncation["max_length"]
        return 4.0 * float(config.num_hidden_layers * of_a_layer)

    def hashes(self) -> Hashes:
        """The digests of the base's files."""
        hashes: Hashes = {}
        for role, folder in self.folders.items():
            of_part = hashes_of(self.base_spec.parts[role], folder, self.spec.name)
            hashes |= {name if role == "base" else f"{role}/{name}": digest for name, digest in of_part.items()}
        return hashes

    def sizes(self) -> dict[str, int]:
        """The numbers of trained weights and of all weights."""
        return {
            "parameters": sum(value.numel() for value in self.trained.values()),
            "parameters_in_all": sum(value.numel() for value in self.model.parameters()),
        }

    def of_paper(self, format: str, paper: Paper) -> str:
        """A paper's text in a format, in training."""
        side = self.side(format, self.spec.sides.paper)
        return (side.bare() if self._is_bare else side).filled(paper.title, paper.abstract, self.separator)

    def of_query(self, format: str, text: str) -> str:
        """A query's text in a format."""
        return self.side(format, self.spec.sides.query).filled(text, "", self.separator)

    def side(self, format: str, side: Side) -> Side:
        """A side of the spec, in a format."""
        return side

    def tokens(self, texts: Sequence[str], budget: int) -> Tokens:
        """Texts in batches of at most `budget` tokens, padding included."""
        return tokenise(self.tokenizer, texts, budget=budget, padding=self.padding)


def chosen_formats(formats: Sequence[str]) -> tuple[str, str]:
    """The formats in which a trained encoder reads papers and text queries."""
    of_papers = "proximity" if "proximity" in formats else formats[0]
    return of_papers, "adhoc_query" if "adhoc_query" in formats else of_papers


def read_by(sides: Sides, papers: str, queries: str) -> Sides:
    """The sides with other tasks for papers and text queries."""
    return Sides(replace(sides.paper, task=papers), replace(sides.query, task=queries), replace(sides.paper_as_query, task=papers))


def read_through(spec: EncoderSpec, names: Mapping[str, str], layout: Layout) -> EncoderSpec:
    """A spec whose texts are read through its own tasks, with these names by format."""
    sides = read_by(spec.sides, *(names[format] for format in chosen_formats(tuple(names))))
    kinds = {kind: names[kind] for kind in PREDICTED if kind in names}
    return replace(spec, layout=layout, sides=sides, tasks=tuple(names.values()), kinds=kinds, late=False)
