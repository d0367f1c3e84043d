"""Papers, queries, hits and passages never change, at any depth, and equal values have equal hashes, also in another process."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.frozen import FrozenDict, FrozenList

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner), max_leaves=8)
EXTRA = {"topics": ["a", "b"], "places": [{"city": "Ulm", "at": [1, 2]}], "more": {"n": 1}}


def of_all_kinds(extra: Any) -> list[Any]:
    """A value of each class, with these columns in its paper."""
    paper = sr.Paper("a", "Graphs", authors=["Ada"], extra=copy.deepcopy(extra))  # type: ignore[arg-type]
    query = sr.Query("1", "graphs", paper=paper, vector=[1, 2.5])
    return [paper, query, passage := sr.Passage("a", 0, "Text."), sr.Hit(1, 0.5, paper, {"dense": 1.0}, ["b"], passage=passage)]  # type: ignore[arg-type]


@settings(max_examples=20)
@given(st.dictionaries(st.text(), VALUES))
def test_equal_values_have_equal_hashes_wherever_they_went(extra: dict[str, Any]) -> None:
    for value, again in zip(of_all_kinds(extra), of_all_kinds(extra), strict=True):
        for other in (again, pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value), replace(value)):
            assert other == value
            assert hash(other) == hash(value)
            assert other.to_json() == value.to_json()
    assert of_all_kinds(extra)[0].extra == extra


CHANGES: list[Callable[[Any], Any]] = [
    lambda extra: extra.update(n=1),
    lambda extra: extra.setdefault("new", 1),
    lambda extra: extra.__setitem__("n", 1),
    lambda extra: extra.__ior__({"n": 1}),
    lambda extra: extra.pop("topics"),
    lambda extra: extra["topics"].append("c"),
    lambda extra: extra["topics"].sort(),
    lambda extra: extra["topics"].__iadd__(["c"]),
    lambda extra: extra["topics"].__delitem__(0),
    lambda extra: extra["places"][0].clear(),
    lambda extra: extra["places"][0]["at"].extend([3]),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("sent", [lambda value: value, lambda value: pickle.loads(pickle.dumps(value))], ids=["here", "pickled"])
def test_nothing_within_can_be_changed(change: Callable[[Any], Any], sent: Callable[[Any], Any]) -> None:
    paper = sent(of_all_kinds(EXTRA)[0])
    with pytest.raises(TypeError, match="never changes; change a copy"):
        change(paper.extra)
    assert paper.extra == EXTRA


def test_every_method_that_changes_a_dict_or_a_list_is_refused() -> None:
    """Also one that a later Python adds: what is inherited unchanged is known to change nothing."""
    reading = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    for kind, plain in ((FrozenDict, dict), (FrozenList, list)):
        names = {name for name in vars(plain) if not name.startswith("_")} | {"__setitem__", "__delitem__"}
        assert {name for name in names if getattr(kind, name) is getattr(plain, name, None)} <= reading
        assert type(kind().copy()) is plain


def test_arrays_become_lists() -> None:
    paper = sr.Paper("a", authors=np.array(["Ada", "Bo"]), extra={"at": np.arange(2), "n": np.int64(3)})  # type: ignore[arg-type]
    assert paper == sr.Paper("a", authors=("Ada", "Bo"), extra={"at": [0, 1], "n": 3})
    assert len({paper, sr.Paper("a", authors=iter(["Ada", "Bo"]), extra=paper.extra)}) == 1  # type: ignore[arg-type]


def test_a_vector_cannot_be_written_either() -> None:
    query: Any = sr.Query(vector=np.ones(2))
    for one in (query, pickle.loads(pickle.dumps(query)), copy.deepcopy(query)):
        with pytest.raises(ValueError, match="WRITEABLE"):
            one.vector.flags.writeable = True


def test_a_paper_that_contains_itself_is_refused() -> None:
    extra: dict[str, Any] = {}
    extra["self"] = [extra]
    with pytest.raises(sr.InvalidRequest, match="contains itself"):
        sr.Paper("a", extra=extra)
