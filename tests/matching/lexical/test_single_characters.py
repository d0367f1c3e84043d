"""A single letter or digit counts with its neighbour, in papers and in queries, and finds the paper that has both together."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.matching.lexical import Analyzer, greek, name_terms, single_characters
from sciretrieve.matching.lexical.single_characters import joined
from sciretrieve.papers.folding import fold
from tests.made_up import write_jsonl

IN_BOTH = {
    "vitamin D deficiency": {"vitamind", "ddeficiency"},
    "T cell": {"tcell"},
    "hepatitis C": {"hepatitisc"},
    "N = 4": {"n4"},
    "n=4": {"n4"},
    "IL 6": {"il6"},
    "written in C++": {"c++"},
    "C# compilers": {"c#"},
    "Vitamin\\ B and K": {"vitaminb"},
    "T-helper Z gene": {"thelperz", "zgene"},
    "(type 2)": {"type2"},
}
NOTHING = ["p = 0.05", "IL-6", "the cell's", "of a kind", "1,000", "3.5 and the", "a", "", "1 2 3", "a-b", "x.", "c'est"]
IN_PAPERS = {
    "type 2 diabetes": {"type2"},
    "Vitamin A in a child": {"vitamina"},
    "vitamin a": set(),
    "A vitamin": set(),
    "5 patients": set(),
}
IN_QUERIES = {
    "type 2 diabetes": {"type2", "2diabetes"},
    "vitamin a": {"vitamina"},
    "A vitamin": set(),
    "5 patients": {"5patients"},
    "in a": set(),
}


def words(text: str, *, typed: bool = False) -> set[str]:
    return {before + after for before, after in joined(text, fold(text), typed=typed)}


@pytest.mark.parametrize("text", IN_BOTH)
def test_in_papers_and_in_queries(text: str) -> None:
    assert words(text) == words(text, typed=True) == IN_BOTH[text]


@pytest.mark.parametrize("text", NOTHING)
def test_what_stands_by_itself_or_is_part_of_something_is_joined_with_nothing(text: str) -> None:
    assert words(text) == set()
    assert words(text, typed=True) == set()


@given(
    st.lists(st.sampled_from(["a", "b", "T", "2", "cell", "a++", "c#", "il-6", "=", "(", ")", "/", ",", ".", "'", "_", " ", "  "])).map(
        "".join
    )
)
def test_a_text_in_ascii_gives_what_it_gives_beside_other_characters(text: str) -> None:
    assert joined(text, fold(text)) == joined(text, fold(f"{text} \N{SNOWMAN}"))


def test_papers_join_less_than_queries() -> None:
    assert {text: words(text) for text in IN_PAPERS} == IN_PAPERS
    assert {text: words(text, typed=True) for text in IN_QUERIES} == IN_QUERIES


def test_a_paper_is_indexed_by_them_and_an_older_index_is_not() -> None:
    text = "Type 2 diabetes: T cells and vitamin A"
    assert set(Analyzer().indexed(text)) - set(Analyzer().terms(text)) == {"type2", "tcell", "vitamina"}
    assert Analyzer(form=2).indexed(text) == Analyzer(form=2).terms(text)


TITLES = [
    "Vitamin {} deficiency in children",
    "Omega {} acids and the liver",
    "Hepatitis {} virus in blood",
    "{} cell receptors",
    "Super Yang-Mills theory with rank = {}",
    "Protein kinase {} inhibitors",
]
CHARACTERS = ["A", "B", "C", "D", "1", "2", "3"]


def test_the_paper_with_both_together_comes_first(tmp_path: Path) -> None:
    papers = [
        {
            "id": f"{place}{character}",
            "title": title.format(character),
            # all papers have all characters and all words, so that only what stands together tells them apart
            "abstract": "A vitamin, acids, omega, a theory of rank, a kinase, hepatitis, a cell: there is a, b, c, d, 1, 2 or 3 of each.",
        }
        for place, title in enumerate(TITLES)
        for character in CHARACTERS
    ]
    index = sr.open(sr.build(write_jsonl(tmp_path / "papers.jsonl", papers), tmp_path / "index", encoder=None).path)
    for place, title in enumerate(TITLES):
        for character in CHARACTERS:
            words = title.format(character).lower().split()
            single = words.index(character.lower())
            near = (
                slice(single - 2, single + 1)
                if words[single - 1 : single] == ["="]
                else slice(max(single - 1, 0), single + (2 if single == 0 else 1))
            )
            if near.start == 0 == single and character in ("A", "1", "2", "3"):  # an article, and a number before a word
                continue
            query = " ".join(words[near])
            run = index.search(sr.Query("q", query), 3, mode="bm25", group=False).rankings[0]
            assert run.ids[0] == f"{place}{character}", query
            assert run.scores[0] > run.scores[1], query
            why = sr.explain(index, sr.Query("q", query), [run.ids[0]])[0]
            assert query.replace(" = ", " ") in {form.lower() for form in why.words}


def test_a_neighbour_that_no_paper_has_costs_nothing(tmp_path: Path) -> None:
    papers = [{"id": "1", "title": "Vitamins in milk", "abstract": ""}, {"id": "2", "title": "Milk", "abstract": ""}]
    index = sr.open(sr.build(write_jsonl(tmp_path / "papers.jsonl", papers), tmp_path / "index", encoder=None).path)
    plain, single = (index.search(sr.Query("q", text), 2, mode="bm25").rankings[0] for text in ("vitamin milk", "vitamin k milk"))
    assert list(plain.ids) == list(single.ids) == ["1", "2"]
    assert plain.scores.tolist() == single.scores.tolist()
    assert not single.corrections


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "il",
            "1",
            "-",
            " ",
            "b",
            "beta",
            "nf",
            "k",
            "kappa",
            "ifn",
            "g",
            "ror",
            "t",
            "tnf",
            "+",
            "#",
            "’",
            "a",
            "of",
            ".",
            ",",
            "=",
            "/",
            "_",
            "é",
        ]
        + ["Smith", "Jones", " and ", " & ", " et al", ". ", "Müller", "\n"]
    ),
    max_size=12,
).map("".join)


@given(FRAGMENTS)
def test_what_a_quick_look_misses_is_not_there(text: str) -> None:
    """Each quick look at a query finds something wherever the slower reading would."""
    plain = fold(text)
    if greek._MAY_CHANGE.search(plain) is None:
        assert greek._COMPOUND.sub(lambda match: greek._in_one_spelling(match[0]), greek._bind(plain)) == plain
    if single_characters._LONE.search(f" {plain}") is None:
        assert single_characters._SINGLE.search(f" {plain}") is None
        assert single_characters._SINGLE_IN_ASCII.search(f" {plain}") is None
    if name_terms.MAY_CITE.search(text) is None:
        assert name_terms.CITED.search(text) is None
