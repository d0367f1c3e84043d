"""Several encoders as one: the mean of their vectors, as SciRepEval's evaluation takes it (its §5, Adapters + MTL CTRL)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..choices import Metric
from ..protocols import Advance, unheard
from ..types import Paper, Query, Vectors
from .text_encoder import TextEncoder
from .tokens import Tokens


class Ensemble:
    """The mean of several encoders' vectors, which all have the same dimension."""

    def __init__(self, name: str, members: Sequence[TextEncoder]) -> None:
        self.name = name
        self.members = tuple(members)

    @property
    def dim(self) -> int:
        """The vectors' dimension."""
        return self.members[0].dim

    @property
    def metric(self) -> Metric:
        """The similarity that the first member was trained for."""
        return self.members[0].metric

    @property
    def precision(self) -> str:
        """The precisions of the members, each once."""
        return "+".join(dict.fromkeys(member.precision for member in self.members))

    @property
    def ran_in(self) -> tuple[str, ...]:
        """See `protocols.Encoder`: those of the members, each once."""
        return tuple(dict.fromkeys(name for member in self.members for name in member.ran_in))

    @property
    def window(self) -> int:
        """How many papers are best encoded at once."""
        return max(member.window for member in self.members)

    @property
    def symmetric(self) -> bool:
        """Whether every member encodes a paper used as a query just like a paper of the corpus."""
        return all(member.symmetric for member in self.members)

    def expect(self, papers: int) -> None:
        """See `protocols.Encoder`."""
        for member in self.members:
            member.expect(papers)

    def identity(self) -> dict[str, Any]:
        """See `protocols.Encoder`."""
        members = [member.identity() for member in self.members]
        return {"name": self.name, "layout": "ensemble", "members": members, "metric": self.metric, "dim": self.dim}

    def tokenise(self, papers: Sequence[Paper]) -> tuple[Tokens, ...]:
        """The first half of `encode_papers`."""
        return tuple(member.tokenise(papers) for member in self.members)

    def encode(self, tokens: tuple[Tokens, ...], advance: Advance = unheard) -> Vectors:
        """The second half of `encode_papers`. A paper is done when the last member has encoded it."""
        last = len(self.members) - 1
        parts = zip(self.members, tokens, strict=True)
        return self._mean([member.encode(part, advance if number == last else unheard) for number, (member, part) in enumerate(parts)])

    def truncated(self, tokens: tuple[Tokens, ...]) -> int:
        """See `TextEncoder.truncated`: the count of the member that reads least."""
        return max(batches.truncated for batches in tokens)

    def size(self, tokens: tuple[Tokens, ...]) -> int:
        """See `TextEncoder.size`: the tokens of all members."""
        return sum(member.size(part) for member, part in zip(self.members, tokens, strict=True))

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        """Encode papers of a corpus, shape (n, dim) float32."""
        return self.encode(self.tokenise(papers))

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Encode queries, shape (n, dim) float32."""
        return self._mean([member.encode_queries(queries) for member in self.members])

    def _mean(self, vectors: Sequence[Vectors]) -> Vectors:
        mean: Vectors = np.mean(np.stack(vectors), axis=0, dtype=np.float32)
        return mean
