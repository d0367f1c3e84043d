"""BEIR directories: the corpus beside queries and qrels, metadata as columns."""

import gzip
import json
from pathlib import Path

import pytest

from tests.made_up import read_corpus, write_jsonl

ROWS = [
    {"_id": "1", "title": "One", "text": "first", "metadata": {"year": 1999, "authors": ["Ada Lovelace"], "cited": 3}},
    {"_id": "2", "title": "Two", "text": "second", "metadata": {}},
    {"_id": "3", "title": "", "text": "", "metadata": {"year": 2001}},
]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_directory_is_its_corpus(tmp_path: Path, compressed: bool) -> None:
    write_jsonl(tmp_path / "corpus.jsonl", ROWS)
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


def test_the_paper_s_own_keys_win_over_metadata(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(
        json.dumps({"_id": "1", "title": "T", "text": "x", "metadata": {"title": "other", "text": None}})
    )
    papers, _ = read_corpus(tmp_path)
    assert papers.select(["title", "abstract"]).to_pylist() == [{"title": "T", "abstract": "x"}]
