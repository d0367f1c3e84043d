"""Estimates against the builds that they are of: papers, shards and bytes. What time and memory are is up to the machine."""

from __future__ import annotations

import gzip
import json
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.lifecycle import estimating
from sciretrieve.lifecycle.estimating import Estimate
from sciretrieve.papers.corpora import open_corpus
from tests.command_line import answer, sciretrieve
from tests.edited import files_of
from tests.listeners import StopAfter
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = 9000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More papers than a sample has, in words that are as rare as words are: the n-th is n times as rare as the first."""
    chance = np.random.default_rng(0)
    words = np.minimum(chance.zipf(1.3, PAPERS * 40), 10**9).reshape(PAPERS, 40)
    rows = [
        {"id": f"paper-{row:05d}", "title": " ".join(map("w{}".format, text[:8])), "abstract": " ".join(map("w{}".format, text[8:]))}
        for row, text in enumerate(words)
    ]
    return write_jsonl(tmp_path_factory.mktemp("large") / "papers.jsonl", rows)


@pytest.fixture
def letters(letters: LetterEncoder, monkeypatch: pytest.MonkeyPatch) -> LetterEncoder:
    """What is also taken where no encoder is named."""
    monkeypatch.setenv("SCIRETRIEVE_ENCODER", "letters")
    return letters


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    "settings",
    [
        {"encoder": None},
        {"encoder": None, "shard_size": 2000},
        {"encoder": "letters", "dense": "hnsw", "limit": 6000, "shard_size": 4000},
        {"encoder": "letters", "dense": "ivf", "lexical": None, "metric": "cosine", "limit": 5000},
        {"encoder": "letters", "limit": 100, "dense": "auto"},
        {"encoder": "letters", "limit": 700, "dense": "PQ4x4"},
    ],
    ids=repr,
)
def test_what_is_estimated_is_what_is_built(large: Path, letters: LetterEncoder, tmp_path: Path, settings: dict[str, Any]) -> None:
    estimate = sr.estimate(large, **settings)
    index = sr.build(large, tmp_path / "index", **settings)
    assert (estimate.papers, estimate.shards) == (len(index), len(index.snapshot.shards))
    assert (estimate.dense, estimate.metric) == (index.snapshot.manifest.dense, index.snapshot.manifest.metric)
    actual = sum(path.stat().st_size for path in index.path.rglob("*") if path.is_file())
    assert estimate.bytes == pytest.approx(actual, rel=0.25)
    assert estimate.seconds > 0
    assert estimate.memory > 50e6


def test_vectors_made_elsewhere_are_looked_up(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(40))
    sr.encode(corpus, tmp_path / "vectors.npy")
    estimate = sr.estimate(corpus, encoder=f"vectors:{tmp_path / 'vectors.npy'}")
    assert estimate.encoder is not None
    assert (estimate.papers, estimate.encoder["dim"], estimate.metric) == (40, len(np.load(tmp_path / "vectors.npy")[0]), "l2")


def test_rows_that_are_no_papers_are_not_counted(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", [*made_up_papers(50), *made_up_papers(50), {"id": "empty"}])
    estimate = sr.estimate(corpus, encoder=None)
    assert (estimate.rows, estimate.papers, estimate.sampled) == (101, 50, 50)


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz"])
def test_of_a_large_corpus_some_files_are_read_that_can_be_counted(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    lines, files = large.read_text().splitlines(keepends=True), 40
    (folder := tmp_path / "corpus").mkdir()
    for file in range(files):
        text = "".join(lines[file * PAPERS // files : (file + 1) * PAPERS // files]).encode()
        (folder / f"part-{file:02d}.{kind}").write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
    monkeypatch.setattr(estimating, "WHOLE", 0)
    heard = StopAfter(10**9)
    sample = estimating._sampled(open_corpus(folder), 200, None, heard)
    ids = [int(id.rsplit("-")[-1]) for id in sample.papers["id"].to_pylist()]
    assert (sample.rows, sample.expected) == (PAPERS, PAPERS)
    assert 100 < len(ids) <= 200
    assert ids == sorted(set(ids))
    assert heard.done == (PAPERS if kind == "jsonl.gz" else 16 * PAPERS // files)
    assert ids[0] < PAPERS / 8
    assert ids[-1] > PAPERS * 7 / 8


def test_a_sample_is_spread_evenly(large: Path) -> None:
    sample = estimating._sampled(open_corpus(large), 1000, None, StopAfter(10**9))
    ids = [int(id.rsplit("-")[-1]) for id in sample.papers["id"].to_pylist()]
    assert (sample.rows, sample.expected) == (PAPERS, PAPERS)
    assert 500 < len(ids) <= 1000
    assert len(set(np.diff(ids))) == 1


def test_nothing_is_written(corpus: Path, letters: LetterEncoder, temporary: Path, tmp_path: Path) -> None:
    sr.build(corpus, "indexes/papers", encoder=None)
    before = files_of(tmp_path)
    answer("index", corpus, "--dry-run", "-o", "indexes/papers", "--overwrite")
    answer("index", corpus, "--dry-run", "-o", "indexes/new")
    assert files_of(tmp_path) == before
    assert not list(temporary.iterdir())
    assert not Path("indexes/new").exists()


def test_ctrl_c_leaves_nothing(corpus: Path, letters: LetterEncoder, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        assert list(temporary.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(letters, "encode", interrupted)
    assert sciretrieve("index", corpus, "--dry-run").returncode == 130
    assert not list(temporary.iterdir())


def test_json_has_every_figure(corpus: Path, letters: LetterEncoder) -> None:
    value = json.loads(answer("index", corpus, "--dry-run", "-f", "json", "--set", "shard_size=128", "--dense", "hnsw"))
    assert list(value) == ["schema", *(field.name for field in fields(Estimate))]
    assert (value["schema"], value["papers"], value["shards"], value["dense"]) == (1, 300, 3, "hnsw")


def test_the_table_says_what_would_be_built(corpus: Path, letters: LetterEncoder) -> None:
    rows = dict(line.split(maxsplit=1) for line in answer("index", corpus, "--dry-run", "--set", "metric=cosine").splitlines())
    assert rows["papers"] == "300 of 300 rows, in 1 shard"
    assert rows["encoder"] == "letters, 28 dimensions, fp32"
    assert rows["dense"] == "flat, cosine"
    assert {"time", "on", "memory", "going"} < set(rows)
    without = answer("index", corpus, "--dry-run", "--dense", "none")
    assert "dense     none" in without
    assert "and what making the dense index takes" in answer("index", corpus, "--dry-run", "--dense", "hnsw")


def test_columns_are_noted_as_in_a_build(corpus: Path) -> None:
    assert "read as: id ← id" in sciretrieve("index", corpus, "--dry-run", "--dense", "none").stderr
    assert sciretrieve("index", corpus, "--dry-run", "--dense", "none", "-q").stderr == ""


@pytest.mark.parametrize(
    ("text", "settings", "error", "match"),
    [
        (None, {}, NotFound, "no corpus"),
        ("", {}, InvalidRequest, "no paper to index; it is empty"),
        ('{"id": "p1", "title": ""}\n', {}, InvalidRequest, r"rejected rows: 1, the first \(row 1\) for no title and no abstract"),
        ('{"id": "p1", "title": "t"}\n', {"dense": "HNSV32"}, InvalidRequest, "index type 'HNSV32'"),
        ('{"id": "p1", "title": "t"}\n', {"encoder": "minilmm"}, UnknownName, "did you mean 'minilm'"),
    ],
)
def test_bad_input_is_refused_as_in_a_build(
    tmp_path: Path, text: str | None, settings: dict[str, Any], error: type[Exception], match: str
) -> None:
    corpus = tmp_path / "papers.jsonl"
    if text is not None:
        corpus.write_text(text)
    with pytest.raises(error, match=match):
        sr.estimate(corpus, **settings)
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    result = sciretrieve("index", corpus, "--dry-run", *options)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith("sciretrieve: ")


def test_a_format_is_for_an_estimate(corpus: Path) -> None:
    result = sciretrieve("index", corpus, "-f", "json")
    assert result.returncode == 2
    assert "--dry-run" in result.stderr
    assert not Path("indexes").exists()
