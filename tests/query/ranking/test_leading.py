"""Papers that a query names come first, and nothing else of a ranking changes: held against lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.types import Query
from sciretrieve.matching.search import Match
from sciretrieve.query.ranking.leading import named_first
from sciretrieve.runs import Ranking


@given(
    st.lists(st.floats(-5, 30), max_size=12),
    st.lists(st.integers(0, 20), unique=True, min_size=1, max_size=6),
    st.integers(1, 20),
)
def test_named_papers_come_first(scores: list[float], named: list[int], k: int) -> None:
    rows = list(range(0, 2 * len(scores), 2))
    falling = np.array(sorted(scores, reverse=True))
    ranking = Ranking(Query("1", "x"), [f"p{row}" for row in rows], falling, np.array(rows, np.int64), {"bm25": falling})
    result = named_first(ranking, Match("title", np.array(named, np.int64)), k)

    first, others = ([row for row in rows if (row in named) == is_named] for is_named in (True, False))
    assert result.rows.tolist() == (first + others)[:k]
    assert list(result.ids) == [f"p{row}" for row in result.rows]
    assert result.known == {f"p{row}": "title" for row in first}
    best = max([1.0, *scores])
    own = dict(zip(rows, falling.tolist(), strict=True))
    assert result.scores.tolist() == ([best] * len(first) + [own[row] for row in others])[:k]
    assert (np.diff(result.scores) <= 0).all()
    assert result.parts["bm25"].tolist() == [own[row] for row in result.rows.tolist()]
