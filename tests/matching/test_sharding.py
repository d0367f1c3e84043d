"""Rows are told apart by their shard, and put together again."""

from dataclasses import dataclass

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from sciretrieve.matching.sharding import by_shard


@dataclass(frozen=True)
class Part:
    """A shard's rows."""

    first: int
    papers: int


def parts_of(sizes: list[int]) -> list[Part]:
    return [Part(sum(sizes[:number]), size) for number, size in enumerate(sizes)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.data())
@example([3], None)
@example([0, 2, 0], None)
def test_every_row_comes_once_with_its_place_and_within_its_shard(sizes: list[int], data: st.DataObject | None) -> None:
    parts = parts_of(sizes)
    everything = list(range(sum(sizes)))
    rows = everything[::-1] if data is None else data.draw(st.lists(st.sampled_from(everything))) if everything else []
    given_rows = np.array(rows, np.int64)
    seen: dict[int, int] = {}
    met = []
    for part, positions, shard_rows in by_shard(given_rows, parts):
        met.append(part)
        assert len(positions) == len(shard_rows) > 0
        assert ((shard_rows >= 0) & (shard_rows < part.papers)).all()
        assert positions.tolist() == sorted(positions.tolist())
        for position, row in zip(positions.tolist(), shard_rows.tolist(), strict=True):
            assert position not in seen
            seen[position] = row + part.first
    assert [seen[position] for position in range(len(rows))] == rows
    assert [parts.index(part) for part in met] == sorted({parts.index(part) for part in met})  # each once, in their order
    assert given_rows.tolist() == rows


def test_no_shards_have_no_rows() -> None:
    assert list(by_shard(np.empty(0, np.int64), [])) == []
