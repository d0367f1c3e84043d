"""Words of a query that are names: what they add to papers' scores, against loops over the papers, and what else follows from them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.matching.lexical import Analyzer, Bm25
from sciretrieve.matching.lexical.bm25 import weigh_terms
from sciretrieve.matching.search import Probe
from tests.made_up import write_jsonl
from tests.matching.lexical.test_fields import PAPERS, fields_of

GONE = ["p0003", "p0017"]
LIVE = [paper for paper in PAPERS if paper["id"] not in GONE]
YEAR = next(paper["year"] for paper in LIVE if "Müller, Jörg" in paper["authors"] and paper["year"])
QUERIES = [
    f"muller {YEAR}",
    *("ishii hiroshi", "sigir 2014 graph networks", "star graph", "graph networks of molecules", "lancet vaccine", "2010"),
    *("Jörg Müller: graph networks, SIGIR 2012", "kaiser lukasz star galaxy telescope orbit", "the an of", "unheard ishii", "ishii ishii"),
]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, sr.Index]:
    """The same papers, of which two are deleted, in several shards and in one."""
    folder = tmp_path_factory.mktemp("names")
    corpus = write_jsonl(folder / "papers.jsonl", PAPERS)
    for name, size in (("many", 9), ("one", 1000)):
        sr.build(corpus, folder / name, encoder=None, shard_size=size)
        sr.delete(folder / name, GONE)
    return {name: sr.open(folder / name) for name in ("many", "one")}


def bm25_of(index: sr.Index) -> Bm25:
    assert index.snapshot.bm25 is not None
    return index.snapshot.bm25


def expected_additions(query: str) -> dict[str, dict[str, float]]:
    """What each name in a query adds to each paper's score, by counting in the papers."""
    fields = {paper["id"]: fields_of(paper) for paper in LIVE}
    texts = {paper["id"]: set(Analyzer().terms(f"{paper['title']} {paper['abstract']}")) for paper in LIVE}

    def rarity(holding: int) -> float:
        return math.log(1 + (len(LIVE) - holding + 0.5) / (holding + 0.5))

    additions: dict[str, dict[str, float]] = {paper["id"]: {} for paper in LIVE}
    words = dict.fromkeys(Analyzer().words(query))
    for word in words:
        term = Analyzer().term(word)
        if term is None or word.isdigit():
            continue
        for field, weight, least_share in (("authors", 1.0, 0.3), ("venue", 0.5, 0.8)):
            named = [id for id, of_paper in fields.items() if word in of_paper[field]]
            share = len(named) / max(len(named) + sum(term in terms for terms in texts.values()), 1)
            if share >= least_share:
                for id in named:
                    additions[id][f"{field}:{word}"] = weight * share * rarity(len(named))
    for year in (word for word in words if len(word) == 4 and word.isdigit()):
        of_year = [id for id, of_paper in fields.items() if year in of_paper["year"]]
        for id in of_year:
            if additions[id]:
                additions[id][f"year:{year}"] = rarity(len(of_year))
    return additions


def probe_of(index: sr.Index, query: str) -> Probe:
    return index.reader.probes([sr.Query("q", query)], "bm25", None)[0]


@pytest.mark.parametrize("name", ["many", "one"])
@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_those_of_the_text_and_what_names_add(indexes: dict[str, sr.Index], query: str, name: str) -> None:
    index = indexes[name]
    probe = probe_of(index, query)
    assert not probe.corrections
    text_scores, _ = bm25_of(index).scores(weigh_terms(Analyzer().terms(query)))
    scores, matched = bm25_of(index).scores(probe.all_terms)
    additions = expected_additions(query)
    rows = index.snapshot.rows([paper["id"] for paper in LIVE])
    for row, paper in zip(rows.tolist(), LIVE, strict=True):
        adds = additions[paper["id"]]
        assert scores[row] - text_scores[row] == pytest.approx(sum(adds.values()), abs=1e-5)
        known = {term: value for term, value in bm25_of(index).weights(probe.all_terms, row).items() if ":" in term}
        assert known == pytest.approx(adds, abs=1e-5)
        assert matched[row] == bool(bm25_of(index).weights(probe.all_terms, row))


def test_the_queries_have_all_that_there_is_to_add() -> None:
    added = {term.partition(":")[0] for query in QUERIES for terms in expected_additions(query).values() for term in terms}
    assert added == {"authors", "venue", "year"}
    assert not any(expected_additions("networks of molecules").values())
    assert not any(expected_additions("2010").values())


@pytest.mark.parametrize("k", [1, 3, 100])
@pytest.mark.parametrize("query", QUERIES)
def test_the_sharding_changes_nothing_and_neither_does_looking_only_for_the_best(indexes: dict[str, sr.Index], query: str, k: int) -> None:
    one, many = (indexes[name].search(sr.Query("q", query), k, group=False).rankings[0] for name in ("one", "many"))
    assert one.ids == many.ids
    assert one.scores.tolist() == many.scores.tolist()
    scores, matched = bm25_of(indexes["one"]).scores(probe_of(indexes["one"], query).all_terms)
    rows = indexes["one"].snapshot.scope.places[matched[indexes["one"].snapshot.scope.places]]
    ids = dict(zip(rows.tolist(), indexes["one"].ids(rows), strict=True))
    best = sorted(rows.tolist(), key=lambda row: (-scores[row], ids[row]))[:k]
    assert [ids[row] for row in best] == list(one.ids)


def test_a_paper_as_a_query_and_a_pasted_text_have_no_names(indexes: dict[str, sr.Index]) -> None:
    index = indexes["many"]
    paper = sr.Paper("q", "ishii hiroshi", "muller")
    assert not index.reader.probes([sr.Query("q", paper=paper)], "bm25", None)[0].fields
    assert probe_of(index, "ishii hiroshi").fields
    assert not probe_of(index, " ".join(["ishii hiroshi", *(f"word{number}" for number in range(100))])).fields


def test_names_are_not_corrected(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": f"p{number}", "title": "hopping shapes and Lancer"} for number in range(5)]
    rows.append({"id": "hopper", "title": "a compiler", "authors": ["Hoppine Shape"], "venue": "The Lancet"})
    corpus = write_jsonl(tmp_path / "papers.jsonl", rows)
    index = sr.build(corpus, tmp_path / "index", encoder=None)
    assert index.corrections("hoppine") == {}
    assert index.corrections("lancet") == {}
    assert index.corrections("lancerr") == {"lancerr": "lancer"}
    assert index.search("hoppine").rankings[0].ids == ["hopper"]


def test_a_paper_has_a_word_that_is_one_of_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    papers = [{**paper, "authors": paper["authors"] if number % 7 else ["Grete Hermann"]} for number, paper in enumerate(PAPERS * 2)]
    papers = [{**paper, "id": f"p{number:04d}"} for number, paper in enumerate(papers)]
    index = sr.build(papers, tmp_path / "index", encoder="letters")
    probe = index.reader.probes(["grete hermann star"], "hybrid", None)[0]
    wanted = {
        paper["id"] for paper in papers if "Grete Hermann" in paper["authors"] and "star" in f"{paper['title']} {paper['abstract']}".split()
    }
    assert wanted
    ranking = index.search("grete hermann star", 10, mode="bm25", group=False).rankings[0]
    rows = index.snapshot.rows(list(ranking.ids[:3]))
    whole = sum(weight * bm25_of(index).rarity(term) for term, weight in probe.own_terms.items())
    assert bm25_of(index).covered_rarity(probe.own_terms, rows, probe.fields) == pytest.approx([whole] * 3)
    assert (bm25_of(index).covered_rarity(probe.own_terms, rows) < whole).all()
    assert set(ranking.ids[:3]) <= wanted
    assert np.isfinite(ranking.parts["bm25"]).all()


def test_explanations_say_which_field_has_a_word(indexes: dict[str, sr.Index]) -> None:
    index = indexes["many"]
    query = f"muller graph {YEAR}"
    hit = next(paper for paper in LIVE if "Müller, Jörg" in paper["authors"] and paper["year"] == YEAR)
    (explanation,) = sr.explain(index, query, [hit["id"]])
    assert explanation.words["muller (authors)"] == pytest.approx(expected_additions(query)[hit["id"]]["authors:muller"], abs=1e-5)
    assert f"{YEAR} (year)" in explanation.words
    assert explanation.bm25 is not None
    assert sum(explanation.words.values()) == pytest.approx(explanation.bm25.score, abs=1e-5)
