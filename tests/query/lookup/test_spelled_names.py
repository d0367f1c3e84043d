"""Names are found however their umlauts are written, and with letters that only look like theirs: by every way in which names are typed."""

import pytest

import sciretrieve as sr
from sciretrieve.papers.duplicates import works
from sciretrieve.papers.folding import fold_name, spellings, without_digraphs
from tests.made_up import made_up_papers

FORMS = {
    "muller": ["Jörg Müller", "Joerg Mueller", "Jorg Muller", "Mu\u0308ller, Jo\u0308rg"],
    "strauss": ["Franz Strauß", "Franz Strauss", "Strauβ, Franz"],  # the last with a Greek letter
    "isik": ["Can Işık", "Can Isik", "Can Işιk"],  # and this one
    "soren": ["Ann Sören", "Ann Soeren", "Ann Søren"],
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    named = [name for names in FORMS.values() for name in names]
    papers = [paper | {"authors": ["Ada Lovelace"]} for paper in made_up_papers(40, seed=5)]
    for number, name in enumerate(named):
        papers.append(
            {**papers[number], "id": name, "title": f"{papers[number]['title']} {number}", "authors": [name, "Bo Bauer"], "year": 1999}
        )
    return sr.build(papers, tmp_path_factory.mktemp("names") / "index", encoder=None)


@pytest.mark.parametrize("way", ["{family} {given}", "author:{family}", 'author:"{family}, {given}"', "{family} 1999"])
def test_each_spelling_finds_all(index: sr.Index, way: str) -> None:
    for names in FORMS.values():
        for name in names:
            parts = name.split(", ")[::-1] if "," in name else name.split()
            ranking = index.search(way.format(given=parts[0], family=parts[1]), len(names), group=False)[0]
            assert set(ranking.ids) == set(names), name


def test_other_names_are_not_taken_for_it(index: sr.Index) -> None:
    assert index.count("author:Baur") == index.count("author:Bauer") == sum(map(len, FORMS.values()))
    assert index.count("author:Mull") == index.count("author:Strau") == 0


def test_works_are_one_however_their_first_author_is_written() -> None:
    papers = [sr.Paper(str(number), "On graphs", authors=(name,)) for number, name in enumerate([*FORMS["muller"], *FORMS["strauss"]])]
    assert works(papers) == [[0, 1, 2, 3], [4, 5, 6]]


def test_greek_words_stay_greek() -> None:
    assert fold_name("β-catenin αβ") == "beta-catenin alphabeta"
    assert without_digraphs("mueller") == without_digraphs("muller") == "muller"
    assert spellings("muller") == ["muller", "mueller"]


@pytest.fixture(scope="module")
def gravity(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Papers that say much of a model, which has the names of two authors who do not say them."""
    papers = [
        {"id": f"on{number}", "title": f"Randall-Sundrum gravity on a brane, part {number}", "authors": ["Ada Lovelace"]}
        for number in range(20)
    ]
    papers += [
        {
            "id": "own",
            "title": "An alternative to compactification",
            "abstract": "Gravity and a brane.",
            "authors": ["L. Randall", "R. Sundrum"],
        },
        {"id": "one", "title": "Gravity and a brane of one", "authors": ["Lisa Randall"]},
        {"id": "other", "title": "Whales at sea", "authors": ["Al Sundrum", "Bo Brane"]},
    ]
    return sr.build(papers, tmp_path_factory.mktemp("gravity") / "index", encoder=None)


@pytest.mark.parametrize(
    "text", ["Randall and Sundrum showed that gravity lives on a brane", "gravity on a brane, as Sundrum & Randall say"]
)
def test_those_whom_prose_names_have_written_what_is_meant(gravity: sr.Index, text: str) -> None:
    assert gravity.search(text, 1)[0].ids == ["own"]
    assert gravity.search(f"{text}. " + "The brane is thick and gravity weak. " * 20, 1)[0].ids == ["own"]  # a whole paragraph


def test_other_words_in_prose_are_no_names(gravity: sr.Index) -> None:
    assert gravity.search("the Randall-Sundrum model of gravity on a brane", 1)[0].ids != ["own"]
    assert gravity.search("Randall and Lovelace on gravity and a brane", 1)[0].ids != ["own"]  # who wrote nothing together
    assert gravity.search("Lisa Randall et al. on gravity", 2)[0].ids[0] in ("one", "own")
