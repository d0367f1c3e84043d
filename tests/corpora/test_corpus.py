"""Finding the files behind what the user names, and knowing again what was read before."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from sciretrieve.corpora import ColumnMap, open_corpus
from sciretrieve.errors import InvalidRequest, NotFound
from tests.made_up import read_corpus, write_jsonl


def test_several_sources_are_read_in_the_order_given(tmp_path: Path) -> None:
    for name in "ab":
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": name, "title": name}])
    (tmp_path / "c.csv").write_text("id,title\nc,c\n")
    sources = [tmp_path / name for name in ("b.jsonl", "c.csv", "a.jsonl")]
    assert read_corpus(*sources)[0]["id"].to_pylist() == ["b", "c", "a"]
    assert open_corpus(sources).count() == 3


def test_hidden_and_underscored_files_of_a_directory_are_not_papers(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in (".hidden.jsonl", "_meta.jsonl", "deep/er/papers.jsonl"):
        write_jsonl(tmp_path / name, [{"id": name, "title": "t"}])
    (tmp_path / "README.md").touch()
    assert read_corpus(tmp_path)[0]["id"].to_pylist() == ["deep/er/papers.jsonl"]


def test_standard_input_is_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"id": 1, "title": "t"}\n')))
    assert read_corpus("-")[0]["id"].to_pylist() == ["1"]
    assert open_corpus("-").count() is None


@pytest.mark.parametrize(
    ("source", "name"),
    [("papers.jsonl", "papers"), ("old.papers.jsonl.gz", "old"), ("folder", "folder"), ("folder/*.jsonl", "folder"), ("-", "stdin")],
)
def test_a_corpus_is_named_after_its_source(tmp_path: Path, source: str, name: str) -> None:
    (tmp_path / "folder").mkdir()
    for file in ("papers.jsonl", "old.papers.jsonl.gz", "folder/a.jsonl", "folder/b.jsonl"):
        (tmp_path / file).touch()
    assert open_corpus(source).name == name


def test_the_fingerprint_changes_with_the_files_and_the_columns(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "p.jsonl", [{"id": 1, "title": "t"}])
    first = open_corpus(path).fingerprint()
    assert open_corpus(path).fingerprint() == first
    assert open_corpus(path, ColumnMap(title="other")).fingerprint() != first
    os.utime(path, ns=(0, 0))
    touched = open_corpus(path).fingerprint()
    assert touched != first
    write_jsonl(tmp_path / "q.jsonl", [{"id": 2, "title": "t"}])
    assert open_corpus([path, tmp_path / "q.jsonl"]).fingerprint() != touched


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ("absent.jsonl", NotFound, "there is no corpus absent.jsonl"),
        ("absent/*.parquet", NotFound, "there is no corpus absent"),
        ("notes.docx", InvalidRequest, r"no format that is read here \(.*\.parquet"),
        ("empty", NotFound, "holds no file that is read here"),
        ("mixed", InvalidRequest, r"several formats \(\.csv, \.jsonl\)"),
    ],
)
def test_what_is_no_corpus(tmp_path: Path, source: str, error: type[Exception], words: str) -> None:
    (tmp_path / "notes.docx").touch()
    for folder in ("empty", "mixed"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mixed" / "a.csv").touch()
    (tmp_path / "mixed" / "b.jsonl").touch()
    with pytest.raises(error, match=words):
        open_corpus(source)
    with pytest.raises(InvalidRequest, match="no corpus given"):
        open_corpus([])
