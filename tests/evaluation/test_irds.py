"""Datasets of ir_datasets itself, registered there over local files: nothing is downloaded."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, NamedTuple

import ir_datasets
import pytest
from ir_datasets.formats import GenericQuery, JsonlDocs, JsonlQueries, TrecQrels, TsvDocs, TsvQueries
from ir_datasets.util import Cache, Download, LocalDownload, RequestsDownload

import sciretrieve as sr
from sciretrieve.base import extras
from sciretrieve.base.errors import InvalidRequest, MissingExtra, Unavailable, UnknownName
from sciretrieve.evaluation import evaluate, find_benchmark
from sciretrieve.evaluation.benchmark_reading import read
from sciretrieve.evaluation.readers.irds import paper_of
from tests.command_line import sciretrieve
from tests.evaluation.made_up_benchmarks import write_beir, write_text

WORDS = ("apple", "bridge", "copper", "desert", "engine", "forest")
GRADES = {f"q{at}": {f"d{at}": 2, f"d{(at + 1) % len(WORDS)}": 1} for at in range(len(WORDS))}


class TitledDoc(NamedTuple):
    """As BEIR's."""

    doc_id: str
    text: str
    title: str


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What is registered with ir_datasets for a test, and forgotten after it."""
    registered: dict[str, Any] = dict(ir_datasets.registry._registered)
    monkeypatch.setattr(ir_datasets.registry, "_registered", registered)
    return registered


@pytest.fixture
def mine(tmp_path: Path, registry: dict[str, Any]) -> Path:
    """`made-up`, a corpus, with its parts `test` and `train`, and beside it the same as a BEIR directory."""
    folder = tmp_path / "data"
    papers = ({"id": f"d{at}", "title": word, "abstract": f"{word} {WORDS[at - 1]}"} for at, word in enumerate(WORDS))
    write_beir(folder, papers, {f"q{at}": f"{word} {WORDS[at - 3]}" for at, word in enumerate(WORDS)}, GRADES)
    write_text(folder / "test.qrels", "".join(f"{query} 0 {id} {grade}\n" for query, row in GRADES.items() for id, grade in row.items()))
    docs = JsonlDocs(LocalDownload(folder / "corpus.jsonl"), TitledDoc, {"doc_id": "_id", "text": "text", "title": "title"})
    queries = JsonlQueries(LocalDownload(folder / "queries.jsonl"), GenericQuery, {"query_id": "_id", "text": "text"})
    ir_datasets.registry.register("made-up", ir_datasets.Dataset(docs))
    for part in ("test", "train"):
        qrels = TrecQrels(LocalDownload(folder / "test.qrels"), {})
        ir_datasets.registry.register(f"made-up/{part}", ir_datasets.Dataset(docs, queries, qrels))
    return folder


def test_a_dataset_has_the_figures_of_its_files(mine: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"mode": "bm25", "cache": tmp_path / "cache", "progress": False, "measures": ["nDCG@3", "MAP"]}
    found = evaluate("irds:made-up/test", output=tmp_path / "run", **options).to_dict()
    expected = evaluate(f"beir:{mine}", self_matches="kept", **options).to_dict()
    assert found["measures"] == expected["measures"]
    assert 0 < found["measures"]["nDCG@3"] < 1
    assert found["queries"] == len(WORDS)
    evaluate("irds:made-up/train", **options)
    assert len([path for path in (tmp_path / "cache").iterdir() if "irds" in path.name]) == 1  # the parts share their papers' index
    assert sr.evaluation.replay(tmp_path / "run" / "receipt.json", progress=False)[1] == []


@pytest.mark.usefixtures("mine")
def test_the_command_takes_a_dataset_by_its_name(tmp_path: Path) -> None:
    result = sciretrieve("evaluate", "irds:made-up/test", "--mode", "bm25", "--set", f"cache={tmp_path / 'cache'}", "-f", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["benchmark"] == "irds:made-up/test"


class MedlineDoc(NamedTuple):
    """As of TREC Genomics."""

    doc_id: str
    title: str
    abstract: str


class WebDoc(NamedTuple):
    """As of MS MARCO's documents."""

    doc_id: str
    url: str
    title: str
    body: str


class OddDoc(NamedTuple):
    """A document whose text only it knows."""

    doc_id: str
    title: str
    parts: tuple[str, ...]

    def default_text(self) -> str:
        """As in ir_datasets: all texts."""
        return f"{self.title} {' '.join(self.parts)}"


@pytest.mark.parametrize(
    "doc",
    [
        TitledDoc("1", "B", "A"),
        MedlineDoc("1", "A", "B"),
        WebDoc("1", "http://a", "A", "B"),
        OddDoc("1", "A", ("B",)),
        ir_datasets.formats.TitleUrlTextDoc("1", "A", "u", "B"),
        ir_datasets.formats.TrecParsedDoc("1", "A", "B", b"<x>"),
    ],
)
def test_documents_of_each_kind_are_papers(doc: Any) -> None:
    assert paper_of(doc) == sr.Paper("1", "A", "B")


def test_a_document_without_a_title_is_its_text(tmp_path: Path, registry: dict[str, Any]) -> None:
    (tmp_path / "docs.tsv").write_text("1\tB\n")
    (tmp_path / "queries.tsv").write_text("q\tb\n")
    (tmp_path / "qrels").write_text("q 0 1 -1\nq 0 2 1\n")
    parts = (
        TsvDocs(Cache(None, tmp_path / "docs.tsv")),
        TsvQueries(Cache(None, tmp_path / "queries.tsv")),
        TrecQrels(Cache(None, tmp_path / "qrels"), {}),
    )
    ir_datasets.registry.register("plain", ir_datasets.Dataset(*parts))
    (material,) = read(find_benchmark("irds:plain"), None, "")
    assert list(material.pool()) == [sr.Paper("1", "", "B")]
    assert material.tasks[0].qrels == {"q": {"1": -1, "2": 1}}


def test_beirs_datasets_are_measured_as_its_directories() -> None:
    assert find_benchmark("irds:beir/scifact/test").protocol == find_benchmark("beir:x").protocol
    assert find_benchmark("irds:cranfield").protocol.drop_self is False


def broken(path: Path) -> Any:
    """A dataset whose documents cannot be had, as after a download that failed."""
    return ir_datasets.Dataset(TsvDocs(LocalDownload(path)), TsvQueries(LocalDownload(path)), TrecQrels(LocalDownload(path), {}))


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("irds:", InvalidRequest, "irds: needs a dataset of ir_datasets, as in irds:beir/scifact/test"),
        ("irds:beir/scifct/test", UnknownName, "did you mean 'beir/scifact/test'"),
        ("irds:made-up", InvalidRequest, "has no queries and no qrels, .* these parts have all: made-up/test, made-up/train"),
        ("irds:made-up/broken", Unavailable, "ir_datasets cannot read made-up/broken, which may need a download: .*nowhere"),
    ],
)
def test_what_cannot_be_had_is_one_line(name: str, error: type[Exception], words: str, mine: Path) -> None:
    ir_datasets.registry.register("made-up/broken", broken(mine / "nowhere"))
    with pytest.raises(error, match=words) as caught:
        evaluate(name, mode="bm25", progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("registry")
def test_a_download_that_fails_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("IR_DATASETS_TMP", str(tmp_path))
    source = Download([RequestsDownload("http://127.0.0.1:9/docs")], expected_md5="0" * 32)
    parts = TsvDocs(Cache(source, tmp_path / "docs")), TsvQueries(Cache(source, tmp_path / "queries")), TrecQrels(source, {})
    ir_datasets.registry.register("far", ir_datasets.Dataset(*parts))
    with pytest.raises(Unavailable, match="ir_datasets cannot read far"):
        evaluate("irds:far", mode="bm25", progress=False)
    assert "rror" not in capfd.readouterr().err
    assert not logging.getLogger("ir_datasets").filters


@pytest.mark.usefixtures("mine")
def test_a_split_is_named_in_the_dataset() -> None:
    with pytest.raises(InvalidRequest, match="name the part: irds:made-up/train"):
        evaluate("irds:made-up", split="train", mode="bm25", progress=False)


def test_without_ir_datasets_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="ir-datasets, which is not installed: pip install ir-datasets"):
        evaluate("irds:beir/scifact/test", mode="bm25", progress=False)
