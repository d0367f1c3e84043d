"""A build whose papers are encoded in int8: the encoder is quantised with a sample of the papers that were cut."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..encoders import SAMPLE, quantise
from ..files.schema import concat, integers, texts_of
from ..protocols import Encoder, Progress
from ..storage.pending import Pending
from ..types import Paper

GROUPS = 16
"""Row groups of shards that the sample is taken from."""


def quantised(pending: Pending, encoder: Encoder, progress: Progress) -> Pending:
    """Quantise the encoder, into the work's folder, unless this work did that; notes the receipt. Raises as `quantise`."""
    if pending.state.get("receipt") is None:
        progress.note(f"quantising {encoder.name} with papers of the corpus, and trying what that costs")
        receipt = quantise(encoder, _sample(pending), pending.int8)
        progress.note(f"int8: {receipt}")
        return pending.noting(receipt=asdict(receipt), ran_in=[])  # only the probe was encoded so far
    return pending


def _sample(pending: Pending) -> list[Paper]:
    """Papers from all over the shards."""
    files = [folder / "papers.parquet" for folder in map(pending.partial, pending.places)]
    groups = [(file, group) for file in files for group in range(pq.read_metadata(file).num_row_groups)]
    chosen = [groups[place] for place in np.unique(np.linspace(0, len(groups) - 1, GROUPS).astype(int))]
    papers = concat([pq.ParquetFile(file).read_row_group(group, columns=["id", "title", "abstract"]) for file, group in chosen])
    return spread(papers)


def spread(papers: pa.Table) -> list[Paper]:
    """As many papers as an encoder is quantised with, from all over a table."""
    rows = np.unique(np.linspace(0, len(papers) - 1, SAMPLE).astype(np.int64))
    return texts_of(papers.take(integers(rows)).combine_chunks())
