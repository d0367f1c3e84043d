"""`why-not`, `duplicates` and `tune`, and the options of `search` and `similar`, as users run them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.lifecycle import refit
from sciretrieve.matching.fusion import Fusion
from tests.command_line import answer, sciretrieve
from tests.made_up import write_jsonl


def json_answer(*arguments: str | Path) -> Any:
    """What a command answers with --format json."""
    return json.loads(answer(*arguments, "-f", "json"))


# search


ABOUT, LIKE, BOTH = "Planets. Dust around a star.", ["p0001", "p0003"], ["impact > 2", "year > 2005"]
FACETS = ["year:3", "topic", "venue"]


@pytest.mark.parametrize(
    ("typed", "asked", "options"),
    [
        ("search vaccine trial -k 7", {"query": "vaccine trial", "k": 7}, {}),
        ("search trial --since 2010 --until 2012 --set alpha=0.9", {"query": "trial"}, {"since": 2010, "until": 2012, "alpha": 0.9}),
        ("search trial --set fusion=rrf,group=false", {"query": "trial"}, {"fusion": "rrf", "group": False}),
        ("search star --mode bm25 --filter 'impact > 2' --filter 'year > 2005'", {"query": "star"}, {"mode": "bm25", "filter": BOTH}),
        ("search star --sort year --facets 'year:3, topic' --facets venue", {"query": "star", "sort": "year", "facets": FACETS}, {}),
        ("search star --diversify --cluster --explain", {"query": "star", "cluster": True, "explain": True}, {"diversify": True}),
        ("search dust --like p0001 --like p0003 --unlike p0002", {"query": "dust", "like": LIKE, "unlike": ["p0002"]}, {}),
        ("search '\"graph\" author:hopper -networks' -n 300", {"query": '"graph" author:hopper -networks', "k": 300}, {}),
        ("search '(graph OR star) NOT dust' -n 300", {"query": "(graph OR star) NOT dust", "k": 300}, {}),
        ("search -- -networks graph", {"query": "-networks graph"}, {}),
        ("similar p0001 p0003 --not p0002 --by text", {"like": LIKE, "unlike": ["p0002"], "by": "text"}, {}),
        (f"similar --text '{ABOUT}' --facets year --cluster", {"text": ABOUT, "facets": ["year"], "cluster": True}, {}),
        ("similar p0001 p0003 --since 2005 --set alpha=0.2 --diversify", {"like": LIKE}, {"since": 2005, "alpha": 0.2, "diversify": True}),
    ],
)
def test_what_is_typed_is_what_python_answers(index: sr.Index, typed: str, asked: dict[str, Any], options: dict[str, Any]) -> None:
    """To the last field: hits, scores, facets, groups, explanations."""
    command, *words = shlex.split(typed)
    value = json.loads(answer(command, "-i", index.path, "-f", "json", *words))
    expected = json.loads(sr.answer(index, sr.Request(**asked, options=sr.SearchOptions(**options))).to_json())
    for each in (value, expected):
        del each["total_time_ms"]
    assert value == expected
    assert value["hits"]


def test_views_stand_below_the_table(index: sr.Index) -> None:
    query = ("search", "graph star", "-i", index.path, "-k", "8", "--facets", "topic", "--cluster")
    table = answer(*query)
    assert re.search(r"^topic, of \d+ papers that match, among the first 1,000:\n +\d+  \w+$", table, re.MULTILINE)
    for group in json_answer(*query)["clusters"]:
        assert f"{len(group['papers']):>4}  {', '.join(group['label'])}\n" in table


def test_what_is_demanded_in_vain_is_told(index: sr.Index) -> None:
    nothing = sciretrieve("search", "(graph OR star) AND unheardof networks -dust year:1066", "-i", index.path)
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert nothing.stderr.splitlines() == [
        "no paper in the index has what the query requires: unheardof, year:1066",
        "without its operators the query is: graph star unheardof networks",
        "no paper matches",
    ]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Twelve works about graphs, each as preprint and as article; and one that is alone."""
    folder = tmp_path_factory.mktemp("twins")
    papers = [
        {"id": f"{kind}{number:02d}", "title": title, "authors": ["Ada Lovelace"], "abstract": f"graph {kind}"}
        for number in range(12)
        for kind, title in (("arxiv", f"On the {number}th graph theorem"), ("journal", f"On the {number}th Graph-Theorem."))
    ]
    papers.append({"id": "alone", "title": "A theorem of its own", "authors": ["Alan Turing"], "abstract": "graph"})
    return sr.build(write_jsonl(folder / "p.jsonl", papers), folder / "index", encoder=None, shard_size=7)


def test_duplicates_are_listed_and_shown_as_one(twins: sr.Index) -> None:
    assert answer("search", "graph theorem", "-i", twins.path, "-k", "13").count(" · also ") == 12
    result = sciretrieve("info", "duplicates", "-i", twins.path)
    assert (result.returncode, result.stderr) == (0, "12 groups, 24 of 25 papers\n")
    blocks = re.split(r"\n(?=\S)", result.stdout.rstrip("\n"))
    assert {tuple(block.split("\n    ")) for block in blocks} == {
        (f"On the {number}th graph theorem", f"arxiv{number:02d}", f"journal{number:02d}") for number in range(12)
    }
    value = json_answer("info", "duplicates", "-i", twins.path)
    assert (value["schema"], value["index"]) == (1, str(twins.path))
    assert sorted(group["papers"] for group in value["groups"]) == [[f"arxiv{at:02d}", f"journal{at:02d}"] for at in range(12)]


def test_reranking(index: sr.Index) -> None:
    query = ("search", "graph networks", "-i", index.path, "-k", "8", "--mode", "bm25", "--set", "group=false")
    result = sciretrieve(*query, "-f", "json", "--explain", "--rerank", "minilm", "--set", "rerank_depth=5")
    assert result.returncode == 0
    assert re.search(r"^the first 5 papers ordered by minilm, [\d.]+ s in all\n\Z", result.stderr, re.MULTILINE)
    hits = json.loads(result.stdout)["hits"]
    plain = list(index.search("graph networks", 8, mode="bm25").rankings[0].ids)
    assert {hit["id"] for hit in hits[:5]} == set(plain[:5])
    assert [hit["id"] for hit in hits[5:]] == plain[5:]
    scores = [hit["scores"]["rerank"] for hit in hits]
    assert scores[:5] == sorted(scores[:5], reverse=True)
    assert scores[5:] == [None] * 3
    # it is the encoder of the index, so what it gives is what the dense half says
    assert scores[:5] == pytest.approx([hit["explanation"]["dense"]["score"] for hit in hits[:5]], abs=1e-2)


def test_a_saved_search_keeps_its_encoder_and_reranker(index: sr.Index) -> None:
    answer("search", "star", "-i", index.path, "--set", "encoder=minilm,rerank_depth=3", "--rerank", "minilm", "--save", "mine")
    search = sr.saved_search("mine")
    assert (search.encoder, search.reranker, search.request.options.rerank_depth) == ("minilm", "minilm", 3)


# why-not


def test_why_not(index: sr.Index) -> None:
    ranked = list(index.search("graph networks", 300).rankings[0].ids)
    out = answer("why-not", ranked[49], "graph", "networks", "-i", index.path, "-k", "5")
    paper = index.papers([ranked[49]])[0]
    first, *lines = out.splitlines()
    assert first == f"{paper.title} ({paper.id})"
    assert [line.split()[:3] for line in lines[:2]] == [["hybrid", "rank", "50"], ["dense", "rank", lines[1].split()[2]]]
    assert re.fullmatch(r"  dense   rank \d+, score -?\d\.\d{4}", lines[1])
    assert lines[3].startswith("  words   ")
    assert "  → -k 50 would show it" in lines
    value = json_answer("why-not", ranked[49], "graph", "networks", "-i", index.path, "-k", "5", "--set", "fusion=rrf")
    assert (value["schema"], value["query"], value["k"]) == (1, "graph networks", 5)
    assert value["ranks"]["hybrid"] == list(index.search("graph networks", 300, fusion="rrf").rankings[0].ids).index(ranked[49]) + 1
    assert value["explanation"]["id"] == ranked[49]
    absent = next(
        hit for hit in index.search("graph networks", 300, mode="dense").hits if hit.paper.extra["topic"] == "stars" and hit.paper.year
    )
    out = answer("why-not", absent.id, "graph networks", "-i", index.path, "--mode", "bm25", "--filter", "year > 2024")
    assert f"  it fails the filter's year > 2024: its year is {absent.paper.year}\n" in out
    assert "  bm25    not answered: it shares no word with the query\n" in out
    assert "  words   none of the query\n" in out
    assert "  → without that, it would not be among the candidates\n" in out


# tune


@pytest.fixture
def judged(tmp_path: Path) -> sr.Index:
    """An index whose words are right and whose vectors are wrong; beside it queries.tsv and qrels.tsv for them.

    What is sought says the query's word three times; another paper says it once, and has the query's very vector.
    """
    numbers = np.random.default_rng(1)
    papers = [
        {"id": f"p{number}", "title": "paper", "abstract": f"word{number} " * 3 + f"word{(number + 30) % 60}"} for number in range(60)
    ]
    vectors = numbers.normal(size=(60, 5)).tolist()
    rows = [{"paper_id": paper["id"], "embedding": vector} for paper, vector in zip(papers, vectors, strict=True)]
    rows += [{"paper_id": f"q{number}", "embedding": vectors[number + 30]} for number in range(24)]
    (tmp_path / "queries.tsv").write_text("".join(f"q{number}\tword{number}\n" for number in range(24)))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(f"q{number}\tp{number}\t1\n" for number in range(24)))
    (tmp_path / "few.tsv").write_text("q0 0 p0 1\nq1 0 p1 1\n")
    file = write_jsonl(tmp_path / "v.jsonl", rows)
    return sr.build(write_jsonl(tmp_path / "p.jsonl", papers), tmp_path / "index", encoder=f"vectors:{file}")


def test_tune(judged: sr.Index) -> None:
    command = ("tune", "-i", judged.path, "--queries", "queries.tsv", "--qrels", "qrels.tsv")
    assert judged.snapshot.manifest.bm25 is not None
    refit(judged.path, judged.snapshot.manifest.bm25, Fusion(alpha=0.97, tokens=0))  # something to find better than
    manifest = (judged.path / "manifest.json").read_bytes()
    dry = answer(*command, "--dry-run", "-m", "nDCG@5")
    now, best, gain, end = dry.splitlines()
    assert re.fullmatch(r"now   nDCG@5 +\d+\.\d\d   alpha 0\.97, depth 1000, k1 1\.2, b 0\.75", now)
    assert re.fullmatch(r"best  nDCG@5 +\d+\.\d\d on held-out queries   alpha 0\.\d+, depth \d+, k1 [\d.]+, b [\d.]+", best)
    assert re.fullmatch(r"gain  \+\d+\.\d\d, 95 % interval [+-][\d.]+ to [+-][\d.]+, p [\d.]+, 24 queries", gain)
    assert end == "not written: a dry run"
    assert (judged.path / "manifest.json").read_bytes() == manifest

    value = json_answer(*command)
    assert (value["schema"], value["measure"], value["queries"], value["written"]) == (1, "nDCG@10", 24, True)
    assert value["held_out"] - value["before_mean"] == pytest.approx(value["difference"]["difference"])
    written = sr.open(judged.path).snapshot.manifest
    assert written.fusion == value["after"]["fusion"]
    assert value["after"]["fusion"]["alpha"] < 0.97
    info = json_answer("info", "-i", judged.path)
    assert info["manifest"]["fusion"] == value["after"]["fusion"]
    assert answer(*command).splitlines()[-1] == "not written: the index has the best setting already"


def test_what_cannot_be_done_is_one_line(index: sr.Index, judged: sr.Index, twins: sr.Index) -> None:
    search, similar = ("search", "graph", "-i", str(index.path)), ("similar", "p0000", "-i", str(index.path))
    tune = ("tune", "-i", str(judged.path), "--queries")
    manifest = (judged.path / "manifest.json").read_bytes()
    for arguments, words in (
        ((*search, "--rerank", "minillm"), "unknown reranker 'minillm'; did you mean 'minilm'"),
        ((*search, "--facets", "yaer"), "unknown column in --facets 'yaer'; did you mean 'year'"),
        ((*search, "--explain", "-f", "csv"), "--explain is shown with --format table or json, not csv"),
        ((*similar, "--cluster", "-f", "trec"), "--cluster is shown with --format table or json, not trec"),
        (("search", "graph", "-i", str(twins.path), "--diversify"), "has no vectors to compare papers by; leave out --diversify"),
        (("search", "graph", "-i", str(twins.path), "--cluster"), "needs vectors and BM25 to group papers"),
        (("search", "-i", str(index.path), "--", "-networks"), "the query is empty, or only leaves papers out"),
        (("search", "-i", str(index.path), "titel:graph"), "unknown field in the query 'titel'; did you mean 'title'"),
        (("search", "-i", str(index.path), "keyword:graph"), "unknown field in the query 'keyword'; there are: abstract, authors"),
        (("search", "-i", str(index.path), "star AND (dust OR orbit"), 'the query has "(" without ")"'),
        (("why-not", "nobody", "graph", "-i", str(index.path)), "there is no paper 'nobody'"),
        (("info", "duplicates", "-i", "nowhere"), "there is no index at nowhere"),
        ((*tune, "queries.tsv", "--qrels", "few.tsv"), "2 of the queries are judged, and a choice by fewer than 20 would be chance"),
        ((*tune, "nowhere.tsv", "--qrels", "few.tsv"), "there are no queries at nowhere.tsv"),
        ((*tune, "queries.tsv", "--qrels", "nowhere.tsv"), "there is no judgements at nowhere.tsv"),
        (("tune", "-i", str(twins.path), "--queries", "queries.tsv", "--qrels", "qrels.tsv"), "lacks vectors or BM25"),
    ):
        result = sciretrieve(*arguments)
        assert (result.returncode, result.stdout) == (2, ""), (arguments, result)
        assert words in result.stderr
        assert re.fullmatch(r"sciretrieve: .*\n", result.stderr)
    assert (judged.path / "manifest.json").read_bytes() == manifest
