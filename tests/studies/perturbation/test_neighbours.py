"""The 32 classes of textual neighbours: what each does to a text, and what a corpus's neighbours depend on."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from sciretrieve.base.errors import MissingExtra
from sciretrieve.base.types import Paper
from sciretrieve.studies.perturbation.changes import ANTONYMS, top_phrases
from sciretrieve.studies.perturbation.neighbours import CATEGORIES, CLASSES, neighbours
from sciretrieve.studies.perturbation.tagged_texts import TaggedText, joined
from tests.made_up import made_up_papers

TITLE = "A Strong Method for Measuring Stars"
ABSTRACT = (
    "The small telescope finds three bright stars of the galaxy. It rarely fails. "
    "We show that cold dust, e.g. near the old stars, absorbs their light. Models help."
)
PAPER = Paper("p1", TITLE, ABSTRACT)
FIRST, SECOND, THIRD, FOURTH = (
    "The small telescope finds three bright stars of the galaxy.",
    "It rarely fails.",
    "We show that cold dust, e.g. near the old stars, absorbs their light.",
    "Models help.",
)
CHANGED = {
    "T_ARot": (TITLE, f"{THIRD} {FOURTH} {FIRST} {SECOND}"),
    "T_ASortAsc": (TITLE, f"{FOURTH} {SECOND} {FIRST} {THIRD}"),
    "T_ASortDesc": (TITLE, f"{THIRD} {FIRST} {SECOND} {FOURTH}"),
    "T_ADelADJ": (TITLE, "The telescope finds three stars of the galaxy. It rarely fails. "
                         "We show that dust, e.g. near the stars, absorbs their light. Models help."),
    "T_ADelNN": (TITLE, "The small finds three bright of the. It rarely fails. "
                        "We show that cold, e.g. near the old, absorbs their. help."),
    "T_ADelVB": (TITLE, "The small telescope three bright stars of the galaxy. It rarely. "
                        "We that cold dust, e.g. near the old stars, their light. Models."),
    "T_ADelADV": (TITLE, ABSTRACT.replace(" rarely", "")),
    "T_ADelPR": (TITLE, "The small telescope finds three bright stars of the galaxy. rarely fails. "
                        "show that cold dust, e.g. near the old stars, absorbs light. Models help."),
    "T_ADelDT": (TITLE, "small telescope finds three bright stars of galaxy. It rarely fails. "
                        "We show that cold dust, e.g. near old stars, absorbs their light. Models help."),
    "T_ADelNum": (TITLE, ABSTRACT.replace(" three", "")),
    "T_ADelNNPH": (TITLE, "The finds three of the galaxy. It rarely fails. We show that, e.g. near the, absorbs their light. Models help."),
    "TDelADJ_A": ("A Method for Measuring Stars", ABSTRACT),
    "TDelNN_A": ("A Strong for Measuring", ABSTRACT),
    "TDelVB_A": ("A Strong Method for Stars", ABSTRACT),
    "TDelDT_A": ("Strong Method for Measuring Stars", ABSTRACT),
    "TDelNN": ("A Strong for Measuring", ""),
    "T_ADelQ1": (TITLE, f"{SECOND} {THIRD} {FOURTH}"),
    "T_ADelQ2": (TITLE, f"{FIRST} {FOURTH}"),
    "T_ADelQ3": (TITLE, f"{FIRST} {SECOND} {THIRD}"),
    "TNNU_A": ("A Strong METHOD for Measuring STARS", ABSTRACT),
    "TNonNNU_A": ("A STRONG Method FOR MEASURING Stars", ABSTRACT),
    "T_ANNU": (TITLE, "The small TELESCOPE finds three bright STARS of the GALAXY. It rarely fails. "
                      "We show that cold DUST, e.g. near the old STARS, absorbs their LIGHT. MODELS help."),
    "T_ANonNNU": (TITLE, "THE SMALL telescope FINDS THREE BRIGHT stars OF THE galaxy. IT RARELY FAILS. "
                         "WE SHOW THAT COLD dust, E.G. NEAR THE OLD stars, ABSORBS THEIR light. Models HELP."),
    "TRepNNA_A": (f"{TITLE} stars telescope galaxy", ABSTRACT),
    "T_ADelNonNNs": (TITLE, "telescope stars galaxy dust stars light Models"),
    "T_ARepADJ": (TITLE, "The large telescope finds three dim stars of the galaxy. It rarely fails. "
                         "We show that hot dust, e.g. near the young stars, absorbs their light. Models help."),
}  # fmt: skip
RANDOM = {"T_AShuff", "T_ADelRand", "T_A_DelNNChar", "TRepNNT_A", "T_A_WS", "T_ADelTopNNPH"}


@pytest.mark.parametrize("code", CHANGED)
def test_what_a_class_does_to_a_paper(code: str) -> None:
    (neighbour,) = neighbours([PAPER], 0)[code].values()
    assert (neighbour.id, neighbour.title, neighbour.abstract) == ("p1", *CHANGED[code])


def test_the_classes_are_the_papers() -> None:
    assert {*CHANGED, *RANDOM} == {cls.code for cls in CLASSES}
    assert len(CLASSES) == 32
    assert Counter(cls.category for cls in CLASSES) == {"LL-HS": 5, "LO-HS": 7, "LL-PS": 4, "LO-PS": 11, "LO-DS": 5}  # Table 1
    assert list(CATEGORIES) == ["LL-HS", "LO-HS", "LL-PS", "LO-PS", "LO-DS"]


@pytest.mark.parametrize("seed", range(5))
def test_random_classes_change_what_they_say_and_no_more(seed: int) -> None:
    made = {code: papers[0] for code, papers in neighbours([PAPER], seed).items() if code in RANDOM and papers}
    shuffled = made["T_AShuff"].abstract if "T_AShuff" in made else ABSTRACT
    assert sorted(TaggedText(shuffled).sentences) == sorted([FIRST, SECOND, THIRD, FOURTH])
    before, after = ([token.text for token in TaggedText(text).tokens if token.is_word] for text in (ABSTRACT, made["T_ADelRand"].abstract))
    assert len(after) == len(before) - int(0.3 * len(before))
    assert not Counter(after) - Counter(before)
    stretched = made["T_A_WS"]
    for old, new in ((TITLE, stretched.title), (ABSTRACT, stretched.abstract)):
        assert new.split() == old.split()
        runs = [len(run) for run in "".join(letter if letter == " " else "x" for letter in new).split("x") if run]
        assert sum(run > 1 for run in runs) == old.count(" ") // 2
        assert max(runs) <= 5
    assert made["TRepNNT_A"].title in ("A Strong Method Method for Measuring Stars", "A Strong Method for Measuring Stars Stars")
    letters = made["T_A_DelNNChar"]
    nouns = {"Method": 2, "Stars": 1, "telescope": 2, "stars": 1, "galaxy": 2, "dust": 1, "light": 1, "Models": 2}
    for old, new in ((TITLE, letters.title), (ABSTRACT, letters.abstract)):
        for one, other in zip(TaggedText(old).tokens, TaggedText(new).tokens, strict=True):
            assert len(other.text) == len(one.text) - nouns.get(one.text, 0)
            assert all(letter in iter_of for iter_of in [iter(one.text)] for letter in other.text)  # in order


def test_the_better_half_of_the_phrases_is_deleted() -> None:
    common = "The dark matter of a large galaxy is here."
    papers = [Paper(str(number), "Title", common if number < 5 else f"A word{'abcde'[number - 5]} model is here.") for number in range(10)]
    # BM25's idf of a phrase in 5 of 10 papers is log2(1 + 5.5 / 5.5) = 1, times 5; of one in 1 of 10 log2(1 + 9.5 / 1.5) = 2.87
    assert top_phrases(TaggedText(paper.abstract) for paper in papers) == {"dark matter", "large galaxy", "worda model"}
    made = neighbours(papers, 0)["T_ADelTopNNPH"]
    assert {place: paper.abstract for place, paper in made.items()} == {**dict.fromkeys(range(5), "The of a is here."), 5: "A is here."}


def test_a_class_that_can_do_nothing_makes_no_neighbour() -> None:
    made = neighbours([Paper("a", "Stars", "Stars burn."), Paper("b", "Of", "Of it.")], 0)
    assert made["T_ARot"] == made["T_ADelQ1"] == made["T_ADelNum"] == made["T_ARepADJ"] == made["T_ADelTopNNPH"] == {}
    assert list(made["TDelNN"]) == [1]  # of "Stars" no word is left; "Of" has no noun, but loses its abstract
    assert made["TDelNN_A"][0].title == ""
    assert list(made["T_ADelPR"]) == [1]


def test_neighbours_depend_on_seed_and_paper_alone() -> None:
    papers = [Paper(row["id"], row["title"], row["abstract"] + ". Three old stars burn! " + row["title"]) for row in made_up_papers(20)]
    made, again = neighbours(papers, 1), neighbours(papers[::-1], 1)
    for code, of_class in made.items():
        assert of_class == {19 - place: paper for place, paper in again[code].items()}
    other = neighbours(papers, 2)
    differing = {code for code in made if made[code] != other[code]}
    assert differing == RANDOM - {"T_ADelTopNNPH"}


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("See Fig. 3 and Smith et al. 2001. Done.", ["See Fig. 3 and Smith et al. 2001.", "Done."]),
        ("By J. Doe (he said so.) Then 3.5 more. and so on", ["By J. Doe (he said so.)", "Then 3.5 more. and so on"]),
        ("A line\nbreak.\n\nNext.", ["A line\nbreak.", "Next."]),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert TaggedText(text).sentences == sentences


def test_kinds_of_words() -> None:
    kinds = {
        token.text: token.kind for token in TaggedText("We train seldom 12 deep models, which they use; she must see the A/B-split.").tokens
    }
    assert {word: kinds[word] for word in ("train", "12", "deep", "models", "they", "seldom", "use", "she", "must", "the", ",", "/")} == {
        **{"train": "verb", "12": "number", "deep": "adjective", "models": "noun", "they": "pronoun", "seldom": "adverb"},
        **{"use": "verb", "she": "pronoun", "must": "verb", "the": "determiner", ",": "other", "/": "other"},
    }


@pytest.mark.parametrize("seed", range(20))
def test_any_text_is_put_together_as_it_was(seed: int) -> None:
    chance = random.Random(seed)
    letters = "aZé9 .,/\\$&;|_-'’\n\t(){}<>#@αß图\"%"
    text = "".join(chance.choice(letters) for _ in range(200))
    assert joined(TaggedText(text).tokens).split() == text.split()


def test_antonyms_are_other_words() -> None:
    assert {ANTONYMS["high"], ANTONYMS["low"], ANTONYMS["small"], ANTONYMS["strong"]} == {"low", "high", "large", "weak"}
    assert all(word != other and word == word.lower() for word, other in ANTONYMS.items())


def test_without_the_tagger_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textblob", None)
    with pytest.raises(MissingExtra, match=r'textblob, which is not installed: pip install "sciretrieve\[evaluate\]"'):
        neighbours([PAPER], 0)


def test_the_folder_has_no_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert TaggedText("A bright star burns.").tokens[1].kind == "adjective"
    assert not list(tmp_path.iterdir())
