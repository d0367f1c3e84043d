"""Plug-ins, as packages that are built and installed here: used through every door, never in place of what is built in, and blamed."""

import gzip
import json
import os
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from hatchling.builders.wheel import WheelBuilder

import sciretrieve as sr
from sciretrieve.base.errors import EncoderMismatch
from sciretrieve.metrics.naming import parse_measure
from tests.command_line import answer, process, sciretrieve

PACKAGES = Path(__file__).parents[1] / "plugins"
CARDS = "id: a\ntitle: Graph networks\n\nid: b\ntitle: Networks of graphs and stars\n\nid: c\ntitle: Star\n"


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The packages' wheels, by kind."""
    folder = tmp_path_factory.mktemp("wheels")
    return {path.name: Path(next(WheelBuilder(str(path)).build(directory=str(folder)))) for path in PACKAGES.iterdir()}


@pytest.fixture(scope="session")
def site(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where they are installed: a wheel without compiled files is installed by unpacking it."""
    folder = tmp_path_factory.mktemp("site")
    for wheel in wheels.values():
        with ZipFile(wheel) as files:
            files.extractall(folder)
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The plug-ins are there, for this process and for those that it starts."""
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    yield site
    for name in [name for name in sys.modules if name.startswith("example_")]:
        del sys.modules[name]


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    path = tmp_path / "papers.cards"
    path.write_text(CARDS)
    return path


def test_all_four_through_commands(installed: Path, cards: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    made = process("index", cards, "-o", index, "--encoder", "alphabet", "-q")
    assert made.returncode == 0, made.stderr
    found = json.loads(answer("search", "stars graph", "-i", index, "--rerank", "shortest", "--format", "json"))
    assert [hit["id"] for hit in found["hits"]] == ["c", "a", "b"]
    assert [hit["scores"]["rerank"] for hit in found["hits"]] == [-4, -14, -28]
    assert "alphabet" in answer("info", "-i", index)
    listed = {row["name"]: row for row in json.loads(answer("encoders", "--format", "json"))}
    assert listed["alphabet"]["about"] == "of the package example-encoder 1.0"
    assert listed["granite"]["here"] != "plug-in"
    assert json.loads(answer("encoders", "show", "alphabet", "--format", "json"))["dim"] == 26
    answer("config", "set", "encoder", "alphabet", SCIRETRIEVE_CONFIG=str(tmp_path / "config.toml"))
    answer("verify", "-i", index)
    similar = json.loads(answer("similar", "a", "-i", index, "--format", "json"))
    assert [hit["id"] for hit in similar["hits"]] == ["b", "c"]


def test_an_index_keeps_what_made_its_vectors(installed: Path, cards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sr.build(cards, tmp_path / "index", encoder="alphabet", progress=False) as index:
        facts = index.snapshot.encoder
        assert facts is not None
        assert (facts["layout"], facts["identity"], facts["package"]) == (
            "plugin",
            "counts of a to z in title and abstract, 1",
            "example-encoder 1.0",
        )
        dense = index.search("graph networks", mode="dense")
        assert np.isclose(dense.hits[0].score, 1, atol=1e-3)
    sr.add([{"id": "d", "title": "Dust"}], tmp_path / "index", progress=False)
    both = sr.load_encoder("concat:alphabet+alphabet")
    assert both.encode_papers([sr.Paper("", "a")]).shape == (1, 52)
    monkeypatch.setattr(import_module("example_encoder").Alphabet, "identity", "another")
    with sr.open(tmp_path / "index") as index, pytest.raises(EncoderMismatch, match="differs in its identity"):
        index.search("graph", mode="dense")
    monkeypatch.undo()
    with sr.open(tmp_path / "index") as index, pytest.warns(UserWarning, match="the package example-encoder 1.0, which is not installed"):
        assert [hit.id for hit in index.search("graph networks").hits] == ["a", "b"]


def titles_of(source: Path) -> list[str]:
    return [title for batch in sr.open_corpus(source).batches() for title in batch.papers["title"].to_pylist()]


def test_files_of_a_format(installed: Path, cards: Path, tmp_path: Path) -> None:
    cards.with_name("more.cards.gz").write_bytes(gzip.compress(b"title: Another"))
    with ZipFile(tmp_path / "all.zip", "w") as files:
        files.writestr("x.cards", CARDS)
        files.writestr("y.cards", "title: One more")
    cards.with_name("notes.pdf").write_bytes(b"%PDF")
    titles = ["Graph networks", "Networks of graphs and stars", "Star"]
    assert titles_of(tmp_path / "all.zip") == [*titles, "One more"]
    (tmp_path / "all.zip").unlink()
    assert titles_of(tmp_path) == ["Another", *titles]
    bib = tmp_path / "papers.bib"
    bib.write_text("@article{x, title={Built in}}")
    assert titles_of(bib) == ["Built in"]
    cards.with_name("cut.cards.gz").write_bytes(gzip.compress(b"title: x" * 1000)[:-20])
    with pytest.raises(sr.InvalidRequest, match="cannot be read to its end"):
        list(sr.open_corpus(tmp_path / "cut.cards.gz").batches())
    assert ".cards" in sciretrieve("index", tmp_path / "notes.pdf", "-o", tmp_path / "x").stderr


def judged(folder: Path) -> tuple[Path, Path]:
    """A run and judgements: the first and the third of three papers are relevant."""
    run, qrels = folder / "run.trec", folder / "qrels.txt"
    run.write_text("".join(f"q Q0 d{rank} {rank} {9 - rank} x\n" for rank in range(3)))
    qrels.write_text("q 0 d0 1\nq 0 d2 2\nq 0 d9 1\n")
    return run, qrels


def test_measures(installed: Path, tmp_path: Path) -> None:
    names = ("halved", "halved@2", "nDCG@10")
    options = [word for name in names for word in ("-m", name)]
    run, qrels = judged(tmp_path)
    result = json.loads(answer("evaluate", "run", run, "--qrels", qrels, *options, "--format", "json"))
    assert [result["measures"][name] for name in names[:2]] == [0.75, 0.5]
    assert 0 < result["measures"]["nDCG@10"] < 1
    assert str(parse_measure("halved@2")) == "halved@2"
    for wrong in ("halved@0", "halved(rel=2)", "halvet", "ndcg_exp"):
        with pytest.raises(sr.InvalidRequest):
            parse_measure(wrong)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("evaluate", "run", "run.trec", "--qrels", "qrels.txt", "-m", "text"),
            "the measure 'text' of the package example-measure 1.0 fails: for a query",
        ),
        (("evaluate", "run", "run.trec", "--qrels", "qrels.txt", "-m", "halvet"), "unknown measure 'halvet'; did you mean 'halved'"),
        (
            ("index", "papers.cards", "--encoder", "missing"),
            "the encoder 'missing' of the package example-encoder 1.0 fails: ModuleNotFound",
        ),
        (("index", "papers.cards", "--encoder", "square"), "gave an array of shape (1, 26), not (1, 2)"),
        (("index", "papers.cards", "--encoder", "alphabet", "--set", "adapter=x"), "alphabet is a plug-in that reads texts in its own way"),
        (("index", "papers.cards", "--encoder", "alphabett"), "unknown encoder 'alphabett'; did you mean 'alphabet'"),
        (("index", "broken.cards", "--dense", "none"), "the format 'cards' of the package example-format 1.0 fails: ValueError: '{no'"),
        (
            ("search", "graph", "-i", "index", "--rerank", "nothing"),
            "the reranker 'nothing' of the package example-reranker 1.0 fails: `score`",
        ),
        (("search", "graph", "-i", "index", "--rerank", "shortets"), "unknown reranker 'shortets'; did you mean 'shortest'"),
    ],
)
def test_faults_are_one_line(installed: Path, cards: Path, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    judged(tmp_path)
    (tmp_path / "broken.cards").write_text("title: x\n\n{no")
    sr.build(cards, "index", dense="none", progress=False).close()
    result = sciretrieve(*arguments)
    assert words in result.stderr
    assert result.returncode in (2, 4)
    assert [line for line in result.stderr.splitlines() if not line.startswith("indexing ")] == [result.stderr.splitlines()[-1]]


def test_two_packages_with_one_name(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 2\n")
    (other / "entry_points.txt").write_text("[sciretrieve.encoders]\nalphabet = example_encoder:Alphabet\na+b = x:y\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(sr.InvalidRequest, match="each bring the encoder 'alphabet'; keep one"):
        sr.load_encoder("alphabet")
    assert sr.load_encoder("granite").name == "granite"


def test_nothing_is_looked_for_without_need(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is built in is found without a look at what is installed, which takes time."""
    monkeypatch.setattr(metadata, "entry_points", None)
    monkeypatch.syspath_prepend(corpus.parent)  # another path, of which nothing is known yet
    with sr.build(corpus, "index", limit=20, dense="none", progress=False) as index:
        assert index.search("graph").hits
    assert sr.load_encoder("granite").name == "granite"
    assert sr.open_reranker("minilm").name == "minilm"
    assert parse_measure("nDCG@10").cutoff == 10
    with pytest.raises(TypeError, match="not callable"):
        sr.load_encoder("alphabet")
