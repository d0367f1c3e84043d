"""Estimates against the builds that they are of: papers, shards and bytes. What time and memory are is up to the machine."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.files.writing import describe
from sciretrieve.lifecycle import building, estimating
from sciretrieve.papers.corpora import Corpus, open_corpus, sampling
from tests.command_line import answer, sciretrieve
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
def letters(monkeypatch: pytest.MonkeyPatch) -> LetterEncoder:
    """The encoder that every name means."""
    encoder = LetterEncoder()
    monkeypatch.setattr(building, "load_encoder", lambda *_, **__: encoder)
    return encoder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def sizes(index: sr.Index) -> dict[str, int]:
    """The bytes of an index's files, by the kinds that an estimate has."""
    kinds = {
        "papers": "papers.parquet",
        "ids": "ids.arrow names.arrow",
        "vectors": "vectors.npy",
        "postings": "postings.arrow lengths.arrow fields.arrow",
        "dense": ".faiss",
        "manifests": ".json",
    }
    totals = dict.fromkeys(kinds, 0)
    for path in (path for path in index.path.rglob("*") if path.is_file() and path.name != ".lock"):
        kind = next((kind for kind, names in kinds.items() if path.name.endswith(tuple(names.split()))), None)
        totals[kind or ("postings" if path.parent.parent.name == "lexical" else "manifests")] += path.stat().st_size
    return {kind: total for kind, total in totals.items() if total}


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
    actual = sizes(index)
    assert list(estimate.bytes_of) == [kind for kind in ("papers", "ids", "postings", "vectors", "dense", "manifests") if kind in actual]
    for kind, size in actual.items():
        assert estimate.bytes_of[kind] == pytest.approx(size, rel=0.25 if kind != "manifests" else 0.9), kind
    assert estimate.bytes == sum(estimate.bytes_of.values()) == pytest.approx(sum(actual.values()), rel=0.25)
    assert estimate.seconds == sum(estimate.seconds_of.values()) > 0
    assert estimate.memory > 50e6


def test_tokens_are_those_that_the_encoder_reads(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimating, "LONG_ENOUGH", 0.0)
    encoder = sr.load_encoder("granite")
    papers = [paper for batch in open_corpus(corpus).batches() for paper in batch.papers.to_pylist()]
    texts = [sr.Paper(paper["id"], paper["title"], paper["abstract"]) for paper in papers]
    estimate = sr.estimate(corpus)
    assert estimate.tokens == encoder.size(encoder.tokenise(texts))
    assert estimate.truncated == 0
    assert estimate.encoder == {
        "name": "granite",
        "dim": encoder.dim,
        "precision": encoder.precision,
        "ran_in": [f"OpenVINO {encoder.precision}"],
    }


def test_vectors_made_elsewhere_have_no_tokens(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(40))
    sr.encode(corpus, tmp_path / "vectors.npy")
    estimate = sr.estimate(corpus, encoder=f"vectors:{tmp_path / 'vectors.npy'}")
    assert (estimate.tokens, estimate.truncated, estimate.metric) == (None, None, "l2")
    assert estimate.encoder is not None
    assert estimate.bytes_of["vectors"] == (tmp_path / "vectors.npy").stat().st_size


def test_rows_that_are_no_papers_are_not_counted(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", [*made_up_papers(50), *made_up_papers(50), {"id": "empty"}])
    estimate = sr.estimate(corpus, encoder=None)
    assert (estimate.rows, estimate.papers, estimate.sampled) == (101, 50, 50)


def ids_of(corpus: Corpus, most: int = 200) -> tuple[sampling.Sample, list[int]]:
    """A sample, and the numbers of its papers."""
    sample = sampling.sampled(corpus, most, None, lambda _: None)
    return sample, [int(id.rsplit("-")[-1]) for id in sample.papers["id"].to_pylist()]


@pytest.mark.parametrize(
    ("kind", "files"),
    [("jsonl", 1), ("jsonl", 3), ("jsonl", 40), ("parquet", 1), ("parquet", 3), ("parquet", 40), ("csv", 1), ("csv", 40), ("jsonl.gz", 3)],
)
def test_of_a_large_corpus_some_rows_are_read_all_over_it(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, files: int
) -> None:
    rows = [json.loads(line) for line in large.read_text().splitlines()]
    size = PAPERS // files
    folder = tmp_path / "corpus"
    folder.mkdir()
    for file in range(files):
        part = pa.Table.from_pylist(rows[file * size : (file + 1) * size])
        path = folder / f"part-{file:02d}.{kind}"
        if kind == "parquet":
            pq.write_table(part, path, row_group_size=100)
        elif kind == "csv":
            path.write_text("".join(f"{','.join(row)}\n" for row in [part.column_names, *(row.values() for row in part.to_pylist())]))
        else:
            with pa.output_stream(str(path), compression="detect" if kind.endswith("gz") else None) as stream:
                stream.write("".join(json.dumps(row) + "\n" for row in part.to_pylist()).encode())
    monkeypatch.setattr(sampling, "WHOLE", 0)
    monkeypatch.setattr(sampling, "PLACE_ROWS", 20)
    monkeypatch.setattr(sampling, "PLACE_BYTES", 10_000)
    corpus = open_corpus(folder)
    sample, ids = ids_of(corpus)
    assert sample.rows == pytest.approx(size * files, rel=0.02)
    assert sample.expected == pytest.approx(size * files, rel=0.02)
    assert 100 < len(ids) <= 200
    assert ids == sorted(set(ids))
    assert max(np.diff([0, *ids, PAPERS])) < PAPERS / 8
    if kind in ("jsonl", "parquet"):
        assert sample.read < PAPERS / 2


def test_a_sample_is_spread_evenly(large: Path) -> None:
    sample, ids = ids_of(open_corpus(large), 1000)
    assert (sample.rows, sample.read, sample.accepted, sample.expected) == (PAPERS, PAPERS, PAPERS, PAPERS)
    assert 500 < len(ids) <= 1000
    assert len(set(np.diff(ids))) == 1


def everything(folder: Path) -> dict[str, Any]:
    """All files below a folder, with their contents."""
    return {str(path): describe(path) for path in folder.rglob("*") if path.is_file()}


def test_nothing_is_written(corpus: Path, letters: LetterEncoder, temporary: Path, tmp_path: Path) -> None:
    sr.build(corpus, "indexes/papers", encoder=None)
    before = everything(tmp_path)
    answer("index", corpus, "--dry-run", "-o", "indexes/papers", "--overwrite")
    answer("index", corpus, "--dry-run", "-o", "indexes/new")
    assert everything(tmp_path) == before
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
    value = json.loads(answer("index", corpus, "--dry-run", "-f", "json", "--shard-size", "128", "--dense", "hnsw"))
    assert list(value) == [
        *("schema", "seconds", "bytes", "rows", "papers", "sampled", "tokens", "truncated", "shards"),
        *("encoder", "metric", "dense", "seconds_of", "bytes_of", "memory"),
    ]
    assert (value["schema"], value["papers"], value["shards"], value["dense"]) == (1, 300, 3, "hnsw")
    assert list(value["seconds_of"]) == ["reading", "cutting", "terms", "encoding", "dense"]
    assert value["bytes"] == sum(value["bytes_of"].values())


def test_the_table_says_what_would_be_built(corpus: Path, letters: LetterEncoder) -> None:
    rows = dict(line.split(maxsplit=1) for line in answer("index", corpus, "--dry-run", "--metric", "cosine").splitlines())
    assert rows["papers"] == "300 of 300 rows, in 1 shard"
    assert rows["encoder"] == "letters, 28 dimensions, fp32 (letters)"
    assert rows["dense"] == "flat, cosine"
    assert rows["tokens"].endswith(" a paper; 0 papers longer than the encoder reads")
    assert {"time", "on", "memory", "going"} < set(rows)
    without = answer("index", corpus, "--dry-run", "--dense", "none")
    assert not {"encoder", "dense", "tokens"} & {line.split()[0] for line in without.splitlines()}


@pytest.mark.parametrize(("load", "is_said"), [(0.2, False), (40.0, True)])
def test_a_busy_machine_is_said(corpus: Path, monkeypatch: pytest.MonkeyPatch, load: float, is_said: bool) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    result = sciretrieve("index", corpus, "--dense", "none", "--dry-run")
    assert result.returncode == 0
    assert ("other programs keep 40.0 of 2 cores busy" in result.stderr) == is_said


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
