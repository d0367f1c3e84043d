"""In which language a text is, and what is said of questions in languages that an index does not read."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.answers.answering import Request, answer
from sciretrieve.encoders.languages import language_of, mostly_in
from tests.command_line import sciretrieve
from tests.conftest import Effort
from tests.made_up import made_up_papers, shared, write_jsonl

FOREIGN = {
    "Palliativversorgung in Deutschland": "German",
    "Welche Rolle spielt Vitamin D bei Depressionen?": "German",
    "Wie wirkt sich Schlafmangel auf das Gedächtnis aus?": "German",
    "Quel est le rôle du microbiote intestinal dans la dépression ?": "French",
    "traitement de l'hypertension artérielle chez les personnes âgées": "French",
    "¿Cuál es el papel del microbioma intestinal en la depresión?": "Spanish",
    "Qual è il ruolo della vitamina D nella depressione?": "Italian",
    "o papel da vitamina D na depressão de crianças": "Portuguese",
    "Wat is de rol van vitamine D bij depressie?": "Dutch",
    "Jaka jest rola witaminy D w depresji?": "Polish",
    "图神经网络的综述": "Chinese",
    "グラフニューラルネットワークの研究": "Japanese",
    "그래프 신경망": "Korean",
    "роль витамина D при депрессии": "Russian or its kin",
    "دور فيتامين د في الاكتئاب": "Arabic or its kin",
    "गहन शिक्षण": "Hindi or its kin",
    "βιταμίνη και κατάθλιψη": "Greek",
}
ENGLISH = [
    *(
        "graph neural networks",
        "SARS-CoV-2 Omicron",
        "Escherichia coli lac operon",
        "Homo sapiens neanderthalensis",
        "Arabidopsis thaliana",
    ),
    *("Hiroshi Ishii tangible bits", "Müller 2011", "Krebs", "de novo assembly", "in vitro fertilisation", "Saccharomyces cerevisiae cell"),
    *("α-synuclein aggregation", "$\\alpha'$ corrections to D-brane solutions", "TNF-α and IL-1β in the gut", "Erdős–Rényi random graphs"),
    *("x² + y² = z²", "", "...", "BERT", "Schrödinger operators with magnetic fields", "déjà vu experiences", "Naïve Bayes classifiers"),
    *("Drosophila melanogaster", "Plasmodium falciparum malaria", "Quantum causal histories", "Candida auris", "étale cohomology"),
]


@pytest.mark.parametrize("text", ENGLISH)
def test_names_species_formulas_and_keywords_are_no_language(text: str) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    "name", ["scifact/queries.jsonl", "cranfield/queries.jsonl", "acm/queries.jsonl", "citances/queries.jsonl", "hepth", "acm", "scifact"]
)
def test_hardly_an_english_query_is_taken_for_another(name: str, effort: Effort) -> None:
    if name.endswith(".jsonl"):
        texts = [json.loads(line)["text"] for line in shared(name).read_text(encoding="utf-8").splitlines()]
    else:
        texts = [title for title in pq.read_table(shared(f"{name}/corpus.parquet"), columns=["title"])["title"].to_pylist() if title]
    texts = random.Random(2).sample(texts, min(len(texts), effort(300, 10_000)))
    taken = [text for text in texts if language_of(text)]
    assert len(taken) <= 0.005 * len(texts), taken


def test_a_corpus_is_in_the_language_of_most_of_its_papers() -> None:
    german = [text for text, language in FOREIGN.items() if language == "German"]
    assert mostly_in([*german, "Sleep and the memory of mice"]) == "German"
    assert mostly_in([*ENGLISH, *german]) == ""
    assert mostly_in([]) == ""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    papers: list[dict[str, Any]] = [*made_up_papers(100), {"id": "care", "title": "Palliative care in Germany", "abstract": "Care."}]
    folder = tmp_path_factory.mktemp("languages")
    return sr.build(write_jsonl(folder / "papers.jsonl", papers), folder / "index", encoder="minilm")


@pytest.mark.parametrize(("text", "language"), FOREIGN.items())
def test_a_question_in_another_language_is_noted_and_never_strong(index: sr.Index, text: str, language: str) -> None:
    found = answer(index, Request(text))
    (remark,) = found.remarks
    assert remark.startswith(f"minilm reads English, and the query seems to be in {language}")
    assert found.ranking.weak or found.ranking.strength is None
    assert index.search(text, mode="bm25")[0].remarks == found.remarks


@pytest.mark.parametrize("text", ["palliative care in Germany", "graph neural networks", "lovelace 2019", "Palliative care"])
def test_english_is_not_noted(index: sr.Index, text: str) -> None:
    assert not answer(index, Request(text)).remarks


def test_words_that_the_papers_have_are_in_no_other_language(tmp_path_factory: pytest.TempPathFactory) -> None:
    papers = [{"id": str(n), "title": text, "abstract": ""} for n, text in enumerate(FOREIGN)]
    folder = tmp_path_factory.mktemp("foreign")
    index = sr.build(write_jsonl(folder / "papers.jsonl", papers), folder / "index", encoder=None)
    assert not index.search("Welche Rolle spielt Vitamin D bei Depressionen")[0].remarks
    assert not index.search("Rolle von Schlafmangel bei Depressionen")[0].remarks


def test_english_questions_do_not_open_the_identifier(index: sr.Index) -> None:
    searched = "index.search(['graph networks', 'the role of sleep in zebrafish'])"
    code = f"import sys, sciretrieve as sr; index = sr.open(sys.argv[1]); {searched}; assert 'py3langid' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, str(index.path)], check=True)


def test_index_and_info_say_what_is_read(tmp_path: Path) -> None:
    german = [f"{text} {n}" for n, text in enumerate(text for text, language in FOREIGN.items() if language == "German")]
    rows = [{"id": str(n), "title": title, "abstract": ""} for n, title in enumerate(german)]
    done = sciretrieve("index", str(write_jsonl(tmp_path / "papers.jsonl", rows)), "-o", str(tmp_path / "index"), "--dense", "none")
    assert "most of the papers seem to be in German, and words are read as English" in done.stderr
    assert "reads     words are stemmed as English" in sciretrieve("info", "-i", str(tmp_path / "index")).stdout
    made = write_jsonl(tmp_path / "made-up.jsonl", made_up_papers(50))
    assert "seem to be" not in sciretrieve("index", str(made), "-o", str(tmp_path / "english"), "--dense", "none").stderr
