"""author: and venue: as people type names, against a loop over the papers that tries every order of a name's words."""

from __future__ import annotations

import re
import unicodedata
from itertools import permutations
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.matching.lexical import Bm25Parameters
from sciretrieve.query.narrowing.typed_names import is_author, typed_names
from tests.made_up import write_jsonl

NAMES = (
    *("Ishii, Hiroshi", "H. Ishii", "Hiroshi Tanaka", "Haruki Ishii", "Tanaka-Ishii, Kumiko", "Ishii, H. and Tanaka, K."),
    *("Müller, Jörg", "Muller J", "Bal{\\'a}zs, Bal\\'azs K.", "Kégl, Balázs", "O'Brien, Fergus", "Jean-Pierre Serre", "J.-P. Serre"),
    *("Li Liu", "L. Wang", "The An", "李 明", "明 王", "Donald E. Knuth", "Łukasz Kaiser", "Paul Erd\\H{o}s"),
    *("Goodall, Susan D.", "Dumais, S. T.", "Susan T. Dumais", "A. Smith, S. Dumais", "García-López M", "S. Dumais & Co, Inc."),
)
VENUES = (
    "SIGIR '14: Proceedings of SIGIR",
    "Proc. of the Café Workshop, ICLR",
    "Phys.Lett. B369 (1996) 295-300",
    "JHEP 0003 (2000) 014",
    None,
)
PAPERS: list[dict[str, Any]] = [
    {"id": f"p{number:02d}", "title": "graphs", "authors": [name, "Ada Lovelace"][: 1 + number % 2], "venue": VENUES[number % len(VENUES)]}
    for number, name in enumerate(NAMES)
]
PAPERS += [
    {"id": "two", "title": "graphs", "authors": ["Hiroshi Mori", "Ken Ishii"]},
    {"id": "none", "title": "graphs", "authors": []},
    {"id": "text", "title": "hiroshi ishii", "abstract": "muller at sigir", "authors": []},
]
_TYPED = (
    "muller|Müller|MULLER|balazs|Hiroshi Ishii|Ishii, Hiroshi|ishii h|H. Ishii|h ishii|hiroshi|ishii|Haruki Ishii|Kumiko Ishii|obrien|"
    "O'Brien|Fergus O’Brien|serre jean-pierre|Jean Pierre Serre|J. P. Serre|Jeanpierre Serre|li liu|L. Liu|Li Wang|the an|李|明 李|"
    "Knuth, D. E.|knuth donald|Knuth, Dave|erdos|l|h i|kaiser lukasz|Ishii Tanaka|ada lovelace|Lovelace, A.|Ishii et al.|unheard|h|hiro|"
    "Susan Dumais|dumais susan t|Dumais, Susan|S Dumais|goodall susan|Maria Lopez|maria garcia-lopez"
)
TYPED = _TYPED.split("|")
IN_VENUES = ("sigir", "SIGIR '14", "cafe", "iclr proc", "jhep", "JHEP 2000", "phys.lett", "b369", "sig", "of the", "295-300")


def plain(text: str) -> str:
    """In small letters without accents, LaTeX and apostrophes."""
    text = re.sub(r"\\(?:H|')\{?(\w)\}?", r"\1", text).replace("Ł", "L")
    folded = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char)).lower()
    return re.sub(r"['’{}]", "", folded)


def are_alike(one: str, other: str) -> bool:
    return one == other or (one[0] == other[0] and one[0].isascii() and 1 in (len(one), len(other)))


def is_anothers(asked: list[str], name: str) -> bool:
    """Whether a family name that is known was not typed."""
    families = {"Goodall, Susan D.": {"goodall"}, "Müller, Jörg": {"muller"}, "H. Ishii": {"ishii"}, "Donald E. Knuth": {"knuth"}}
    return name in families and not families[name] & set(asked)


def is_one(typed: str, name: str) -> bool:
    """Whether a name is what was typed: whether, in some order, its words are the typed ones or their initials, one of them in full."""
    typed = typed.removesuffix(" et al.")
    for joint in (" ", ""):  # a compound in parts or as one word
        asked = re.findall(r"\w+", plain(typed).replace("-", joint))
        initials = all(len(word) == 1 and word.isascii() for word in asked)
        for words in [re.findall(r"\w+", plain(name).replace("-", other)) for other in (" ", "")]:
            for order in permutations(words, len(asked)):
                pairs = list(zip(asked, order, strict=True))
                same = any(ours == theirs and (len(ours) > 1 or not ours.isascii()) for ours, theirs in pairs)
                shortened = any(len(ours) > len(theirs) for ours, theirs in pairs if ours != theirs)
                if all(are_alike(*pair) for pair in pairs) and (same or initials) and not (shortened and is_anothers(asked, name)):
                    return True
    return False


def by(typed: str) -> set[str]:
    people = {paper["id"]: [one for name in paper["authors"] for one in re.split(r" and |(?<=A\. Smith), ", name)] for paper in PAPERS}
    return {id for id, names in people.items() if any(is_one(typed, name) for name in names)}


def at(typed: str) -> set[str]:
    words = set(re.findall(r"\w+", plain(typed)))
    return {paper["id"] for paper in PAPERS if words <= set(re.findall(r"\w+", plain(paper.get("venue") or "")))}


@pytest.fixture(scope="module", params=["with fields", "without BM25"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    folder = tmp_path_factory.mktemp("names")
    corpus = write_jsonl(folder / "papers.jsonl", PAPERS)
    if request.param == "without BM25":
        return sr.build(corpus, folder / "index", shard_size=7, lexical=None)
    return sr.build(corpus, folder / "index", shard_size=7, encoder=None, lexical=Bm25Parameters())


def found(index: sr.Index, query: str) -> set[str]:
    return set(index.search(query, len(PAPERS), group=False).rankings[0].ids)


@pytest.mark.parametrize("typed", TYPED)
def test_an_author_is_found_as_people_type_names(index: sr.Index, typed: str) -> None:
    assert found(index, f'author:"{typed}"') == by(typed)
    everyone = {paper["id"] for paper in PAPERS}
    assert found(index, f'title:graphs -author:"{typed}"') == everyone - by(typed) - {"text"}


@pytest.mark.parametrize("typed", IN_VENUES)
def test_a_venue_is_found_by_its_words(index: sr.Index, typed: str) -> None:
    assert found(index, f'venue:"{typed}"') == at(typed)
    assert found(index, f'title:graphs AND NOT venue:"{typed}"') == {paper["id"] for paper in PAPERS} - at(typed) - {"text"}


def test_these_find_whom_they_mean() -> None:
    """Of what the issue names, said outright."""
    for typed in ("Hiroshi Ishii", "Ishii, Hiroshi", "ishii h", "H. Ishii"):
        assert {"p00", "p01"} <= by(typed), typed
        assert not by(typed) & {"p02", "p04", "two"}, typed
    assert by("muller") == {"p06", "p07"}
    assert {NAMES[int(id[1:])] for id in by("Susan Dumais")} == {
        "Dumais, S. T.",
        "Susan T. Dumais",
        "A. Smith, S. Dumais",
        "S. Dumais & Co, Inc.",
    }
    assert by("balazs") == {"p08", "p09"}
    assert at("cafe")


@pytest.mark.parametrize(
    ("typed", "name", "expected"),
    [
        ("h hiroshi ishii", "hiroshi h ishii", True),
        ("li liu", "l wang", False),
        ("hiroshi", "h tanaka", False),
        ("h t", "hiroshi tanaka", True),
        ("t t", "hiroshi tanaka", False),
        ("明", "明 王", True),
        ("明王", "明 王", False),
    ],
)
def test_each_typed_word_takes_another_word_of_the_name(typed: str, name: str, expected: bool) -> None:
    assert is_author(name.split(), typed.split()) is expected


def test_a_text_without_words_is_looked_for_as_it_is(index: sr.Index) -> None:
    assert typed_names("!!") == [[]]
    assert not found(index, 'graphs author:"!!"')
    assert found(index, 'graphs author:"&"') == {"p26"}


def test_filters_stay_literal(index: sr.Index) -> None:
    assert not index.search("graphs", filter='authors contains "Muller, J"').rankings[0].ids
    assert len(index.search("graphs", filter='authors contains "müller"').rankings[0].ids) == 1
    assert not index.search("graphs", filter='authors in ("ishii")').rankings[0].ids
