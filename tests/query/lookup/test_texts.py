"""What two texts have in common, however they are written."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.query.lookup.texts import TypedText, most_slips, words

TITLE = "Graph-Based Müller–Schwarz Methods: A Survey of α-Stable Laws, Part II"
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=9)
TEXTS = st.lists(WORD, min_size=1, max_size=12)


@pytest.mark.parametrize(
    "text",
    [
        TITLE,
        TITLE.upper(),
        "graph based muller schwarz methods a survey of alpha stable laws part ii",
        r"{Graph-Based M{\"u}ller--Schwarz Methods}: A Survey of $\alpha$-Stable Laws, Part II.",
        "Graphbased Muller-Schwarz methods — a survey of alpha-stable laws (part II)",
    ],
)
def test_a_title_however_it_is_written(text: str) -> None:
    assert TypedText(text).is_title(TITLE)


@given(TEXTS, st.sampled_from([" ", "-", ": ", ", ", "_", " – "]), st.booleans())
def test_marks_and_case_make_no_difference(parts: list[str], mark: str, in_capitals: bool) -> None:
    text = mark.join(parts)
    assert words(text.upper() if in_capitals else text) == parts
    assert TypedText(text).is_title(" ".join(parts).title())


@pytest.mark.parametrize(
    ("text", "title", "begins"),
    [
        ("the anatomy of a large", "The Anatomy of a Large-Scale Search Engine", True),
        ("the anatomy of a lar", "The Anatomy of a Large-Scale Search Engine", True),
        ("The anatomy of a Large-Scale Search Engine", "The Anatomy of a Large-Scale Search Engine", False),
        ("graph neural networks", "Graph Neural Networks for Molecules", False),
        ("anatomy of a large", "The Anatomy of a Large-Scale Search Engine", False),
    ],
)
def test_beginnings(text: str, title: str, begins: bool) -> None:
    assert TypedText(text).begins(title) == begins


@given(TEXTS.filter(lambda parts: len(parts) > 3 and sum(map(len, parts)) >= 12), st.randoms())
def test_a_slip_of_a_letter_is_one_slip(parts: list[str], chance: random.Random) -> None:
    text = " ".join(parts)
    place = chance.choice([place for place, char in enumerate(text[:-1]) if char != " " and text[place + 1] != " "] or [0])
    slipped = chance.choice(
        [
            text[:place] + text[place + 1 :],
            text[:place] + text[place + 1 : place + 2] + text[place] + text[place + 2 :],
            f"{text[:place]}q{text[place:]}",
        ]
    )
    same_numerals = [word for word in words(slipped) if set(word) <= set("ivx")] == [word for word in parts if set(word) <= set("ivx")]
    if len(words(slipped)) == len(parts) and same_numerals and most_slips(len(text.replace(" ", "")) - 1):
        assert TypedText(slipped).slips(text) in (0, 1)


@pytest.mark.parametrize(
    ("text", "title", "slips"),
    [
        ("exploitng medical hierarchies for concept based retrieval", "Exploiting Medical Hierarchies for Concept-Based Retrieval", 1),
        ("exploitng medical heirarchies for", "Exploiting Medical Hierarchies for Concept-Based Retrieval", None),
        ("exploitng medical heirarchies for concept", "Exploiting Medical Hierarchies for Concept-Based Retrieval", 2),
        ("quantum groups and strings part 1", "Quantum Groups and Strings, Part 2", None),
        ("quantum groups and strings II", "Quantum Groups and Strings III", None),
        ("efficient parallel algorithms for sorting", "Efficient Parallel Algorithms for String Editing", None),
        ("meta analysis of medical trails", "Metaanalysis of Medical Trials", 1),
        ("a new mathod", "A New Method", None),
        ("", "A New Method", None),
    ],
)
def test_slips(text: str, title: str, slips: int | None) -> None:
    assert TypedText(text).slips(title) == slips


@pytest.mark.parametrize(
    ("reference", "cites"),
    [
        ("Vaswani, A., Shazeer, N. et al. (2017). Attention is all you need. NeurIPS 30.", True),
        ("[3] A. Vaswani and N. Shazeer, “Attention Is All You Need,” in NIPS.", True),
        ("Attention is all you need. 2018. In Advances in Neural Information Processing.", True),
        ("A. VASWANI. ATTENTION IS ALL YOU NEED.", True),
        ("Devlin, J. (2019). Attention is all you need to know. NAACL.", False),
        ("Vaswani, A. (2017). All you need is attention.", False),
    ],
)
def test_references(reference: str, cites: bool) -> None:
    assert TypedText(reference).cites("Attention Is All You Need", ["Vaswani, Ashish", "Noam Shazeer"], 2017) == cites


def test_a_torn_title_in_a_reference_is_read_where_it_is_long() -> None:
    reference = "C. D. Manning et al. Introduction to infor- mation retrie- val. Cambridge, 2008."
    assert TypedText(reference).cites("Introduction to Information Retrieval", ["Christopher D. Manning"], 2008)


def test_a_short_title_needs_author_and_year() -> None:
    assert TypedText("Blei, D. M. (2012). Topic models. CACM 55.").cites("Topic Models", ["David M. Blei"], 2012)
    assert not TypedText("Blei, D. M. (2003). Topic models. CACM 55.").cites("Topic Models", ["David M. Blei"], 2012)
    assert not TypedText("Griffiths, T. (2012). Topic models. CACM 55.").cites("Topic Models", ["David M. Blei"], 2012)
    assert not TypedText("Models, T. (2012). Attention.").cites("Attention", ["T. Models"], 2012)


def test_the_share_of_a_text_that_a_paper_has() -> None:
    abstract = "We present a method that finds papers by what people type, and show that it is quick."
    assert TypedText("presents: a method, that finds papers by what people").share(abstract) == pytest.approx(4 / 5)
    assert TypedText(abstract.upper()).share(abstract) == 1
    assert TypedText("too short").share("too short") == 0
