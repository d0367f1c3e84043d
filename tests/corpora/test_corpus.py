"""Finding the files behind what the user names, and knowing again what was read before."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from sciretrieve.corpora import ColumnMap, open_corpus
from sciretrieve.errors import IndexExists, InvalidRequest, NotFound
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


def give(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    """Stand this on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))


def test_standard_input_is_json_lines_that_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, b"".join(b'{"id": %d, "title": "t"}\n' % number for number in range(3000)))
    corpus = open_corpus("-")
    assert (corpus.count(), corpus.fingerprint()) == (3000, corpus.fingerprint())
    for _ in range(2):
        assert [batch.papers["id"].to_pylist() for batch in corpus.batches()] == [[str(number) for number in range(3000)]]


def test_standard_input_may_be_bibtex(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, b"\n@misc{a, title = {T}}\n")
    assert read_corpus("-")[0]["id"].to_pylist() == ["a"]


def test_standard_input_may_be_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, b"Key;Title\na;T\nb;U\n")
    assert read_corpus("-")[0].select(["id", "title"]).to_pylist() == [{"id": "a", "title": "T"}, {"id": "b", "title": "U"}]


def test_a_directory_may_mix_formats_and_hold_files_that_have_another_suffix(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title\na,A\n")
    write_jsonl(tmp_path / "b.jsonl", [{"id": "b", "title": "B"}])
    (tmp_path / "c.bib").write_text("@misc{c, title = {C}}\n")
    (tmp_path / "d.json").write_text("TY  - JOUR\nID  - d\nTI  - D\nER  - \n")
    write_jsonl(tmp_path / "e.bib", [{"id": "e", "title": "E"}])
    (tmp_path / "README.md").touch()
    papers, rejected = read_corpus(tmp_path)
    assert (papers["id"].to_pylist(), papers["title"].to_pylist(), rejected) == (list("abcde"), list("ABCDE"), [])


def test_another_standard_input_is_another_corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sciretrieve as sr

    give(monkeypatch, b'{"id": 1, "title": "first"}\n')
    sr.build("-", tmp_path / "index", encoder=None)
    give(monkeypatch, b'{"id": 1, "title": "first"}\n')
    assert len(sr.build("-", tmp_path / "index", encoder=None)) == 1
    give(monkeypatch, b'{"id": 2, "title": "other"}\n')
    with pytest.raises(IndexExists):
        sr.build("-", tmp_path / "index", encoder=None)


ROWS = [{"id": 7, "title": "T", "authors": ["Ada Lovelace"], "year": 1843}, {"id": 8, "title": "U", "year": None, "cited": 3}]


@pytest.mark.parametrize("kind", [list, pd.DataFrame, pa.Table.from_pylist, lambda rows: pa.table(pd.DataFrame(rows))])
def test_tables_in_memory_are_corpora(kind: Callable[[list[dict[str, Any]]], Any]) -> None:
    corpus = open_corpus(kind(ROWS))
    (batch,) = corpus.batches()
    assert batch.papers.select(["id", "title", "year"]).to_pylist() == [
        {"id": "7", "title": "T", "year": 1843},
        {"id": "8", "title": "U", "year": None},
    ]
    assert batch.papers["authors"].to_pylist()[0] == ["Ada Lovelace"]
    assert corpus.count() == 2
    assert corpus.fingerprint() == open_corpus(kind(ROWS)).fingerprint() != open_corpus(kind(ROWS[:1])).fingerprint()


def test_texts_as_polars_gives_them_are_stored(tmp_path: Path) -> None:
    import sciretrieve as sr

    texts = pa.array(["x", "y"], pa.string_view())
    index = sr.build(pa.table({"id": texts, "title": texts, "topic": texts}), tmp_path / "index", encoder=None)
    assert [paper.extra["topic"] for paper in index.papers(["y", "x"])] == ["y", "x"]


@pytest.mark.parametrize(
    "value", [None, 123, [{"id": 1}, "papers.jsonl"], [3], [{"id": "1", "title": "\ud800"}], pd.DataFrame({"a": [1, "x"]})]
)
def test_what_holds_no_papers_is_refused_in_one_line(value: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        list(open_corpus(value).batches())
    assert "\n" not in str(caught.value)


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
        ("notes.docx", InvalidRequest, r"no supported format \(.*\.parquet"),
        ("empty", NotFound, "holds no supported file"),
    ],
)
def test_what_is_no_corpus(tmp_path: Path, source: str, error: type[Exception], words: str) -> None:
    (tmp_path / "notes.docx").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match=words):
        open_corpus(source)
    with pytest.raises(InvalidRequest, match="no corpus given"):
        open_corpus([])
