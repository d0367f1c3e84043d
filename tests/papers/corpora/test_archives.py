"""A .zip of several files: each is read as its own format, nothing is lost silently, and nothing gets out of it."""

from __future__ import annotations

import copy
import gzip
import io
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.files import archives
from sciretrieve.papers.corpora import open_corpus
from tests.made_up import read_corpus

BIB = "@article{knuth, title = {The Book}}\n@article{open, title = {x\n"


def packed(path: Path, **files: bytes | str) -> Path:
    return packed_as(path, {name.replace("__", "."): data for name, data in files.items()})


def packed_as(path: Path, files: dict[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def parquet() -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table({"id": ["p"], "title": ["Of Parquet"]}), target)
    return target.getvalue()


def test_each_file_is_read_as_its_own_format(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files: dict[str, bytes | str] = {
        "old/library.bib": BIB,
        "new/papers.jsonl.gz": gzip.compress(json.dumps({"id": "j", "title": "Of JSON"}).encode()),
        "papers.csv": "id;title\nc;Of CSV\n",
        "papers.parquet": parquet(),
        "files/1/paper.pdf": b"%PDF",
        "README.txt": "Read me",
        "__MACOSX/._library.bib": b"x",
        ".hidden.bib": BIB,
    }
    path = packed_as(tmp_path / "export.zip", files)
    papers, rejected = read_corpus(path)
    assert dict(zip(papers["id"].to_pylist(), papers["title"].to_pylist(), strict=True)) == {
        "j": "Of JSON",
        "knuth": "The Book",
        "c": "Of CSV",
        "p": "Of Parquet",
    }
    assert [(item.source, item.row, item.id) for item in rejected] == [(f"{path}/old/library.bib", 2, "open")]
    assert f"of {path} these files are not read: .hidden.bib, README.txt, files/1/paper.pdf" in caplog.text
    # and so it is in a folder, and one of its files can be named alone
    assert len(read_corpus(tmp_path)[0]) == 4
    assert read_corpus(path / "papers.csv")[0]["id"].to_pylist() == ["c"]


def test_its_directory_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed_as(tmp_path / "export.zip", {f"{number}.csv": f"id,title\nc{number},Of CSV {number}\n" for number in range(20)})
    opened: list[Path] = []

    class Counted(zipfile.ZipFile):
        def __init__(self, file: Any) -> None:
            opened.append(file)
            super().__init__(file)

    monkeypatch.setattr(zipfile, "ZipFile", Counted)
    assert len(sr.build(path, tmp_path / "index", encoder=None)) == 20
    assert sr.sync(path, tmp_path / "index").added == 0
    assert opened == [path]


def test_a_file_in_it_is_read_on_while_others_are_opened_and_the_archive_is_replaced(tmp_path: Path) -> None:
    path = packed(tmp_path / "export.zip", a__bib="a" * 100_000, b__bib=BIB)
    with archives.member(path, "a.bib") as first, archives.member(path, "b.bib") as second:
        assert first.read(10) == b"a" * 10
        assert second.read() == BIB.encode()
        packed(tmp_path / "new.zip", b__bib="new").replace(path)
        assert list(archives.names(path)) == ["b.bib"]
        for number in range(9):  # more than are kept open
            archives.names(packed(tmp_path / f"{number}.zip", a__bib=BIB))
        assert len(first.read()) == 100_000 - 10


def test_an_index_of_it_knows_its_files_and_sees_a_change(tmp_path: Path) -> None:
    path = packed(tmp_path / "export.zip", a__bib=BIB, b__csv="id,title\nc,Of CSV\n")
    index = sr.build(path, tmp_path / "index", encoder=None)
    assert index.snapshot.manifest.sources[0].corpus == (f"{path}/a.bib", f"{path}/b.csv")
    assert open_corpus(path).name == "export"
    before = open_corpus(path).fingerprint()
    assert open_corpus(path).fingerprint() == before
    packed(path, a__bib=BIB, b__csv="id,title\nc,Of CSV\nd,New\n")
    assert open_corpus(path).fingerprint() != before
    assert sr.sync(path, tmp_path / "index").added == 1
    assert sr.estimate(path, encoder=None).papers == 3


def test_a_library_of_zotero_in_it(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.sqlite") as library:
        library.execute("CREATE TABLE items (x)")
    library.close()
    path = packed(tmp_path / "export.zip", z__sqlite=(tmp_path / "other.sqlite").read_bytes(), a__bib=BIB)
    with pytest.raises(InvalidRequest, match=r"z\.sqlite is no library of Zotero"):
        read_corpus(path)


def test_of_a_benchmark_only_the_corpus(tmp_path: Path) -> None:
    row = {"_id": "1", "title": "Paper", "text": "", "metadata": {"topic": "x"}}
    files: dict[str, bytes | str] = {
        "scifact/corpus.jsonl": json.dumps(row),
        "scifact/queries.jsonl": json.dumps({"_id": "q", "text": "query"}),
        "scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\t1\t1\n",
    }
    papers, _ = read_corpus(packed_as(tmp_path / "scifact.zip", files))
    assert papers.select(["id", "topic"]).to_pylist() == [{"id": "1", "topic": "x"}]


@pytest.mark.parametrize("name", ["/etc/x.bib", "../../x.bib", "..\\x.bib", "a/./b/../x.bib", "\x1b[31mx.bib"])
def test_odd_names_lead_nowhere(tmp_path: Path, name: str) -> None:
    path = packed_as(tmp_path / "p.zip", {name: BIB, "other.csv": "id,title\nc,t\n"})
    papers, rejected = read_corpus(path)
    assert set(papers["id"].to_pylist()) == {"knuth", "c"}
    assert rejected[0].source.startswith(f"{path}/")
    assert rejected[0].source.isprintable()
    assert ".." not in rejected[0].source
    assert [file.name for file in tmp_path.iterdir()] == ["p.zip"]


def bomb(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(archives, "LARGEST", 1 << 20)
    return packed(path, a__csv=b"a" * (4 << 20), b__csv="id,title\n")


def overlapping(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fifty names of the same compressed bytes: by its own directory it holds fifty times as many."""
    monkeypatch.setattr(archives, "LARGEST", 1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.csv", b"".join(b"id,title,%d\n" % (number // 10) for number in range(10_000)))
        for number in range(1, 50):
            other = copy.copy(archive.filelist[0])
            other.filename = f"{number}.csv"
            archive.filelist.append(other)
        assert 50 * other.file_size < archives.MOST_TIMES * 50 * other.compress_size
    return path


def encrypted(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = bytearray(packed(path, a__bib=BIB, b__bib=BIB).read_bytes())
    for place in (data.find(b"PK\x03\x04") + 6, data.find(b"PK\x01\x02") + 8):
        data[place] |= 1
    path.write_bytes(data)
    return path


def of_one_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return packed_as(path, {"a.bib": BIB, "./a.bib": BIB})


def nested(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inner = packed(path.with_name("inner.zip"), a__bib=BIB, b__bib=BIB).read_bytes()
    return packed_as(path, {"inner.zip": inner, "notes.txt": "x"})


def many(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    return packed_as(path, {f"{number}.bib": BIB for number in range(4)})


@pytest.mark.parametrize(
    ("made", "error", "words"),
    [
        (bomb, InvalidRequest, "would unpack to 4 MB, far more than its size suggests"),
        (overlapping, InvalidRequest, "would unpack to 6 MB, far more than its size suggests"),
        (encrypted, InvalidRequest, r"a\.bib cannot be read to its end .*encrypted"),
        (of_one_name, InvalidRequest, "holds several files of one name; unpack it"),
        (nested, NotFound, "holds no supported file"),
        (many, InvalidRequest, "holds 4 files, and at most 3 are read of one .zip"),
    ],
)
def test_what_is_wrong_with_it_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any, error: type[Exception], words: str
) -> None:
    path = made(tmp_path / "p.zip", monkeypatch)
    with pytest.raises(error, match=words) as caught:
        read_corpus(path)
    assert "\n" not in str(caught.value)


def test_one_that_is_only_large_or_only_well_compressed_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    well_compressed = packed(tmp_path / "a.zip", a__csv=b"id,title\n" + b"\n" * (1 << 19), b__csv="id,title\nb,Paper\n")
    assert archives.MOST_TIMES * well_compressed.stat().st_size < 1 << 19
    assert len(read_corpus(well_compressed)[0]) == 1
    monkeypatch.setattr(archives, "LARGEST", 1)
    assert len(read_corpus(packed(tmp_path / "b.zip", a__csv="id,title\na,Paper\n", b__csv="id,title\nb,Paper\n"))[0]) == 2


def test_a_zip_within_one_is_refused(tmp_path: Path) -> None:
    inner = packed(tmp_path / "inner.zip", a__bib=BIB).read_bytes()
    path = packed_as(tmp_path / "p.zip", {"inner.zip": inner, "b.bib": BIB})
    with pytest.raises(InvalidRequest, match=r"is a \.zip within a \.zip; unpack the outer one"):
        read_corpus(path / "inner.zip")


def test_on_standard_input_it_holds_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(tmp_path / "p.zip", a__bib=BIB, b__bib=BIB).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(InvalidRequest, match=r"- holds 2 files, and such a \.zip is read only as a corpus, from a file; unpack it"):
        read_corpus("-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(bomb(tmp_path / "p.zip", monkeypatch).read_bytes())))
    with pytest.raises(InvalidRequest, match="- would unpack to 4 MB, far more than its size suggests"):
        read_corpus("-")


def test_parquet_is_read_compressed_and_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.parquet.gz").write_bytes(gzip.compress(parquet()))
    assert read_corpus(tmp_path / "p.parquet.gz")[0]["title"].to_pylist() == ["Of Parquet"]
    assert open_corpus(tmp_path / "p.parquet.gz").count() is None
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(parquet())))
    assert read_corpus("-")[0]["title"].to_pylist() == ["Of Parquet"]
