"""The best k, with ties, against sorting everything."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.matching.topk import best, order

scores_lists = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, -2.0, -np.inf]), min_size=1, max_size=40)


@given(scores_lists, st.integers(1, 50))
def test_best_holds_the_first_k_and_all_their_ties(values: list[float], k: int) -> None:
    scores = np.array(values)
    real = sorted((score for score in values if score > -np.inf), reverse=True)
    edge = real[:k][-1] if real else None
    expected = [position for position, score in enumerate(values) if edge is not None and score >= edge and score > -np.inf]
    assert best(scores, k).tolist() == expected


@given(scores_lists, st.integers(1, 50), st.sampled_from([0.0, 0.5, 1.0]))
def test_slack_only_adds(values: list[float], k: int, slack: float) -> None:
    scores = np.array(values)
    with_slack, without = set(best(scores, k, slack).tolist()), set(best(scores, k).tolist())
    assert without <= with_slack
    assert all(scores[at] >= min(scores[list(without)]) - slack for at in with_slack)


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.5]), st.text(max_size=3)), max_size=30))
def test_order_is_by_falling_score_then_id(rows: list[tuple[float, str]]) -> None:
    got = order([id for _, id in rows], np.array([score for score, _ in rows]))
    assert [rows[at] for at in got] == sorted(rows, key=lambda row: (-row[0], row[1]))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.5]), st.text(max_size=2)), max_size=30))
def test_groups_are_ordered_one_after_the_other(rows: list[tuple[int, float, str]]) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    got = order([id for *_, id in rows], np.array([score for _, score, _ in rows]), np.array([group for group, *_ in rows], np.int64))
    assert [rows[at] for at in got] == sorted(rows, key=lambda row: (row[0], -row[1], row[2]))
