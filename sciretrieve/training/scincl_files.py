"""Reads SciNCL's published triplets (Ostendorff et al. 2022): ids in train_triples.csv, papers in train_metadata.jsonl."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ..base.errors import InvalidRequest
from ..base.types import Paper
from ..evaluation.readers.benchmark_files import COMPRESSED, paper_of, rows, text_of
from ..files.streams import read_text
from .forms import TrainingSet

TRIPLES, METADATA = "train_triples.csv", "train_metadata.jsonl"
HEADER = ["query_paper_id", "positive_id", "negative_id"]


def scincl_files(folder: Path) -> tuple[Path, Path] | None:
    """The files of triplets and of papers in a folder, plain or compressed; None if one is not there."""
    found = [next((path for ending in COMPRESSED if (path := folder / (name + ending)).is_file()), None) for name in (TRIPLES, METADATA)]
    return (found[0], found[1]) if found[0] and found[1] else None


def read_scincl(triples: Path, metadata: Path) -> TrainingSet:
    """Read the triplets whose three papers are there; as in the authors' code, the others are left out. Raises InvalidRequest."""
    papers: dict[str, Paper] = {}
    for number, row in rows(metadata):
        id = text_of(metadata, number, row, "paper_id")
        papers[id] = paper_of(row, id)
    table = csv.reader(io.StringIO(read_text(triples), newline=""))
    if next(table, None) != HEADER:
        raise InvalidRequest(f"{triples} does not begin with the columns {', '.join(HEADER)}")
    triplets: list[tuple[str, str, str]] = []
    for number, ids in enumerate(table, 2):
        if len(ids) != len(HEADER):
            raise InvalidRequest(f"{triples}, line {number}: {len(ids)} columns where {len(HEADER)} are expected")
        if papers.keys() >= set(ids):
            triplets.append((ids[0], ids[1], ids[2]))
    if not triplets:
        raise InvalidRequest(f"{triples} has no triplet whose papers are all in {metadata.name}")
    return TrainingSet("triplets", papers, triplets)
