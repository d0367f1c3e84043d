"""Rebuilding what is derived, without encoding: other dense indexes, other parameters; by `reindex`, or by building again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import METRICS, Metric
from sciretrieve.base.errors import CorruptData, IndexExists, InvalidRequest, UnknownName
from sciretrieve.lifecycle import building, refit
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.lexical import Analyzer, Bm25Parameters
from sciretrieve.protocols import Advance, Result, Task
from sciretrieve.storage.manifest import Manifest, read_manifest
from tests.command_line import sciretrieve
from tests.edited import edited_manifest, files_of
from tests.listeners import Notes
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import NAMED, LetterEncoder

pytestmark = pytest.mark.usefixtures("letters")
QUERIES = ["graph networks", "vaccine immune trial", "galaxy of stars", "market price", "zebra"]


def answers(index: sr.Index) -> dict[str, list[Any]]:
    """The papers and scores of every query, in every mode, with a filter and without."""
    return {
        f"{mode} {filter}": [(ranking.ids, ranking.scores.tolist()) for ranking in index.search(QUERIES, 30, mode=mode, filter=filter)]
        for mode in index.modes
        for filter in (None, "year >= 2010")
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """130 papers, of which the last of shards of 60 has 10."""
    return write_jsonl(tmp_path / "papers.jsonl", made_up_papers(130))


def built(source: str | Path, folder: Path, **settings: Any) -> Path:
    return sr.build(source, folder, **{"encoder": "letters", "shard_size": 60, **settings}).path


def opened(path: Path, generation: int | None = None) -> sr.Index:
    return sr.open(path, encoder=LetterEncoder(), generation=generation)


CHANGES: list[dict[str, Any]] = [
    {"dense": "ivf", "metric": "l2"},
    {"dense": "auto"},
    {"metric": "l2"},
    {"metric": "cosine", "dense": "IVF4,Flat"},
    {"lexical": Bm25Parameters("bm25+", k1=0.5)},
    {"dense": "flat", "lexical": {"b": 0.1}},
]
BUILT: dict[str, Any] = {"dense": "HNSW4,Flat", "lexical": Bm25Parameters(k1=0.7)}


def rebuilt(door: str, source: Path, path: Path, change: dict[str, Any], notes: Notes) -> Manifest:
    """The index with other settings, as `reindex` makes it, or building it again from the same corpus."""
    if door == "reindex":
        return sr.reindex(path, **change, progress=notes)
    return sr.build(source, path, **{"encoder": "letters", "shard_size": 60, **settings_after(change)}, progress=notes).snapshot.manifest


def settings_after(change: dict[str, Any]) -> dict[str, Any]:
    lexical = change.get("lexical", {})
    return {**BUILT, **change, "lexical": lexical if isinstance(lexical, Bm25Parameters) else replace(BUILT["lexical"], **lexical)}


@pytest.mark.parametrize("door", ["reindex", "index"])
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_other_settings_give_what_a_build_with_them_gives(
    source: Path, tmp_path: Path, letters: LetterEncoder, change: dict[str, Any], door: str
) -> None:
    path = built(source, tmp_path / "index", **BUILT)
    before = opened(path)
    expected_before, vectors = answers(before), changed_at(before)
    letters.asked.clear()
    notes = Notes()
    manifest = rebuilt(door, source, path, change, notes)
    assert letters.asked == []
    assert (manifest.generation, manifest.previous) == (2, 1)
    assert [record.command for record in manifest.log] == ["index", door]
    assert changed_at(opened(path)) == vectors
    anew = opened(built(source, tmp_path / "anew", **settings_after(change)))
    assert answers(opened(path)) == answers(anew)
    new = anew.snapshot.manifest
    assert (manifest.dense, manifest.metric, manifest.bm25) == (new.dense, new.metric, new.bm25)
    old_files, files = ({shard.ann_file for shard in shards} for shards in (before.snapshot.manifest.shards, manifest.shards))
    assert old_files.isdisjoint(files) == bool({"dense", "metric"} & change.keys())  # what proposes papers is of their scores
    # the generation before answers as it did, opened before or now
    for earlier in (before, opened(path, generation=1)):
        assert answers(earlier) == expected_before
        earlier.close()
    assert sr.verify(path, encoder=LetterEncoder()).faults == ()
    assert rebuilt(door, source, path, change, notes) == manifest
    assert "already has these settings" in notes.texts[-1] or "is up to date" in notes.texts[-1]
    sr.merge(path)
    named = {name for name, _ in manifest.files() if name.endswith(".faiss")}
    assert {str(file.relative_to(path)) for file in path.rglob("*.faiss")} == named
    assert len(named) == (0 if new.dense == "flat" else 3)
    assert len(list((path / "lexical").iterdir())) == 1  # frequencies do not depend on BM25's parameters
    assert answers(opened(path)) == answers(anew)


def changed_at(index: sr.Index) -> list[int]:
    """When the vectors of each shard were last changed."""
    return [(index.path / "shards" / shard.name / "vectors.npy").stat().st_mtime_ns for shard in index.snapshot.manifest.shards]


def test_the_build_command_keeps_what_was_rebuilt(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    path = built(source, tmp_path / "index")
    manifest = sr.reindex(path, dense="HNSW4,Flat", lexical={"k1": 0.5})
    assert sr.open(built(source, path)).snapshot.manifest == manifest
    # and a setting that is asked for in another way than at first is obeyed
    assert sr.open(built(source, path, dense="ivf")).snapshot.manifest.dense == "ivf"


@pytest.mark.parametrize("door", ["reindex", "index"])
def test_what_was_tuned_stays_unless_scores_change(source: Path, tmp_path: Path, letters: LetterEncoder, door: str) -> None:
    path, notes = built(source, tmp_path / "index"), Notes()
    refit(path, Bm25Parameters(k1=0.7), Fusion(alpha=0.3))

    def changed(**change: Any) -> Manifest:
        if door == "reindex":
            return sr.reindex(path, **change, progress=notes)
        return opened(built(source, path, **change, progress=notes)).snapshot.manifest

    for change in ({}, {"dense": "HNSW4,Flat"}):
        manifest = changed(**change)
        assert (manifest.fusion, manifest.bm25) == (asdict(Fusion(alpha=0.3)), Bm25Parameters(k1=0.7))
    for scores in ({"lexical": Bm25Parameters(b=0.4)}, {"metric": "l2"}):
        refit(path, Bm25Parameters(k1=0.7), Fusion(alpha=0.3))
        notes.texts.clear()
        assert changed(**scores).fusion is None
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
    before = files_of(path)
    with pytest.raises(error, match=words):
        sr.reindex(path, **change)
    assert files_of(path) == before


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
    before = files_of(path)
    for use in (sr.open, sr.reindex, sr.merge, sr.repair, lambda path: sr.delete(path, "p0000"), lambda path: sr.add(source, path)):
        with pytest.raises(CorruptData, match=words):
            use(path)
    for command in ("reindex", "info", "merge"):
        result = sciretrieve(command, "-i", path)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (3, "", 1)
    assert files_of(path) == before


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
    assert any("already has these settings" in note for note in listener.texts)


# building again


def again(source: str | Path, folder: Path, **settings: Any) -> sr.Index:
    return opened(built(source, folder, **settings))


def test_an_interrupted_build_goes_on_with_another_index_type(
    source: Path, tmp_path: Path, letters: LetterEncoder, monkeypatch: Any
) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            again(source, tmp_path / "index", dense="HNSW8,Flat")
    letters.asked.clear()
    index = again(source, tmp_path / "index", dense="flat", lexical=Bm25Parameters(k1=0.5))
    assert len(letters.asked) <= 3  # the probe, on each side at most
    assert answers(index) == answers(again(source, tmp_path / "anew", dense="flat", lexical=Bm25Parameters(k1=0.5)))


def test_a_shard_too_small_for_the_index_type_is_searched_exactly(source: Path, tmp_path: Path) -> None:
    notes = Notes()
    index = again(source, tmp_path / "index", dense="IVF16,Flat", progress=notes)
    assert [shard.ann_file is not None for shard in index.snapshot.manifest.shards] == [True, True, False]
    assert any("shard 000002 has too few papers for IVF16,Flat" in note for note in notes.texts)
    vector = LetterEncoder().encode_queries([sr.Query("q", "star market graph")])[0]
    stored = np.concatenate([shard.vectors for shard in index.snapshot.vectors])
    best = index.ids(np.argsort(-stored @ vector, kind="stable")[:3])
    assert set(index.search("star market graph", 130, mode="dense").rankings[0].ids[:3]) == set(best)
    assert index.snapshot.manifest.dense == "IVF16,Flat"
    small = again(source, tmp_path / "small", dense="IVF100,Flat")
    assert small.snapshot.manifest.dense == "flat"
    again(source, tmp_path / "small", dense="IVF100,Flat", progress=notes)
    assert "up to date" in notes.texts[-1]


def test_a_corpus_is_the_same_however_its_path_is_spelt(source: Path, tmp_path: Path, letters: LetterEncoder, monkeypatch: Any) -> None:
    first = again(source, tmp_path / "index")
    letters.asked.clear()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for spelling in ("../papers.jsonl", f"{tmp_path}/elsewhere/../papers.jsonl"):
        assert again(spelling, tmp_path / "index").snapshot.manifest == first.snapshot.manifest
    assert letters.asked == []


def test_other_papers_or_another_encoder_are_not_the_same_shards(source: Path, tmp_path: Path, monkeypatch: Any) -> None:
    again(source, tmp_path / "index")
    for changed, named in (
        ({"limit": 100}, "another `limit`;"),
        ({"shard_size": 50, "limit": 3}, "another `shard_size`, `limit`;"),
        ({"lexical": None}, "another BM25 text analysis;"),
        ({"encoder": None}, "another encoder;"),
    ):
        with pytest.raises(IndexExists, match=named):
            again(source, tmp_path / "index", **changed)
    monkeypatch.setitem(NAMED, "letters", LetterEncoder(scale=2))
    with pytest.raises(IndexExists, match="another encoder;"):
        again(source, tmp_path / "index")
    with pytest.raises(IndexExists, match="another corpus, encoder;"):
        again(write_jsonl(tmp_path / "others.jsonl", made_up_papers(5)), tmp_path / "index", encoder="letters")


class ThisProcess:
    """`protocols.Workers` that are this process."""

    def __init__(self) -> None:
        self.done = 0

    def run(self, directory: Path, tasks: Iterable[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:
        for number, task in reversed(list(enumerate(tasks))):  # they may end in any order
            self.done += 1
            yield number, task(advance)


def test_workers_build_the_indexes_of_another_type(source: Path, tmp_path: Path) -> None:
    workers = ThisProcess()
    again(source, tmp_path / "here")
    again(source, tmp_path / "handed-out")
    here = again(source, tmp_path / "here", dense="IVF4,Flat")
    handed_out = again(source, tmp_path / "handed-out", dense="IVF4,Flat", workers=workers)
    assert workers.done == 3
    assert answers(handed_out) == answers(here)
    assert [shard.files for shard in handed_out.snapshot.manifest.shards] == [shard.files for shard in here.snapshot.manifest.shards]


def test_readers_of_the_generation_before_keep_their_graph(source: Path, tmp_path: Path) -> None:
    """A new FAISS index is another file: a crash before the commit leaves the old one as its manifest says."""
    old = again(source, tmp_path / "index", dense="HNSW4,Flat")
    names = {shard.ann_file for shard in old.snapshot.manifest.shards}
    new = again(source, tmp_path / "index", dense="HNSW8,Flat")
    assert names.isdisjoint({shard.ann_file for shard in new.snapshot.manifest.shards})
    sr.merge(tmp_path / "index")  # removes generations that nobody has open
    assert answers(old) == answers(again(source, tmp_path / "anew", dense="HNSW4,Flat"))
