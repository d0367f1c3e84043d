"""Approximate indexes through their life: chosen by memory, tried out at each commit that changes them, searched as was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest
from sciretrieve.files.writing import read_json, write_sealed
from sciretrieve.matching.dense import choosing
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.matching.dense.ann import Ann
from sciretrieve.matching.dense.choosing import resident_bytes
from sciretrieve.matching.effort import Effort, Trial
from sciretrieve.options import SearchOptions
from sciretrieve.storage.manifest import read_manifest
from tests.command_line import answer, sciretrieve
from tests.edited import edited_manifest
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = 400


@pytest.fixture(autouse=True)
def approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    """FAISS is asked however few the papers."""
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "papers.jsonl", made_up_papers(PAPERS))


def build(source: Path, folder: Path, **settings: Any) -> sr.Index:
    sr.build(source, folder, **{"encoder": "letters", "shard_size": 300, "lexical": None, **settings}).close()
    return sr.open(folder, encoder=LetterEncoder())


def measured(index: sr.Index) -> Trial:
    assert index.snapshot.manifest.trial is not None
    return index.snapshot.manifest.trial


def asked(index: sr.Index, monkeypatch: pytest.MonkeyPatch, **options: Any) -> set[Effort]:
    """With how much effort FAISS is asked in a search."""
    efforts: set[Effort] = set()
    candidates = Ann.candidates

    def noted(ann: Ann, *arguments: Any) -> Any:
        efforts.add(arguments[4])
        return candidates(ann, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Ann, "candidates", noted)
        assert len(index.search("star market graph", 10, group=False, **options).hits) == 10
    return efforts


def test_a_search_goes_by_what_was_measured_unless_it_says_more(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = build(source, tmp_path / "index", dense="HNSW4,SQ8", recall=0.9)
    trial = measured(index)
    assert (trial.knob, trial.target, trial.queries) == ("ef", 0.9, 200)
    assert trial.bytes == sum(facts.files[facts.ann_file]["bytes"] for facts in index.snapshot.manifest.shards if facts.ann_file)
    assert asked(index, monkeypatch) == {Effort(ef=trial.value)}
    assert asked(index, monkeypatch, ef=77) == {Effort(ef=77, deepens=False)}
    assert asked(index, monkeypatch, recall=trial.steps[0].recall) == {Effort(ef=trial.steps[0].value)}
    assert asked(index, monkeypatch, recall=1) == set()  # every vector is scored
    assert str(trial) in answer("info", "-i", index.path)
    assert json.loads(answer("info", "-i", index.path, "-f", "json"))["manifest"]["trial"]["value"] == trial.value


def test_several_are_searched_as_hard_as_the_one_that_needs_most(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [build(source, tmp_path / name, dense="HNSW4,SQ8").path for name in ("one", "other")]
    with edited_manifest(paths[0]) as manifest:
        manifest["trial"] |= {"value": 999, "steps": [{**manifest["trial"]["steps"][0], "value": 999}]}
    for order in (paths, paths[::-1]):
        with sr.open_many(order, encoder=LetterEncoder()) as several:
            assert asked(several, monkeypatch) == {Effort(ef=999)}


@pytest.mark.parametrize(
    ("dense", "options", "words"),
    [
        ("HNSW4,SQ8", {"nprobe": 3}, r"has the dense index HNSW4,SQ8, which has no `nprobe`; it has `ef`"),
        ("IVF4,Flat", {"ef": 3}, r"has the dense index IVF4,Flat, which has no `ef`; it has `nprobe`"),
        ("flat", {"ef": 3}, r"has the dense index flat, which has no `ef`; leave it out"),
        ("flat", {"ef": 0}, r"`ef` must be at least 1"),
        ("flat", {"nprobe": 1 << 40}, r"`nprobe` must be below 2\^31"),
        ("flat", {"recall": 1.5}, r"`recall`, .*, lies above 0 and up to 1, not 1\.5"),
        ("IVF4,Flat", {"recall": 0.5, "nprobe": 3}, r"`recall` chooses `nprobe`; give one of them"),
    ],
)
def test_a_knob_that_is_not_there_is_refused(source: Path, tmp_path: Path, dense: str, options: Any, words: str) -> None:
    index = build(source, tmp_path / "index", dense=dense)
    with pytest.raises(InvalidRequest, match=words) as caught:
        index.search("star", 5, **options)
    assert "\n" not in str(caught.value)


def test_an_exact_index_meets_every_recall(source: Path, tmp_path: Path) -> None:
    index = build(source, tmp_path / "index", dense="flat")
    assert index.snapshot.manifest.trial is None
    assert index.search("star", 5, recall=0.99).hits == index.search("star", 5).hits


def test_every_search_command_has_the_knobs(source: Path, tmp_path: Path) -> None:
    path = build(source, tmp_path / "index", dense="IVF8,Flat", lexical=sr.Bm25Parameters()).path
    exact = build(source, tmp_path / "exact", dense="flat", lexical=sr.Bm25Parameters()).path
    queries = tmp_path / "queries.txt"
    queries.write_text("star market\n")
    for words in (("search", "star market"), ("similar", "p0007")):
        wanted = answer(*words, "-i", exact, "-f", "trec", "--mode", "dense")
        for knobs in (("--set", "nprobe=8"), ("--set", "recall=1")):
            assert answer(*words, "-i", path, "-f", "trec", "--mode", "dense", *knobs) == wanted
    wanted = answer("batch", queries, "-i", exact, "-k", "20", "--mode", "dense", "-q")
    assert answer("batch", queries, "-i", path, "-k", "20", "--mode", "dense", "-q", "--set", "nprobe=8") == wanted
    refused = sciretrieve("search", "star", "-i", path, "--set", "ef=8")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_it_is_measured_again_where_papers_or_the_target_changed(source: Path, tmp_path: Path) -> None:
    path = build(source, tmp_path / "index", dense="IVF8,Flat", recall=0.9).path
    first = read_manifest(path).trial
    assert first is not None
    sr.delete(path, ["p0003"])
    assert read_manifest(path).trial == first  # the FAISS indexes are the same
    more = write_jsonl(tmp_path / "more.jsonl", [{**paper, "id": f"new-{paper['id']}"} for paper in made_up_papers(350)])
    sr.add(more, path, encoder=LetterEncoder())
    grown = read_manifest(path).trial
    assert grown is not None
    assert grown.bytes > first.bytes
    again = sr.reindex(path, recall=0.99)
    assert again.trial is not None
    assert (again.trial.target, again.dense) == (0.99, "IVF8,Flat")
    assert [shard.ann_file for shard in again.shards] == [shard.ann_file for shard in read_manifest(path, again.previous).shards]
    assert sr.reindex(path, recall=0.99) == again
    assert sr.reindex(path, dense="flat").trial is None


def test_memory_chooses_and_says_what_is_too_little(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    dim = letters.dim
    sizes = {dense: resident_bytes(dense, PAPERS, dim) for dense in ("flat", "hnsw", "ivf", "rabitq")}
    assert build(source, tmp_path / "flat", memory=sizes["flat"]).snapshot.manifest.dense == "flat"
    for name in ("missing", "index"):
        letters.asked.clear()
        with pytest.raises(InvalidRequest, match=r"^no dense index of 400 papers fits into 10 bytes; .*give 1 MB or more as `memory`"):
            build(source, tmp_path / name, memory=10)
        assert not (tmp_path / name / "manifest.json").exists()
        assert len(letters.asked) < 10  # the probe alone
    with pytest.raises(InvalidRequest, match=r"`memory` limits `dense='auto'`; leave it out"):
        build(source, tmp_path / "index", dense="hnsw", memory=10)
    with pytest.raises(InvalidRequest, match=r"no dense index of 400 papers fits"):
        sr.reindex(tmp_path / "flat", dense="auto", memory=10)
    with pytest.raises(InvalidRequest, match=r"`memory` limits `dense='auto'`; give both"):
        sr.reindex(tmp_path / "flat", memory=10)


def test_another_budget_chooses_again_without_encoding(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "FLAT_BYTES", 1)
    path = build(source, tmp_path / "index").path
    assert read_manifest(path).dense == "hnsw"
    build(source, path, memory=resident_bytes("ivf", PAPERS, LetterEncoder.dim))
    assert read_manifest(path).dense == "ivf"
    assert sr.reindex(path, dense="auto").dense == "hnsw"


@pytest.mark.parametrize(("size", "code"), [("2GB", 0), ("1.5 GiB", 0), ("800000000", 0), ("10B", 2), ("2 potatoes", 2), ("-3", 2)])
def test_a_size_on_the_command_line(source: Path, tmp_path: Path, size: str, code: int) -> None:
    result = sciretrieve(
        "index", source, "-o", tmp_path / "index", "--encoder", "letters", "--set", "lexical=false", "--set", f"memory={size}", "-q"
    )
    assert result.returncode == code, result.stderr
    assert result.stderr.count("\n") == (1 if code else 0)


def test_it_is_measured_again_once_more_than_a_tenth_is_new(source: Path, tmp_path: Path) -> None:
    path = build(source, tmp_path / "index", dense="IVF8,Flat", recall=0.9).path
    first = read_manifest(path).trial
    assert first is not None
    kept = []
    for number in range(4):
        more = write_jsonl(tmp_path / "more.jsonl", [{**paper, "id": f"{number}-{paper['id']}"} for paper in made_up_papers(12)])
        sr.add(more, path, encoder=LetterEncoder())
        manifest = read_manifest(path)
        size = sum(shard.files[shard.ann_file]["bytes"] for shard in manifest.shards if shard.ann_file)
        assert manifest.trial is not None
        kept.append(manifest.trial == first)
        assert kept[-1] == (size <= 1.1 * first.bytes)
        assert manifest.trial.bytes <= size <= 1.1 * manifest.trial.bytes
    assert kept == sorted(kept, reverse=True)
    assert set(kept) == {True, False}
    sr.merge(path)  # the FAISS indexes that were measured are gone
    assert read_manifest(path).trial not in (first, manifest.trial)


def test_an_index_of_before_there_were_trials_opens(source: Path, tmp_path: Path) -> None:
    path = build(source, tmp_path / "index", dense="IVF8,Flat").path
    manifest = read_json(path / "manifest.json")
    del manifest["trial"], manifest["checksum"]
    del manifest["build"]["settings"]["recall"], manifest["build"]["settings"]["memory"]
    for place in (path / "manifest.json", path / "generations" / "000001.json"):
        write_sealed(place, manifest)
    index = sr.open(path, encoder=LetterEncoder())
    assert index.snapshot.manifest.trial is None
    assert len(index.search("star", 10, SearchOptions(group=False), recall=0.9).hits) == 10
    assert build(source, path, dense="IVF8,Flat").snapshot.manifest.generation == 1  # the same settings
    manifest["trial"] = {"knob": "nprobe"}
    write_sealed(path / "manifest.json", manifest)
    with pytest.raises(CorruptData, match="is damaged"):
        sr.open(path)
