"""Rebuilding what is derived, without encoding: indexes of format version 1, other dense indexes, other parameters."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.choices import METRICS, Metric
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.errors import CorruptData, IndexBusy, InvalidRequest, NotFound, UnknownName
from sciretrieve.files.writing import describe, write_json, write_lock
from sciretrieve.lifecycle import building, refit
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.lexical import Analyzer, Bm25Parameters
from sciretrieve.progress import Silent
from sciretrieve.storage.manifest import Manifest, read_manifest
from tests.command_line import sciretrieve
from tests.edited import edited_manifest
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

FIRST_FORMAT = Path(__file__).parents[1] / "fixtures" / "format-1"
"""An index of format version 1 of 30 papers and a row without text, in two shards, tuned to other parameters than it was built with."""
PAPERS = made_up_papers(30, seed=5)
REFUSAL = r"is an index of format version 1; convert it, without encoding anything, with `sciretrieve reindex -i '.*first format'`"
QUERIES = ["graph networks", "vaccine immune trial", "galaxy of stars", "market price", "zebra"]


class Stop(Exception):
    """Stands for the power cut."""


class Listener(Silent):
    """Keeps the notes, and cuts the power after so many papers."""

    def __init__(self, papers: int = 1000) -> None:
        self.left = papers
        self.notes: list[str] = []

    def advance(self, papers: int) -> None:
        self.left -= papers
        if self.left <= 0:
            raise Stop

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # slow, and no power is cut here
    monkeypatch.setattr(building, "LIBRARIES", ())


@pytest.fixture
def first_format(tmp_path: Path) -> Path:
    """A copy of the index of the first format."""
    return Path(shutil.copytree(FIRST_FORMAT, tmp_path / "first format"))


@pytest.fixture
def no_encoder() -> Iterator[Callable[[], None]]:
    """No encoder can be loaded, until the function that this gives is called."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("an encoder was loaded")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextEncoder, "__init__", refuse)
        yield patch.undo


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a directory but the lock, by its name."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"
    }


def old_manifest() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((FIRST_FORMAT / "manifest.json").read_text())
    return value


def papers_in(index: Path, shards: list[str]) -> list[dict[str, Any]]:
    return [row for shard in shards for row in pq.read_table(index / "shards" / shard / "papers.parquet").to_pylist()]


def vectors_in(index: Path, shards: list[str]) -> list[bytes]:
    return [(index / "shards" / shard / "vectors.npy").read_bytes() for shard in shards]


def names(manifest: Manifest) -> list[str]:
    return [shard.name for shard in manifest.shards]


def assert_same_answers(index: sr.Index, expected: sr.Index, tolerance: float = 0.0) -> None:
    """The same papers in the same order, with scores that differ by no more than that."""
    assert index.modes == expected.modes
    for mode in index.modes:
        for filter in (None, "year >= 2010"):
            pairs = zip(*(opened.search(QUERIES, 30, mode=mode, filter=filter) for opened in (index, expected)), strict=True)
            for ours, theirs in pairs:
                assert ours.ids == theirs.ids
                np.testing.assert_allclose(ours.scores, theirs.scores, atol=tolerance, rtol=0)


def test_the_fixture_is_of_these_papers() -> None:
    assert [row["id"] for row in papers_in(FIRST_FORMAT, ["000000", "000001"])] == [paper["id"] for paper in PAPERS]
    assert [row["title"] for row in papers_in(FIRST_FORMAT, ["000000", "000001"])] == [paper["title"] for paper in PAPERS]
    assert old_manifest()["format"] == 1


@pytest.mark.parametrize(
    "use",
    [
        sr.open,
        lambda path: sr.add(write_jsonl(path.parent / "p.jsonl", PAPERS), path),
        lambda path: sr.sync(write_jsonl(path.parent / "p.jsonl", PAPERS), path),
        lambda path: sr.delete(path, "p0000"),
        sr.merge,
        sr.repair,
        lambda path: sr.build(write_jsonl(path.parent / "p.jsonl", PAPERS), path, encoder=None),
        lambda path: refit(path, Bm25Parameters(), Fusion()),
    ],
    ids=["open", "add", "sync", "delete", "merge", "repair", "build", "tune"],
)
def test_an_index_of_the_first_format_is_refused_with_what_converts_it(first_format: Path, use: Callable[[Path], object]) -> None:
    before = contents(first_format)
    with pytest.raises(CorruptData, match=REFUSAL):
        use(first_format)
    assert contents(first_format) == before


def test_commands_refuse_it_in_one_line(first_format: Path) -> None:
    before = contents(first_format)
    for command in (
        ["search", "star"],
        ["info"],
        ["log"],
        ["merge"],
        ["delete", "p0000"],
        ["export", "-o", "x.npy"],
        ["verify", "--repair"],
    ):
        result = sciretrieve(*command, "-i", first_format)
        assert (result.returncode, result.stdout) == (3, ""), command
        assert result.stderr == (
            f"sciretrieve: {first_format} is an index of format version 1; convert it, without encoding anything, with "
            f"`sciretrieve reindex -i '{first_format}'`\n"
        )
    verified = sciretrieve("verify", "-i", first_format)
    assert verified.returncode == 1
    assert verified.stdout.startswith("manifest.json: is an index of format version 1; convert it")
    assert contents(first_format) == before


@pytest.mark.embedded_encoder
def test_an_index_of_the_first_format_is_converted_without_encoding(
    first_format: Path, tmp_path: Path, no_encoder: Callable[[], None]
) -> None:
    before = old_manifest()
    notes = Listener()
    manifest = sr.reindex(first_format, progress=notes)
    assert manifest == read_manifest(first_format)
    assert notes.notes[0] == f"converting {first_format} from format version 1; nothing is encoded"
    assert not any("already" in note for note in notes.notes)
    # what is kept
    old_shards = [shard["name"] for shard in before["shards"]]
    assert papers_in(first_format, names(manifest)) == papers_in(FIRST_FORMAT, old_shards)
    assert vectors_in(first_format, names(manifest)) == vectors_in(FIRST_FORMAT, old_shards)
    assert [shard.papers for shard in manifest.shards] == [20, 10]
    assert manifest.truncated == 0
    assert manifest.bm25 == Bm25Parameters(k1=0.9)
    assert manifest.fusion == asdict(Fusion(alpha=0.4))
    assert manifest.encoder == before["encoder"]
    for name in ("papers", "rejected", "metric", "dense", "versions"):
        assert getattr(manifest, name) == before[name], name
    new_settings = {"memory": None, "recall": 0.98, "late": None, "pooling": None, "template": None, "query_template": None}
    assert manifest.build["settings"] == new_settings | before["build"]["settings"]
    assert (first_format / "rejected.jsonl").read_bytes() == (FIRST_FORMAT / "rejected.jsonl").read_bytes()
    # what is new
    assert (manifest.format, manifest.generation, manifest.previous) == (2, 3, None)
    assert [(record.command, record.generation, record.papers) for record in manifest.log] == [("reindex", 3, 30)]
    (source,) = manifest.sources
    assert (source.corpus, source.fingerprint, manifest.whole) == (("papers.jsonl",), before["build"]["fingerprint"], source.fingerprint)
    assert all(shard.ann_file is not None for shard in manifest.shards)
    # nothing is left of the old
    named = {name for name, _ in manifest.files()}
    kept = {"manifest.json", "generations/000003.json", "rejected.jsonl", *(f"shards/{name}/shard.json" for name in names(manifest))}
    assert set(contents(first_format)) == named | kept
    # it is sound, and answers as one that is built afresh
    no_encoder()
    verification = sr.verify(first_format)
    assert (verification.faults, verification.unchecked, verification.papers) == ((), "", 30)
    corpus = write_jsonl(tmp_path / "papers.jsonl", [*PAPERS, {"id": "no text"}])
    sr.build(corpus, tmp_path / "fresh", precision="fp32", shard_size=20, dense="HNSW4,SQ8", late=False)
    fresh = refit(tmp_path / "fresh", Bm25Parameters(k1=0.9), Fusion(alpha=0.4))
    assert manifest.lexical is not None
    assert fresh.lexical is not None
    assert manifest.lexical["statistics"] == fresh.lexical["statistics"]
    assert_same_answers(sr.open(first_format), sr.open(tmp_path / "fresh"), tolerance=1e-3)
    # and from now on it is like any other
    update = sr.add([{**paper, "id": f"new {paper['id']}"} for paper in made_up_papers(3, seed=9)], first_format)
    assert (update.added, update.papers) == (3, 33)
    assert sr.verify(first_format).faults == ()


def test_an_index_that_is_converted_is_not_converted_again(first_format: Path, no_encoder: Callable[[], None]) -> None:
    converted = sr.reindex(first_format)
    before, notes = contents(first_format), Listener()
    assert sr.reindex(first_format, progress=notes) == converted
    assert notes.notes == [f"{first_format} has these settings already"]
    assert contents(first_format) == before


def test_it_is_converted_and_given_other_settings_at_once(first_format: Path, no_encoder: Callable[[], None]) -> None:
    manifest = sr.reindex(first_format, dense="flat", lexical={"k1": 1.5, "variant": "okapi"})
    assert (manifest.generation, manifest.dense) == (4, "flat")
    assert manifest.bm25 == Bm25Parameters("okapi", 1.5)
    assert [record.generation for record in manifest.log] == [3, 4]
    assert not [name for name, _ in manifest.files() if name.endswith(".faiss")]


@pytest.mark.parametrize("stops", [[1], [25], [25, 10], [1, 25, 10]], ids=str)
def test_an_interrupted_conversion_goes_on(first_format: Path, tmp_path: Path, stops: list[int], no_encoder: Callable[[], None]) -> None:
    uninterrupted = Path(shutil.copytree(FIRST_FORMAT, tmp_path / "uninterrupted"))
    sr.reindex(uninterrupted)
    for papers in stops:  # once a shard is done it is not done again: then ten papers are left
        with pytest.raises(Stop):
            sr.reindex(first_format, progress=Listener(papers))
        whole = contents(FIRST_FORMAT)
        assert {name: data for name, data in contents(first_format).items() if name in whole} == whole
        with pytest.raises(CorruptData, match=REFUSAL):
            sr.open(first_format)
    sr.reindex(first_format)

    def without_times(folder: Path) -> dict[str, bytes]:
        return {name: data for name, data in contents(folder).items() if not name.endswith(".json") or "shard" in name}

    assert without_times(first_format) == without_times(uninterrupted)


def test_what_a_build_of_the_first_format_left_behind_is_removed(first_format: Path, no_encoder: Callable[[], None]) -> None:
    write_json(first_format / "build.json", {"format": 1})
    (first_format / "shards" / "000007.partial").mkdir()
    (first_format / "shards" / "000007.partial" / "papers.parquet").touch()
    manifest = sr.reindex(first_format)
    assert names(manifest) == ["000008", "000009"]
    assert sorted(path.name for path in (first_format / "shards").iterdir()) == names(manifest)
    assert not (first_format / "build.json").exists()


@pytest.mark.parametrize("name", ["papers.parquet", "vectors.npy"])
def test_a_damaged_file_of_the_first_format_is_named_and_nothing_is_lost(first_format: Path, name: str) -> None:
    path = first_format / "shards" / "000001" / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    for _ in range(2):
        with pytest.raises(CorruptData, match=rf"000001/{name} is damaged: it is not as it was written; restore it"):
            sr.reindex(first_format)
    path.write_bytes(whole)
    assert {name: data for name, data in contents(first_format).items() if name in contents(FIRST_FORMAT)} == contents(FIRST_FORMAT)
    assert sr.reindex(first_format).papers == 30


@pytest.mark.parametrize("name", ["papers.parquet", "vectors.npy"])
def test_a_missing_file_of_the_first_format_is_named(first_format: Path, name: str) -> None:
    (first_format / "shards" / "000001" / name).unlink()
    result = sciretrieve("reindex", "-i", first_format)
    assert result.returncode == 3
    assert f"000001/{name} is missing; restore it" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.pop("shards"),
        lambda manifest: manifest["build"].pop("settings"),
        lambda manifest: manifest["lexical"].pop("k1"),
        lambda manifest: manifest.update(fusion={"alpha": "much"}),
        lambda manifest: manifest.update(fusion={"surprise": 1}),
        lambda manifest: manifest.update(shards=3),
        lambda manifest: manifest.update(shards=[{"name": "../../etc", "files": {}}]),
        lambda manifest: manifest.update(metric="manhattan"),
    ],
)
def test_a_damaged_manifest_of_the_first_format_is_refused(first_format: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = old_manifest()
    change(manifest)
    write_json(first_format / "manifest.json", manifest)
    result = sciretrieve("reindex", "-i", first_format)
    assert result.returncode == 3
    assert "manifest.json is damaged" in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
    whole = {name: data for name, data in contents(FIRST_FORMAT).items() if name != "manifest.json"}
    assert {name: data for name, data in contents(first_format).items() if name in whole} == whole


def test_one_without_bm25(first_format: Path, no_encoder: Callable[[], None]) -> None:
    manifest = old_manifest()
    shutil.rmtree(first_format / "lexical")
    manifest["lexical"] = manifest["build"]["settings"]["lexical"] = manifest["build"]["analyzer"] = manifest["fusion"] = None
    for shard in manifest["shards"]:
        (first_format / "shards" / shard["name"] / "postings.arrow").unlink()
        del shard["files"]["postings.arrow"]
    write_json(first_format / "manifest.json", manifest)
    converted = sr.reindex(first_format)
    assert (converted.lexical, converted.fusion, converted.build["analyzer"]) == (None, None, None)
    assert {name for shard in converted.shards for name in shard.files} == {
        "papers.parquet",
        "ids.arrow",
        "vectors.npy",
        "dense-000003.faiss",
    }
    no_encoder()
    assert sr.open(first_format).modes == ("dense",)
    assert sr.verify(first_format).faults == ()


def test_one_without_vectors(first_format: Path, tmp_path: Path, no_encoder: Callable[[], None]) -> None:
    manifest = old_manifest()
    shutil.rmtree(first_format / "encoder")
    manifest |= {"encoder": None, "metric": None, "dense": "none", "fusion": None}
    manifest["build"]["encoder"] = manifest["build"]["settings"]["encoder"] = None
    manifest["build"]["settings"]["dense"] = "none"
    for shard in manifest["shards"]:
        for name in ("vectors.npy", "dense-000001.faiss"):
            (first_format / "shards" / shard["name"] / name).unlink()
            del shard["files"][name]
        shard["truncated"] = None
    write_json(first_format / "manifest.json", manifest)
    converted = sr.reindex(first_format)
    assert (converted.encoder, converted.truncated, converted.bm25) == (None, None, Bm25Parameters(k1=0.9))
    fresh = sr.build(write_jsonl(tmp_path / "p.jsonl", PAPERS), tmp_path / "fresh", encoder=None, lexical=Bm25Parameters(k1=0.9))
    assert_same_answers(sr.open(first_format), fresh)
    assert sr.verify(first_format).faults == ()


def test_one_as_the_first_version_of_all_wrote_it(first_format: Path, no_encoder: Callable[[], None]) -> None:
    """Its FAISS indexes had another name, its row groups another size, and its terms were analysed in another way."""
    manifest = old_manifest()
    manifest["lexical"]["analyzer"] = manifest["build"]["analyzer"] = {"form": 1}
    for shard in manifest["shards"]:
        folder = first_format / "shards" / shard["name"]
        (folder / "dense-000001.faiss").rename(folder / "dense.faiss")
        shard["files"]["dense.faiss"] = shard["files"].pop("dense-000001.faiss")
        table = pq.read_table(folder / "papers.parquet")
        pq.write_table(table, folder / "papers.parquet", row_group_size=7, compression="zstd")
        shard["files"]["papers.parquet"] = describe(folder / "papers.parquet")
        shard["truncated"] = 3 + int(shard["name"])
    write_json(first_format / "manifest.json", manifest)
    with pytest.raises(Stop):
        sr.reindex(first_format, progress=Listener(25))
    converted = sr.reindex(first_format)
    assert [shard.truncated for shard in converted.shards] == [3, 4]
    assert papers_in(first_format, names(converted)) == papers_in(FIRST_FORMAT, ["000000", "000001"])
    assert not list(first_format.rglob("dense.faiss"))
    assert converted.lexical is not None
    assert converted.lexical["analyzer"] == converted.build["analyzer"] == Analyzer().spec


def test_a_format_that_is_not_known_yet_is_refused(first_format: Path) -> None:
    sr.reindex(first_format)
    with edited_manifest(first_format) as manifest:
        manifest["format"] = 3
    before = contents(first_format)
    for use in (sr.open, sr.reindex, sr.merge, sr.repair):
        with pytest.raises(CorruptData, match="format version 3, and this version of sciretrieve reads 2; update sciretrieve"):
            use(first_format)
    result = sciretrieve("reindex", "-i", first_format)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.count("\n") == 1
    assert contents(first_format) == before


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> LetterEncoder:
    """The encoder of the indexes that are built here; it remembers what it encoded."""
    encoder = LetterEncoder()
    monkeypatch.setattr(building, "load_encoder", lambda *_, **__: encoder)
    return encoder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """130 papers, of which the last of shards of 60 has 10."""
    return write_jsonl(tmp_path / "papers.jsonl", made_up_papers(130))


def built(source: Path, folder: Path, **settings: Any) -> Path:
    return sr.build(source, folder, **{"encoder": "letters", "shard_size": 60, **settings}).path


def opened(path: Path, generation: int | None = None) -> sr.Index:
    return sr.open(path, encoder=LetterEncoder(), generation=generation)


CHANGES: list[dict[str, Any]] = [
    {"dense": "HNSW8,Flat"},
    {"dense": "ivf"},
    {"dense": "auto"},
    {"metric": "l2"},
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
    assert [shard.files["vectors.npy"] for shard in manifest.shards] == [shard.files["vectors.npy"] for shard in before.manifest.shards]
    lexical = change.get("lexical", {})
    parameters = lexical if isinstance(lexical, Bm25Parameters) else replace(Bm25Parameters(k1=0.7), **lexical)
    settings = {"dense": "HNSW4,Flat", **change, "lexical": parameters}
    anew = opened(built(source, tmp_path / "anew", **settings))
    assert_same_answers(opened(path), anew)
    assert (manifest.dense, manifest.metric, manifest.bm25) == (anew.manifest.dense, anew.manifest.metric, anew.manifest.bm25)
    # the generation before answers as it did, opened before or now
    for earlier in (before, opened(path, generation=1)):
        assert [ranking.ids for ranking in earlier.search(QUERIES, 30)] == expected_before
    assert sr.verify(path, encoder=LetterEncoder()).faults == ()
    notes = Listener()
    assert sr.reindex(path, **change, progress=notes) == manifest
    assert notes.notes == [f"{path} has these settings already"]


def test_the_build_command_keeps_what_was_rebuilt(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    path = built(source, tmp_path / "index")
    manifest = sr.reindex(path, dense="HNSW4,Flat", lexical={"k1": 0.5})
    assert sr.open(built(source, path)).manifest == manifest
    # and a setting that is asked for in another way than at first is obeyed
    assert sr.open(built(source, path, dense="ivf")).manifest.dense == "ivf"


def test_what_was_tuned_stays_unless_scores_change(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    path = built(source, tmp_path / "index")
    refit(path, Bm25Parameters(k1=0.7), Fusion(alpha=0.3))
    assert sr.reindex(path, dense="HNSW4,Flat").fusion == asdict(Fusion(alpha=0.3))
    notes = Listener()
    assert sr.reindex(path, lexical={"b": 0.4}, progress=notes).fusion is None
    assert any("run `sciretrieve tune` again" in note for note in notes.notes)


@pytest.mark.parametrize(
    ("settings", "change", "error", "words"),
    [
        ({}, {"dense": "HSNW32"}, InvalidRequest, "index type 'HSNW32'"),
        ({}, {"dense": "none"}, InvalidRequest, "use `sciretrieve search --mode bm25`"),
        ({}, {"metric": "cosin"}, UnknownName, "did you mean 'cosine'"),
        ({}, {"lexical": {"variant": "lucen"}}, UnknownName, "did you mean 'lucene'"),
        ({}, {"lexical": {"k": 1.5}}, UnknownName, "unknown BM25 parameter 'k'"),
        ({}, {"lexical": {"k1": -1.0}}, InvalidRequest, "k1 >= 0"),
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
    result = sciretrieve(
        *("reindex", "-i", path, "--dense", "HNSW4,Flat", "--metric", metric, "--bm25", "okapi", "--k1", "1.5", "--b", "0.4")
    )
    assert (result.returncode, result.stdout) == (0, "")
    assert f"dense HNSW4,Flat, {metric}; BM25 okapi, k1 1.5, b 0.4; generation 2" in result.stderr
    manifest = read_manifest(path)
    assert (manifest.dense, manifest.metric, manifest.bm25) == ("HNSW4,Flat", metric, Bm25Parameters("okapi", 1.5, 0.4))


def test_the_command_converts(first_format: Path, no_encoder: Callable[[], None]) -> None:
    result = sciretrieve("reindex", "-i", first_format)
    assert (result.returncode, result.stdout) == (0, "")
    assert "from format version 1; nothing is encoded" in result.stderr
    assert "dense HNSW4,SQ8, cosine; BM25 lucene, k1 0.9, b 0.75; generation 3" in result.stderr
