"""Several encoders as one: the mean of their vectors, as in SciRepEval's evaluation (its §5, Adapters + MTL CTRL), or their
concatenation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

import numpy as np

from ..base.choices import Metric
from ..base.errors import InvalidRequest
from ..base.once import once
from ..base.types import Paper, Query, Vectors
from ..protocols import Advance, Encoder, ignore_advance
from .catalogue import CATALOGUE
from .faiss_file import FAISS_PREFIX
from .specs import EncoderRequest, Join, joint_metric
from .stored import PREFIX

JOINS: tuple[Join, ...] = get_args(Join)
SEPARATOR = "+"
TINY = np.float32(1e-30)
"""Smaller than the length of any vector except zeros."""


class Ensemble(Encoder):
    """Encoders whose vectors are joined.

    "mean" is the mean of the vectors as they are, which must have the same dimension. "concat" puts them one after the other, each scaled
    to unit length, and divides by the root of their number. So the whole has unit length, and the cosine of two papers is the mean of the
    members' cosines.
    """

    def __init__(self, request: EncoderRequest, join: Join, members: Sequence[Encoder]) -> None:
        self.request, self.join = request, join
        self.members = tuple(members)

    @property
    def name(self) -> str:
        """The request's name, with its adapters and other changes."""
        return str(self.request)

    @once
    def dim(self) -> int:
        """The vectors' dimension. Raises InvalidRequest for a mean of different dimensions."""
        dims = [member.dim for member in self.members]
        if self.join == "concat":
            return sum(dims)
        if len(set(dims)) > 1:
            listing = ", ".join(f"{member.name} has {dim}" for member, dim in zip(self.members, dims, strict=True))
            names = SEPARATOR.join(str(member.identity()["asked"]["encoder"]) for member in self.members)
            raise InvalidRequest(f"a mean takes vectors of the same dimension, and {listing}; use `concat:{names}`")
        return dims[0]

    @property
    def metric(self) -> Metric:
        """See `joint_metric`."""
        return joint_metric(self.join, [member.metric for member in self.members])

    @property
    def precision(self) -> str:
        """The precisions of the members, each once."""
        return "+".join(dict.fromkeys(member.precision for member in self.members))

    @property
    def ran_in(self) -> tuple[str, ...]:
        """See `protocols.Encoder`: the runtimes of the members, each once."""
        return tuple(dict.fromkeys(name for member in self.members for name in member.ran_in))

    @property
    def window(self) -> int:
        """The best number of papers to encode at once."""
        return max(member.window for member in self.members)

    @property
    def symmetric(self) -> bool:
        """Whether every member encodes a paper used as a query like a paper of the corpus."""
        return all(member.symmetric for member in self.members)

    def expect(self, papers: int) -> None:
        """See `protocols.Encoder`."""
        for member in self.members:
            member.expect(papers)

    def identity(self) -> dict[str, Any]:
        """See `protocols.Encoder`."""
        return {
            "name": self.name,
            "asked": asdict(self.request),
            "layout": "ensemble",
            "join": self.join,
            "members": [member.identity() for member in self.members],
            "metric": self.metric,
            "dim": self.dim,
        }

    def tokenise(self, papers: Sequence[Paper]) -> tuple[Any, ...]:
        """The first half of `encode_papers`."""
        return tuple(member.tokenise(papers) for member in self.members)

    def encode(self, tokens: tuple[Any, ...], advance: Advance = ignore_advance) -> Vectors:
        """The second half of `encode_papers`. A paper is done when the last member has encoded it."""
        last = len(self.members) - 1
        parts = zip(self.members, tokens, strict=True)
        return self._joined(
            [member.encode(part, advance if number == last else ignore_advance) for number, (member, part) in enumerate(parts)]
        )

    def truncated(self, tokens: tuple[Any, ...]) -> int:
        """See `protocols.Encoder`: the count of the member that reads the fewest tokens."""
        return max(member.truncated(part) or 0 for member, part in zip(self.members, tokens, strict=True))

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Encode queries, shape (n, dim) float32."""
        return self._joined([member.encode_queries(queries) for member in self.members])

    def _joined(self, vectors: Sequence[Vectors]) -> Vectors:
        """One vector for each text, (n, dim) float32, joined from those of all members."""
        if self.join == "concat":
            units = [part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), TINY) for part in vectors]
            return np.concatenate(units, axis=1, dtype=np.float32) / np.float32(np.sqrt(len(units)))
        total = np.zeros((len(vectors[0]), self.dim), np.float32)  # `dim` rejects members of different dimensions
        for part in vectors:
            total += part
        return total / np.float32(len(vectors))


def members_of(name: str) -> tuple[Join, tuple[str, ...]] | None:
    """An ensemble's way of joining vectors, and its members' names; None for other encoders.

    Raises:
        InvalidRequest: `mean:` or `concat:` is not followed by two encoders that read texts.
    """
    row = CATALOGUE.get(name)
    if row is not None and row.members:
        return row.join, tuple(member.name for member in row.members)
    join = next((join for join in JOINS if name.startswith(f"{join}:")), None)
    if join is None:
        return None
    names = tuple(name.removeprefix(f"{join}:").split(SEPARATOR))
    if len(names) < 2 or not all(names):
        raise InvalidRequest(f"{name} is not an ensemble; join two or more encoders, as in {join}:specter2+scincl")
    if stored := next((member for member in names if member.startswith((PREFIX, FAISS_PREFIX))), None):
        raise InvalidRequest(f"{stored} reads no texts, so it cannot be a member of {name}; join such vectors before you index them")
    return join, names


def member_requests(request: EncoderRequest, names: Sequence[str]) -> tuple[EncoderRequest, ...]:
    """The request for each member: its own adapter from the list separated by `+`, everything else as for the ensemble.

    Raises:
        InvalidRequest: the list is longer or shorter than the members.
    """
    adapters = zip(
        _member_adapters("`adapter`", request.adapter, names),
        _member_adapters("`query_adapter`", request.query_adapter, names),
        strict=True,
    )
    return tuple(
        replace(request, encoder=name, adapter=adapter, query_adapter=query_adapter)
        for name, (adapter, query_adapter) in zip(names, adapters, strict=True)
    )


def joined(adapters: Sequence[str | None]) -> str | None:
    """The members' adapters in the form of a request: None if none has one, a single name if all have the same."""
    names = [adapter or "" for adapter in adapters]
    return (names[0] if len(set(names)) == 1 else SEPARATOR.join(names)) or None


def _member_adapters(option: str, adapter: str | None, names: Sequence[str]) -> list[str | None]:
    """The adapter of each member; one without `+` is for every member."""
    if adapter is None or SEPARATOR not in adapter:
        return [adapter] * len(names)
    parts = adapter.split(SEPARATOR)
    if len(parts) != len(names):
        raise InvalidRequest(f"{option} {adapter} is for {len(parts)} encoders, and there are {len(names)}: {', '.join(names)}")
    return [part or None for part in parts]
