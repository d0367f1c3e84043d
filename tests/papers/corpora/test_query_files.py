"""Query files of every form, and what is no query."""

import io
import logging
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.papers.corpora import read_queries
from tests.made_up import write_jsonl


def test_json_lines_with_the_usual_names(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"_id": "q1", "text": "words"},
        {"id": 2, "query": "more"},
        {"query_id": "q3", "question": "why?", "title": "other"},
        {"qid": "q4", "title": "a title"},
        {"id": "p", "title": "T", "abstract": "A"},
        {"text": "no id"},
    ]
    assert read_queries(write_jsonl(tmp_path / "q.jsonl", rows)) == [
        Query("q1", "words"),
        Query("2", "more"),
        Query("q3", "why?"),
        Query("q4", "a title"),
        Query("p", paper=Paper("p", "T", "A")),
        Query("6", "no id"),
    ]


def test_tab_separated_plain_and_a_directory(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("1\tfirst query\n\n2\tsecond\twith a tab\n")
    assert read_queries(tmp_path / "q.tsv") == [Query("1", "first query"), Query("2", "second\twith a tab")]
    (tmp_path / "q.txt").write_bytes("\ufefffirst\r\n\r\nnaïve second\r\n".encode())
    assert read_queries(tmp_path / "q.txt") == [Query("1", "first"), Query("3", "naïve second")]
    write_jsonl(tmp_path / "queries.jsonl", [{"_id": "b", "text": "beir"}])
    assert read_queries(tmp_path) == [Query("b", "beir")]


def test_standard_input_is_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    assert read_queries("-") == [Query("1", "one"), Query("2", "two")]


def test_of_equal_ids_the_first_is_kept_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "q.tsv").write_text("a\tone\nb\ttwo\na\tthree\n")
    with caplog.at_level(logging.WARNING):
        assert read_queries(tmp_path / "q.tsv") == [Query("a", "one"), Query("b", "two")]
    assert "1 queries have the id of an earlier one" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.jsonl", b'{"_id": "a", "text": "fine"}\n{"_id": "b"}\n', "line 2: no query text"),
        ("q.jsonl", b'{"_id": "a", "text": "  "}\n', "line 1: no query text"),
        ("q.jsonl", b"not json\n", "line 1: not valid JSON"),
        ("q.tsv", b"a\tfine\nno tab\n", "line 2: expected an id, a tab and a query"),
        ("q.tsv", b"a\t \n", "line 1: expected an id, a tab and a query"),
        ("q.txt", b"fine\nbr\xffken\n", "line 2: broken UTF-8 at byte 2"),
        ("q.txt", b"\n\n", "holds no queries"),
    ],
)
def test_what_is_no_query_is_named_by_its_line(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidRequest, match=words):
        read_queries(tmp_path / name)
