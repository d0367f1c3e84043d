"""What several indexes have in common, so that they can be searched as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from ..errors import InvalidRequest
from ..matching.effort import USUAL, Effort
from ..options import Bm25Parameters
from ..storage.manifest import Manifest
from ..wording import enumerated

Value = TypeVar("Value")


def lacking(manifests: Mapping[str, Manifest]) -> Iterator[str]:
    """What keeps indexes from being searched in every way in which some of them can be, a sentence each, by their names.

    Raises InvalidRequest where they have no way in common.
    """
    without = {
        "vectors": [name for name, manifest in manifests.items() if manifest.encoder is None],
        "BM25": [name for name, manifest in manifests.items() if manifest.lexical is None],
    }
    if without["vectors"] and without["BM25"]:
        raise InvalidRequest(
            f"{without['vectors'][0]} has no vectors, and {without['BM25'][0]} no BM25, so there is no way to search both; "
            "take one index at a time"
        )
    for what, way in (("vectors", "words"), ("BM25", "meaning")):
        if 0 < len(without[what]) < len(manifests):
            have = "has" if len(without[what]) == 1 else "have"
            yield f"{enumerated(without[what])} {have} no {what}, so all of the indexes are searched by {way} alone"


def joined(manifests: Mapping[str, Manifest], spaces: Sequence[Manifest]) -> Manifest:
    """What a manifest would say of indexes, by their names, as one; its files are those of each.

    Args:
        manifests: those of the indexes.
        spaces: one of each group of indexes whose vectors can be compared; none if vectors are not searched.

    Raises InvalidRequest where they count words in different ways.
    """
    every = list(manifests.values())
    first, encoder, metric = every[0], None, None
    if len(spaces) == 1:
        encoder, metric = dict(spaces[0].encoder or {}), spaces[0].metric
        if any(manifest.late is None for manifest in every):
            encoder.pop("late", None)
    elif spaces:
        encoder = {"dim": sum(int(space.encoder["dim"]) for space in spaces if space.encoder), "name": "several", "layout": "several"}
    return replace(
        first,
        papers=sum(manifest.papers for manifest in every),
        checksum=" ".join(manifest.checksum for manifest in every),
        metric=metric,
        encoder=encoder,
        lexical=_lexical(manifests),
        shards=tuple(facts for manifest in every for facts in manifest.shards),
        fusion=_shared([manifest.fusion for manifest in every]),
        trial=None,
    )


def hardest(efforts: Sequence[Effort]) -> Effort:
    """What is enough for each of several indexes."""
    if not efforts:
        return USUAL
    return Effort(
        ef=max((effort.ef for effort in efforts if effort.ef is not None), default=None),
        nprobe=max((effort.nprobe for effort in efforts if effort.nprobe is not None), default=None),
        deepens=any(effort.deepens for effort in efforts),
        exact=any(effort.exact for effort in efforts),
    )


def _lexical(manifests: Mapping[str, Manifest]) -> Mapping[str, Any] | None:
    """BM25's facts on all papers; None where any index lacks it. Where parameters differ, they are the usual ones."""
    facts_of = {name: manifest.lexical for name, manifest in manifests.items() if manifest.lexical is not None}
    if len(facts_of) < len(manifests):
        return None
    (first_name, first), *others = facts_of.items()
    for name, facts in others:
        if facts["analyzer"] != first["analyzer"]:
            older = name if facts["analyzer"].get("form", 0) < first["analyzer"].get("form", 0) else first_name
            raise InvalidRequest(
                f"{first_name} and {name} count words in different ways; `sciretrieve reindex -i {older}` counts them anew, in seconds"
            )
    parameters = _shared([manifest.bm25 for manifest in manifests.values()]) or Bm25Parameters()
    statistics = {name: sum(int(facts["statistics"][name]) for facts in facts_of.values()) for name in first["statistics"]}
    return {"folder": "", "files": {}, **asdict(parameters), "analyzer": first["analyzer"], "statistics": statistics}


def _shared(values: Sequence[Value]) -> Value | None:
    """The value that all have; None where they differ."""
    return values[0] if all(value == values[0] for value in values) else None
