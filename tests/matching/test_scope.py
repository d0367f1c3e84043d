"""Which papers may answer, against plain Python sets of rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.types import Rows
from sciretrieve.matching.scope import Scope

counts = st.integers(0, 12)
Drawn = tuple[Scope, set[int]]


def as_rows(rows: set[int]) -> Rows:
    return np.array(sorted(rows), np.int64)


@st.composite
def scopes(draw: st.DrawFn) -> Drawn:
    """A scope and the rows in it; all of them with a mask and without."""
    count = draw(counts)
    if draw(st.booleans()):
        return Scope(count), set(range(count))
    rows = draw(st.sets(st.integers(0, count - 1))) if count else set()
    mask = np.zeros(count, bool)
    mask[as_rows(rows)] = True
    return Scope(count, mask), rows


def some_rows(data: st.DataObject, scope: Scope) -> set[int]:
    return data.draw(st.sets(st.integers(0, scope.rows - 1))) if scope.rows else set()


def assert_is(scope: Scope, count: int, rows: set[int]) -> None:
    """A scope of so many rows says in every way that these are in it."""
    assert scope.rows == count
    assert len(scope) == len(rows)
    assert scope.places.tolist() == sorted(rows)
    assert scope.flags.tolist() == [row in rows for row in range(count)]
    assert scope.flags.dtype == bool
    assert scope.has(np.arange(count)).tolist() == scope.flags.tolist()


@given(scopes())
def test_a_scope_says_in_every_way_which_rows_are_in_it(drawn: Drawn) -> None:
    scope, rows = drawn
    assert_is(scope, scope.rows, rows)


@given(scopes(), st.data())
def test_rows_may_be_asked_for_in_any_order_and_often(drawn: Drawn, data: st.DataObject) -> None:
    scope, rows = drawn
    asked = data.draw(st.lists(st.integers(0, scope.rows - 1))) if scope.rows else []
    assert scope.has(np.array(asked, np.int64)).tolist() == [row in rows for row in asked]


@given(scopes(), st.data())
def test_the_part_of_a_shard_counts_its_own_rows(drawn: Drawn, data: st.DataObject) -> None:
    scope, rows = drawn
    first = data.draw(st.integers(0, scope.rows))
    count = data.draw(st.integers(0, scope.rows - first))
    assert_is(scope.part(first, count), count, {row - first for row in rows if first <= row < first + count})


@given(scopes(), st.data())
def test_narrowing_a_scope_leaves_it_as_it_is(drawn: Drawn, data: st.DataObject) -> None:
    scope, rows = drawn
    others = some_rows(data, scope)
    mask = Scope(scope.rows).among(as_rows(others)).flags
    assert_is(scope.passing(mask), scope.rows, rows & others)
    assert_is(scope.among(as_rows(others)), scope.rows, rows & others)
    assert_is(scope.without(as_rows(others)), scope.rows, rows - others)
    assert_is(scope.among(as_rows(others)).without(as_rows(rows)), scope.rows, set())
    assert_is(scope, scope.rows, rows)


@given(scopes())
def test_no_mask_lets_everything_through(drawn: Drawn) -> None:
    scope, _ = drawn
    assert scope.passing(None) is scope


@pytest.mark.parametrize("change", [lambda scope: scope.without(as_rows(set())), lambda scope: scope.passing(np.ones(3, bool))])
def test_scopes_are_told_apart_by_what_they_are_not_by_what_is_in_them(change: Any) -> None:
    """Searches group queries by their scope, which must not cost a look at every row."""
    scope = Scope(3)
    assert change(scope) != scope
    assert scope == scope
    assert len({scope, change(scope)}) == 2
