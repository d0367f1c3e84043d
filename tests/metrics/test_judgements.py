"""Judgements and runs from files: each form, and each way in which a line can be wrong, named with its number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.metrics import trec
from sciretrieve.metrics.judgements import Qrels, check_ids, read_pair_scores, read_qrels, read_scores


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
        (read_qrels, "q.tsv", "a\tb\t1\na\tc\thigh\n", "line 2: the grade 'high' is not a whole number"),
        (read_qrels, "q.tsv", "a\tb\t0.5\n", "line 1: the grade '0.5' is not a whole number"),
        (read_qrels, "q.tsv", "a\tb\t1000001\n", "line 1: the grade '1000001' is too large; the largest is 1,000,000"),
        (read_qrels, "q.json", '{"a": {"b": 9223372036854775296}}', "the grade 9223372036854775296 is too large"),
        (read_qrels, "q.tsv", "query\tdocument\tscore\n", "holds no judgements"),
        (read_qrels, "q.json", '{"a": {"b": 1', "is not valid JSON"),
        (read_qrels, "q.json", '{"a": 1}', "'a' holds no object"),
        (read_qrels, "q.tsv", "PK\x03\x04", "cannot be read to its end"),
        (read_qrels, "q.json", '{"": null}', "'' holds no object"),
        (read_scores, "r.trec", "q Q0 d 1 nan t\n", "line 1: the score is NaN"),
        (read_scores, "r.trec", "q Q0 d 1 x t\n", "line 1: the score 'x' is not a number"),
        (read_scores, "r.trec", "q Q0 d 1 1 t\nq Q0 d 2 1 t\n", "line 2: document 'd' is listed twice for query 'q'"),
        (read_scores, "r.trec", "q Q0 d one 1 1 t\n", "line 1: a TREC run has 6 columns, this line 7"),
        (read_scores, "r.trec", "\n", "holds no run"),
        (read_scores, "r.json", '{"q": {"d": null}}', "line q: the score None is not a number"),
        (read_qrels, "q.json", '{"a": {"b": 1, "c": 0, "b": 0}}', "q.json: 'a' → 'b' is there twice; keep one of them"),
        (read_qrels, "q.json", '{"a": {"b": 1}, "c": {}, "a": {"d": 1}}', "q.json: 'a' is there twice"),
        (read_scores, "r.json", '{"q": {"d": 1, "d": 2}, "q": {"d": 1}}', "r.json: 'q' is there twice"),
        (read_pair_scores, "s.json", '{"q_d": 1, "q_d": 1}', "s.json: 'q_d' is there twice"),
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


IDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(" %\t\n\r{}0aA2\ufeff\x85\xa0", max_size=8)
"""Every text may be an id, and those that TREC's files, or percent signs, make something else of above all."""


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=4))
def test_every_id_comes_back_from_trecs_files(tmp_path_factory: pytest.TempPathFactory, grades: Qrels) -> None:
    folder = tmp_path_factory.getbasetemp()
    run = [trec.run_line(query, id, 1, str(grade), "a tag\tof\nours") for query, row in grades.items() for id, grade in row.items()]
    (folder / "run.trec").write_text("".join(f"{line}\n" for line in run), newline="")
    judged = [trec.qrels_line(query, id, grade) for query, row in grades.items() for id, grade in row.items()]
    (folder / "test.qrels").write_text("".join(f"{line}\n" for line in judged), newline="")
    assert read_scores(folder / "run.trec") == read_qrels(folder / "test.qrels") == grades
    # other programs see different ids where ours are different, and columns that they know how to divide
    assert len({tuple(line.split()[:3:2]) for line in run}) == len(run)
    assert {len(line.split()) for line in run} == {6}
    assert len({line.split()[5] for line in run}) == 1


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1), min_size=2, max_size=2))
def test_ids_of_other_programs_are_what_they_are(tmp_path_factory: pytest.TempPathFactory, ids: list[str]) -> None:
    query, id = ids[0].lstrip("{") or "q", ids[1]
    (path := tmp_path_factory.getbasetemp() / "foreign.trec").write_text(f"{query}%20 Q0 {id}%20%41 1 1 x\n")
    assert read_scores(path) == {f"{query}%20": {f"{id}%20%41": 1}}


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"q1": ["184.0"]}, "ours has none of the papers judged in theirs: '184.0' here, '184' there"),
        ({"Q1": ["184"]}, "ours has none of the queries judged in theirs: 'Q1' here, 'q1' there"),
    ],
)
def test_ids_of_two_collections_are_shown(answers: dict[str, list[str]], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        check_ids(answers, "ours", {"q1": {"184": 1}, "q2": {"185": 1}}, "theirs")
    check_ids({"q1": ["no", "185"]}, "ours", {"q1": {"184": 1}, "q2": {"185": 1}}, "theirs")


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("10.1/x", "10.1/x"),
        ("a b", "a%20b"),
        ("50% of\tall", "50%25%20of%09all"),
        ("50%", "50%"),
        ("https://x.org/a%2Fb", "https://x.org/a%2Fb"),
        ("a%20b", "a%2520b"),
        ("a\x1b[2J", "a%1B[2J"),
        ("%\x9b", "%25%C2%9B"),
    ],
)
def test_ids_without_white_space_and_control_characters_stay(id: str, expected: str) -> None:
    assert trec.encoded(id) == expected
