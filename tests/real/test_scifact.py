"""SciFact, 5,183 real abstracts: our scores by pytrec_eval. The encoder sees a subset here; the whole is in the docs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import pytrec_eval

import sciretrieve as sr
from sciretrieve import strategies
from sciretrieve.papers.corpora import read_queries
from tests.made_up import shared


@pytest.fixture(scope="module")
def folder() -> Path:
    return shared("scifact")


@pytest.fixture(scope="module")
def words(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """An index for keyword search."""
    return sr.build(folder / "corpus.parquet", tmp_path_factory.mktemp("scifact") / "index", encoder=None, shard_size=2000)


@pytest.fixture(scope="module")
def qrels(folder: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, paper, grade = line.split("\t")
        found.setdefault(query, {})[paper] = int(grade)
    return found


@pytest.mark.parametrize(
    ("typed", "pattern", "count"),
    [
        ('"type 2 diabetes"', r"\btype[\s-]2[\s-]diabetes\b", 82),
        ('"type 1 diabetes"', r"\btype[\s-]1[\s-]diabetes\b", 32),
        ('"hepatitis B"', r"\bhepatitis[\s-]b\b", 15),
        ('"factor X"', r"\bfactor[\s-]x\b", 0),
        ('"C++"', r"c\+\+", 3),
        ('"N=4"', r"\bn=4\b", 2),
        ("child*", r"\bchild", 205),
    ],
)
def test_exact_words_are_those_that_a_scan_finds(words: sr.Index, folder: Path, typed: str, pattern: str, count: int) -> None:
    papers = pq.read_table(folder / "corpus.parquet", columns=["id", "title", "abstract"]).to_pylist()
    expected = {str(row["id"]) for row in papers if any(re.search(pattern, row[name].lower()) for name in ("title", "abstract"))}
    assert len(expected) == count
    assert set(words.search(typed, 10_000, group=False).rankings[0].ids) == expected


def test_each_part_of_a_query_counts_what_a_scan_finds(words: sr.Index, folder: Path) -> None:
    rows = pq.read_table(folder / "corpus.parquet", columns=["id", "title", "abstract"]).to_pylist()

    def having(pattern: str, *columns: str) -> set[str]:
        return {str(row["id"]) for row in rows if any(re.search(pattern, row[name].lower()) for name in columns or ("title", "abstract"))}

    mouse, liver, kidney, heart = (having(pattern) for pattern in (r"\bmouse\b", r"\bliver\b", r"\bkidney\b", r"\bheart[\s-]failure\b"))
    child, sets = having(r"\bchild", "title"), [mouse, liver, kidney, liver | kidney]
    sets += [heart, child, heart | child, (mouse & (liver | kidney)) - (heart | child)]
    query = '"mouse" AND ("liver" OR "kidney") NOT ("heart failure" OR title:child*)'
    assert [line.papers for line in words.count_lines(query)] == [len(ids) for ids in sets]
    assert set(words.ids(words.matching(query))) == sets[-1]
    assert all(sets)
    answer = sr.answer(words, sr.Request(query, k=1, facets=["id:9999"]))
    assert (answer.total, {id for id, _ in answer.facets[0].values}) == (len(sets[-1]), sets[-1])


def test_a_strategy_of_ovid_finds_what_a_scan_finds(words: sr.Index, folder: Path, tmp_path: Path) -> None:
    """Abstracts are those of journals, with signs, hyphens and numbers; adj2 leaves room for one word."""
    text = """1. (cancer* or tumo?r*).ti,ab.
2. ((mouse or mice) adj2 model*).tw.
3. randomi?ed.ab.
4. 1 and 2
5. (2 or 3) not 1"""
    patterns = {
        "s1": r"(?<![^\W_])(cancer|tumou?r)",
        "s2": r"(?<![^\W_])((mouse|mice)[\W_]+([^\W_]+[\W_]+)?model|model[^\W_]*[\W_]+([^\W_]+[\W_]+)?(mouse|mice)(?![^\W_]))",
        "s3": r"(?<![^\W_])randomi[a-z]?ed(?![^\W_])",
    }
    papers = pq.read_table(folder / "corpus.parquet", columns=["id", "title", "abstract"]).to_pylist()
    having = {
        line: {str(row["id"]) for row in papers if any(re.search(pattern, row[name].lower()) for name in columns)}
        for (line, pattern), columns in zip(patterns.items(), (("title", "abstract"), ("title", "abstract"), ("abstract",)), strict=True)
    }
    having["s4"] = having["s1"] & having["s2"]
    having["s5"] = (having["s2"] | having["s3"]) - having["s1"]
    result = strategies.run(strategies.parse(strategies.translate(text, "ovid").text), [words.path])
    assert {line["name"]: line["total"] for line in result.log["lines"]} == {line: len(ids) for line, ids in having.items()}
    assert {one.id for one in result.papers} | {one.removed for one in result.duplicates} == having["s5"]
    strategies.write(result, tmp_path)
    assert strategies.replay(tmp_path / "log.json").differences == ()


def ndcg(index: sr.Index, folder: Path, qrels: dict[str, dict[str, int]], **options: Any) -> float:
    queries = [query for query in read_queries(folder) if query.id in qrels]
    run = index.search(queries, 1000, group=False, **options)
    scores = {ranking.query.id: dict(zip(ranking.ids, ranking.scores.tolist(), strict=True)) for ranking in run}
    measured = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(scores)
    assert len(measured) == len(qrels)
    return float(sum(value["ndcg_cut_10"] for value in measured.values())) / len(measured)


def test_bm25_on_the_whole_set(words: sr.Index, folder: Path, qrels: dict[str, dict[str, int]], tmp_path: Path) -> None:
    beir = sr.build(folder, tmp_path / "beir", encoder=None, limit=1000)
    assert len(words) == 5183
    assert ndcg(words, folder, qrels, mode="bm25") == pytest.approx(0.698, abs=0.003)
    ids = beir.snapshot.live_ids()
    assert ids == words.snapshot.live_ids()[:1000]
    assert [(paper.title, paper.abstract) for paper in beir.papers(ids)] == [(paper.title, paper.abstract) for paper in words.papers(ids)]


@pytest.mark.embedded_encoder
def test_hybrid_beats_both_halves_on_a_subset(folder: Path, qrels: dict[str, dict[str, int]], tmp_path: Path) -> None:
    """A third of the queries, every paper judged for these, and one in thirty of the others: harder than nothing, quick enough for every
    run."""
    table = pq.read_table(folder / "corpus.parquet")
    qrels = dict(list(qrels.items())[::3])
    judged = {paper for papers in qrels.values() for paper in papers}
    rows = [row for number, row in enumerate(table.to_pylist()) if str(row["id"]) in judged or number % 30 == 0]
    (tmp_path / "subset.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = sr.build(tmp_path / "subset.jsonl", tmp_path / "index")
    dense, bm25, hybrid = (ndcg(index, folder, qrels, mode=mode) for mode in ("dense", "bm25", "hybrid"))
    assert min(dense, bm25) > 0.8
    assert hybrid > max(dense, bm25) + 0.01
