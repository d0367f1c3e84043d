"""Words as they stand in papers, in place of the words that are indexed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.answers.explaining import explain
from sciretrieve.answers.overview import clusters_of
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.matching.lexical.written import commonest_forms, written
from tests.toy_encoder import LetterEncoder

ENTROPY = [{"id": f"e{number}", "title": "On Bekenstein–Hawking entropy", "abstract": "Of Müller."} for number in range(4)]
DUST = [{"id": f"d{number}", "title": "Quizzical dust", "abstract": "Quizzical dust, quizzically."} for number in range(4)]


@given(st.text(max_size=60))
def test_every_form_stands_in_its_text_and_gives_its_word(text: str) -> None:
    analyzer = Analyzer()
    for word, form in written(analyzer, text):
        assert form in text
        assert [*analyzer.words(form)][-1] == word


def test_the_commonest_form_is_shown() -> None:
    texts = ["Bekenstein-Hawking and BEKENSTEIN-HAWKING", "Bekenstein-Hawking, $\\alpha$-decay", "Müller, Large, large"]
    words = ["bekensteinhawking", "muller", "large", "unheard", "alphadecay"]
    assert commonest_forms(Analyzer(), texts, words) == {
        "bekensteinhawking": "Bekenstein-Hawking",
        "muller": "Müller",
        "large": "large",
        "unheard": "unheard",
        "alphadecay": "alphadecay",
    }


@pytest.fixture
def index(tmp_path: Path) -> sr.Index:
    return sr.build([*ENTROPY, *DUST], tmp_path / "index", encoder=None)


def test_an_explanation_and_a_remedy_have_words_of_papers(index: sr.Index) -> None:
    (why,) = explain(index, "bekenstein-hawking", ["e0"])
    assert set(why.words) == {"bekenstein", "hawking", "bekenstein-hawking"}
    (why,) = explain(index, sr.Query("q", paper=sr.Paper("x", "Bekenstein–Hawking")), ["e0"])
    assert "Bekenstein–Hawking" in why.words
    assert sr.why_not(index, "e0", "quizzical").remedies == ("with the word 'Bekenstein–Hawking' added it is number 1",)


def test_groups_have_words_of_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sr.build([*ENTROPY, *DUST], tmp_path / "index", encoder="letters").close()
    with sr.open(tmp_path / "index", encoder=LetterEncoder()) as index:
        labels = {word for group in clusters_of(index, index.search("entropy dust", 8, group=False)) for word in group.label}
    assert "Bekenstein–Hawking" in labels
    assert not labels & {"bekensteinhawking", "muller"}
