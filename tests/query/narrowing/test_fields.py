"""Filters as data: what they say as text is read as the same tree, and papers pass them as they do in plain Python."""

import datetime
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.narrowing.fields import FilterText
from sciretrieve.query.narrowing.filters import parse

NAMES = st.text(st.characters(exclude_characters="`", exclude_categories=["Cs"]), min_size=1) | st.sampled_from(
    ["year", "in", "Null", "a.b-c", "not-x", "or.b", "inside"]
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(['"', "\\", "\\n", 'a\\"b', "\n", "\\\n"])
VALUES = NUMBERS | TEXTS | st.booleans()
COMPARISONS: Any = {
    "==": lambda field, value: field == value,
    "!=": lambda field, value: field != value,
    "<": lambda field, value: field < value,
    "<=": lambda field, value: field <= value,
    ">": lambda field, value: field > value,
    ">=": lambda field, value: field >= value,
}
CONDITIONS = st.one_of(
    st.builds(lambda name, sign, value: COMPARISONS[sign](sr.field(name), value), NAMES, st.sampled_from(sorted(COMPARISONS)), VALUES),
    st.builds(lambda name, values: sr.field(name).isin(values), NAMES, st.lists(VALUES, min_size=1, max_size=4)),
    st.builds(lambda name, first, last: sr.field(name).between(first, last), NAMES, VALUES, VALUES),
    st.builds(lambda name, text: sr.field(name).contains(text), NAMES, TEXTS),
    st.builds(lambda name: sr.field(name).is_null(), NAMES),
)
FILTERS = st.recursive(
    CONDITIONS,
    lambda parts: (
        st.builds(lambda a, b: a & b, parts, parts) | st.builds(lambda a, b: a | b, parts, parts) | st.builds(lambda a: ~a, parts)
    ),
    max_leaves=8,
)


@given(FILTERS)
def test_the_text_is_read_as_the_same_tree(written: FilterText) -> None:
    assert parse(str(written)) == written.expression
    assert pickle.loads(pickle.dumps(written)).expression == written.expression
    assert json.loads(json.dumps(written)) == str(written)


def test_it_stands_wherever_a_filter_can(
    index: sr.Index, papers: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIRETRIEVE_DATA", str(tmp_path / "data"))
    written = (sr.field("topic") == "stars") & (sr.field("year") >= 2010)
    ids = [paper["id"] for paper in papers if paper["topic"] == "stars" and (paper["year"] or 0) >= 2010]
    assert set(index.search("star", len(papers), mode="dense", filter=written, group=False)[0].ids) == set(ids)
    assert sr.SearchOptions(filter=[written, "year > 1"]).filters == (str(written), "year > 1")
    assert sr.delete(index.path, filter=written, dry_run=True).deleted == len(ids)
    session = sr.Screening(index, tmp_path / "session.jsonl", "star dust", filter=written)
    assert {paper.id for paper in session.next(len(papers))} <= set(ids)
    sr.save_search(index, sr.Request("star dust", options=sr.SearchOptions(filter=written)), "stars")
    assert sr.saved_search("stars").request.options.filters == (str(written),)


@pytest.mark.parametrize("filter", [{"year": 2018}, 2018, True, b"year > 1", [None], sr.field("year"), [{"year": 2018}], {"year > 1"}])
def test_what_is_no_filter_is_refused(index: sr.Index, filter: Any) -> None:
    for ask in (
        lambda: index.search("graph", filter=filter),
        lambda: index.count("graph", filter),
        lambda: index.count_lines("graph", filter),
    ):
        with pytest.raises(InvalidRequest):
            ask()
    with pytest.raises(InvalidRequest, match="a filter is a text such as 'year >= 2018', or a list of such texts, not "):
        sr.delete(index.path, filter=filter)


def test_what_loses_a_part_of_a_filter_is_refused() -> None:
    year = sr.field("year")
    for lossy in (lambda: 2010 <= year <= 2020, lambda: (year > 1) and (year < 3), lambda: not (year > 1)):
        with pytest.raises(TypeError, match=r"combine filters with &, \| and ~"):
            lossy()
    with pytest.raises(InvalidRequest, match="put comparisons in parentheses"):
        _ = (year > 1) & year  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sr.field(""), "name of a column"),
        (lambda: sr.field("a`b"), "without backquotes"),
        (lambda: sr.field("venue") == None, "is_null"),  # noqa: E711
        (lambda: sr.field("impact") > float("nan"), "finite number"),
        (lambda: sr.field("impact") > [1], "finite number"),
        (lambda: sr.field("impact").isin([]), "at least one"),
        (lambda: sr.field("impact").isin({"a": 1}), "needs a list"),
        (lambda: sr.field("impact").isin(3), "needs a list"),  # type: ignore[arg-type]
        (lambda: sr.field("impact").isin(b"ab"), "needs a list"),
        (lambda: sr.field("impact") > 10**5000, "more than 1000 digits"),
        (lambda: sr.field("impact") > Decimal("inf"), "finite number"),
        (lambda: sr.field("impact") == {"a": 1}, "not {'a': 1}"),
        (lambda: sr.field("impact") == np.array([1]), "not array"),
        (lambda: sr.field("impact") == b"x", "not b'x'"),
        (lambda: sr.field("day") == np.datetime64("NaT"), "is_null"),
        (lambda: sr.field("day") == datetime.timedelta(1), "finite number"),
        (lambda: sr.field("authors").contains(3), "needs a text"),  # type: ignore[arg-type]
    ],
)
def test_what_no_filter_can_say_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        make()


def test_values_are_written_whole() -> None:
    assert (sr.field("day") < datetime.date(2020, 2, 29)) == 'day < "2020-02-29"'
    assert (sr.field("day") < np.datetime64("2020-02-29T12:00:00.000000001")) == 'day < "2020-02-29T12:00:00.000000001"'
    assert (sr.field("at") < datetime.time(12, 30)) == 'at < "12:30:00"'
    assert (sr.field("x") == Decimal("12345678901234567890.10")) == "x == 12345678901234567890.10"
    assert (sr.field("x") == np.float32(0.5), sr.field("x") == 1e23) == ("x == 0.5", "x == 1E+23")
