"""RM3, and BM25's parameters as options, against plain Python over the papers' words."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.options import EvaluationOptions
from sciretrieve.query.relevance_models import Rm3, expanding
from tests.command_line import answer, sciretrieve
from tests.made_up import write_jsonl

WORDS = [
    f"{first}{last}" for first in ("lor", "mer", "tan", "vik", "zub", "pol") for last in ("ba", "da", "ka", "ma", "ra", "sa", "ta", "wa")
]
COMMON = "quor"
PAPERS = 70
QUERIES = ["lorba merda", "tanka", "viksa zubra polta", "lorba lorba tanwa", f"{COMMON} merma"]


def made_up() -> list[dict[str, Any]]:
    """Papers of words that few of them have, but for one that most have, and some that are no words of feedback: too short, too long."""
    chance = random.Random(11)
    papers = []
    for number in range(PAPERS):
        favourites = chance.sample(WORDS, 4)
        words = chance.choices(favourites, k=12) + chance.sample(WORDS, 5) + [COMMON] * (number % 4) + ["x9" * 11] * (number % 2)
        chance.shuffle(words)
        title = " ".join(chance.sample(favourites, 2))
        papers.append({"id": f"p{number:02d}", "title": title, "abstract": " ".join(words), "year": 2000 + number % 20})
    return papers


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, and indexes of it: one with both halves in four shards, one of words alone in one shard."""
    folder = tmp_path_factory.mktemp("rm3")
    corpus = write_jsonl(folder / "papers.jsonl", made_up())
    sr.build(corpus, folder / "both", shard_size=20, progress=False).close()
    sr.build(corpus, folder / "words", encoder=None, progress=False).close()
    return folder


def terms(text: str) -> list[str]:
    """The terms of a text, as they are indexed: what tests/matching/lexical is about."""
    return Analyzer().terms(text)


class Plain:
    """BM25 (Lucene's, k1 1.2, b 0.75, a title counts twice) and RM3 in plain Python."""

    def __init__(self, papers: list[dict[str, Any]], k1: float = 1.2, b: float = 0.75) -> None:
        self.k1, self.b = k1, b
        self.once = {paper["id"]: Counter(terms(f"{paper['title']} {paper['abstract']}")) for paper in papers}
        self.weighed = {paper["id"]: self.once[paper["id"]] + Counter(terms(paper["title"])) for paper in papers}
        self.length = {id: sum(counts.values()) for id, counts in self.weighed.items()}
        self.mean = sum(self.length.values()) / len(papers)
        self.having = Counter(term for counts in self.once.values() for term in counts)

    def scores(self, query: dict[str, float], among: set[str] | None = None) -> list[tuple[str, float]]:
        """The papers with any of the weighted terms, best first."""
        rows = {}
        for id, counts in self.weighed.items():
            if (among is None or id in among) and any(term in counts for term in query):
                norm = self.k1 * (1 - self.b + self.b * self.length[id] / self.mean)
                having = {term: weight for term, weight in query.items() if counts[term]}
                rows[id] = sum(weight * self.rarity(term) * counts[term] / (counts[term] + norm) for term, weight in having.items())
        return sorted(rows.items(), key=lambda row: (-row[1], row[0]))

    def rarity(self, term: str) -> float:
        return math.log(1 + (len(self.once) - self.having[term] + 0.5) / (self.having[term] + 0.5))

    def rm3(self, text: str, docs: int, count: int, own: float, among: set[str] | None = None) -> list[tuple[str, float]]:
        """As Anserini has it: both models with weights that add up to 1."""
        query = {term: 4 * n / (3 + n) for term, n in Counter(terms(text)).items()}
        query = {term: weight for term, weight in query.items() if self.having[term]}
        model: dict[str, float] = {}
        for id, score in self.scores(query, among)[:docs]:
            kept = {term: n for term, n in self.once[id].items() if self.having[term] <= len(self.once) / 10 and 2 <= len(term) <= 20}
            first = sorted(kept.items(), key=lambda item: (-item[1], item[0]))[:count]
            for term, n in first:
                model[term] = model.get(term, 0) + score * n / sum(n for _, n in first)
        best = sorted(model.items(), key=lambda item: (-item[1], item[0]))[:count]
        total, size = sum(weight for _, weight in best), sum(query.values())
        mixed = {term: own * weight / size for term, weight in query.items()}
        for term, weight in best if own < 1 else ():
            mixed[term] = mixed.get(term, 0) + (1 - own) * weight / total
        return self.scores(mixed, among)


@pytest.mark.parametrize(("docs", "count", "own"), [(10, 10, 0.5), (3, 5, 0.3), (5, 20, 0.9), (4, 4, 1.0)])
@pytest.mark.parametrize("name", ["both", "words"])
def test_rm3_is_what_plain_python_computes(made: Path, name: str, docs: int, count: int, own: float) -> None:
    plain = Plain(made_up())
    changed = 0
    with sr.open(made / name) as index:
        with_rm3 = expanding(index, Rm3(docs, count, own))
        for text in QUERIES:
            ranking = with_rm3.search(sr.Query("q", text), PAPERS, mode="bm25", group=False)[0]
            expected = plain.rm3(text, docs, count, own)
            assert list(ranking.ids) == [id for id, _ in expected], text
            ratio = ranking.scores[0] / expected[0][1]  # the query's own terms keep their weights
            assert ranking.scores.tolist() == pytest.approx([ratio * score for _, score in expected], rel=1e-4)
            changed += list(ranking.ids) != list(index.search(sr.Query("q", text), PAPERS, mode="bm25", group=False)[0].ids)
    assert (changed > 0) == (own < 1)


def test_terms_are_taken_from_papers_that_may_answer(made: Path) -> None:
    passing = {paper["id"] for paper in made_up() if paper["year"] >= 2010}
    with sr.open(made / "words") as index:
        for text in QUERIES:
            run = expanding(index, Rm3()).search(sr.Query("q", text), PAPERS, mode="bm25", group=False, since=2010)
            assert list(run[0].ids) == [id for id, _ in Plain(made_up()).rm3(text, 10, 10, 0.5, passing)]


def test_the_words_half_of_hybrid_is_expanded_and_the_query_stays_as_long_as_it_was(made: Path) -> None:
    with sr.open(made / "both") as index:
        with_rm3 = expanding(index, Rm3(), {})
        for text in QUERIES[:3]:
            hybrid = with_rm3.search(text, PAPERS, group=False)[0]
            by_words = with_rm3.search(text, PAPERS, mode="bm25", group=False)[0]
            expected = dict(zip(by_words.ids, by_words.scores.tolist(), strict=True))
            found = {id: score for id, score in zip(hybrid.ids, hybrid.parts["bm25"].tolist(), strict=True) if not math.isnan(score)}
            assert found == pytest.approx(expected)
            plain = index.search(text, PAPERS, group=False)[0]
            assert hybrid.parts["dense"].max() == plain.parts["dense"].max()
            assert hybrid.strength == plain.strength or hybrid.ids != plain.ids


def test_candidates_are_scored_as_a_search_over_them_scores(made: Path) -> None:
    ids = [f"p{number:02d}" for number in range(0, PAPERS, 2)]
    with sr.open(made / "words") as index:
        scores = expanding(index, Rm3(4)).score(sr.Query("q", "lorba merda"), ids, mode="bm25")
        expected = Plain(made_up()).rm3("lorba merda", 4, 10, 0.5, set(ids))
        order = sorted((id for id, score in zip(ids, scores, strict=True) if score > 0), key=lambda id: (-scores[ids.index(id)], id))
        assert order == [id for id, _ in expected]


def test_nothing_found_and_nothing_telling_adds_nothing(made: Path) -> None:
    with sr.open(made / "words") as index:
        with_rm3 = expanding(index, Rm3())
        assert len(with_rm3.search("unheardof")[0]) == 0
        few = expanding(index, Rm3(1, 1)).search(COMMON, PAPERS, group=False)[0]
        assert len(few) >= len(index.search(COMMON, PAPERS, group=False)[0])
        listed = with_rm3.search("year:2005")[0]
        assert listed.ids == index.search("year:2005")[0].ids


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (2.0, 0.0), (0.0, 1.0)])
def test_k1_and_b_are_those_of_the_search(made: Path, k1: float, b: float) -> None:
    asked, usual = Plain(made_up(), k1, b), Plain(made_up())
    with sr.open(made / "both") as index:
        for text in QUERIES:
            query = {term: 4 * n / (3 + n) for term, n in Counter(terms(text)).items()}
            options = sr.SearchOptions(mode="bm25", group=False)
            for plain, chosen in ((asked, replace(options, k1=k1, b=b)), (usual, options)):  # and the index stays as it is
                ranking = index.search(sr.Query("q", text), PAPERS, chosen)[0]
                expected = dict(plain.scores(query))
                assert ranking.scores.tolist() == pytest.approx([expected[id] for id in ranking.ids], rel=1e-4)
                assert len(ranking) == len(expected)


def test_each_half_proposes_as_many_papers_as_depth_says(made: Path) -> None:
    with sr.open(made / "both") as index:
        halves = [index.search("lorba merda", 6, mode=mode, group=False)[0].ids for mode in ("dense", "bm25")]
        found = index.search("lorba merda", 6, depth=6, group=False)[0].ids
        assert set(found) <= {*halves[0], *halves[1]}
        assert index.snapshot.tuned(sr.SearchOptions(depth=6)).depth == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k1": 0.9, "mode": "dense"}, "`k1` is a setting of BM25"),
        ({"fusion": "rrf", "alpha": 0.3}, "leave out `alpha`"),
    ],
)
def test_what_makes_no_sense_is_refused(made: Path, options: dict[str, Any], said: str) -> None:
    with sr.open(made / "both") as index, pytest.raises(InvalidRequest) as error:
        index.search("lorba", **options)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rm3": True, "mode": "dense"}, "`rm3` expands words, which `mode='dense'` does without"),
        ({"fb_docs": 3}, "`fb_docs` is a setting of RM3; add `rm3`"),
        ({"rm3": True, "original_weight": 0.0}, "`original_weight`, the share of the query's own words, lies above 0"),
    ],
)
def test_settings_of_an_evaluation_that_make_no_sense_are_refused(made: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        EvaluationOptions(**options).check_mode()
    assert said in str(error.value)


def test_only_an_evaluation_has_it(made: Path) -> None:
    assert sciretrieve("search", "lorba", "-i", made / "words", "--set", "rm3=true").returncode == 2
    assert "rm3" in answer("evaluate", "--help-all")
