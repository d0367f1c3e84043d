"""Pooled judging: what is in a pool by plain Python, how it is judged, kept and written, and what is refused."""

from __future__ import annotations

import csv
import json
import os
import pty
import random
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.base.types import Paper, Query
from sciretrieve.evaluation import Pool, read_qrels, read_runs
from tests.command_line import answer, sciretrieve
from tests.made_up import made_up_papers, write_jsonl

DEPTH = 4
QUERIES = [Query("q1", "vaccine trial"), Query("q2", "graph nodes"), Query("none", "nobody answers this")]


def made_up_runs() -> dict[str, dict[str, dict[str, float]]]:
    """Three runs of two queries, with ties."""
    chance = random.Random(4)
    ids = [f"p{number:04d}" for number in range(40)]
    return {name: {query: {id: float(chance.randrange(6)) for id in chance.sample(ids, 15)} for query in ("q1", "q2")} for name in "abc"}


def first(scores: dict[str, float], depth: int) -> list[str]:
    """A ranking in trec_eval's order, in plain Python."""
    return [id for _, id in sorted(((score, id) for id, score in scores.items()), reverse=True)][:depth]


def in_pool(names: str, depth: int = DEPTH) -> dict[str, set[str]]:
    return {query: {id for name in names for id in first(made_up_runs()[name][query], depth)} for query in ("q1", "q2")}


def pairs(pool: Pool) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for query, id in pool.unjudged():
        found.setdefault(query, set()).add(id)
    return found


def test_a_pool_is_what_the_runs_have_first(tmp_path: Path) -> None:
    runs = made_up_runs()
    with Pool(tmp_path / "pool.jsonl") as pool:
        assert pool.add({"a": runs["a"], "b": runs["b"]}, QUERIES, DEPTH) == sum(map(len, in_pool("ab").values())) == len(pool)
        assert pairs(pool) == in_pool("ab")
        assert pool.queries == {"q1": "vaccine trial", "q2": "graph nodes"}
        order = list(pool.unjudged())
    # the order says nothing of ranks and runs: it is that of the same papers from other runs
    with Pool(tmp_path / "other.jsonl") as other:
        other.add({"all": {query: dict.fromkeys(ids, 1.0) for query, ids in in_pool("ab").items()}}, QUERIES, 100)
        assert list(other.unjudged()) == order
    assert "a" not in json.dumps([row["papers"] for row in map(json.loads, (tmp_path / "pool.jsonl").read_text().splitlines()[1:])])
    with Pool(tmp_path / "pool.jsonl") as pool:  # what is known is not added again; what is new is
        assert list(pool.unjudged()) == order
        assert pool.add({"b": runs["b"]}, QUERIES, DEPTH) == 0
        added = pool.add(runs, QUERIES, DEPTH)
        assert pairs(pool) == in_pool("abc")
        assert added == len(pool) - len(order)


def test_judgements_are_kept_and_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    with Pool(path) as pool:
        pool.add(made_up_runs(), QUERIES, DEPTH)
        (one, two, three), count = list(pool.unjudged())[:3], len(pool)
        pool.judge([(*one, 2)])
        pool.judge([(*two, 0), (*one, 1)])
    whole = path.read_bytes()
    with Pool(path) as pool:
        assert pool.judgements == {one[0]: {one[1]: 1, two[1]: 0}}
        assert next(pool.unjudged()) == three
        assert len(list(pool.unjudged())) == count - 2
        assert pool.grades() == {0: 1, 1: 1}
    path.write_bytes(whole[:-5])  # killed while it wrote
    with Pool(path) as pool:
        assert pool.judgements == {one[0]: {one[1]: 2, two[1]: 0}}
        assert len(pool) == count


def test_which_share_of_each_run_is_judged(tmp_path: Path) -> None:
    runs = made_up_runs()
    with Pool(tmp_path / "pool.jsonl") as pool:
        pool.add({"a": runs["a"], "b": runs["b"]}, QUERIES, DEPTH)
        pool.judge([(query, id, 1) for query, id in list(pool.unjudged())[::2]])
        judged = pool.judgements
        found = pool.coverage(runs, [1, DEPTH, 10])
    for name, run in runs.items():
        for depth in (1, DEPTH, 10):
            shares = [sum(id in judged.get(query, {}) for id in first(run[query], depth)) / depth for query in ("q1", "q2")]
            assert found[name][depth] == pytest.approx(sum(shares) / 2)


def test_a_table_goes_out_and_comes_back(tmp_path: Path) -> None:
    runs = made_up_runs()
    runs["a"]["q1"]['=odd, "id"'] = 9.0
    papers = {row["id"]: Paper(row["id"], row["title"], row["abstract"]) for row in made_up_papers(40)}
    papers['=odd, "id"'] = Paper('=odd, "id"', "=SUM(A1)", "a line\nand another")
    with Pool(tmp_path / "pool.jsonl") as pool:
        pool.add(runs, QUERIES, DEPTH)
        count = pool.write_table(tmp_path / "pool.csv", papers)
        assert count == len(pool)
        with (tmp_path / "pool.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert not any(value.startswith("=") for row in rows for value in row.values())  # a spreadsheet computes nothing
        assert [row["query"] for row in rows] == [query for query, _ in pool.unjudged()]
        for number, row in enumerate(rows):
            row["grade"] = str(number % 3) if number % 4 else ""
        with (tmp_path / "filled.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        expected = {pair: number % 3 for number, pair in enumerate(pool.unjudged()) if number % 4}
        assert pool.take_over(tmp_path / "filled.csv") == len(expected)
        assert {(query, id): grade for query, row in pool.judgements.items() for id, grade in row.items()} == expected
        assert pool.write_table(tmp_path / "rest.csv", papers) == count - len(expected)
        assert pool.write_qrels(tmp_path / "test.tsv") == len(expected)
        assert read_qrels(tmp_path / "test.tsv") == pool.judgements
        pool.judge([("q1", '=odd, "id"', 1)])
        for name in ("again.tsv", "test.qrels"):  # ids that neither form has room for come back from both
            pool.write_qrels(tmp_path / name)
            assert read_qrels(tmp_path / name) == pool.judgements
    with Pool(tmp_path / "again.jsonl") as again:  # and qrels come in, too
        again.add(runs, QUERIES, DEPTH)
        assert again.take_over(tmp_path / "test.tsv") == len(expected)


@pytest.fixture(scope="module")
def searched(built: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[sr.Index, Path]:
    """An index of words, and a folder with two runs of it and their queries."""
    folder, index = tmp_path_factory.mktemp("runs"), built(encoder=None)
    write_jsonl(folder / "queries.jsonl", [{"_id": query.id, "text": query.text} for query in QUERIES])
    for name, k1 in (("sharp", 0.2), ("plain", 1.2)):
        answer("batch", folder / "queries.jsonl", "-i", index.path, "-k", "12", "--set", f"k1={k1}", "-o", folder / f"{name}.trec")
    return index, folder


def test_the_command_from_runs_to_qrels(searched: tuple[sr.Index, Path], tmp_path: Path) -> None:
    index, folder = searched
    runs = [folder / "sharp.trec", folder / "plain.trec"]
    pool: tuple[str | Path, ...] = ("benchmarks", "pool", *runs)
    begun: tuple[str | Path, ...] = (*pool, "--queries", folder / "queries.jsonl")
    said = answer(*begun, "-p", tmp_path / "pool.jsonl", "--set", "depth=5", "-i", index.path, "--to", tmp_path / "pool.csv")
    with (tmp_path / "pool.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    scores = read_runs(runs)
    expected = {(query, id) for run in scores.values() for query, row in run.items() for id in first(row, 5)}
    assert {(row["query"], row["id"]) for row in rows} == expected
    assert {row["id"]: row["title"] for row in rows} == {
        paper.id: paper.title for paper in index.papers(sorted({id for _, id in expected}))
    }
    assert said.splitlines()[0] == f"2 queries; 0 of {len(expected)} papers judged"
    assert said.splitlines()[1].split() == ["judged,", "%", "@1", "@5", "@10"]
    lines = ["query,id,grade", *(f"{row['query']},{row['id']},{len(row['title']) % 3}" for row in rows)]
    (tmp_path / "filled.csv").write_text("\n".join(lines) + "\n")
    said = answer(*pool, "-p", tmp_path / "pool.jsonl", "--from", tmp_path / "filled.csv", "-o", tmp_path / "qrels.tsv")
    assert f"{len(expected)} of {len(expected)} papers judged: " in said
    assert said.splitlines()[2].split()[:3] == ["sharp", "100.0", "100.0"]
    qrels = read_qrels(tmp_path / "qrels.tsv")
    assert {(query, id): grade for query, row in qrels.items() for id, grade in row.items()} == {
        (row["query"], row["id"]): len(row["title"]) % 3 for row in rows
    }
    # the texts may come from the corpus, and TREC's form is for trec_eval
    corpus = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(300))
    again: tuple[str | Path, ...] = (*begun, "-p", tmp_path / "deeper.jsonl", "--corpus", corpus)
    answer(*again, "--from", tmp_path / "qrels.tsv", "-o", tmp_path / "qrels.txt", "--to", tmp_path / "rest.csv")
    assert (tmp_path / "qrels.txt").read_text().split("\n")[0].split()[1] == "0"
    assert read_qrels(tmp_path / "qrels.txt") == qrels
    scored = answer("evaluate", "run", runs[0], "--qrels", tmp_path / "qrels.tsv", "-m", "nDCG@5", "-m", "judged@5")
    assert "Judged@5  100.00" in scored


def test_a_person_judges_at_a_terminal(searched: tuple[sr.Index, Path], tmp_path: Path) -> None:
    index, folder = searched
    path = tmp_path / "pool.jsonl"
    with Pool(path) as pool:
        pool.add(read_runs([folder / "plain.trec"]), QUERIES, 3)
        order = list(pool.unjudged())
    command = [sys.executable, "-m", "sciretrieve", "benchmarks", "pool", "-p", str(path), "-i", str(index.path)]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"COLUMNS": "80"})
    os.close(theirs)
    shown = ""
    try:
        for number, key in enumerate("20xu1sq", start=1):
            while shown.count("grade? 0 to 9") < number:
                shown += _said(ours)
            while termios.tcgetattr(ours)[3] & termios.ICANON:  # keys that are pressed before it listens are thrown away
                time.sleep(0.01)
            os.write(ours, key.encode())
        while "papers judged:" not in shown:
            shown += _said(ours)
        process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
    os.close(ours)
    with Pool(path) as pool:
        assert [pool.judgements[query].get(id) for query, id in order[:3]] == [2, 1, None]
    assert f"query: {QUERIES[0].text}" in shown
    assert order[0][1] not in shown  # an id may say who wrote a paper
    assert "plain" not in shown


def _said(terminal: int) -> str:
    """What a process says next."""
    ready, _, _ = select.select([terminal], [], [], 60)
    assert ready
    return os.read(terminal, 1 << 16).decode(errors="replace")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"pool": 2}'], "has format 2, and this version of sciretrieve reads 1"),
        (['{"screening": 1}'], "line 1: not the first line of a pool"),
        (['{"pool": 1}', '{"query": "q1", "id": "p1", "grade": 1}'], "line 2: neither papers nor a judgement"),
        (['{"pool": 1}', "", "", '{"query": "q1", "id": "p1", "grade": 1}'], "line 4: neither papers nor a judgement"),
        (["query,id"], "line 1: not a JSON object"),
    ],
)
def test_a_file_that_is_no_pool_is_named(tmp_path: Path, lines: list[str], said: str) -> None:
    (tmp_path / "pool.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidRequest) as error:
        Pool(tmp_path / "pool.jsonl")
    assert said in str(error.value)


def test_what_makes_no_sense_is_refused_in_one_line(searched: tuple[sr.Index, Path], tmp_path: Path) -> None:
    index, folder = searched
    run, queries, file = folder / "plain.trec", folder / "queries.jsonl", tmp_path / "pool.jsonl"
    (tmp_path / "other.tsv").write_text("q9\tanother question\n")
    (tmp_path / "changed.tsv").write_text("q1\tanother question\n")
    (tmp_path / "bad.csv").write_text("query,id,grade\nq1,nobody,1\n")
    (tmp_path / "odd.csv").write_text("query,id,grade\n\nq1,ID,much\n")
    (tmp_path / "less.csv").write_text("query,grade\nq1,1\n")
    write_jsonl(tmp_path / "few.jsonl", made_up_papers(2))
    begun = (run, "--queries", queries, "-p", file)
    for words, said in (
        ((run, "-p", file), "there is no pool"),
        (("--queries", queries, "-p", file), "there is no pool"),
        ((run, "--queries", tmp_path / "other.tsv", "-p", file), "the runs answer none of the queries"),
        ((*begun, "-i", index.path, "--to", tmp_path / "x.xls"), "the table is a .csv file"),
        ((*begun, "--corpus", tmp_path / "few.jsonl", "--to", tmp_path / "x.csv"), "name the index, or the --corpus, of the runs"),
        ((*begun, "-o", tmp_path / "qrels.tsv"), "nothing of"),
        ((run, "--queries", tmp_path / "changed.tsv", "-p", file), "query 'q1' has another text"),
        (("-p", file, "--from", tmp_path / "bad.csv"), "has no paper 'nobody' for query 'q1'"),
        (("-p", file, "--from", tmp_path / "less.csv"), "needs the columns query, id and grade"),
        (("-p", file, "--from", tmp_path / "nowhere.csv"), "there is no table"),
        ((tmp_path / "nowhere.trec", "-p", file), "there is no run"),
        (("-p", file, "--set", "depth=3"), "name runs and --queries, too"),
    ):
        result = sciretrieve("benchmarks", "pool", *words)
        assert (result.returncode, [line for line in result.stderr.splitlines() if said in line]) == (2, result.stderr.splitlines()[-1:]), (
            said
        )
    with Pool(file) as pool:
        query, id = next(pool.unjudged())
        (tmp_path / "odd.csv").write_text(f"query,id,grade\n{query},{id},much\n")
        with pytest.raises(InvalidRequest, match="line 1: the grade 'much' is not a whole number"):
            pool.take_over(tmp_path / "odd.csv")
        with pytest.raises(InvalidRequest, match="a grade is a whole number from 0 on"):
            pool.judge([(query, id, -1)])
        assert pool.judgements == {}
    with pytest.raises(NotFound, match="there is no run in"):
        read_runs([tmp_path])
