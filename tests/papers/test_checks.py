"""What is looked for in papers' fields: planted faults are found, and what is right as it is, however odd, is left alone."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from sciretrieve.files.schema import PAPER_FIELDS
from sciretrieve.papers.checks import DOUBTFUL, MISSING

SOUND: dict[str, Any] = {
    "id": "x",
    "title": "Graph networks of molecules",
    "abstract": "We pass messages along the bonds of molecules.",
    "year": 2017,
    "venue": "Nature",
    "authors": ["Lovelace, Ada", "A. Turing"],
    "doi": "10.1000/abc",
    "url": None,
}
THIS_YEAR = datetime.now(UTC).year


def alarms(**changes: Any) -> set[str]:
    """The names of the checks that are true of a paper, which stands among sound ones."""
    table = pa.Table.from_pylist([SOUND, SOUND | changes, SOUND], pa.schema(list(PAPER_FIELDS)))
    found = {check.name: check.finds(table).tolist() for check in (*MISSING, *DOUBTFUL)}
    assert not any(before or after for before, _, after in found.values())
    return {name for name, (_, is_found, _) in found.items() if is_found}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"title": ""}, "no_title"),
        ({"abstract": ""}, "no_abstract"),
        ({"authors": []}, "no_authors"),
        ({"authors": None}, "no_authors"),
        ({"year": None}, "no_year"),
        ({"doi": None}, "no_doi"),
        ({"title": SOUND["abstract"], "abstract": SOUND["title"]}, "title_longer_than_abstract"),
        ({"abstract": "NULL"}, "title_longer_than_abstract"),
        ({"abstract": "GRAPH networks of molecules."}, "abstract_repeats_title"),
        ({"title": "Lovelace, A. K.; Turing, A.", "authors": ["Graph networks of molecules"]}, "title_of_names"),
        ({"title": "A. Turing and G. Hopper", "authors": []}, "title_of_names"),
        ({"title": "Ö. Ångström, J.-P. Serre, and M. O’Neill-Smith"}, "title_of_names"),
        ({"title": "Ada Lovelace, A. Turing"}, "title_of_names"),
        ({"title": "Author index", "authors": ["Author Index"]}, "title_of_names"),
        ({"venue": "2017"}, "venue_is_none"),
        ({"venue": "12(3)"}, "venue_is_none"),
        ({"venue": "https://example.org/a"}, "venue_is_none"),
        ({"venue": "10.1000/abc"}, "venue_is_none"),
        ({"doi": "https://example.org/a"}, "doi_is_none"),
        ({"doi": "10.1000"}, "doi_is_none"),
        ({"year": THIS_YEAR + 2}, "year_ahead"),
    ],
)
def test_a_planted_fault_is_found_and_named(changes: dict[str, Any], name: str) -> None:
    assert alarms(**changes) == {name} | ({"no_authors"} if changes.get("authors", True) in ([], None) else set())


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"url": "https://doi.org/10.1000/abc"},
        {"doi": "https://doi.org/10.1000/ABC"},
        {"doi": "doi:10.1000/abc"},
        {"year": THIS_YEAR + 1},
        {"year": 1665},
        {"venue": None},
        {"venue": "1st Workshop on Graphs"},
        {"venue": "PLoS ONE"},
        {"venue": "IEEE 802.11"},
        {"title": "Turing"},
        {"title": "J. S. Bach"},
        {"title": "Bach, Handel, and Scarlatti: three lives"},
        {"title": "Letters of A. Einstein and N. Bohr"},
        {"title": "E. coli and B. subtilis in soil"},
        {"title": "Lovelace and Turing on machines"},
        {"title": "1984"},
        {"title": "«»", "authors": ["«»"]},
        {"title": "Graph networks", "abstract": "Graph networks of molecules"},
    ],
)
def test_what_is_right_raises_no_alarm(changes: dict[str, Any]) -> None:
    assert alarms(**changes) == set()


def test_an_abstract_that_repeats_the_title_is_one_alarm() -> None:
    assert alarms(title="Graph networks!", abstract="Graph networks") == {"abstract_repeats_title"}
