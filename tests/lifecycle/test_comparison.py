"""Papers are told by their ids, whether few batches are asked about or many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.lifecycle import comparison
from sciretrieve.lifecycle.comparison import IdTable
from tests.made_up import made_up_papers, write_jsonl


@pytest.mark.parametrize("few", [0, 1, 100])
def test_rows_of_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(comparison, "FEW", few)
    folder = sr.build(write_jsonl(tmp_path / "corpus.jsonl", made_up_papers(50)), tmp_path / "index", encoder=None, shard_size=20).path
    sr.delete(folder, ["p0007", "p0041"])
    with sr.open(folder) as index:
        table = IdTable(index)
        for _ in range(3):
            assert table.rows(["p0003", "p0007", "other", "p0041", "p0049", "", "p0003"]).tolist() == [3, -1, -1, -1, 49, -1, 3]
            assert table.rows([]).tolist() == []
        everything = [f"p{number:04d}" for number in range(50)]
        assert np.flatnonzero(table.rows(everything) < 0).tolist() == [7, 41]
