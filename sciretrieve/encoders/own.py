"""Adapts a user's own encoders and vectors to the `Encoder` protocol, and checks their results."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from numbers import Integral
from typing import Any, cast

import numpy as np

from ..base.choices import METRICS, Metric, check_choice
from ..base.errors import EncoderMismatch, InvalidRequest, Unavailable
from ..base.once import once
from ..base.plugins import Plugin, found
from ..base.types import Paper, Query, Vectors, floats_of
from ..base.wording import shortened
from ..files.streams import checked_text
from ..matching.dense.exact import NOT_MEASURABLE, measurable
from ..protocols import Advance, Encoder, OwnEncoder, ignore_advance
from .specs import EncoderRequest
from .stored import StoredVectors, Table, first_unmeasurable

OWN = "own"
"""The layout, in a manifest, of a user's own encoder."""
PLUGIN = "plugin"
"""The layout, in a manifest, of an encoder that is a plug-in."""
HELD = "vectors in memory"
"""The name, in a manifest, of vectors by id."""
METHODS = ("encode_papers", "encode_queries")
PAPERS_AT_ONCE = 512


class AdoptedEncoder(Encoder):
    """A user's own encoder, see `protocols.OwnEncoder`, or one that is a plug-in, as a `protocols.Encoder`."""

    precision = "fp32"
    ran_in = ()
    window = PAPERS_AT_ONCE
    symmetric = True

    def __init__(self, own: OwnEncoder, plugin: Plugin | None = None) -> None:
        """Raises InvalidRequest if it has no methods to encode; the other attributes are read when needed, since they may load a model.

        All that a `plugin` does wrong, here and later, raises PluginFailed.
        """
        self._plugin, self._answering = plugin, nullcontext if plugin is None else plugin.answering
        if lacking := [name for name in METHODS if not callable(getattr(own, name, None))]:
            raise InvalidRequest(
                f"`encoder` is a name, vectors by id, or an object with `dim`, `identity`, `encode_papers` and `encode_queries`, and "
                f"{type(own).__name__} has no {' and no '.join(lacking)}"
            )
        self._own = own

    @property
    def name(self) -> str:
        """The name: its identity, or the plug-in's name."""
        return self.stated if self._plugin is None else self._plugin.name

    @once
    def stated(self) -> str:
        """The identity that it states."""
        with self._answering():
            identity = getattr(self._own, "identity", None)
            if not isinstance(identity, str) or not identity.strip() or not checked_text(identity, "encoder's identity").isprintable():
                raise InvalidRequest(
                    f"the `identity` of {type(self._own).__name__} must be one line with the model and its version, not {identity!r}"
                )
        return identity

    @once
    def dim(self) -> int:
        """The vectors' dimension."""
        with self._answering():
            dim = getattr(self._own, "dim", None)
            if not isinstance(dim, Integral) or isinstance(dim, bool) or dim < 1:
                raise InvalidRequest(
                    f"the `dim` of {type(self._own).__name__}, the length of a vector, must be at least 1, not {shortened(dim)}"
                )
        return int(dim)

    @property
    def metric(self) -> Metric:
        """The metric of its vectors; by default the cosine."""
        with self._answering():
            metric = getattr(self._own, "metric", "cosine")
            check_choice("metric", metric, METRICS)
        return cast(Metric, metric)

    def identity(self) -> dict[str, Any]:
        """See `protocols.Encoder`."""
        facts = {"name": self.name, "layout": OWN, "identity": self.stated, "dim": self.dim}
        if self._plugin is None:
            return facts
        return facts | {"layout": PLUGIN, "package": self._plugin.package, "asked": asdict(EncoderRequest(self.name))}

    def tokenise(self, papers: Sequence[Paper]) -> Sequence[Paper]:
        """The papers, unchanged: a user's own encoder need not support a second thread."""
        return papers

    def encode(self, tokens: Sequence[Paper], advance: Advance = ignore_advance) -> Vectors:  # noqa: ARG002 - it reports no progress
        """The vectors of papers, (n, dim). Raises InvalidRequest for another shape, and any error of the encoder."""
        if not tokens:
            return np.empty((0, self.dim), np.float32)
        with self._answering():
            return self._checked("encode_papers", self._own.encode_papers(list(tokens)), len(tokens))

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """The vectors of queries, (n, dim); papers as queries are encoded as papers. Raises as `encode`."""
        vectors = np.empty((len(queries), self.dim), np.float32)
        texts = [place for place, query in enumerate(queries) if query.paper is None]
        if texts:
            with self._answering():
                encoded = self._own.encode_queries([queries[place] for place in texts])
                vectors[texts] = self._checked("encode_queries", encoded, len(texts))
        papers = {place: query.paper for place, query in enumerate(queries) if query.paper is not None}
        vectors[list(papers)] = self.encode(list(papers.values()))
        return vectors

    def _checked(self, method: str, given: Any, count: int) -> Vectors:
        """The result of a method for `count` texts, as (count, dim) float32 that can be compared."""
        try:
            vectors = floats_of(given, np.float32)
        except TypeError as error:
            raise InvalidRequest(
                f"`{method}` of the encoder {self.name} did not return an array of ({count}, {self.dim}) numbers: {error}"
            ) from error
        if vectors.shape != (count, self.dim):
            raise InvalidRequest(
                f"`{method}` of the encoder {self.name} gave an array of shape {vectors.shape}, not ({count}, {self.dim}): how many there "
                "were, and `dim`"
            )
        if len(wrong := np.flatnonzero(~measurable(vectors))):
            raise InvalidRequest(f"vector {wrong[0] + 1:,} that `{method}` of the encoder {self.name} gave {NOT_MEASURABLE}")
        return vectors


class HeldVectors(StoredVectors):
    """Vectors by the ids of papers and queries, from a mapping in memory."""

    def __init__(self, vectors: Mapping[str, Any]) -> None:
        """Raises InvalidRequest for an empty mapping, and for vectors that cannot be compared."""
        self._given = vectors

    @property
    def name(self) -> str:
        """The name in messages."""
        return HELD

    @property
    def metric(self) -> Metric:
        """The default metric."""
        return "cosine"

    @once
    def _digests(self) -> dict[str, str]:
        rows, vectors, _ = self._table
        digest = hashlib.sha256()
        for id in sorted(rows):
            digest.update(f"{len(id)}:{id}".encode("utf-8", "surrogatepass"))
            digest.update(vectors[rows[id]].tobytes())
        return {HELD: digest.hexdigest()}

    @once
    def _table(self) -> Table:
        if not self._given:
            raise InvalidRequest("no vectors are given; give {id: vector}, one for each paper")
        dim = np.size(next(iter(self._given.values())))
        matrix = np.empty((len(self._given), dim), np.float32)
        for row, (id, values) in enumerate(self._given.items()):
            if not isinstance(id, str):
                raise InvalidRequest(f"vectors are given by the ids of papers, which are texts, not by {id!r}")
            try:
                vector = floats_of(values, np.float32)
            except TypeError as error:
                raise InvalidRequest(f"the vector of {id!r} is not a list of numbers") from error
            if vector.ndim != 1 or not dim or len(vector) != dim:
                raise InvalidRequest(f"the vector of {id!r} has the shape {vector.shape}, and the first one {dim} numbers")
            matrix[row] = vector
        if (bad := first_unmeasurable(matrix)) is not None:
            raise InvalidRequest(f"the vector of {list(self._given)[bad]!r} {NOT_MEASURABLE}")
        return {id: row for row, id in enumerate(self._given)}, matrix, set()


def adopted(given: Encoder | OwnEncoder | Mapping[str, Any]) -> Encoder:
    """An object from Python as an encoder: a user's own, vectors by id, or a loaded encoder. Raises InvalidRequest."""
    if isinstance(given, Mapping):
        return HeldVectors(given)
    return cast(Encoder, given) if hasattr(given, "tokenise") else AdoptedEncoder(given)


def plugged(name: str) -> AdoptedEncoder | None:
    """The encoder of a plug-in; None if none has this name. Raises PluginFailed."""
    plugin = found("encoder", name)
    if plugin is None:
        return None
    made = plugin.made()
    with plugin.answering():
        return AdoptedEncoder(made, plugin)


def plugged_again(built: Mapping[str, Any]) -> AdoptedEncoder:
    """The plug-in that an index was built with, from its identity in the manifest.

    Raises Unavailable if it is not installed, PluginFailed, and EncoderMismatch if it is another encoder by now.
    """
    encoder = plugged(built["name"])
    if encoder is None:
        raise Unavailable(
            f"the encoder {built['name']!r} comes with the package {built.get('package')}, which is not installed; install it"
        )
    here = encoder.identity()
    if differing := [key for key in ("identity", "dim") if here[key] != built.get(key)]:
        raise EncoderMismatch(built["name"], f"that of {here['package']}", " and ".join(differing))
    return encoder


def must_be_given(built: Mapping[str, Any] | None) -> str:
    """Advice for an index whose encoder only its user has; "" for other indexes."""
    built = built or {}
    if built.get("layout") == OWN:
        return (
            f"the encoder {built['name']!r} is one of your own, which is given from Python, as in `sr.open(path, encoder=…)` or "
            "`sr.add(corpus, path, encoder=…)`"
        )
    return (
        f"the {HELD} were given from Python; give those of others likewise: `encoder={{id: vector}}`" if built.get("name") == HELD else ""
    )
