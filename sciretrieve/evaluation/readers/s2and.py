"""S2AND's layout (Subramanian et al. 2021), as in SciRepEval's S2AND-mini: mentions of authors, in one block per name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...metrics.judgements import json_of, objects_by_id
from ..material import Handover, Material
from .benchmark_files import find, fingerprint, paper_of

DATASETS = ("arnetminer", "inspire", "kisti", "pubmed", "qian", "zbmath")
FILES = ("signatures", "clusters", "papers")


def load(folder: Path, split: str, benchmark: str) -> list[Material]:
    """All data sets for S2AND's own code: for each `DATASET/DATASET_{signatures,clusters,papers}.json`, and `block_sigs_DATASET.json` with
    the blocks of each split.

    Raises:
        NotFound: a file is missing.
        InvalidRequest: a signature has no block or paper, clusters or blocks are of another form, or the code would not find a file there.
    """
    return [_handover(folder, dataset, benchmark) for dataset in DATASETS]


def _handover(folder: Path, dataset: str, benchmark: str) -> Material:
    paths, splits = _read(folder, dataset, benchmark)
    root, blocks = paths["signatures"].parent.parent, paths["blocks"].parent
    expected = {name: root / dataset / f"{dataset}_{name}.json" for name in FILES} | {"blocks": blocks / f"block_sigs_{dataset}.json"}
    for name, path in paths.items():
        if path != expected[name]:
            raise InvalidRequest(f"S2AND's own code, which {benchmark} needs, does not read {path}; name it {expected[name]}, uncompressed")
    papers = objects_by_id(paths["papers"])
    used_ids = dict.fromkeys(id for ids in splits.values() for id in ids)
    task = Handover(dataset, root, blocks, (*splits["train"], *splits["dev"]), splits["test"])
    name = f"s2and-all_{dataset}"
    return Material(
        lambda: (paper_of(papers[id], id) for id in used_ids if id in papers), (), name, fingerprint(paths.values()), predictions=(task,)
    )


def _read(folder: Path, dataset: str, benchmark: str) -> tuple[dict[str, Path], dict[str, tuple[str, ...]]]:
    """The files, and each split's papers, one for each mention of an author."""
    paths = {name: find(folder, f"{dataset}_{name}.json", benchmark=benchmark) for name in FILES}
    paths["blocks"] = find(folder, f"block_sigs_{dataset}.json", benchmark=benchmark)
    known: set[str] = set()
    for author, row in objects_by_id(paths["clusters"]).items():
        if not isinstance(row.get("signature_ids"), list):
            raise InvalidRequest(f"{paths['clusters']}: cluster {author!r} has no list of signature_ids")
        known |= set(map(str, row["signature_ids"]))
    blocks: dict[str, list[str]] = {}
    for id, row in objects_by_id(paths["signatures"]).items():
        block = (row.get("author_info") or {}).get("block")
        if block is None or row.get("paper_id") is None:
            raise InvalidRequest(f"{paths['signatures']}: signature {id!r} has no author_info.block or no paper_id")
        if id in known:
            blocks.setdefault(str(block), []).append(str(row["paper_id"]))
    file = json_of(paths["blocks"])
    return paths, {name: _papers(paths["blocks"], file, name, blocks) for name in ("train", "dev", "test")}


def _papers(path: Path, splits: Mapping[str, Any], name: str, blocks: Mapping[str, list[str]]) -> tuple[str, ...]:
    """The papers of a split, which is a list of blocks' names, or an object with these as its keys."""
    names = splits.get(name)
    if not isinstance(names, (list, dict)):
        raise InvalidRequest(f"{path} has no list of blocks {name!r}; found {', '.join(sorted(splits)) or 'nothing'}")
    papers = tuple(id for block in names for id in blocks.get(str(block), ()))
    if not papers:
        raise InvalidRequest(f"{path}: none of the blocks of {name!r} has a signature with a known author")
    return papers
