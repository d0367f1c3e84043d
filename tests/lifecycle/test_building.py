"""Building: what lands on disk, and that no interruption, at any point, loses or changes anything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import IndexBusy, IndexExists, InvalidRequest, UnknownName
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.files.writing import describe, write_lock
from sciretrieve.papers.corpora import open_corpus
from tests.command_line import answer, hear_interrupts
from tests.listeners import Notes, Stop, StopAfter
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder


def contents(index: sr.Index) -> dict[str, bytes]:
    """Every file of an index but the manifest, by its name."""
    return {
        str(path.relative_to(index.path)): path.read_bytes()
        for path in sorted(index.path.rglob("*"))
        if path.is_file() and path.suffix != ".json" and path.name != ".lock"
    }


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 papers with titles only: enough for several windows and shards, quick to encode."""
    rows = [{**paper, "abstract": ""} for paper in made_up_papers(3000, seed=5)]
    return write_jsonl(tmp_path_factory.mktemp("big") / "big.jsonl", rows)


ROOT = Path(__file__).parents[2]
SETTINGS: dict[str, Any] = {"encoder": "letters", "metric": "cosine", "shard_size": 2300}


@pytest.fixture(scope="module")
def whole(big: Path, tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """The index of `big`, built without interruption."""
    return sr.build(big, tmp_path_factory.mktemp("whole") / "index", **SETTINGS)


def test_what_lands_on_disk(whole: sr.Index) -> None:
    manifest = whole.snapshot.manifest
    assert [shard.papers for shard in manifest.shards] == [2300, 700]
    assert manifest.papers == len(whole) == 3000
    assert manifest.metric == "cosine"
    assert manifest.dense == "flat"
    assert manifest.encoder is not None
    assert manifest.encoder["name"] == "letters"
    assert manifest.encoder["precision"] == "fp32"
    for shard in manifest.shards:
        folder = whole.path / "shards" / shard.name
        assert set(shard.files) == {
            "papers.parquet",
            "names.arrow",
            "ids.arrow",
            "postings.arrow",
            "lengths.arrow",
            "fields.arrow",
            "vectors.npy",
        }
        for name, facts in shard.files.items():
            assert describe(folder / name) == facts
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        assert vectors.shape == (shard.papers, LetterEncoder.dim)
    ids = [id for shard in manifest.shards for id in pq.read_table(whole.path / "shards" / shard.name / "papers.parquet")["id"].to_pylist()]
    assert ids == [f"p{number:04d}" for number in range(3000)]
    assert not list(whole.path.rglob("*.partial"))
    assert {path.name for path in whole.path.iterdir()} == {".lock", "encoder", "generations", "lexical", "manifest.json", "shards"}
    assert (whole.path / "generations" / "000001.json").read_bytes() == (whole.path / "manifest.json").read_bytes()
    for name, facts in manifest.files():
        assert describe(whole.path / name) == {"bytes": facts["bytes"], "sha256": facts["sha256"]}
    named = {name for name, _ in manifest.files()}
    there = {str(path.relative_to(whole.path)) for path in whole.path.rglob("*") if path.is_file()}
    assert there - named == {".lock", "generations/000001.json", "manifest.json", "shards/000000/shard.json", "shards/000001/shard.json"}
    (source,), (record,) = manifest.sources, manifest.log
    assert [Path(file).name for file in source.corpus] == ["big.jsonl"]
    assert manifest.whole == source.fingerprint
    assert (record.command, record.generation, record.papers, record.added) == ("index", 1, 3000, 3000)
    assert (manifest.generation, manifest.previous, manifest.replaced) == (1, None, ())
    assert not (whole.path / "rejected.jsonl").exists()


def test_vectors_are_the_encoders(whole: sr.Index, index: sr.Index) -> None:
    for built_index, encoder in ((whole, LetterEncoder()), (index, index.reader.query_encoder.encoder)):
        papers = built_index.papers_at(np.array([0, len(built_index) // 2, len(built_index) - 1]))
        stored = np.concatenate([shard.vectors for shard in built_index.snapshot.vectors])[[0, len(built_index) // 2, len(built_index) - 1]]
        np.testing.assert_allclose(stored, encoder.encode_papers(papers), atol=1e-2)  # in bf16, a batch of other texts


@pytest.mark.parametrize("papers", [1, 3000])
def test_a_build_that_was_stopped_while_it_read_reads_again(big: Path, whole: sr.Index, tmp_path: Path, papers: int) -> None:
    stopped = StopAfter(papers, unit="papers read")
    with pytest.raises(Stop):
        sr.build(big, tmp_path / "index", **SETTINGS, progress=stopped)
    assert 0 < stopped.done <= 3000
    progress = Notes()
    assert contents(sr.build(big, tmp_path / "index", **SETTINGS, progress=progress)) == contents(whole)
    assert progress.units == ["papers read", "papers"]


@pytest.mark.parametrize(("papers", "before"), [(1, 0), (2301, 2300)])
def test_once_it_is_read_the_corpus_is_not_needed_any_more(big: Path, whole: sr.Index, tmp_path: Path, papers: int, before: int) -> None:
    """To know it again, only its files' names, sizes and times are looked at. Shards that were finished are not done again."""
    source = Path(shutil.copy2(big, tmp_path / "big.jsonl"))
    with pytest.raises(Stop):
        sr.build(source, tmp_path / "index", **SETTINGS, progress=StopAfter(papers, "papers"))
    corpus, progress = open_corpus(source), Notes()

    def unreadable() -> Any:
        raise AssertionError("read again")

    object.__setattr__(corpus, "batches", unreadable)
    assert contents(sr.build(corpus, tmp_path / "index", **SETTINGS, progress=progress)) == contents(whole)
    assert (progress.units, progress.before) == (["papers"], before)


def long_papers(count: int) -> tuple[list[dict[str, Any]], list[int]]:
    """Papers, and which of them are longer than the 256 tokens that the encoder reads, its two special ones included."""
    words = [3, 253, 254, 255, 400]
    rows = [{"id": str(number), "title": "word", "abstract": "word " * (words[number % 5] - 1)} for number in range(count)]
    return rows, [number for number in range(count) if words[number % 5] + 2 > 256]


def cut_by_shard(index: sr.Index) -> list[int | None]:
    return [facts.truncated for facts in index.snapshot.manifest.shards]


@pytest.mark.parametrize("dense", ["flat", "hnsw"])
def test_papers_longer_than_the_encoder_reads_are_counted(tmp_path: Path, dense: str) -> None:
    rows, long = long_papers(23)
    built = sr.build(write_jsonl(tmp_path / "long.jsonl", rows), tmp_path / "index", shard_size=10, dense=dense)
    expected = [sum(number // 10 == shard for number in long) for shard in range(3)]
    assert cut_by_shard(built) == expected == [4, 4, 0]
    assert built.snapshot.manifest.truncated == sr.open(tmp_path / "index").snapshot.manifest.truncated == 8


def test_where_nothing_reads_papers_none_is_cut(corpus: Path, tmp_path: Path) -> None:
    assert sr.build(corpus, tmp_path / "words", encoder=None).snapshot.manifest.truncated is None
    sr.encode(corpus, tmp_path / "vectors.npy")
    assert sr.build(corpus, tmp_path / "given", encoder=f"vectors:{tmp_path / 'vectors.npy'}").snapshot.manifest.truncated is None
    assert sr.build(corpus, tmp_path / "read", limit=10).snapshot.manifest.truncated == 0


INTERRUPTED = """
import os, signal, sys
from sciretrieve.commands import main
from tests.toy_encoder import LetterEncoder, letters_by_name

encode = LetterEncoder.encode

def interrupted(encoder, tokens, *advance):
    if len(encoder.asked) > 1500:
        os.kill(os.getpid(), signal.SIGINT)
    return encode(encoder, tokens, *advance)

LetterEncoder.encode = interrupted
with letters_by_name():
    main()
"""


def test_ctrl_c_on_the_command_line_keeps_what_was_done(big: Path, whole: sr.Index, tmp_path: Path) -> None:
    words = ["index", str(big), "-o", str(tmp_path / "index"), "--encoder", "letters", "--set", "metric=cosine", "--set", "shard_size=2300"]
    command = [sys.executable, "-c", INTERRUPTED, *words]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=hear_interrupts)
    assert process.returncode == 130, process.stderr
    assert "the same command resumes it" in process.stderr
    assert "Traceback" not in process.stderr
    assert len(list(tmp_path.glob("index/shards/*.partial/vectors.npy"))) == 1
    answer(*words)
    assert contents(sr.open(tmp_path / "index")) == contents(whole)


def test_another_corpus_or_setting_does_not_write_over_an_index(big: Path, corpus: Path, whole: sr.Index) -> None:
    before = contents(whole)
    for source, settings in ((corpus, SETTINGS), (big, {**SETTINGS, "shard_size": 500})):
        with pytest.raises(IndexExists, match="pass `overwrite`"):
            sr.build(source, whole.path, **settings)
    assert contents(whole) == before


def test_another_partial_build_is_not_thrown_away(big: Path, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(Stop):
        sr.build(big, tmp_path / "index", **SETTINGS, progress=StopAfter(2300, "papers"))
    with pytest.raises(IndexExists, match="unfinished work with another corpus, `shard_size`"):
        sr.build(corpus, tmp_path / "index", encoder="letters")
    assert (tmp_path / "index" / "pending.json").exists()
    assert len(sr.build(corpus, tmp_path / "index", encoder="letters", overwrite=True)) == 300
    assert not list((tmp_path / "index").glob("pending*"))
    assert sorted(path.name for path in (tmp_path / "index" / "shards").iterdir()) == ["000000"]  # those that had been cut are gone


def test_not_resuming_starts_anew(big: Path, whole: sr.Index, tmp_path: Path) -> None:
    with pytest.raises(Stop):
        sr.build(big, tmp_path / "index", **SETTINGS, progress=StopAfter(2300, "papers"))
    progress = Notes()
    sr.build(big, tmp_path / "index", **SETTINGS, resume=False, progress=progress)
    assert progress.before == 0
    assert progress.total == 3000


def test_one_writer_at_a_time(corpus: Path, tmp_path: Path) -> None:
    with write_lock(tmp_path / "index"), pytest.raises(IndexBusy, match=f"is being written by process {os.getpid()} on "):
        sr.build(corpus, tmp_path / "index", encoder=None)
    assert len(sr.build(corpus, tmp_path / "index", encoder=None)) == 300


@pytest.mark.parametrize("text", ["", '{"id": "a"}\n', '{"id": "a", "title": " "}\n', '{"id": 1, "heading": "stars"}\n'])
def test_a_corpus_without_papers_is_refused_and_leaves_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "papers.jsonl").write_text(text)
    with pytest.raises(InvalidRequest, match=r"no paper to index|neither a title"):
        sr.build(tmp_path / "papers.jsonl", tmp_path / "index", encoder=None)
    assert not (tmp_path / "index").exists()


def test_a_directory_of_other_files_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / "shards").mkdir(parents=True)
    (tmp_path / "home" / "shards" / "thesis.tex").write_text("x")
    for folder in (tmp_path / "home", tmp_path / "home" / "shards"):
        with pytest.raises(InvalidRequest, match="holds other files"):
            sr.build(corpus, folder, encoder=None)
    assert [path.relative_to(tmp_path / "home") for path in (tmp_path / "home").rglob("*")] == [Path("shards"), Path("shards/thesis.tex")]


def test_an_index_is_no_corpus_unless_it_is_open(whole: sr.Index, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its files have deleted papers, too. Beside papers, indexes are left out."""
    (tmp_path / "here").symlink_to(whole.path)
    shard = whole.path / "shards" / whole.snapshot.manifest.shards[0].name
    for source in (whole.path, str(shard), shard / "papers.parquet", f"{whole.path}/*/*/papers.parquet", "here", whole.path.parent):
        with pytest.raises(InvalidRequest, match=r"is an index, and no corpus; `sciretrieve export -i .* writes its papers into one"):
            open_corpus(source)
    data = tmp_path / "data"
    sr.build([{"id": "a", "title": "Old"}, {"id": "b", "title": "New"}], data / "indexes" / "mine", encoder=None).close()
    sr.delete(data / "indexes" / "mine", "a")
    with sr.open(data / "indexes" / "mine") as index:
        assert [batch.papers["id"].to_pylist() for batch in open_corpus(index).batches()] == [["b"]]
    papers = write_jsonl(data / "papers.jsonl", [{"id": "c", "title": "Other"}])
    shutil.copy(data / "indexes" / "mine" / "shards" / "000000" / "papers.parquet", data / "papers.parquet")
    with caplog.at_level("WARNING"):
        assert open_corpus(data).files == (papers, data / "papers.parquet")
    assert caplog.messages[-1] == f"of {data} these files are not read: indexes/mine"


def test_a_directory_with_what_a_build_left_at_its_very_beginning_is_built_into(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "index" / "shards" / "000000.partial").mkdir(parents=True)
    (tmp_path / "index" / ".sciretrieve-0123456789abcdef.tmp").touch()
    (tmp_path / "index" / ".lock").touch()
    index = sr.build(corpus, tmp_path / "index", encoder=None)
    assert [path.name for path in (index.path / "shards").iterdir()] == [shard.name for shard in index.snapshot.manifest.shards]
    assert not list(index.path.glob("*.tmp"))


def test_a_corpus_whose_file_has_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / os.fsdecode(b"p\xff.jsonl"), made_up_papers(5))
    index = sr.build(source, tmp_path / "index", encoder=None)
    assert index.snapshot.manifest.sources[0].corpus == (str(source),)
    assert (
        sr.open(index.path).snapshot.manifest
        == sr.build(source, tmp_path / "index", encoder=None).snapshot.manifest
        == index.snapshot.manifest
    )
    with pytest.raises(InvalidRequest, match="name of the index's directory holds bytes that are not UTF-8"):
        sr.build(source, tmp_path / os.fsdecode(b"i\xff"), encoder=None)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"encoder": "minilmm"}, UnknownName, "did you mean 'minilm'"),
        ({"metric": "cosin"}, UnknownName, "did you mean 'cosine'"),
        ({"dense": "HSNW32"}, InvalidRequest, "index type 'HSNW32'"),
        ({"dense": "none", "lexical": None}, InvalidRequest, "needs vectors or BM25"),
        ({"shard_size": 0}, InvalidRequest, "shard_size"),
        ({"limit": 0}, InvalidRequest, "limit"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_written(
    corpus: Path, tmp_path: Path, settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sr.build(corpus, tmp_path / "index", **settings)
    assert not (tmp_path / "index").exists()


def test_an_index_can_move(whole: sr.Index, tmp_path: Path) -> None:
    shutil.copytree(whole.path, tmp_path / "elsewhere")
    there = sr.open(tmp_path / "elsewhere")
    assert there.search("star dust", 5, mode="bm25").rankings[0].ids == whole.search("star dust", 5, mode="bm25").rankings[0].ids


def test_rejected_rows_may_have_ids_and_files_in_broken_utf_8(tmp_path: Path) -> None:
    corpus = tmp_path / os.fsdecode(b"caf\xe9.bib")
    corpus.write_bytes(b"@misc{a, title = {Gr\xc3\xbcn}}\n@misc{b\xb5, title = {}}\n@misc{\xc3\xbcc\xb5, title = {open\n")
    sr.build(corpus, tmp_path / "index", encoder="letters")
    rows = [json.loads(line) for line in (tmp_path / "index" / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(row["source"], row["row"], row["id"]) for row in rows} == {(str(corpus), 2, None), (str(corpus), 3, "üc\udcb5")}


def test_cut_papers_are_counted_whole_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextEncoder, "window", 4)
    rows, long = long_papers(23)
    source = write_jsonl(tmp_path / "long.jsonl", rows)
    with pytest.raises(Stop):
        sr.build(source, tmp_path / "index", shard_size=15, progress=StopAfter(8, "papers"))
    built = sr.build(source, tmp_path / "index", shard_size=15)
    assert cut_by_shard(built) == [sum(number // 15 == shard for number in long) for shard in range(2)]
