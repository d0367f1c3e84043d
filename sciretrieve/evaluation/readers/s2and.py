"""S2AND's layout (Subramanian et al. 2021), as SciRepEval's S2AND-mini has it: mentions of authors in blocks of one name each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidRequest
from ...types import Paper
from ..judgements import json_of, objects_by_id
from ..material import Clustering, Labelled, Material
from .files import find, fingerprint, paper_of

DATASETS = ("arnetminer", "inspire", "kisti", "pubmed", "qian", "zbmath")


def load(folder: Path, dataset: str, benchmark: str) -> Material:
    """One of the data sets: `DATASET_{signatures,clusters,papers}.json` and `block_sigs_DATASET.json`, which has the blocks of each split.

    Raises:
        NotFound: a file is missing.
        InvalidRequest: a signature has no block or paper, or the clusters or blocks are of another form.
    """
    paths = {name: find(folder, f"{dataset}_{name}.json", benchmark=benchmark) for name in ("signatures", "clusters", "papers")}
    splits_path = find(folder, f"block_sigs_{dataset}.json", benchmark=benchmark)
    signatures, clusters, papers = (objects_by_id(paths[name]) for name in ("signatures", "clusters", "papers"))
    authors: dict[str, str] = {}
    for author, row in clusters.items():
        if not isinstance(row.get("signature_ids"), list):
            raise InvalidRequest(f"{paths['clusters']}: cluster {author!r} has no list of signature_ids")
        authors |= {str(id): author for id in row["signature_ids"]}
    blocks: dict[str, list[tuple[str, str]]] = {}
    for id, row in signatures.items():
        block = (row.get("author_info") or {}).get("block")
        if block is None or row.get("paper_id") is None:
            raise InvalidRequest(f"{paths['signatures']}: signature {id!r} has no author_info.block or no paper_id")
        if id in authors:
            blocks.setdefault(str(block), []).append((str(row["paper_id"]), authors[id]))
    splits = json_of(splits_path)
    dev, test = (_blocks(splits_path, splits, name, blocks) for name in ("dev", "test"))
    used_ids = dict.fromkeys(id for block in (*dev, *test) for id in block.ids)

    def pool() -> Iterator[Paper]:
        yield from (paper_of(papers[id], id) for id in used_ids if id in papers)

    clustering = Clustering(dataset, "B3 F1", dev, test)
    return Material(pool, (), f"s2and_{dataset}", fingerprint([*paths.values(), splits_path]), predictions=(clustering,))


def _blocks(path: Path, splits: Mapping[str, Any], name: str, blocks: Mapping[str, list[tuple[str, str]]]) -> tuple[Labelled, ...]:
    """The blocks of a split that have mentions; the split is a list of blocks' names, or an object with these as its keys."""
    names = splits.get(name)
    if not isinstance(names, (list, dict)):
        raise InvalidRequest(f"{path} has no list of blocks {name!r}; found {', '.join(sorted(splits)) or 'nothing'}")
    found = [blocks[str(block)] for block in names if str(block) in blocks]
    if not found:
        raise InvalidRequest(f"{path}: none of the blocks of {name!r} has a signature with a known author")
    return tuple(Labelled(tuple(id for id, _ in rows), np.array([author for _, author in rows])) for rows in found)
