"""S2AND's layout (Subramanian et al. 2021), as SciRepEval's S2AND-mini has it: mentions of authors in blocks of one name each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InvalidRequest
from ...metrics.judgements import json_of, objects_by_id
from ..material import Clustering, Handover, LabelledPapers, Material
from .benchmark_files import find, fingerprint, paper_of

DATASETS = ("arnetminer", "inspire", "kisti", "pubmed", "qian", "zbmath")
FILES = ("signatures", "clusters", "papers")
Splits = Mapping[str, tuple[LabelledPapers, ...]]
"""A split's name -> its blocks: for each mention of an author the paper's id and the true author."""


def load(folder: Path, split: str, benchmark: str) -> list[Material]:
    """All data sets, of each `DATASET_{signatures,clusters,papers}.json` and `block_sigs_DATASET.json`, which has the blocks of each split.

    Raises:
        NotFound: a file is missing.
        InvalidRequest: a signature has no block or paper, or the clusters or blocks are of another form.
    """
    sets = []
    for dataset in DATASETS:
        paths, splits = _read(folder, dataset, benchmark, ("dev", "test"))
        sets.append(_material(f"s2and_{dataset}", paths, Clustering(dataset, "B3 F1", splits["dev"], splits["test"]), splits))
    return sets


def load_for_s2and(folder: Path, split: str, benchmark: str) -> list[Material]:
    """The same for S2AND's own code, which reads `DATASET/DATASET_signatures.json` and so on.

    Raises:
        NotFound, InvalidRequest: as `load`; InvalidRequest, too, if its code would not find a file there.
    """
    return [_handed_over(folder, dataset, benchmark) for dataset in DATASETS]


def _handed_over(folder: Path, dataset: str, benchmark: str) -> Material:
    paths, splits = _read(folder, dataset, benchmark, ("train", "dev", "test"))
    root, blocks = paths["signatures"].parent.parent, paths["blocks"].parent
    expected = {name: root / dataset / f"{dataset}_{name}.json" for name in FILES} | {"blocks": blocks / f"block_sigs_{dataset}.json"}
    for name, path in paths.items():
        if path != expected[name]:
            raise InvalidRequest(f"S2AND's own code, which {benchmark} needs, does not read {path}; name it {expected[name]}, uncompressed")
    learnt, test = (tuple(id for name in names for block in splits[name] for id in block.ids) for names in (("train", "dev"), ("test",)))
    return _material(f"s2and-all_{dataset}", paths, Handover(dataset, "B3 F1", root, blocks, learnt, test), splits)


def _read(folder: Path, dataset: str, benchmark: str, names: Sequence[str]) -> tuple[dict[str, Path], Splits]:
    """The files, and the splits that are asked for."""
    paths = {name: find(folder, f"{dataset}_{name}.json", benchmark=benchmark) for name in FILES}
    paths["blocks"] = find(folder, f"block_sigs_{dataset}.json", benchmark=benchmark)
    authors: dict[str, str] = {}
    for author, row in objects_by_id(paths["clusters"]).items():
        if not isinstance(row.get("signature_ids"), list):
            raise InvalidRequest(f"{paths['clusters']}: cluster {author!r} has no list of signature_ids")
        authors |= {str(id): author for id in row["signature_ids"]}
    blocks: dict[str, list[tuple[str, str]]] = {}
    for id, row in objects_by_id(paths["signatures"]).items():
        block = (row.get("author_info") or {}).get("block")
        if block is None or row.get("paper_id") is None:
            raise InvalidRequest(f"{paths['signatures']}: signature {id!r} has no author_info.block or no paper_id")
        if id in authors:
            blocks.setdefault(str(block), []).append((str(row["paper_id"]), authors[id]))
    file = json_of(paths["blocks"])
    return paths, {name: _blocks(paths["blocks"], file, name, blocks) for name in names}


def _material(name: str, paths: Mapping[str, Path], task: Clustering | Handover, splits: Splits) -> Material:
    """A task, and the papers of its mentions."""
    papers = objects_by_id(paths["papers"])
    used_ids = dict.fromkeys(id for blocks in splits.values() for block in blocks for id in block.ids)
    return Material(
        lambda: (paper_of(papers[id], id) for id in used_ids if id in papers), (), name, fingerprint(paths.values()), predictions=(task,)
    )


def _blocks(path: Path, splits: Mapping[str, Any], name: str, blocks: Mapping[str, list[tuple[str, str]]]) -> tuple[LabelledPapers, ...]:
    """The blocks of a split that have mentions; the split is a list of blocks' names, or an object with these as its keys."""
    names = splits.get(name)
    if not isinstance(names, (list, dict)):
        raise InvalidRequest(f"{path} has no list of blocks {name!r}; found {', '.join(sorted(splits)) or 'nothing'}")
    known_blocks = [blocks[str(block)] for block in names if str(block) in blocks]
    if not known_blocks:
        raise InvalidRequest(f"{path}: none of the blocks of {name!r} has a signature with a known author")
    return tuple(LabelledPapers(tuple(id for id, _ in rows), np.array([author for _, author in rows])) for rows in known_blocks)
