"""Encodes an index's queries with the encoder that built it, after a check. One query encoder serves several snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from ..base.choices import Device, SideName
from ..base.errors import EncoderMismatch, InvalidRequest, NotFound, Unavailable, UnknownName
from ..base.once import once
from ..base.types import Query, Vectors
from ..protocols import AnyEncoder, Encoder
from . import OWN, check_golden, late, must_be_given, opened_encoder, reopen_encoder
from .catalogue import CATALOGUE
from .remembered import RememberingEncoder
from .stored import LAYOUT, StoredVectors, reads_texts
from .text_encoder import TextEncoder

UNDECIDING = {"name", "asked", "package", "precision", "ran_in", "golden", "late"}
"""Facts of an encoder in a manifest that do not affect its vectors."""


class QueryEncoder:
    """Encodes the queries of an index."""

    def __init__(
        self, path: Path, built: Mapping[str, Any] | None, golden: Vectors | None, given: Encoder | None, device: Device = "cpu"
    ) -> None:
        """
        Args:
            path: the index's directory, for messages.
            built: the manifest's facts of the encoder that built the index; None for an index without vectors.
            golden: its vectors of a probe when the index was built, (3, dim); None for no check.
            given: an encoder to use in its place, see `query.opening.open_index`.
            device: the device of an encoder that is not given.
        """
        self._path, self._built, self._golden, self._given, self._device = path, built, golden, given, device
        self._checked_sides: set[SideName] = set()
        self.encoded, self.seconds = 0, 0.0
        """The number of queries that were encoded because the cache lacked them, and the seconds that this took."""
        self._lacks: dict[SideName, str] = {}
        self._checking = RLock()

    @property
    def given(self) -> Encoder | None:
        """The encoder that is used in place of the index's own."""
        return self._given

    def fits(self, built: Mapping[str, Any] | None) -> bool:
        """Whether it also encodes the queries of another generation, with these facts in its manifest."""
        return same_vectors(built, self._built)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the encoder reads; empty if unknown."""
        return () if self._given is not None or self._built is None else languages_of(self._built)

    def lack(self, side: SideName, id: str = "") -> str:
        """The reason, for the user, why no encoder here can encode a text, or a paper as a query; "" if one can.

        `id` is the query's own, if it has one, by which vectors from elsewhere may have a vector. If the user gave such vectors for the
        queries, a missing one is an error later. Raises as `encode` if the encoder here is another.
        """
        built = self._built or {}
        if self._given is None and (what := must_be_given(built)):
            return what
        if isinstance(self._given, StoredVectors) or (self._given is None and built.get("layout") == LAYOUT):
            is_known = bool(id) and (self._given is not None or self._has_vector(id))
            return "" if is_known else "the vectors of this index were made elsewhere, and nothing here encodes a query"
        with self._checking:
            if side not in self._lacks:
                self._lacks[side] = self._unavailable(side)
        return self._lacks[side]

    def _has_vector(self, id: str) -> bool:
        """Whether vectors from elsewhere include this id."""
        try:
            return isinstance(self.encoder, StoredVectors) and id in self.encoder.rows
        except (InvalidRequest, NotFound):  # their file is gone, or has changed
            return False

    def _unavailable(self, side: SideName) -> str:
        """The reason why one side of the encoder cannot be opened here; "" if it can."""
        try:
            self._check({side})
            self.encoder.dim  # noqa: B018 - it takes the encoder's files
        except (NotFound, Unavailable, UnknownName) as error:
            if self._given is not None:
                raise
            return f"the encoder of this index is not available here: {error}"
        return ""

    @property
    def symmetric(self) -> bool:
        """Whether a paper as a query has its vector of the corpus: always for vectors from elsewhere and a user's own encoder."""
        if self._given is None and (self._built or {}).get("layout") in (OWN, "vectors"):
            return True
        return self.encoder.symmetric

    @once
    def encoder(self) -> Encoder:
        """The encoder.

        Raises:
            InvalidRequest: the index has no vectors.
            EncoderMismatch: the given encoder differs from the index's.
        """
        built = self._built
        if built is None:
            raise InvalidRequest(f"{self._path} has no vectors; search it with `mode='bm25'`")
        if self._given is None:
            # queries are encoded with the same precision as the papers
            encoder = reopen_encoder(built, "fp32" if built.get("precision") == "fp32" else "auto", self._device)
            return late(encoder) if built.get("late") else encoder
        here = self._given.identity()
        # vectors from elsewhere do not show their encoder: the user vouches for them
        compared = ("dim",) if "vectors" in (here["layout"], built["layout"]) else tuple(here.keys() - UNDECIDING)
        if differing := sorted(key for key in compared if built.get(key) != here[key]):
            raise EncoderMismatch(built["name"], self._given.name, ", ".join(differing))
        # vectors from elsewhere have no token vectors
        return late(self._given) if built.get("late") and here["layout"] != "vectors" else self._given

    def encode(self, queries: Sequence[Query], *, remember: bool = False) -> Vectors:
        """Vectors of queries, shape (n, dim); the sides that read them are checked first.

        `remember` stores them in the cache, for repeated queries. Raises as `encoder`.
        """
        self._check({query.side for query in queries})
        if not remember:
            return self.encoder.encode_queries(queries)
        remembering = RememberingEncoder(self.encoder)
        vectors = remembering.encode_queries(queries)
        self.encoded, self.seconds = self.encoded + remembering.encoded, self.seconds + remembering.seconds
        return vectors

    def encode_late(self, queries: Sequence[Query]) -> tuple[Vectors, Sequence[Vectors | None]]:
        """As `encode`, with the token vectors of each query, (tokens, dim); None if the encoder has none."""
        if not reads_texts(self.encoder):
            return self.encode(queries), [None] * len(queries)
        self._check({query.side for query in queries})
        return self.with_tokens.encode_queries_late(queries)

    @once
    def with_tokens(self) -> TextEncoder:
        """The encoder, with token vectors. Raises as `encoder`, and InvalidRequest if it has none."""
        return late(self.encoder)

    def checked(self, side: SideName) -> Encoder:
        """The encoder, after a check that one side gives the same vectors as when the index was built. Raises InvalidRequest if it does
        not.
        """
        self._check({side})
        return self.encoder

    def _check(self, sides: Set[SideName]) -> None:
        """Check, once for each side, that the encoder gives the same vectors as when the index was built."""
        if self._golden is None or sides <= self._checked_sides or isinstance(self.encoder, StoredVectors):
            return
        with self._checking:
            for side in sides - self._checked_sides:
                check_golden(self._golden, self.encoder, side)
                self._checked_sides.add(side)


class JoinedQueryEncoder(QueryEncoder):
    """Encodes the queries of several indexes with different encoders: a vector is the concatenation of theirs."""

    symmetric = False

    def __init__(self, path: Path, parts: Sequence[QueryEncoder]) -> None:
        super().__init__(path, None, None, None)
        self._parts = tuple(parts)

    def lack(self, side: SideName, id: str = "") -> str:
        """The reason why one of them cannot encode a text, or a paper as a query; "" if all can."""
        return next((why for part in self._parts if (why := part.lack(side, id))), "")

    @once
    def encoder(self) -> Encoder:
        """Raises InvalidRequest: there is no single encoder."""
        raise InvalidRequest(f"{self._path} have different encoders, and this needs one; take one index at a time")

    def encode(self, queries: Sequence[Query], *, remember: bool = False) -> Vectors:
        """Vectors of queries, shape (n, the sum of the dimensions)."""
        return np.concatenate([part.encode(queries, remember=remember) for part in self._parts], axis=1)


def index_encoder(path: Path, built: Mapping[str, Any], given: AnyEncoder | None, device: Device = "cpu") -> Encoder:
    """The encoder of an index with these facts in its manifest, or the one given in its place. Raises as `QueryEncoder.encoder`."""
    return QueryEncoder(path, built, None, None if given is None else opened_encoder(given, built, device), device).encoder


def languages_of(built: Mapping[str, Any]) -> tuple[str, ...]:
    """The languages that an encoder with these facts reads; empty if unknown."""
    spec = CATALOGUE.get(built["name"])
    return () if spec is None else spec.languages


def same_vectors(built: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether encoders with these facts in manifests give the same vectors."""
    return _vector_facts(built) == _vector_facts(other)


def _vector_facts(built: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (built or {}).items() if key not in UNDECIDING}
