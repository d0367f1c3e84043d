"""Searches on a Ray cluster: the answers are those of one machine, whatever dies meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.lifecycle.distributed import RayWorkers
from sciretrieve.lifecycle.distributed.cluster_search import ClusterSearcher
from sciretrieve.options import BuildSettings, SearchOptions
from sciretrieve.query.relevance_models import Rm3, expanding
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
QUERIES = [
    "graph networks",
    "attention in trials",
    "neuron network of cells",
    "market",
    "grahp netwroks",
    "year:2015 star",
    "lovelace 2010 star",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Five shards; bm25l gives also the papers without a term something, approximate shards propose papers; some are deleted."""
    folder = tmp_path_factory.mktemp("searched")
    corpus = write_jsonl(folder / "corpus.jsonl", made_up_papers(400))
    settings = BuildSettings(shard_size=90, dense="HNSW8,Flat", lexical=sr.Bm25Parameters("bm25l"))
    sr.build(corpus, folder / "index", settings)
    sr.delete(folder / "index", sr.open(folder / "index").snapshot.live_ids()[50:60])
    return sr.open(folder / "index")


@pytest.fixture(scope="module")
def distributed(index: sr.Index, workers: RayWorkers) -> Iterator[sr.Index]:
    """The index on two nodes."""
    with sr.open(index.path, workers=workers) as opened:
        yield opened


def answers(index: sr.Index, options: SearchOptions, k: int = 20) -> list[tuple[list[str], list[float]]]:
    run = index.search(QUERIES, k, options)
    return [(list(ranking.ids), np.asarray(ranking.scores).tolist()) for ranking in run]


OPTIONS = {
    "hybrid": SearchOptions(),
    "dense": SearchOptions("dense"),
    "bm25": SearchOptions("bm25"),
    "exact": SearchOptions(recall=1.0),
    "filtered": SearchOptions(filter="year >= 2010"),
    "few pass": SearchOptions(filter="year == 2012", group=False),
    "other parameters": SearchOptions("bm25", k1=0.4, b=0.2),
    "bm25 as before": SearchOptions("bm25"),
    "filtered by words": SearchOptions("bm25", filter="year >= 2010"),
}


def test_answers_are_those_of_one_machine(index: sr.Index, distributed: sr.Index) -> None:
    for name, options in OPTIONS.items():
        assert answers(distributed, options) == answers(index, options), name
    assert answers(distributed, SearchOptions(), 400) == answers(index, SearchOptions(), 400)
    ids = index.snapshot.live_ids()[:3]
    assert distributed.similar(ids, 10).rankings[0].ids == index.similar(ids, 10).rankings[0].ids
    query = sr.Query("q", "graph networks")
    here, there = (opened.search(query, 20, like=ids[:2], unlike=ids[2:]).rankings[0] for opened in (index, distributed))
    assert (there.ids, there.scores.tolist()) == (here.ids, here.scores.tolist())
    assert distributed.score(query, ids).tolist() == index.score(query, ids).tolist()
    typed, filter = "graph AND (nodes OR edges) NOT star", "year >= 2010"
    assert distributed.count_lines(typed, filter) == index.count_lines(typed, filter)
    assert distributed.search(typed, filter=filter)[0].total == index.count(typed, filter) > 0
    for mode in ("bm25", "hybrid"):
        here, there = (expanding(opened, Rm3()).search("graph networks", 20, mode=mode)[0] for opened in (index, distributed))
        assert (there.ids, there.scores.tolist()) == (here.ids, here.scores.tolist())


def processes(distributed: sr.Index) -> list[Any]:
    """What searches on the nodes."""
    assert isinstance(distributed.searcher, ClusterSearcher)
    return distributed.searcher.groups._processes


def test_without_any_node_this_machine_answers(index: sr.Index, distributed: sr.Index, workers: RayWorkers) -> None:
    for process in processes(distributed):
        workers.cluster.ray.kill(process)
    assert answers(distributed, SearchOptions()) == answers(index, SearchOptions())
    assert not processes(distributed)


def test_it_is_refreshed_on_the_same_nodes(index: sr.Index, distributed: sr.Index) -> None:
    assert distributed.refreshed() is distributed
    gone = distributed.search("graph networks", 1).rankings[0].ids[0]
    sr.delete(index.path, gone)
    with distributed.refreshed() as after:
        assert isinstance(after.searcher, ClusterSearcher)
        assert answers(after, SearchOptions()) == answers(index.refreshed(), SearchOptions())
        assert gone not in after.search("graph networks", 400).rankings[0].ids
    assert distributed.search("graph networks", 1).rankings[0].ids[0] == gone


@pytest.mark.torture
def test_the_commands(index: sr.Index, cluster: Any, tmp_path: Path) -> None:
    queries = tmp_path / "queries.txt"
    queries.write_text("\n".join(QUERIES) + "\n")
    for words in (["search", "graph networks", "-f", "jsonl"], ["batch", queries, "-k", "30"]):
        here, there = (sciretrieve(*words, "-i", index.path, *where).stdout for where in ([], ["--ray", cluster.address]))
        assert here == there != ""
