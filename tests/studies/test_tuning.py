"""Fitting hybrid search: the choice, and what is promised of it, against real searches with every setting and slow folds."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import IndexBusy, InvalidRequest
from sciretrieve.base.types import Query
from sciretrieve.files.writing import write_lock
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.lexical import Bm25Parameters
from sciretrieve.metrics.judgements import Qrels
from sciretrieve.progress import Silent
from sciretrieve.studies import tuning
from sciretrieve.studies.tuning import tune
from tests.command_line import answer
from tests.made_up import made_up_papers, write_jsonl

PAPERS, QUERIES = 90, 25


def corpus(folder: Path, vectors: str = "random") -> tuple[Path, Path, list[Query], Qrels]:
    """Papers and queries about them: a file of papers, one of vectors, the queries, and judgements.

    Query i is about paper i, a long abstract that says the query's word three times. Other papers, short ones, say it once:
    BM25 that pays no heed to length finds the right one, BM25 that does is misled. Vectors are "random", or "right": those of
    a query and its paper are equal.
    """
    chance, numbers = random.Random(5), np.random.default_rng(5)
    fillers = [f"filler{number}" for number in range(40)]
    papers: list[dict[str, Any]] = []
    for number in range(PAPERS):
        about = [f"word{number}"] * 3 if number < QUERIES else []
        aside = [f"word{chance.randrange(QUERIES)}" for _ in range(number % 3)] if number >= QUERIES else []
        words = about + aside + chance.choices(fillers, k=60 if about else 4)
        chance.shuffle(words)
        papers.append({"id": f"p{number:03d}", "title": chance.choice(fillers), "abstract": " ".join(words)})
    queries = [Query(f"q{number}", f"word{number} {chance.choice(fillers)}") for number in range(QUERIES)]
    qrels = {f"q{number}": {f"p{number:03d}": 2, f"p{QUERIES + number:03d}": 1} for number in range(QUERIES)}
    of_papers = numbers.normal(size=(PAPERS, 8))
    of_queries = numbers.normal(size=(QUERIES, 8)) if vectors == "random" else of_papers[:QUERIES]
    rows = [{"paper_id": paper["id"], "embedding": vector.tolist()} for paper, vector in zip(papers, of_papers, strict=True)]
    rows += [{"paper_id": query.id, "embedding": vector.tolist()} for query, vector in zip(queries, of_queries, strict=True)]
    return write_jsonl(folder / "p.jsonl", papers), write_jsonl(folder / f"{vectors}.jsonl", rows), queries, qrels


Made = tuple[sr.Index, list[Query], Qrels]


def made(folder: Path, vectors: str = "random", name: str = "index", **settings: Any) -> Made:
    papers, file, queries, qrels = corpus(folder, vectors)
    return sr.build(papers, folder / name, encoder=f"vectors:{file}", shard_size=40, **settings), queries, qrels


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """An index that nothing is written to."""
    return made(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def few_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid that can be searched with one by one."""
    monkeypatch.setattr(tuning, "ALPHAS", (0.1, 0.5, 0.9))
    monkeypatch.setattr(tuning, "DEPTHS", (4, 25))
    monkeypatch.setattr(tuning, "LENGTHS", ((1.2, 0.0), (2.0, 0.75)))


def ndcg(ids: Sequence[str], judged: Mapping[str, int], cutoff: int) -> float:
    gained = math.fsum(judged.get(id, 0) / math.log2(rank + 1) for rank, id in enumerate(ids[:cutoff], 1))
    ideal = math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(sorted(judged.values(), reverse=True)[:cutoff], 1))
    return gained / ideal


def searched(folder: Path, index: sr.Index, queries: list[Query], fusion: Fusion, bm25: Bm25Parameters, k: int) -> list[list[str]]:
    """What an index that was built with these BM25 parameters answers by this fusion."""
    path = folder / f"by-{bm25.k1}-{bm25.b}"
    other = sr.build(folder / "p.jsonl", path, encoder=index.snapshot.manifest.build["settings"]["encoder"], lexical=bm25, shard_size=40)
    rankings = replace(other.searcher, fusion=fusion).search(other.reader.probes(queries, "hybrid", None), k)
    return [list(ranking.ids) for ranking in rankings]


@pytest.mark.usefixtures("few_settings")
@pytest.mark.parametrize("vectors", ["random", "right"])
def test_the_choice_and_what_is_promised_of_it(tmp_path: Path, vectors: str) -> None:
    """Every setting is really searched with, and each fifth of the queries scored by what is best for the other four."""
    index, queries, qrels = made(tmp_path, vectors)
    result = tune(index, queries, qrels, measure="nDCG@3", write=False)
    grid = [
        (replace(Bm25Parameters(), k1=k1, b=b), fusion)
        for k1, b in ((1.2, 0.75), (1.2, 0.0), (2.0, 0.75))
        for fusion in [Fusion()] + [Fusion(alpha=alpha, depth=depth) for depth in (1000, 4, 25) for alpha in (0.1, 0.5, 0.9)]
    ]
    table = []
    for bm25, fusion in grid:
        answers = searched(tmp_path, index, queries, fusion, bm25, 3)
        table.append([ndcg(ids, qrels[query.id], 3) for query, ids in zip(queries, answers, strict=True)])

    def mean(setting: int, of: list[int]) -> float:
        return math.fsum(table[setting][query] for query in of) / len(of)

    def best(of: list[int]) -> int:
        return max(range(len(grid)), key=lambda setting: (round(mean(setting, of), 12), -setting))

    fold_of = (np.random.default_rng(0).permutation(QUERIES) % 5).tolist()
    everyone = list(range(QUERIES))
    held = [table[best([other for other in everyone if fold_of[other] != fold_of[query]])][query] for query in everyone]
    assert result.before_mean == pytest.approx(mean(0, everyone))
    assert result.held_out == pytest.approx(math.fsum(held) / QUERIES)
    assert (result.after.bm25, result.after.fusion) == grid[best(everyone)]
    assert (result.before.bm25, result.before.fusion) == grid[0]
    assert result.difference.difference == pytest.approx(result.held_out - result.before_mean)
    wins = sum(new > old + 1e-9 for new, old in zip(held, table[0], strict=True))
    assert result.difference.wins == wins
    assert (result.measure, result.queries, result.written) == ("nDCG@3", QUERIES, False)


def test_a_useless_half_loses_its_say(tmp_path: Path) -> None:
    """Vectors at random: all of the grid is tried, and what is best is written and searched with from then on."""
    index, queries, qrels = made(tmp_path)
    folder = index.snapshot.manifest.lexical["folder"] if index.snapshot.manifest.lexical else ""
    result = tune(index, queries, qrels)
    assert result.written
    assert result.before.fusion.alpha is None
    assert result.after.fusion.alpha is not None
    assert result.after.fusion.alpha <= 0.2
    assert result.held_out > result.before_mean
    tuned = sr.open(index.path)
    assert tuned.snapshot.manifest.fusion == {
        "method": "convex",
        "alpha": result.after.fusion.alpha,
        "depth": result.after.fusion.depth,
        "tokens": None,
        "token_depth": 100,
    }
    assert tuned.snapshot.manifest.generation == index.snapshot.manifest.generation + 1
    before, after = (dict(index.snapshot.manifest.build), dict(tuned.snapshot.manifest.build))
    assert before == after
    assert not list(index.path.glob("tuning-*"))
    # searches use it, unless the request differs
    expected = searched(tmp_path, index, queries, result.after.fusion, result.after.bm25, 10)
    assert [list(ranking.ids) for ranking in tuned.search(queries, 10)] == expected
    assert [list(ranking.ids) for ranking in tuned.search(queries, 10, alpha=result.after.fusion.alpha)] == expected
    assert [list(ranking.ids) for ranking in tuned.search(queries, 10, alpha=0.9)] != expected
    assert np.mean([ndcg(list(ranking.ids), qrels[ranking.query.id], 10) for ranking in tuned.search(queries, 10)]) > result.before_mean
    # another length normalisation was better too; how many papers have a term does not depend on it
    assert result.after.bm25.b < 0.75
    assert tuned.snapshot.manifest.lexical is not None
    assert [tuned.snapshot.manifest.lexical[name] for name in ("k1", "b")] == [result.after.bm25.k1, result.after.bm25.b]
    assert [f"lexical/{path.name}" for path in (index.path / "lexical").iterdir()] == [tuned.snapshot.manifest.lexical["folder"]]
    assert tuned.snapshot.manifest.lexical["folder"] == folder
    out = answer("info", "-i", index.path)
    assert f"lucene, k1 {result.after.bm25.k1}, b {result.after.bm25.b}" in out
    assert "generation 2" in out


@pytest.mark.usefixtures("few_settings")
def test_bm25_is_as_if_built_so(tmp_path: Path) -> None:
    index, queries, qrels = made(tmp_path, lexical=Bm25Parameters(title=3.0))
    result = tune(index, queries, qrels)
    assert result.written
    assert (result.after.bm25.b, result.after.bm25.title) == (0.0, 3.0)
    built = sr.build(tmp_path / "p.jsonl", tmp_path / "built", encoder=None, lexical=result.after.bm25, shard_size=1000)
    for ours, expected in zip(sr.open(index.path).search(queries, 90, mode="bm25"), built.search(queries, 90, mode="bm25"), strict=True):
        assert list(ours.ids) == list(expected.ids)
        assert ours.scores.tolist() == expected.scores.tolist()


@pytest.mark.usefixtures("few_settings")
def test_what_is_best_already_stays_as_it_is(tmp_path: Path) -> None:
    index, queries, qrels = made(tmp_path)
    first = tune(index, queries, qrels)
    assert first.written
    manifest = (index.path / "manifest.json").read_bytes()
    files = {file: file.stat().st_mtime_ns for file in index.path.rglob("*") if file.is_file() and file.name != ".lock"}
    again = tune(sr.open(index.path), queries, qrels)
    assert (again.before, again.after, again.written) == (first.after, first.after, False)
    assert (index.path / "manifest.json").read_bytes() == manifest
    assert {file: file.stat().st_mtime_ns for file in index.path.rglob("*") if file.is_file() and file.name != ".lock"} == files


def test_a_gain_that_held_out_queries_do_not_see_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random judgements: the best setting for all of them is chance, which does not hold for other queries."""
    monkeypatch.setattr(tuning, "LENGTHS", ((1.2, 0.0), (2.0, 0.75)))
    index, queries, _ = made(tmp_path)
    manifest = (index.path / "manifest.json").read_bytes()
    for seed in range(3, 6):
        chance = random.Random(seed)
        qrels = {query.id: {f"p{chance.randrange(PAPERS):03d}": 1 for _ in range(4)} for query in queries}
        result = tune(index, queries, qrels, write=False)
        if result.after != result.before and result.held_out <= result.before_mean:
            assert not tune(index, queries, qrels).written
            assert (index.path / "manifest.json").read_bytes() == manifest
            break
    else:
        raise AssertionError("no judgements are refused")


class Heard(Silent):
    total, done = 0, 0

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        self.total, self.done = total or 0, done

    def advance(self, papers: int) -> None:
        self.done += papers

    def note(self, text: str) -> None:
        raise AssertionError(text)


@pytest.mark.usefixtures("few_settings")
def test_a_dry_run_only_says_what_judged_queries_say(whole: Made, tmp_path: Path) -> None:
    index, queries, qrels = whole
    before, heard = {file: file.read_bytes() for file in index.path.rglob("*") if file.is_file()}, Heard()
    result = tune(index, queries, qrels, write=False, progress=heard)
    assert (result.written, result.queries) == (False, QUERIES)
    assert heard.done == heard.total == 3 * QUERIES
    assert {file: file.read_bytes() for file in index.path.rglob("*") if file.is_file()} == before
    assert tune(index, [*queries, Query("stranger", "filler1")], qrels | {"unasked": {"p000": 1}}, write=False) == result
    copy = sr.open(Path(shutil.copytree(index.path, tmp_path / "copy")))
    assert replace(tune(copy, queries, qrels), written=False) == result


@pytest.mark.parametrize(
    ("settings", "count", "words"),
    [
        ({}, 19, "19 of the queries are judged, and a choice by fewer than 20"),
        ({"encoder": None}, 25, "lacks vectors or BM25"),
        ({"lexical": None}, 25, "lacks vectors or BM25"),
    ],
)
def test_what_cannot_be_tuned_is_refused(tmp_path: Path, settings: dict[str, Any], count: int, words: str) -> None:
    papers, file, queries, qrels = corpus(tmp_path)
    index = sr.build(papers, tmp_path / "index", **({"encoder": f"vectors:{file}"} | settings))
    manifest = (index.path / "manifest.json").read_bytes()
    with pytest.raises(InvalidRequest, match=words):
        tune(index, queries, dict(list(qrels.items())[:count]))
    assert (index.path / "manifest.json").read_bytes() == manifest


@pytest.mark.usefixtures("few_settings")
def test_an_index_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    index, queries, qrels = made(tmp_path)
    manifest = (index.path / "manifest.json").read_bytes()
    with write_lock(index.path), pytest.raises(IndexBusy):
        tune(index, queries, qrels)
    assert (index.path / "manifest.json").read_bytes() == manifest
    assert tune(index, queries, qrels, write=False).queries == QUERIES


def test_an_unknown_measure_is_refused(whole: Made) -> None:
    index, queries, qrels = whole

    with pytest.raises(InvalidRequest, match="unknown measure 'ndgc@10'"):
        tune(index, queries, qrels, measure="ndgc@10")
    with pytest.raises(InvalidRequest, match=r"none of the judged papers: it has 'p000', and not 'p000.0'; correct the ids"):
        tune(index, queries, {query: {f"{id}.0": grade for id, grade in row.items()} for query, row in qrels.items()})
    assert json.loads((index.path / "manifest.json").read_text())["fusion"] is None


@pytest.mark.usefixtures("few_settings")
def test_late_interaction_is_tuned_with(tmp_path: Path) -> None:
    """What is fitted is what the index runs, with token vectors where it has them."""
    papers = made_up_papers(60, seed=9)
    index = sr.build(papers, tmp_path / "index", encoder="minilm", late=True)
    queries = [Query(f"q{place}", " ".join(paper["title"].split()[:2])) for place, paper in enumerate(papers[:20])]
    qrels = {query.id: {paper["id"]: 1} for query, paper in zip(queries, papers, strict=False)}
    run = index.search(queries, 3, group=False)
    assert "tokens" in run[0].parts
    expected = [ndcg(ranking.ids, qrels[ranking.query.id], 3) for ranking in run]
    plain = [ndcg(ranking.ids, qrels[ranking.query.id], 3) for ranking in index.search(queries, 3, group=False, late=False)]
    assert expected != plain, "the test sees whether token vectors are taken"
    assert tune(index, queries, qrels, measure="nDCG@3", write=False).before_mean == pytest.approx(sum(expected) / len(expected))
