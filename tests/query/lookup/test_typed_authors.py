"""Papers by the names of their authors, through an index, against a look at every paper in plain Python."""

from __future__ import annotations

import itertools
import re
import unicodedata
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.query.lookup import looking
from sciretrieve.query.lookup.texts import typed_names
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl

_PEOPLE = "Ishii, Hiroshi|Hiroshi Tanaka|Ashish Vaswani|N. Shazeer|Jörg Müller|Müller, Anna M.|Neil Young|Young, Kim|Brown, Kim"
PEOPLE = _PEOPLE.split("|")
PAPERS: list[dict[str, Any]] = [
    {
        "id": f"{first} {second} {year}",
        "title": f"Work number {year} on tangible bits of {'young' if year > 2010 else 'old'} people",
        "abstract": "Brown rice and young children.",
        "authors": [PEOPLE[first], PEOPLE[second]],
        "year": year,
    }
    for (first, second), year in zip(itertools.combinations(range(len(PEOPLE)), 2), itertools.cycle(range(2005, 2019)), strict=False)
]
_QUERIES = (
    r"Ishii Hiroshi|hiroshi ishii|H. Ishii|Ishii, H.|Hiroshi|ishii 2009|Vaswani et al. 2012|vaswani & shazeer|Vaswani and Shazeer (2012)|"
    r"müller|Muller|M{\"u}ller|Anna Müller|A. M. Muller|muller young|J. Müller 2010|"
    r"Neil Young|young neil 2011|young 2011|young|brown|brown young|kim brown|N. Young|A. Young|"
    r"vaswani gamma rays|ishii 1999|tangible|2010|Nobody Ishii|et al.|young children|brown rice|vaswani 2010 2011"
)
QUERIES = _QUERIES.split("|")
NAMES_ALONE = {"ishii", "hiroshi", "tanaka", "ashish", "vaswani", "shazeer", "jorg", "muller", "anna", "neil", "kim"}
"""Words that no title and no abstract has."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """The papers among others, in several shards, without vectors."""
    folder = tmp_path_factory.mktemp("names")
    papers = [paper | {"authors": []} for paper in made_up_papers(30)]
    return sr.build(write_jsonl(folder / "papers.jsonl", papers + PAPERS), folder / "index", encoder=None, shard_size=30)


def plain(text: str) -> list[str]:
    """The words of a text or a name, without accents."""
    text = text.replace(r"{\"u}", "u")
    return re.findall(r"[a-z]+", unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode().lower())


def by(query: str) -> set[str]:
    """The papers by authors of a name, by looking at all of them."""
    years = [int(year) for year in re.findall(r"\d{4}", query)]
    words = [word for word in plain(query) if word not in ("et", "al", "and")]
    found = set()
    for paper in PAPERS if words and len(years) < 2 else ():
        names = [plain(author) for author in paper["authors"]]
        surely = set(words) <= {*NAMES_ALONE, *(word for word in words if len(word) == 1)} or bool(years)

        def has(name: list[str]) -> bool:
            left = list(name)
            for word in sorted(words, key=len, reverse=True):
                match = next((other for other in left if other == word or (len(word) == 1 and other[0] == word)), None)
                if match is None:
                    return False
                left.remove(match)
            return True

        pooled = [word for name in names if set(name) & set(words) for word in name]
        enough = len([word for word in words if len(word) > 1]) > 1 or surely
        if enough and (not years or years[0] == paper["year"]) and (any(map(has, names)) or (surely and has(pooled))):
            found.add(paper["id"])
    return found


@pytest.mark.parametrize("query", QUERIES)
def test_papers_by_authors_of_a_name(index: sr.Index, query: str) -> None:
    match = index.snapshot.lookup.meant(query, index.snapshot.scope)
    assert set(index.ids(match.rows)) == by(query)
    assert match.by == ("names" if by(query) else "")


def test_names_that_too_many_papers_have_are_left_to_the_search(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_BY_NAME", len(by("müller")) - 1)
    assert not len(index.snapshot.lookup.meant("müller", index.snapshot.scope))


def test_the_command_says_that_papers_were_found_by_a_name(index: sr.Index) -> None:
    result = sciretrieve("search", "ishii", "-i", index.path, "-f", "jsonl")
    assert result.stderr.splitlines() == [f"first come the {len(by('ishii'))} papers by authors of this name"]
    filtered = sciretrieve("search", "ishii", "-i", index.path, "--since", "2011", "-f", "jsonl")
    assert {line.split('"id": "')[1].split('"')[0] for line in filtered.stdout.splitlines()} == {
        paper["id"] for paper in PAPERS if paper["id"] in by("ishii") and paper["year"] >= 2011
    }


@pytest.mark.parametrize("text", ["", "2017", "1 2", "a", "the 3rd one", "one two three four five six seven eight nine", "x 2016 2017"])
def test_what_no_name_is(text: str) -> None:
    assert typed_names(text) is None
