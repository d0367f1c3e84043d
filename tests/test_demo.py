"""The demo corpus: enough real papers of enough fields, each whole, and answers that anyone can judge."""

import json
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve import demo
from sciretrieve.answers.outputs import notes

pytestmark = pytest.mark.embedded_encoder

SCORE = re.compile(r"\d\.\d{3}")
PAPERS = [json.loads(line) for line in demo.CORPUS.read_text(encoding="utf-8").splitlines()]


def test_enough_papers_of_enough_fields() -> None:
    fields = Counter(paper["field"] for paper in PAPERS)
    assert len(PAPERS) >= 150
    assert len(fields) >= 10
    assert min(fields.values()) >= 10


@pytest.mark.parametrize("name", ["id", "title", "abstract"])
def test_no_two_are_the_same(name: str) -> None:
    assert len({paper[name] for paper in PAPERS}) == len(PAPERS)


def test_every_paper_is_whole() -> None:
    for paper in PAPERS:
        assert paper["doi"] or paper["arxiv"], paper["id"]
        assert paper["authors"], paper["id"]
        assert paper["venue"], paper["id"]
        assert 1600 < paper["year"] < 2030, paper["id"]
        assert 30 <= len(paper["abstract"].split()) <= 100, paper["id"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    return sr.build(demo.CORPUS, tmp_path_factory.mktemp("demo") / "index")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (demo.QUESTION, "pulendran2011immunological"),
        (demo.KEYWORDS, "velickovic2018graph"),
        ("gene editing", "cong2013multiplex"),
        ("why do people fear losses more than they value gains?", "tversky1991loss"),
        ("perovskite solar cells", "kojima2009organometal"),
        ("planets around other stars", "mayor1995jupitermass"),
    ],
)
def test_answers_are_sensible(index: sr.Index, query: str, expected: str) -> None:
    assert expected in index.search(query, 5).rankings[0].ids


def test_papers_like_the_one_on_crispr(index: sr.Index) -> None:
    assert "cong2013multiplex" in index.similar([demo.PAPER], 3).rankings[0].ids


def test_the_pictures_of_the_terminal_are_what_it_shows(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the scores, of which CPUs round the last digits otherwise."""
    folder = Path(__file__).parents[1] / "docs"
    monkeypatch.syspath_prepend(str(folder))
    script = runpy.run_path(str(folder / "screenshots.py"))
    pictures = script["pictures"](index.path)
    assert {file.stem for file in script["FOLDER"].glob("*.svg")} == set(pictures)
    for name, svg in pictures.items():
        stored = (script["FOLDER"] / f"{name}.svg").read_text(encoding="utf-8")
        assert SCORE.sub("", svg) == SCORE.sub("", stored), f"{name}.svg is stale: run `make docs`"
        assert "url(" not in re.sub(r"url\(#", "", svg), "it loads something from elsewhere"


def test_the_corpus_ships_with_the_package() -> None:
    assert demo.CORPUS.is_relative_to(Path(sr.__file__).parent)


@pytest.mark.parametrize("query", ["😀", "图神经网络", "the", "zzzzqqq"])
def test_what_matches_nothing_scores_little_and_is_told(index: sr.Index, query: str) -> None:
    answer = sr.answer(index, sr.Request(query))
    assert answer.ranking.weak
    assert max(answer.ranking.scores) < 0.05
    assert any(note.startswith("no paper matches well") for note in notes(answer))
    assert "(no paper matches well)" in repr(answer)


def test_what_matches_is_not_told_off(index: sr.Index) -> None:
    answer = sr.answer(index, sr.Request(demo.QUESTION))
    assert not answer.ranking.weak
    assert not any(note.startswith("no paper matches well") for note in notes(answer))
