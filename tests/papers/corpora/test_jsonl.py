"""JSON Lines: plain and compressed, every kind of bad line, values of every kind, and the corpora of BEIR."""

import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.corpora import open_corpus, raw
from sciretrieve.papers.corpora.raw import BATCH_ROWS
from tests.made_up import read_corpus, write_jsonl

COUNT = BATCH_ROWS + 900
LINES = b"".join(json.dumps({"id": str(n), "title": f"title {n}"}).encode() + b"\n" for n in range(COUNT))


def test_a_last_line_without_an_end_windows_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "title": "x"}\r\n\r\n{"id": "b", "title": "y"}')
    assert read_corpus(path)[0]["id"].to_pylist() == ["a", "b"]


def test_bad_lines_cost_themselves_alone(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    bad = {
        b'{"id": "x", "title": "cut': "not valid JSON",
        b'["a", "list"]': "not a JSON object",
        b'"text"': "not a JSON object",
        b"{}": "an empty object",
        b'{"id": "x", "title": "\xff"}': "broken UTF-8 at byte",
        b'{"id": "x", "title": "\\ud800"}': "broken UTF-8",
        b'{"id": "x", "title": "t", "deep": {"list": ["\\udfff"]}}': "broken UTF-8",
        b"[" * 100_000: "not valid JSON",
        b'{"id": null, "year": 2000}': "no title and no abstract",
        b'{"id": "y", "title": " ", "abstract": ""}': "no title and no abstract",
        b'{"id": "good-0", "title": "again"}': "duplicate id",
    }
    with path.open("wb") as file:
        for number, line in enumerate(bad):
            file.write(b'{"id": "good-%d", "title": "fine"}\n' % number + line + b"\n")
    papers, rejected = read_corpus(path)
    assert papers["id"].to_pylist() == [f"good-{n}" for n in range(len(bad))]
    assert [item.row for item in rejected] == [2 * n + 2 for n in range(len(bad))]
    for item, reason in zip(rejected, bad.values(), strict=True):
        assert item.reason.startswith(reason)
        assert "\n" not in item.reason


def test_values_of_every_kind_are_kept(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1, "title": "t", "flag": True, "big": 2**70, "tags": ["a"], "ids": {"doi": "x"}, "either": 3, "empty": {}},
        {"id": "two", "title": "t", "flag": None, "big": 5, "tags": [], "ids": {"pmid": 4}, "either": ["list"], "empty": {}},
    ]
    papers, _ = read_corpus(write_jsonl(tmp_path / "p.jsonl", rows))
    assert papers["id"].to_pylist() == ["1", "two"]
    assert papers["flag"].to_pylist() == [True, None]
    assert papers["big"].to_pylist() == [str(2**70), "5"]
    assert papers["tags"].to_pylist() == [["a"], []]
    assert papers["ids"].to_pylist() == [{"doi": "x", "pmid": None}, {"doi": None, "pmid": 4}]
    assert papers["either"].to_pylist() == ["3", '["list"]']
    assert [json.loads(value) if isinstance(value, str) else value for value in papers["empty"].to_pylist()] == [{}, {}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["extra", "other", "üñï"]), json_values, max_size=3), min_size=1, max_size=6))
def test_whatever_the_values_every_paper_is_built_and_found(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]
) -> None:
    import sciretrieve as sr

    folder = tmp_path_factory.mktemp("any")
    papers = [{"id": str(number), "title": "the same words", **row} for number, row in enumerate(rows)]
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in papers))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw, "BATCH_ROWS", 2)  # so that batches of one shard, and shards, differ in their columns' types
        index = sr.build(folder / "p.jsonl", folder / "index", encoder=None, shard_size=3)
    assert {hit.id for hit in index.search("words", k=9, mode="bm25").hits} == {paper["id"] for paper in papers}


def packed(data: bytes, suffix: str) -> bytes:
    """`data` in a compressed file with that suffix."""
    if suffix == ".zip":
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("__MACOSX/._p.jsonl", b"x")
            archive.writestr("folder/p.jsonl", data)
        return target.getvalue()
    if suffix == ".zst":
        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    return gzip.compress(data) if suffix == ".gz" else lzma.compress(data)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz", ".zip"])
def test_a_compression_is_known_by_its_first_bytes(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("p.jsonl", f"p.jsonl{suffix}", f"q{suffix}"):
        (tmp_path / name).write_bytes(packed(LINES, suffix))
        assert read_corpus(tmp_path / name)[0]["title"].to_pylist() == [f"title {n}" for n in range(COUNT)]
        assert open_corpus(tmp_path / name).count() is None
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed(LINES, suffix))))
    assert len(read_corpus("-")[0]) == COUNT


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz", ".zip"])
@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: data[:40] + b"\0" * 40 + data[80:], lambda data: b"plain"]
)
def test_damaged_compressed_files_are_refused_in_one_line(tmp_path: Path, suffix: str, damage: Any) -> None:
    (tmp_path / f"p.jsonl{suffix}").write_bytes(damage(packed(LINES, suffix)))
    with pytest.raises(InvalidRequest, match="cannot be read to its end") as caught:
        read_corpus(tmp_path / f"p.jsonl{suffix}")
    assert "\n" not in str(caught.value)


def test_xz_after_xz_is_one_file(tmp_path: Path) -> None:
    half = len(LINES) // 2
    (tmp_path / "p.jsonl.xz").write_bytes(lzma.compress(LINES[:half]) + b"\0" * 4 + lzma.compress(LINES[half:]))
    assert len(read_corpus(tmp_path / "p.jsonl.xz")[0]) == COUNT


BEIR = [
    {"_id": "1", "title": "One", "text": "first", "metadata": {"year": 1999, "authors": ["Ada Lovelace"], "cited": 3}},
    {"_id": "2", "title": "Two", "text": "second", "metadata": {}},
    {"_id": "3", "title": "", "text": "", "metadata": {"year": 2001}},
]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_beir_directory_is_its_corpus(tmp_path: Path, compressed: bool) -> None:
    write_jsonl(tmp_path / "corpus.jsonl", BEIR)
    write_jsonl(tmp_path / "queries.jsonl", [{"_id": "q", "text": "no paper"}])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n")
    if compressed:
        (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress((tmp_path / "corpus.jsonl").read_bytes()))
        (tmp_path / "corpus.jsonl").unlink()
    papers, rejected = read_corpus(tmp_path)
    assert papers.select(["id", "title", "abstract", "year", "authors", "cited"]).to_pylist() == [
        {"id": "1", "title": "One", "abstract": "first", "year": 1999, "authors": ["Ada Lovelace"], "cited": 3},
        {"id": "2", "title": "Two", "abstract": "second", "year": None, "authors": [], "cited": None},
    ]
    assert [(item.id, item.row, item.reason) for item in rejected] == [("3", 3, "no title and no abstract")]


def test_a_beir_corpus_is_one_whatever_lies_beside_it(tmp_path: Path) -> None:
    plain, compressed = write_jsonl(tmp_path / "corpus.jsonl", BEIR), tmp_path / "corpus.jsonl.gz"
    compressed.write_bytes(gzip.compress(plain.read_bytes()))
    papers, _ = read_corpus(plain)
    assert read_corpus(compressed)[0] == papers
    assert papers["cited"].to_pylist() == [3, None]


def test_the_paper_s_own_keys_win_over_metadata(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(
        json.dumps({"_id": "1", "title": "T", "text": "x", "metadata": {"title": "other", "text": None}})
    )
    papers, _ = read_corpus(tmp_path)
    assert papers.select(["title", "abstract"]).to_pylist() == [{"title": "T", "abstract": "x"}]
