"""Encoders, which turn papers and queries into vectors: the catalogue, the weights and the runtimes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..base.arguments import checked
from ..base.choices import Device, PoolingName, Precision
from ..base.errors import CorruptData, InvalidRequest
from ..protocols import AnyEncoder, Encoder
from .catalogue import CATALOGUE, CODES
from .cross_encoder import CrossEncoder, open_cross_encoder
from .ensemble import Ensemble, member_requests, members_of
from .faiss_file import FAISS_PREFIX, FaissVectors
from .golden import check_golden, compared, golden_vectors, read_golden
from .late import encode_packed, has_tokens, late, late_by_default, packing_of
from .own import OWN, PLUGIN, adopted, must_be_given, plugged, plugged_again
from .resolving import may_be_plugged, resolve
from .sentences import encode_sentences, open_sentence_encoder, pieces
from .specs import EncoderRequest, EncoderSpec
from .stored import LAYOUT, PREFIX, StoredVectors, reads_texts
from .text_encoder import TextEncoder, from_identity

# OpenVINO's telemetry package reports every conversion to Google Analytics, from forked processes, unless the user opts out.
# None tells Python that a module is absent, and OpenVINO works without this one.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]


@checked
def load_encoder(
    name: str,
    *,
    adapter: str | None = None,
    query_adapter: str | None = None,
    bare_titles: bool = False,
    pooling: PoolingName | None = None,
    template: str | None = None,
    query_template: str | None = None,
    precision: Precision = "auto",
    device: Device = "auto",
) -> Encoder:
    """An encoder, ready for use; its files are downloaded and compiled when it is first used.

    Args:
        name: one from the catalogue, or a plug-in's; or a folder or a hub id with a transformers or sentence-transformers model; or
            `vectors:FILE` or `faiss:FILE` for vectors made elsewhere; or `mean:A+B` or `concat:A+B` for several, see `Ensemble`.
        adapter: the adapter (expert, instruction or control code) for papers, by name; or a folder or a hub id with one; or an instruction
            of several words, for a model that reads instructions. For an ensemble, `+` separates the adapters of the members.
        query_adapter: the same for text queries.
        bare_titles: whether a paper without an abstract is read as its title alone, as in SciRepEval's code, or with the separator behind
            it, as in the model cards' code.
        pooling: how token states become one vector, "mean" or "cls"; by default from the model's files or the catalogue.
        template: the text of a paper, with `{title}`, `{abstract}` and `{sep}`, the tokenizer's separator.
        query_template: the text of a text query, with `{text}` and `{sep}`.
        precision: "bf16", "fp32", or "auto": bf16 if the machine supports it.
        device: "cpu", "cuda", or "auto": a GPU if there is one.

    Raises:
        UnknownName, InvalidRequest, NotFound: there is no such encoder, adapter or device.
        Unavailable: files cannot be downloaded or found, or a plug-in fails.
        CorruptData: files are damaged.

    >>> encoder = sr.load_encoder("minilm")
    >>> encoder.encode_queries([sr.Query(text="graph networks")]).shape == (1, encoder.dim)
    True
    """
    return open_encoder(EncoderRequest(name, adapter, query_adapter, bare_titles, pooling, template, query_template), precision, device)


def open_encoder(request: EncoderRequest, precision: Precision = "auto", device: Device = "auto") -> Encoder:
    """The encoder for a request. Raises as `load_encoder`."""
    name = request.encoder
    if name.startswith((PREFIX, FAISS_PREFIX)):
        if replace(request, bare_titles=False) != EncoderRequest(name):
            raise InvalidRequest(f"{name} has vectors from elsewhere and reads no texts; leave out adapters and the like")
        kind, prefix = (StoredVectors, PREFIX) if name.startswith(PREFIX) else (FaissVectors, FAISS_PREFIX)
        return kind(Path(name.removeprefix(prefix)).expanduser())
    if ensemble := members_of(name):
        join, names = ensemble
        return Ensemble(request, join, [open_encoder(member, precision, device) for member in member_requests(request, names)])
    if may_be_plugged(name) and (encoder := plugged(name)) is not None:
        if replace(request, bare_titles=False) != EncoderRequest(name):
            raise InvalidRequest(f"{name} is a plug-in that reads texts in its own way; leave out adapters and the like")
        return encoder
    spec = resolve(request)
    if spec.pairing:
        raise InvalidRequest(
            f"{name} has a vector for each sentence and none for a paper, so it only reranks: "
            f"`search --rerank {name}`, or `open_reranker({name!r})` in Python"
        )
    return TextEncoder(spec, request, precision, device)


def opened_encoder(given: AnyEncoder, built: Mapping[str, Any] | None = None, device: Device = "cpu") -> Encoder:
    """The encoder for any form that a user gives.

    With `built`, the facts of an index's encoder in its manifest, a name is a new place of the same model, read as the index's encoder
    reads.

    Raises: as `load_encoder`; InvalidRequest for anything else than an encoder.
    """
    if not isinstance(given, str):
        return adopted(given)
    request_facts = (built or {}).get("asked")
    if given.startswith((PREFIX, FAISS_PREFIX)) or request_facts is None:
        return load_encoder(given, device=device)
    try:
        return open_encoder(replace(EncoderRequest(**request_facts), encoder=given), device=device)
    except TypeError as error:
        raise CorruptData(f"the manifest's encoder is damaged ({error}); rebuild the index") from error


def reopen_encoder(identity: Mapping[str, Any], precision: Precision = "auto", device: Device = "cpu") -> Encoder:
    """The encoder that an index was built with, from the identity in its manifest. The CPU is the default, since single queries gain
    nothing from a GPU.

    Raises: as `load_encoder`; InvalidRequest for a user's own encoder; EncoderMismatch, later, if weights are needed and differ from the
    index's.
    """
    if what := must_be_given(identity):
        raise InvalidRequest(what)
    if identity.get("layout") == LAYOUT:
        return load_encoder(identity["name"])
    if identity.get("layout") == PLUGIN:
        return plugged_again(identity)
    if identity.get("layout") != "ensemble":
        return from_identity(identity, precision, device)
    try:
        request, members = EncoderRequest(**identity["asked"]), list(identity["members"])
        return Ensemble(request, identity["join"], [reopen_encoder(member, precision, device) for member in members])
    except (KeyError, TypeError, AttributeError) as error:
        raise CorruptData(f"the manifest's encoder is damaged ({type(error).__name__}: {error}); rebuild the index") from error


__all__ = [
    "CATALOGUE",
    "CODES",
    "OWN",
    "CrossEncoder",
    "EncoderRequest",
    "EncoderSpec",
    "adopted",
    "check_golden",
    "compared",
    "encode_packed",
    "encode_sentences",
    "golden_vectors",
    "has_tokens",
    "late",
    "late_by_default",
    "load_encoder",
    "members_of",
    "must_be_given",
    "open_cross_encoder",
    "open_encoder",
    "open_sentence_encoder",
    "opened_encoder",
    "packing_of",
    "pieces",
    "read_golden",
    "reads_texts",
    "reopen_encoder",
]
