"""Misspelt and unfinished words: what is taken for what, against slow definitions, and what it does to a search."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.query.index import Index
from tests.made_up import write_jsonl

RARE, COMMON = 250, 150
"""How many made-up words are in one paper, and in two or more. Of consonants alone, stems are the words themselves."""


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, Counter[str]]:
    """An index of titles of made-up words, and how many papers have each."""
    draw = random.Random(5)
    words = ["".join(draw.choices("bcd", k=draw.randint(3, 9))) for _ in range(RARE + COMMON)]
    papers = [words, *([word for word in words[RARE:] if draw.random() < 0.5] for _ in range(4)), words[RARE:]]
    index = index_of(tmp_path_factory.mktemp("made-up"), [" ".join(paper) for paper in papers])
    return index, Counter(word for paper in papers for word in set(paper))


def index_of(folder: Path, titles: Sequence[str]) -> Index:
    write_jsonl(
        folder / "papers.jsonl", [{"id": f"p{number}", "title": title, "abstract": "A study."} for number, title in enumerate(titles)]
    )
    return sr.build(folder / "papers.jsonl", folder / "index", encoder=None)


def distance(one: str, other: str) -> int:
    """Edits between two words, a swap of neighbours being one (optimal string alignment)."""
    table = [[max(row, column) if 0 in (row, column) else 0 for column in range(len(other) + 1)] for row in range(len(one) + 1)]
    for row in range(1, len(one) + 1):
        for column in range(1, len(other) + 1):
            changed = one[row - 1] != other[column - 1]
            table[row][column] = min(table[row - 1][column] + 1, table[row][column - 1] + 1, table[row - 1][column - 1] + changed)
            if row > 1 and column > 1 and one[row - 2 : row] == other[column - 2 : column][::-1]:
                table[row][column] = min(table[row][column], table[row - 2][column - 2] + 1)
    return table[-1][-1]


def is_slip(one: str, other: str) -> bool:
    """Whether one edit leads from a word to another."""
    return abs(len(one) - len(other)) <= 1 and distance(one, other) == 1


@given(st.lists(st.text("bcd", min_size=2, max_size=8), min_size=1, max_size=3))
@example(["bcdbcd"])
def test_the_commonest_of_what_is_in_question_is_meant(made_up: tuple[Index, Counter[str]], typed: list[str]) -> None:
    index, papers = made_up
    common = {word: count for word, count in papers.items() if count >= 2}
    expected = {}
    for at, word in enumerate(typed):
        if word not in papers:
            begun = [other for other in common if other.startswith(word)] if at == len(typed) - 1 and len(word) >= 4 else []
            slips = [other for other in common if len(other) >= 5 and is_slip(word, other)] if len(word) >= 5 else []
            if among := begun or slips:
                expected[word] = min(among, key=lambda other: (-common[other], other))
    assert index.corrections(" ".join(typed)) == expected


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    titles = ["Electrolyte membranes", "Ageing electrolytes", "Graph networks", "Networked graphs", "Rare elektrolyte", "Zeolites"]
    return index_of(tmp_path_factory.mktemp("index"), [*titles, "Optimization with cas13a", "Optimizing cas13a"])


def ids(index: Index, query: str) -> list[str]:
    return sorted(index.search(query, 5).rankings[0].ids)


def test_a_search_finds_what_was_meant(index: Index) -> None:
    assert index.corrections("eloctrolyte membranes") == {"eloctrolyte": "electrolyte"}
    assert ids(index, "eloctrolyte") == ids(index, "electrolyte") == ["p0", "p1"]
    assert index.corrections("graph netw") == {"netw": "networks"}
    assert ids(index, "netw") == ids(index, "networks") == ["p2", "p3"]


def test_what_a_word_was_taken_for_is_not_missing_in_the_query(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["Membrane", "Electrolyte", "Electrolyte losses", *(f"Graph number{at}" for at in range(7))])
    told = sr.why_not(index, "p1", "eloctrolyte membrane", k=1)
    assert told.remedies == ("`k=2` would show it",)


def test_a_word_that_a_paper_has_is_what_was_meant(index: Index) -> None:
    assert index.corrections("elektrolyte zeolite") == {}
    assert ids(index, "elektrolyte") == ["p4"]


@pytest.fixture(scope="module")
def shared_slips(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of a thousand papers on theory, 600 of them on membranes, and of a few that misspell either."""
    titles = ["Thoery of strings", "A membrone", "Gauge thoeries", *["Theory"] * 400, *["Theory of a membrane"] * 600]
    return index_of(tmp_path_factory.mktemp("shared"), titles)


def test_a_slip_that_few_papers_share_brings_the_right_words_papers_as_well(shared_slips: Index) -> None:
    assert shared_slips.corrections("thoery of strings") == {"thoery": "theory"}
    ranking = shared_slips.search("thoery of strings", 20, group=False)[0]
    assert ranking.ids[:2] == ["p0", "p2"]  # what has the word as it was typed comes first
    assert len(ranking) == 20
    assert ids(shared_slips, '"thoery"') == ["p0"]


def test_a_word_that_papers_have_is_given_up_for_none_and_joined_by_one_500_times_as_common(shared_slips: Index, tmp_path: Path) -> None:
    assert shared_slips.corrections("membrone") == {"membrone": "membrane"}  # 600 papers for one
    assert shared_slips.corrections("thoery") == {"thoery": "theory"}  # 1,000 for two
    two_in_600 = index_of(tmp_path, ["Membrone", "The membrone", *["A membrane"] * 600])
    assert two_in_600.corrections("membrone") == {}


@pytest.mark.parametrize(
    ("query", "corrections"),
    [
        ("netw graphs", {}),  # only the last word is unfinished
        ("zeollites membraness", {}),  # what one paper alone has is not what was meant
        ("optimizaton", {"optimizaton": "optimization"}),  # a slip may change how a word is stemmed
        *((f"{word} study", {}) for word in ("cas13b", "cas13", "cas1a", "grap", "graf")),  # names with digits, and short words
    ],
)
def test_what_is_left_as_it_is(index: Index, query: str, corrections: dict[str, str]) -> None:
    assert index.corrections(query) == corrections


@pytest.mark.parametrize("word", ["acgt" * 25_000, "electrolyt" * 4 + "e", "e" * 200_000])
def test_a_long_token_is_no_slip(index: Index, word: str) -> None:
    """All that is one letter away from the first would take a thousand gigabytes."""
    assert index.corrections(f"{word} electrolytes") == {}
    assert ids(index, f"{word} electrolytes") == ["p0", "p1"]


def test_a_stem_alone_is_not_what_was_meant(tmp_path: Path) -> None:
    """The stems "pari" and "pariti", and "graphen" and "graphon", are near to each other; the words are not."""
    index = index_of(tmp_path, ["Parity violation", "Parity of graphons", "Graphon limits"])
    assert index.corrections("Paris") == index.corrections("graphene") == {}
    assert index.corrections("parit") == {"parit": "parity"}
    assert index.corrections("grahpon") == {"grahpon": "graphon"}


@pytest.mark.parametrize(
    ("typed", "meant", "weight"), [("eloctrolyte", "electrolyte", 0.8), ("netw", "networks", 0.8), ("grpahs", "graphs", 0.35)]
)
def test_a_correction_weighs_less_than_a_typed_word_and_a_short_one_less_again(index: Index, typed: str, meant: str, weight: float) -> None:
    wrong, right = (index.search(words, 5).rankings[0] for words in (typed, meant))
    assert wrong.corrections == {typed: meant}
    assert wrong.scores.tolist() == pytest.approx((weight * right.scores).tolist())


def test_quotes_insist_on_a_word(index: Index) -> None:
    assert index.corrections('"eloctrolyte" membranes') == {}
    assert ids(index, '"eloctrolyte" membranes') == []


def test_an_explanation_shows_the_word_that_the_paper_has(index: Index) -> None:
    found = index.search("eloctrolyte", 1).rankings[0].ids
    assert list(sr.explain(index, "eloctrolyte", found)[0].words) == ["electrolyte" if found[0] == "p0" else "electrolytes"]
