"""Rebuilding what is derived, without encoding: other dense indexes, other parameters."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import METRICS, Metric
from sciretrieve.base.errors import CorruptData, IndexBusy, InvalidRequest, NotFound, UnknownName
from sciretrieve.files.writing import write_lock
from sciretrieve.lifecycle import building, refit
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.lexical import Analyzer, Bm25Parameters
from sciretrieve.storage.manifest import read_manifest
from tests.command_line import sciretrieve
from tests.edited import edited_manifest
from tests.listeners import Notes
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

QUERIES = ["graph networks", "vaccine immune trial", "galaxy of stars", "market price", "zebra"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a directory but the lock, by its name."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"
    }


def assert_same_answers(index: sr.Index, expected: sr.Index, tolerance: float = 0.0) -> None:
    """The same papers in the same order, with scores that differ by no more than that."""
    assert index.modes == expected.modes
    for mode in index.modes:
        for filter in (None, "year >= 2010"):
            pairs = zip(*(opened.search(QUERIES, 30, mode=mode, filter=filter) for opened in (index, expected)), strict=True)
            for ours, theirs in pairs:
                assert ours.ids == theirs.ids
                np.testing.assert_allclose(ours.scores, theirs.scores, atol=tolerance, rtol=0)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """130 papers, of which the last of shards of 60 has 10."""
    return write_jsonl(tmp_path / "papers.jsonl", made_up_papers(130))


def built(source: Path, folder: Path, **settings: Any) -> Path:
    return sr.build(source, folder, **{"encoder": "letters", "shard_size": 60, **settings}).path


def opened(path: Path, generation: int | None = None) -> sr.Index:
    return sr.open(path, encoder=LetterEncoder(), generation=generation)


CHANGES: list[dict[str, Any]] = [
    {"dense": "ivf", "metric": "l2"},
    {"dense": "auto"},
    {"metric": "cosine", "dense": "IVF4,Flat"},
    {"lexical": Bm25Parameters("bm25+", k1=0.5)},
    {"dense": "flat", "lexical": {"b": 0.1}},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_other_settings_give_what_a_build_with_them_gives(
    source: Path, tmp_path: Path, letters: LetterEncoder, change: dict[str, Any]
) -> None:
    path = built(source, tmp_path / "index", dense="HNSW4,Flat", lexical=Bm25Parameters(k1=0.7))
    before = opened(path)
    expected_before = [ranking.ids for ranking in before.search(QUERIES, 30)]
    letters.asked.clear()
    manifest = sr.reindex(path, **change)
    assert letters.asked == []
    assert (manifest.generation, manifest.previous) == (2, 1)
    assert [record.command for record in manifest.log] == ["index", "reindex"]
    assert [shard.files["vectors.npy"] for shard in manifest.shards] == [
        shard.files["vectors.npy"] for shard in before.snapshot.manifest.shards
    ]
    lexical = change.get("lexical", {})
    parameters = lexical if isinstance(lexical, Bm25Parameters) else replace(Bm25Parameters(k1=0.7), **lexical)
    settings = {"dense": "HNSW4,Flat", **change, "lexical": parameters}
    anew = opened(built(source, tmp_path / "anew", **settings))
    assert_same_answers(opened(path), anew)
    assert (manifest.dense, manifest.metric, manifest.bm25) == (
        anew.snapshot.manifest.dense,
        anew.snapshot.manifest.metric,
        anew.snapshot.manifest.bm25,
    )
    # the generation before answers as it did, opened before or now
    for earlier in (before, opened(path, generation=1)):
        assert [ranking.ids for ranking in earlier.search(QUERIES, 30)] == expected_before
    assert sr.verify(path, encoder=LetterEncoder()).faults == ()
    notes = Notes()
    assert sr.reindex(path, **change, progress=notes) == manifest
    assert notes.texts == [f"{path} has these settings already"]


def test_the_build_command_keeps_what_was_rebuilt(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    path = built(source, tmp_path / "index")
    manifest = sr.reindex(path, dense="HNSW4,Flat", lexical={"k1": 0.5})
    assert sr.open(built(source, path)).snapshot.manifest == manifest
    # and a setting that is asked for in another way than at first is obeyed
    assert sr.open(built(source, path, dense="ivf")).snapshot.manifest.dense == "ivf"


def test_what_was_tuned_stays_unless_scores_change(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    path = built(source, tmp_path / "index")
    refit(path, Bm25Parameters(k1=0.7), Fusion(alpha=0.3))
    assert sr.reindex(path, dense="HNSW4,Flat").fusion == asdict(Fusion(alpha=0.3))
    notes = Notes()
    assert sr.reindex(path, lexical={"b": 0.4}, progress=notes).fusion is None
    assert any("run `sciretrieve tune` again" in note for note in notes.texts)


@pytest.mark.parametrize(
    ("settings", "change", "error", "words"),
    [
        ({}, {"dense": "HSNW32"}, InvalidRequest, "index type 'HSNW32'"),
        ({}, {"dense": "none"}, InvalidRequest, "use `sciretrieve search --mode bm25`"),
        ({}, {"metric": "cosin"}, UnknownName, "did you mean 'cosine'"),
        ({}, {"lexical": {"variant": "lucen"}}, UnknownName, "did you mean 'lucene'"),
        ({}, {"lexical": {"k": 1.5}}, UnknownName, "unknown BM25 parameter 'k'"),
        ({}, {"lexical": {"k1": -1.0}}, InvalidRequest, "`k1` must be at least 0"),
        ({"lexical": None}, {"lexical": {"k1": 1.0}}, InvalidRequest, "has no BM25; build it"),
        ({"encoder": None}, {"dense": "hnsw"}, InvalidRequest, "has no vectors; build it"),
        ({"encoder": None}, {"metric": "l2"}, InvalidRequest, "has no vectors; build it"),
    ],
    ids=str,
)
def test_what_cannot_be_rebuilt_is_refused_and_the_index_stays(
    source: Path,
    tmp_path: Path,
    letters: LetterEncoder,
    settings: dict[str, Any],
    change: dict[str, Any],
    error: type[Exception],
    words: str,
) -> None:
    path = built(source, tmp_path / "index", **settings)
    before = contents(path)
    with pytest.raises(error, match=words):
        sr.reindex(path, **change)
    assert contents(path) == before


def test_an_index_that_is_being_written_is_left_alone(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    path = built(source, tmp_path / "index")
    before = contents(path)
    with write_lock(path), pytest.raises(IndexBusy):
        sr.reindex(path, dense="ivf")
    assert contents(path) == before


def test_where_there_is_no_index_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "nothing"):
        with pytest.raises(NotFound, match="there is no index"):
            sr.reindex(path)
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


@pytest.mark.parametrize("metric", METRICS)
def test_the_command(source: Path, tmp_path: Path, letters: LetterEncoder, metric: Metric) -> None:
    path = built(source, tmp_path / "index")
    result = sciretrieve(*("reindex", "-i", path, "--dense", "HNSW4,Flat", "--set", f"metric={metric},variant=okapi,k1=1.5,b=0.4"))
    assert (result.returncode, result.stdout) == (0, "")
    assert f"dense HNSW4,Flat, {metric}; BM25 okapi, k1 1.5, b 0.4; generation 2" in result.stderr
    manifest = read_manifest(path)
    assert (manifest.dense, manifest.metric, manifest.bm25) == ("HNSW4,Flat", metric, Bm25Parameters("okapi", 1.5, 0.4))


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, r"is damaged \(ValueError: format 1\); rebuild the index with `sciretrieve index --overwrite`"),
        (3, "is an index of format version 3, and this version of sciretrieve reads 2; update sciretrieve"),
    ],
)
def test_another_format_is_refused(source: Path, tmp_path: Path, letters: LetterEncoder, number: int, words: str) -> None:
    path = built(source, tmp_path / "index")
    with edited_manifest(path) as manifest:
        manifest["format"] = number
    before = contents(path)
    for use in (sr.open, sr.reindex, sr.merge, sr.repair, lambda path: sr.delete(path, "p0000"), lambda path: sr.add(source, path)):
        with pytest.raises(CorruptData, match=words):
            use(path)
    for command in ("reindex", "info", "merge"):
        result = sciretrieve(command, "-i", path)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (3, "", 1)
    assert contents(path) == before


ONE_WORD = [
    {"id": "british", "title": "A tumour of the liver", "abstract": "Vitamin D was given."},
    {"id": "american", "title": "A tumor of the lung", "abstract": "Vitamins, and a d-dimer test."},
    *({"id": f"other{number}", "title": f"Stars {number}{number}", "abstract": "Vitamin c, d, e and others"} for number in range(4)),
]


def of_words(index: sr.Index, query: str) -> list[str]:
    return list(index.search(sr.Query("q", query), 10, mode="bm25", group=False).rankings[0].ids)


def test_an_index_of_the_earlier_text_analysis_goes_on_and_reindex_makes_it_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(building, "Analyzer", lambda: Analyzer(form=2))
        path = sr.build(write_jsonl(tmp_path / "papers.jsonl", ONE_WORD[:4]), tmp_path / "index", encoder=None, shard_size=2).path
    index = sr.open(path)
    assert index.snapshot.analyzer == Analyzer(form=2)
    assert of_words(index, "tumor") == ["american"]
    # whatever is added or deleted
    sr.add(write_jsonl(tmp_path / "more.jsonl", ONE_WORD[4:]), path)
    sr.delete(path, ids=["other0"])
    sr.merge(path)
    assert not sr.verify(path).faults
    index = sr.open(path)
    assert (index.snapshot.analyzer, of_words(index, "tumor"), index.snapshot.manifest.papers) == (Analyzer(form=2), ["american"], 5)
    listener = Notes()
    sr.reindex(path, progress=listener)
    assert [note for note in listener.texts if "nothing is encoded" in note]
    index = sr.open(path)
    assert index.snapshot.analyzer == Analyzer()
    assert index.snapshot.manifest.build["analyzer"] == Analyzer().spec
    assert sorted(of_words(index, "tumor")) == ["american", "british"]
    assert of_words(index, "vitamin d")[0] == "british"
    assert not sr.verify(path).faults
    corpus = write_jsonl(tmp_path / "left.jsonl", [paper for paper in ONE_WORD if paper["id"] != "other0"])
    afresh = sr.open(sr.build(corpus, tmp_path / "afresh", encoder=None).path)
    for query in ("tumor", "vitamin d", "stars", "d dimer"):
        assert of_words(index, query) == of_words(afresh, query)
    listener = Notes()
    sr.reindex(path, progress=listener)
    assert any("has these settings already" in note for note in listener.texts)
