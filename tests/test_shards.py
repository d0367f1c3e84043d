"""One shard: its papers by row, and what it holds in memory."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sciretrieve import shards
from sciretrieve.lexical import Analyzer
from sciretrieve.schema import papers_of
from sciretrieve.shards import Shard, ShardWriter
from tests.made_up import made_up_papers, read_corpus, write_jsonl


@pytest.fixture
def written(tmp_path: Path) -> Shard:
    """A shard of 1,000 papers."""
    table, _ = read_corpus(write_jsonl(tmp_path / "papers.jsonl", made_up_papers(1000)))
    writer = ShardWriter(tmp_path / "000000", None, Analyzer())
    writer.add(table)
    return Shard(tmp_path / "000000", writer.finish(), 0)


@pytest.mark.parametrize("rows", [[0], [999], [255, 256], [999, 0, 500, 500, 256, 255, 1], list(range(999, -1, -7)), []], ids=len)
@pytest.mark.parametrize("groups_at_once", [1, 32])
def test_papers_come_in_the_order_of_their_rows(
    written: Shard, rows: list[int], groups_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "GROUPS_AT_ONCE", groups_at_once)
    everything = papers_of(pq.read_table(written.directory / "papers.parquet"))
    assert written.papers(np.array(rows, np.int64)) == [everything[row] for row in rows]


@pytest.mark.parametrize(
    "layout", [{"row_group_size": 1024, "compression": "zstd"}, {"row_group_size": 300}, {"row_group_size": 7}], ids=str
)
def test_papers_are_read_whatever_the_layout_of_their_file(written: Shard, layout: dict[str, object]) -> None:
    path = written.directory / "papers.parquet"
    table = pq.read_table(path)
    before = written.papers(np.arange(0, 1000, 3))
    pq.write_table(table, path, **layout)
    opened_shard = Shard(written.directory, written.facts, 0)
    assert opened_shard.papers(np.arange(0, 1000, 3)) == before
    assert opened_shard.columns(["year", "id"]).equals(table.select(["year", "id"]))
    assert sum(len(part) for _, part in opened_shard.tables()) == 1000


def test_a_shard_that_was_read_can_be_forgotten(written: Shard) -> None:
    opened_shard = Shard(written.directory, written.facts, 0)
    opened_shard.papers(np.array([3]))
    opened_shard.ids_at(np.array([3]))
    reference = weakref.ref(opened_shard)
    gc.disable()
    try:
        del opened_shard
        assert reference() is None
    finally:
        gc.enable()
