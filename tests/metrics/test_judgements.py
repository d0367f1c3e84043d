"""Judgements and runs from files: each form, and each way in which a line can be wrong, named with its number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sciretrieve.errors import InvalidRequest, NotFound
from sciretrieve.metrics.judgements import read_pair_scores, read_qrels, read_scores


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.tsv", "query-id\tcorpus-id\tscore\nq1\td 1\t2\nq1\td2\t-1\nq2\td1\t0\n"),
        ("q.txt", "q1 0 d_1 2\nq1 0 d2 -1\n\nq2 0 d1 0\n"),
        ("q.json", '{"q1": {"d 1": 2, "d2": -1}, "q2": {"d1": 0}}'),
    ],
)
def test_judgements_in_three_forms(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    first = "d_1" if name == "q.txt" else "d 1"
    assert read_qrels(tmp_path / name) == {"q1": {first: 2, "d2": -1}, "q2": {"d1": 0}}


def test_tables_are_read_as_beirs_own_reader_takes_them(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text('query-id\tcorpus-id\tscore\nq\t"d""9"\t1\nq\t d 1\xa0\t2\r\n')
    assert read_qrels(tmp_path / "q.tsv") == {"q": {'d"9': 1, " d 1\xa0": 2}}


def test_json_is_known_by_how_it_begins(tmp_path: Path) -> None:
    (tmp_path / "scores").write_text('\ufeff {"q": {"d": 1}}')
    assert read_scores(tmp_path / "scores") == {"q": {"d": 1.0}}


def test_runs_in_two_forms(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 -3e-1 tag\n")
    (tmp_path / "run.json").write_text('{"q1": {"d1": 0.5, "d2": -0.3}}')
    assert read_scores(tmp_path / "run.trec") == read_scores(tmp_path / "run.json") == {"q1": {"d1": 0.5, "d2": -0.3}}
    (tmp_path / "pairs.json").write_text('{"q_d": 1}')
    assert read_pair_scores(tmp_path / "pairs.json") == {"q_d": 1.0}


@pytest.mark.parametrize(
    ("read", "name", "text", "words"),
    [
        (read_qrels, "q.tsv", "a\tb\t1\na\tb\t1\n", "line 2: query 'a' and document 'b' were judged above already"),
        (read_qrels, "q.tsv", "a\tb\n", "line 1: expected 3 columns"),
        (read_qrels, "q.tsv", "a\tb\t1\na\tc\thigh\n", "line 2: the grade 'high' is no whole number"),
        (read_qrels, "q.tsv", "a\tb\t0.5\n", "line 1: the grade '0.5' is no whole number"),
        (read_qrels, "q.tsv", "a\tb\t1000001\n", "line 1: the grade '1000001' is no grade; the largest is 1,000,000"),
        (read_qrels, "q.json", '{"a": {"b": 9223372036854775296}}', "the grade 9223372036854775296 is no grade"),
        (read_qrels, "q.tsv", "query\tdocument\tscore\n", "holds no judgements"),
        (read_qrels, "q.json", '{"a": {"b": 1', "is no whole JSON"),
        (read_qrels, "q.json", '{"a": 1}', "'a' holds no object"),
        (read_qrels, "q.tsv", "PK\x03\x04", "cannot be read to its end"),
        (read_qrels, "q.json", '{"": null}', "'' holds no object"),
        (read_scores, "r.trec", "q Q0 d 1 nan t\n", "line 1: the score is NaN"),
        (read_scores, "r.trec", "q Q0 d 1 x t\n", "line 1: the score 'x' is no number"),
        (read_scores, "r.trec", "q Q0 d 1 1 t\nq Q0 d 2 1 t\n", "line 2: document 'd' is listed twice for query 'q'"),
        (read_scores, "r.trec", "q Q0 d one 1 1 t\n", "line 1: a TREC run has 6 columns, this line 7"),
        (read_scores, "r.trec", "\n", "holds no run"),
        (read_scores, "r.json", '{"q": {"d": null}}', "line q: the score None is no number"),
        (read_pair_scores, "s.json", "[1]", "holds no JSON object"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, read: Any, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidRequest, match=words):
        read(tmp_path / name)


def test_broken_utf8_and_absent_files(tmp_path: Path) -> None:
    (tmp_path / "r.trec").write_bytes(b"q Q0 d\xff 1 1 t\n")
    with pytest.raises(InvalidRequest, match="line 1: broken UTF-8 at byte 6"):
        read_scores(tmp_path / "r.trec")
    with pytest.raises(NotFound, match="there is no run at"):
        read_scores(tmp_path / "absent.trec")
