"""How text becomes terms: each spelling of a word, a compound or a number, and what holds for any text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sciretrieve.matching.lexical import Analyzer
from sciretrieve.matching.lexical.words import STOPWORDS, WORD, pieces
from sciretrieve.papers.folding import fold
from tests.conftest import Effort

ODD = "ab -/_^.,'’‐–—−$\\{}\"`~=αΣςβøØßéñİ²₂ﬁ漢1230"
"""What scholarly text is made of, and what could trip an analyzer."""
texts = st.text(max_size=60) | st.text(ODD, max_size=40)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Graph neural networks", ["graph", "neural", "network"]),
        ("The cells of THE mouse", ["cell", "mous"]),
        ("BERT-based re-ranking, 2019!", ["bert", "base", "bertbas", "re", "rank", "rerank", "2019"]),
        ("a b c", []),
        ("", []),
        ("$ { } \\ - / _ ^ . , \\\\", []),
        ("graph graphs Graph", ["graph", "graph", "graph"]),
        ("漢字 テスト", ["漢字", "テス", "スト"]),
        ("Müller's naïve Ørsted", ["muller", "naiv", "orst"]),
        ("Łukasz, Đorđe; straße", ["lukasz", "dord", "strass"]),
        ("Æther œuvre İstanbul ırmak", ["aether", "oeuvr", "istanbul", "irmak"]),
        ("ﬁne ＡＢ x² H₂O", ["fine", "ab", "x2", "h2o"]),
        ("µm", ["mum"]),
    ],
)
def test_words(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


@pytest.mark.parametrize(
    "spellings",
    [
        (
            r"$\alpha$-synuclein",
            "α-synuclein",
            "alpha-synuclein",
            "Α-Synuclein",
        ),
        (r"Schr\"odinger", "Schrödinger", r"Schr{\"o}dinger", r"Schr\"{o}dinger", "Schrodinger", "Schro\u0308dinger"),
        (r"Erd\H{o}s", "Erdős", "Erdos", r"Erd\H os"),
        (r"Poincar\'e", "Poincaré", r"Poincar\'{e}", r"Poincar{\'e}"),
        (r"\v{C}ech", "Čech", "Cech"),
        ("Ørsted", "Orsted", r"{\O}rsted", "ørsted"),
        ("Åström", "Astrom", "A\u030astro\u0308m", r"\r{A}str\"om"),
        ("σ ς Σ", "sigma sigma sigma", r"\sigma \sigma \Sigma"),
        ("λ-calculus", r"$\lambda$-calculus", "lambda-calculus"),
        (r"\textbf{Deep} \emph{learning}", "deep learning", r"{\bf Deep} {\it learning}"),
        (r"CO$_2$", r"CO$_{2}$", "CO_2"),
        ("H₂O", "H2O"),
        *((f"graph{dash}based", "graph-based") for dash in "\u2010\u2011\u2012\u2013\u2212"),
        ("1,000", "1000"),
        ("12,345,678", "12345678"),
    ],
)
def test_one_thing_in_many_spellings(spellings: tuple[str, ...]) -> None:
    terms = {tuple(Analyzer().terms(text)) for text in spellings}
    assert len(terms) == 1
    assert terms != {()}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        (r"\beta", ["beta"]),
        (r"$\chi^2$", ["chi", "chi2"]),
        (r"\chi-square", ["chi", "squar", "chisquar"]),
        (r"\upsilon \rho \delta \kappa \varepsilon", ["upsilon", "rho", "delta", "kappa", "varepsilon"]),
        (r"\leftarrow", ["leftarrow"]),
        (r"\cite{kipf} \textit{graph}", ["kipf", "graph"]),
    ],
)
def test_commands_that_begin_like_an_accent_or_a_style_are_neither(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("IL-6", ["il", "il6"]),
        ("IL6", ["il6"]),
        ("CRISPR/Cas9", ["crispr", "cas9", "crisprcas9"]),
        ("K-means", ["mean", "kmean"]),
        ("state-of-the-art", ["state", "art", "stateoftheart"]),
        ("snake_case", ["snake", "case", "snakecas"]),
        ("10^6", ["10", "106"]),
        ("graph-", ["graph"]),
        ("-graph--net", ["graph", "net"]),
        ("and/or", ["andor"]),
    ],
)
def test_compounds_give_their_parts_and_themselves_without_joints(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("p < 0.05", ["0.05"]),
        ("1,000 and 0.05", ["1000", "0.05"]),
        ("version 3.1.4.", ["version", "3.1.4"]),
        ("in 2019, 2020", ["2019", "2020"]),
        ("1234,567", ["1234", "567"]),
        ("1,0000", ["0000"]),
        ("2.5-fold", ["2.5", "fold"]),
    ],
)
def test_numbers(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


@given(texts)
def test_any_text_gives_whole_terms(text: str) -> None:
    analyzer = Analyzer()
    words = [word for word in analyzer.words(text) if len(word) >= 2 and word not in STOPWORDS]
    terms = analyzer.terms(text)
    assert len(terms) == len(words)
    for word, term in zip(words, terms, strict=True):
        assert term
        assert not set(term) & set(" \t\n$\\{}-/_^,ABCDEFGH")
        assert analyzer.term(word) == term


@given(texts)
def test_folding_again_changes_no_word(text: str) -> None:
    # a letter that folds to a mark of LaTeX, as the wide dollar does, is not LaTeX: that is what the first fold is for
    plain = "".join(char for char in text if char.isascii() or not set(fold(char)) & set("$\\{}"))
    once = fold(plain)
    assert fold(once) == once
    assert list(Analyzer().words(Analyzer().fold(plain))) == list(Analyzer().words(plain))


@given(texts)
def test_words_stand_for_themselves(text: str) -> None:
    for word in Analyzer().words(text):
        assert word in list(Analyzer().words(word))


@given(texts | st.text(st.sampled_from("ab1,.-/_^ 2000")))
@example("1,000, 2,000. Il-6/IL-2, x")
def test_the_pieces_of_a_text_have_its_words_in_their_order(text: str) -> None:
    plain = fold(text)
    assert [word for piece in pieces(plain) for word in WORD.findall(piece)] == WORD.findall(plain)


@given(texts, texts)
def test_texts_apart_give_the_terms_of_both(first: str, second: str) -> None:
    if not any(mark in first + second for mark in "\\$"):  # a command may reach over the end of its line
        terms = Analyzer().terms
        assert terms(f"{first}\n{second}") == terms(first) + terms(second)


@given(st.lists(st.text(st.sampled_from("abceilnorstuyz"), max_size=9) | st.sampled_from(["tumours", "randomised", "the", "a", "isis"])))
def test_terms_of_many_words_are_those_of_each(words: list[str]) -> None:
    for analyzer in (Analyzer(), Analyzer(form=2)):
        assert analyzer.terms_of(words) == {term for word in words if (term := analyzer.term(word)) is not None}


def test_the_spec_tells_analyzers_apart() -> None:
    assert Analyzer().spec == Analyzer("english").spec
    assert Analyzer().spec != Analyzer("porter").spec
    assert [Analyzer.of(Analyzer(form=form).spec) for form in (2, 3, 4)] == [Analyzer(form=2), Analyzer(form=3), Analyzer()]
    assert Analyzer.of(Analyzer("porter").spec) is None


LONG = ["a", "b ", "n =", "acgt", "111,", "1.", "a-", "\\' ", "\\text", "$a", '"a', "\u00e9", "a_", "\\'\\", " ", "a1,"]


@pytest.mark.torture
@pytest.mark.parametrize("unit", LONG)
def test_a_long_text_is_read_in_one_go(unit: str, effort: Effort) -> None:
    """With steps back, each of these would take many minutes, and hours with --torture."""
    text = unit * (effort(100_000, 1_000_000) // len(unit))
    assert len(Analyzer().indexed(text)) <= 2 * len(text)


def test_a_number_has_seven_groups_of_digits_at_most() -> None:
    assert Analyzer().terms(",".join(["111"] * 7)) == ["111" * 7]
    assert Analyzer().terms(",".join(["111"] * 8)) == ["111", "111" * 7]


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("graph networks", [[{"graph"}], [{"network"}]]),
        ("the graph", [[{"graph"}]]),
        ("meta-analysis", [[{"metaanalysi"}, {"meta", "analysi"}]]),
        ("IL-6", [[{"il6"}]]),
        ("CRISPR/Cas9, 0.05", [[{"crisprcas9"}, {"crispr", "cas9"}], [{"0.05"}]]),
        ("state-of-the-art", [[{"stateoftheart"}, {"state", "art"}]]),
        (r"$\alpha$-synuclein", [[{"alphasynuclein"}, {"alpha", "synuclein"}]]),
        ("the of a", []),
        ("", []),
    ],
)
def test_the_ways_to_have_a_word(text: str, ways: list[list[set[str]]]) -> None:
    assert Analyzer().spellings(text) == ways
