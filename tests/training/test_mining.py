"""Mined negatives against scores of all papers, each asked for alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Metric
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.progress import Silent
from sciretrieve.training import Mining
from sciretrieve.training.mining import negatives
from tests.toy_encoder import LetterEncoder
from tests.training.thousand import by_id, facts, library, made, table, usable


@pytest.fixture(scope="module")
def bm25(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bm25") / "index"
    sr.build(library(), folder, encoder=None, dense="none", progress=False).close()
    return folder


def ranked(index: Any, query: Query, mode: str) -> list[tuple[str, float]]:
    """All papers with their scores, best first, by id where these are the same."""
    ids = [row["id"] for row in library()]
    scores = dict(zip(ids, index.score(query, ids, mode=mode).tolist(), strict=True))
    return sorted(((id, score) for id, score in scores.items() if score > 0), key=lambda pair: (-pair[1], pair[0]))


def allowed(ranking: list[tuple[str, float]], positive: str, mining: Mining) -> list[str]:
    scores = dict(ranking[: mining.last])
    if positive not in scores:
        return []
    return [id for id, score in ranking[mining.first - 1 : mining.last] if score < mining.share * scores[positive]]


@pytest.mark.parametrize("mining", [Mining("bm25"), Mining("bm25", 5, 600, 0.8)])
def test_mined_negatives_of_triplets_take_the_place_of_hard_ones(tmp_path: Path, bm25: Path, mining: Mining) -> None:
    made("triplets", "specter", tmp_path / "set", queries=80, mining=mining)
    made("triplets", "specter", tmp_path / "plain", queries=80)
    rows, plain = usable(library()), table(tmp_path / "plain", "triplets.tsv")
    drawn = table(tmp_path / "set", "triplets.tsv")
    assert len(drawn) == len(plain)
    used: dict[str, set[str]] = defaultdict(set)
    own = defaultdict(set)
    for query, _, negative, _ in plain:
        own[query].add(negative)
    with sr.open(bm25) as index:
        rankings = {
            query: ranked(index, Query(query, paper=Paper(query, rows[query]["title"], rows[query]["abstract"])), "bm25") for query in own
        }
    for (query, positive, negative, kind), before in zip(drawn, plain, strict=True):
        assert [query, positive] == before[:2]
        barred = {query, *rows[query]["references"], *own[query], *used[query]}
        candidates = [id for id in allowed(rankings[query], positive, mining) if id in rows and id not in barred]
        if before[3] == "hard" and candidates:
            assert (negative, kind) == (candidates[0], "mined")
            used[query].add(negative)
        else:
            assert [negative, kind] == before[2:]
    kinds = Counter(kind for *_, kind in drawn)
    assert kinds["mined"] > 10
    assert kinds["hard"] > 10
    assert facts(tmp_path / "set")["mined"] == {"by": "bm25", "ranks": [mining.first, mining.last], "share": mining.share}
    assert {path.name for path in (tmp_path / "set").iterdir()} == {"corpus.jsonl", "triplets.tsv", "training.json"}


@pytest.mark.parametrize("recipe", ["titles", "keywords", "sentences"])
def test_mined_negatives_of_pairs_have_the_form_of_positives(tmp_path: Path, bm25: Path, recipe: str) -> None:
    mining = Mining(bm25, 1, 300)
    made("pairs", recipe, tmp_path / "set", queries=80, mining=mining)
    rows = usable(library())
    queries = by_id(tmp_path / "set" / "queries.jsonl")
    with sr.open(bm25) as index:
        rankings = {id: ranked(index, Query(id, paper=Paper("", "", row["text"])), "bm25") for id, row in queries.items()}
    mined = 0
    for query, positive, negative, kind in table(tmp_path / "set", "pairs.tsv"):
        paper = positive.split("#")[0]
        candidates = [id for id in allowed(rankings[query], paper, mining) if id in rows and id != paper]
        if candidates:
            assert (negative, kind) == (candidates[0] + "#abstract" * (recipe == "titles"), "mined")
            mined += 1
        else:
            assert negative == kind == ""
    assert mined > 15
    assert {id for _, *ids, _ in table(tmp_path / "set", "pairs.tsv") for id in ids if id} == by_id(
        tmp_path / "set" / "corpus.jsonl"
    ).keys()


def test_mined_negatives_of_a_label_have_other_labels(tmp_path: Path) -> None:
    rows = [row | {"authors": [], "venue": None, "references": []} for row in library()]
    made("pairs", "label-papers", tmp_path / "set", rows, mining=Mining("bm25", 1, 1000))
    labels = {id: {word.lower() for word in row["keywords"]} for id, row in usable(rows).items()}
    found = [pair for pair in table(tmp_path / "set", "pairs.tsv") if pair[2]]
    for label, _, negative, kind in found:
        assert kind == "mined"
        assert labels[negative]
        assert label.removeprefix("label:") not in labels[negative]
    assert found
    taken = [(label, negative) for label, _, negative, _ in found]
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
def test_vectors_mine_by_their_metric(tmp_path: Path, metric: Metric) -> None:
    """Scores below 0, as distances are, have the bound on their side: a negative is a twentieth further away."""
    encoder = LetterEncoder(metric=metric)
    rows = library()[:300]
    sr.build(rows, tmp_path / "index", encoder=encoder, progress=False).close()
    papers = [Paper(row["id"], row["title"], row["abstract"]) for row in rows]
    queries = [Query(paper.id, paper.title) for paper in papers[:40]]
    vectors = encoder.encode_papers(papers).astype(np.float64)
    asked = encoder.encode_queries(queries).astype(np.float64)
    if metric == "cosine":
        vectors, asked = (array / np.linalg.norm(array, axis=1, keepdims=True) for array in (vectors, asked))
    products = asked @ vectors.T
    distances = np.square(asked[:, None] - vectors[None]).sum(2)
    scores = -np.sqrt(distances) if metric == "l2" else products
    with sr.open(tmp_path / "index", encoder=encoder) as index:
        mining, own = Mining(tmp_path / "index", 2, 80, 0.9), {query.id: [query.id] for query in queries}
        found = dict(negatives(index, mining, queries, own, {}, {paper.id for paper in papers}, Silent()))
    compared = 0
    for place, query in enumerate(queries):
        bound = 0.9 * scores[place, place] if metric != "l2" else scores[place, place] / 0.9
        order = np.argsort(-scores[place], kind="stable")[:80].tolist()
        if place not in order:
            assert found[query.id] == {}
            continue
        sure = {papers[row].id for row in order[1:79] if scores[place, row] < bound - 1e-3 * abs(bound)} - {query.id}
        possible = {papers[row].id for row in order if scores[place, row] < bound + 1e-3 * abs(bound)} - {query.id}
        assert sure - set(found[query.id][query.id]) <= {papers[row].id for row in order[70:]}  # where ties end the ranking
        assert set(found[query.id][query.id]) - possible <= {papers[row].id for row in order[70:]}
        compared += len(found[query.id][query.id])
    assert compared > 50


def test_an_index_of_other_papers_mines_nothing(tmp_path: Path, bm25: Path) -> None:
    with pytest.raises(InvalidRequest, match="has papers that the corpus lacks"):
        made("pairs", "titles", tmp_path / "set", library()[:100], mining=Mining(bm25))
    with pytest.raises(InvalidRequest, match="`share` must be above 0"):
        Mining(bm25, share=0)
