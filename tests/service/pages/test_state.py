"""Every state of the page is an address, and back again."""

from __future__ import annotations

from urllib.parse import unquote, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.narrowing import filters
from sciretrieve.service.pages.state import State, paper_path

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(str.strip)
TEXTS = st.lists(TEXT.filter(bool), unique=True, max_size=3).map(tuple)
STATES = st.builds(
    State,
    q=TEXT,
    index=TEXT,
    filter=TEXT,
    year=st.sampled_from(["", "2010", "2010-", "-2015", "2010-2015"]),
    venue=TEXTS,
    author=TEXTS,
    sort=st.sampled_from(["", "year"]),
    like=TEXTS,
    unlike=TEXTS,
    page=st.integers(1, 99),
    extra=st.sampled_from([(), ("facets", "why")]),
)


def at(address: str) -> State:
    """The state at an address."""
    return State.of(QueryParams(urlsplit(address).query))


@given(STATES)
def test_a_state_is_an_address_and_back(state: State) -> None:
    assert at(state.to(page=state.page)) == state
    assert at(state.to()).page == 1


@given(STATES, TEXT.filter(bool))
def test_a_paper_is_liked_or_disliked_but_not_both(state: State, name: str) -> None:
    liked = at(state.plus("like", name))
    assert liked.like[-1] == name
    assert name not in liked.unlike
    assert name not in at(liked.minus("like", name)).like
    assert at(liked.plus("unlike", name)).unlike[-1] == name


@given(TEXTS, TEXTS)
def test_what_is_chosen_is_a_filter_that_can_be_read(venues: tuple[str, ...], authors: tuple[str, ...]) -> None:
    for condition in State(venue=venues, author=authors).conditions:
        assert filters.columns(filters.parse(condition)) <= {"venue", "authors"}


@pytest.mark.parametrize(
    ("year", "expected"), [("", (None, None)), ("2010", (2010, 2010)), ("2010-", (2010, None)), ("-2015", (None, 2015)), ("1-2", (1, 2))]
)
def test_years(year: str, expected: tuple[int | None, int | None]) -> None:
    assert State(year=year).years == expected


@pytest.mark.parametrize("address", ["/?page=x", "/?page=-1", "/?page=99999", "/?q=a&sort=best"])
def test_what_is_no_state_is_refused(address: str) -> None:
    with pytest.raises(InvalidRequest):
        at(address).request(1)


@given(st.one_of(TEXT, st.lists(st.sampled_from(["a", ".", "..", "", "10.1000"])).map("/".join)))
def test_a_paper_s_address_has_its_name(name: str) -> None:
    path = paper_path(name)
    assert unquote(path.removeprefix("/paper/")) == name
    assert not set(path) & set("?#\"'<> ")
    if name.strip("."):
        assert urljoin("http://here/", path) == f"http://here{path}"  # no segment is a step
        assert "//" not in path or not name


def test_a_doi_stays_readable() -> None:
    assert paper_path("10.1000/a(b)") == "/paper/10.1000/a%28b%29"
    assert paper_path("https://openalex.org/W1") == "/paper/https:%2F%2Fopenalex.org%2FW1"
