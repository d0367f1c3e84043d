"""Turning papers and queries into vectors: the catalogue of encoders, where their weights are, and what runs them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..choices import Device, Precision
from ..protocols import Encoder
from .catalogue import CATALOGUE, CODES
from .cross_encoder import CrossEncoder, open_cross_encoder
from .ensemble import Ensemble
from .faiss_file import FAISS_PREFIX, FaissVectors
from .golden import check_golden, compared, golden_vectors, read_golden
from .quantising import SAMPLE, Receipt, check_int8, in_int8, quantise
from .resolving import resolve
from .specs import EncoderRequest, EncoderSpec
from .stored import PREFIX, StoredVectors
from .text_encoder import TextEncoder, from_identity

# OpenVINO's telemetry package reports every conversion to Google Analytics, from forked processes, unless the user opts out.
# None tells Python that a module is absent, and OpenVINO works without this one.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]


def load_encoder(
    name: str,
    *,
    adapter: str | None = None,
    query_adapter: str | None = None,
    bare_titles: bool = False,
    precision: Precision = "auto",
    device: Device = "auto",
) -> Encoder:
    """An encoder, ready for use; its files are downloaded and compiled when it is first used.

    Args:
        name: one from the catalogue; or a folder or a hub id with a transformers or sentence-transformers model; or
            `vectors:FILE` or `faiss:FILE` for vectors made elsewhere.
        adapter: which of its adapters (experts, instructions, control codes) reads papers; or a folder or a hub id with one.
        query_adapter: the same for text queries.
        bare_titles: whether a paper without an abstract is its title alone, as SciRepEval's code reads it, and not the title
            with the separator behind it, as the model cards' code does.
        precision: "bf16", "fp32", or "auto": bf16 where the machine supports it.
        device: "cpu", "cuda", or "auto": a GPU where there is one.

    Raises:
        UnknownName, InvalidRequest, NotFound: there is no such encoder, adapter or device.
        Unavailable: files cannot be downloaded or found.
        CorruptData: files are damaged.
    """
    if name.startswith(PREFIX):
        return StoredVectors(Path(name.removeprefix(PREFIX)).expanduser())
    if name.startswith(FAISS_PREFIX):
        return FaissVectors(Path(name.removeprefix(FAISS_PREFIX)).expanduser())
    request = EncoderRequest(name, adapter, query_adapter, bare_titles)
    spec = resolve(request)
    if spec.members:
        member_requests = [EncoderRequest(member, adapter, query_adapter, bare_titles) for member in spec.members]
        return Ensemble(spec.name, [TextEncoder(resolve(member), member, precision, device) for member in member_requests])
    return TextEncoder(spec, request, precision, device)


def reopen_encoder(identity: Mapping[str, Any], precision: Precision = "auto", device: Device = "cpu") -> Encoder:
    """The encoder that an index was built with, from the identity in its manifest; on the CPU by default, since
    single queries gain nothing from a GPU.

    Raises: as `load_encoder`; EncoderMismatch, later, if weights are needed and differ from those of the index.
    """
    if identity.get("layout") == "vectors":
        return load_encoder(identity["name"])
    if identity.get("layout") == "ensemble":
        return Ensemble(identity["name"], [from_identity(member, precision, device) for member in identity["members"]])
    return from_identity(identity, precision, device)


__all__ = [
    "CATALOGUE",
    "CODES",
    "SAMPLE",
    "CrossEncoder",
    "EncoderSpec",
    "Receipt",
    "check_golden",
    "check_int8",
    "compared",
    "golden_vectors",
    "in_int8",
    "load_encoder",
    "open_cross_encoder",
    "quantise",
    "read_golden",
    "reopen_encoder",
]
