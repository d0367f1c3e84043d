"""Full texts in a search: the rule by which passages count, beside a plain loop; phrases, fields and counts beside the texts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Hit
from sciretrieve.matching.full_texts import SHARE, two_best
from sciretrieve.storage.fulltext import FULLTEXT
from tests.toy_encoder import LetterEncoder

WORDS = ["graph", "tree", "star", "node", "edge", "path", "loop", "cycle", "forest", "leaf", "root", "branch"]
QUERIES = ("graph tree", "star of a node", "leaf", "cycle loop forest edge path")


def sentences(chance: Random, count: int) -> str:
    return " ".join(f"The {' '.join(chance.choices(WORDS, k=9))} is here." for _ in range(count))


def papers(shuffled: int | None = None) -> list[dict[str, Any]]:
    """Thirty papers, of which twenty have a full text."""
    chance = Random(5)
    rows: list[dict[str, Any]] = []
    for number in range(30):
        text = f"1 Introduction\n\n{sentences(chance, 30)}\n\n2 Methods\n\n{sentences(chance, 30)}"
        rows.append({"id": f"p{number:02}", "title": f"On {chance.choice(WORDS)}", "abstract": sentences(chance, 4), "year": 2000 + number})
        rows[-1]["text"] = text if number % 3 else None
    if shuffled is not None:
        Random(shuffled).shuffle(rows)
    return rows


def built(path: Path, rows: list[dict[str, Any]], shard_size: int = 7, *, with_texts: bool = True) -> sr.Index:
    sr.build(rows, path, encoder=LetterEncoder(), shard_size=shard_size).close()
    if with_texts:
        sr.add_full_texts("text", path, encoder=LetterEncoder())
    return sr.open(path, encoder=LetterEncoder())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


@pytest.fixture(scope="module")
def index(folder: Path) -> sr.Index:
    return built(folder / "index", papers())


@pytest.fixture(scope="module")
def without(folder: Path) -> sr.Index:
    """The same papers without full texts."""
    return built(folder / "without", papers(), with_texts=False)


@pytest.mark.parametrize("mode", ["dense", "bm25"])
@pytest.mark.parametrize("query", QUERIES)
def test_the_rule(index: sr.Index, without: sr.Index, mode: Any, query: str) -> None:
    """S = A + SHARE (P - A - mean of P - A), where P is the mean of the two best passages; A for papers without a full text."""
    with sr.open(index.path / FULLTEXT, encoder=LetterEncoder()) as passages:  # an index like any other
        run = passages.search(query, 10_000, mode=mode, group=False)[0]
    scores_of: dict[str, list[float]] = {}
    for id, score in zip(run.ids, run.scores.tolist(), strict=True):
        scores_of.setdefault(id.partition("#")[0], []).append(score)
    own_run = without.search(query, 1000, mode=mode, group=False)[0]
    own = dict.fromkeys((row["id"] for row in papers()), 0.0) | dict(zip(own_run.ids, own_run.scores.tolist(), strict=True))
    gains = {}
    for row in papers():
        if row["text"]:
            best = sorted(scores_of.get(row["id"], []), reverse=True)[:2] + [0.0, 0.0]
            gains[row["id"]] = sum(best[:2]) / 2 - own[row["id"]]
    usual = sum(gains.values()) / len(gains)
    expected = {id: score + SHARE * (gains[id] - usual) if id in gains else score for id, score in own.items()}
    found = index.search(query, 1000, mode=mode, group=False)[0]
    assert len(found) >= len(own_run)
    for id, score in zip(found.ids, found.scores.tolist(), strict=True):
        assert score == pytest.approx(expected[id], abs=1e-5)
    assert all(found.scores[:-1] >= found.scores[1:])


def test_a_book_is_not_first_because_it_is_long(folder: Path) -> None:
    """Its best of five hundred passages by chance score higher than those of papers, of whatever it tells."""
    rows = papers()
    chance = Random(9)
    book = "\n\n".join(f"{number} Chapter\n\n{sentences(chance, 20)}" for number in range(1, 121))
    rows[1]["text"] = book
    with built(folder / "book", rows) as index:
        assert len(index.full_text("p01")) > 120
        queries = [" ".join(chance.sample(WORDS, 3)) for _ in range(20)]
        ranks = [index.search(query, 30, mode="bm25", group=False)[0].ids.index("p01") for query in queries]
    assert 5 < np.mean(ranks) < 24


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_filters_hold_for_papers_with_full_texts_and_without(index: sr.Index, mode: Any) -> None:
    for years in ("year < 1900", "year = 2003", "year = 2004", "year in (2003, 2004, 2007)"):
        passing = set(index.ids(index.matching("", years)))
        assert set(index.search("graph tree", 30, mode=mode, filter=years, group=False)[0].ids) == passing
    assert index.search("graph tree", mode=mode, filter="year < 1900").hits == []


def test_by_words_only_papers_with_one_of_them_answer(index: sr.Index) -> None:
    for word in ("graph", "zebra"):
        having = {row["id"] for row in papers() if word in f"{row['title']} {row['abstract']} {row['text']}"}
        assert set(index.search(word, 30, mode="bm25", group=False)[0].ids) == having


def test_two_best_is_what_a_loop_finds() -> None:
    chance = np.random.default_rng(3)
    for _ in range(50):
        counts = chance.integers(1, 5, chance.integers(1, 6))
        scores = chance.integers(0, 4, int(counts.sum())).astype(float)
        scores[chance.random(len(scores)) < 0.2] = -np.inf
        parts = np.split(scores, np.cumsum(counts)[:-1])
        expected = []
        for part in parts:
            best = sorted(np.where(np.isfinite(part), part, 0.0), reverse=True)[:2]
            expected.append(sum(best) / len(best))
        assert two_best(scores, np.cumsum(counts) - counts).tolist() == expected
    assert len(two_best(np.empty(0), np.empty(0, np.int64))) == 0


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_papers_without_a_full_text_keep_their_scores_in_each_half(index: sr.Index, without: sr.Index, mode: Any) -> None:
    for query in QUERIES:
        own = without.search(query, 1000, mode=mode, group=False)[0]
        found = index.search(query, 1000, mode=mode, group=False)[0]
        for half in own.parts:
            of_papers = dict(zip(own.ids, own.parts[half].tolist(), strict=True))
            for id, score in zip(found.ids, found.parts[half].tolist(), strict=True):
                if int(id[1:]) % 3 == 0:
                    assert score == pytest.approx(of_papers[id], abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_the_first_papers_do_not_depend_on_k_or_rows_or_shards(index: sr.Index, folder: Path, mode: Any) -> None:
    with built(folder / f"shuffled {mode}", papers(shuffled=3), shard_size=30) as other:
        for query in QUERIES:
            first = index.search(query, 3, mode=mode)[0]
            for run in (index.search(query, 12, mode=mode), other.search(query, 3, mode=mode)):
                assert run[0].ids[:3] == first.ids
                assert run[0].scores[:3] == pytest.approx(first.scores, abs=1e-6)
                assert [passage_of(hit) for hit in run.hits[:3]] == [passage_of(hit) for hit in index.search(query, 3, mode=mode).hits]


def passage_of(hit: Hit) -> str | None:
    return None if hit.passage is None else hit.passage.text


def test_each_hit_shows_a_passage_of_its_own_full_text_if_it_has_one(index: sr.Index) -> None:
    for query in QUERIES:
        for hit in index.search(query, 30, group=False).hits:
            assert (hit.passage is None) == (int(hit.id[1:]) % 3 == 0)
            if hit.passage is not None:
                assert hit.passage in index.full_text(hit.id)
                start, end = hit.passage.start, hit.passage.end
                assert " ".join(str(hit.paper.extra["text"])[start:end].split()) == hit.passage.text


def test_phrases_are_found_in_full_texts_and_their_passages_shown(index: sr.Index) -> None:
    rows = papers()
    chance = Random(7)
    for _ in range(12):
        words = chance.choice([row["text"] or row["abstract"] for row in rows]).split()
        place = chance.randrange(len(words) - 3)
        phrase = " ".join(words[place : place + 3])
        if "." in phrase or "\n" in phrase or phrase.split()[0] in ("1", "2"):
            continue
        having = {row["id"] for row in rows if phrase in f"{row['title']} | {row['abstract']} | {row['text']}"}
        run = index.search(f'"{phrase}"', 30, group=False)
        assert {hit.id for hit in run.hits} == having
        assert index.count(f'"{phrase}"') == len(having)
        assert index.count(f'NOT "{phrase}"') == len(rows) - len(having)
        for hit in run.hits:
            passages = [passage for passage in index.full_text(hit.id) if phrase in passage.text]
            assert not passages or hit.passage in passages


def test_fields_of_full_texts(index: sr.Index) -> None:
    rows = papers()
    phrase = " ".join(rows[1]["abstract"].split()[1:5])
    assert [index.count(f'{field}"{phrase}"') for field in ("", "abstract:", "fulltext:")] == [1, 1, 0]
    assert index.count("section:methods") == sum(row["text"] is not None for row in rows)
    assert index.count("section:conclusions") == 0
    assert index.count("section:methods AND year:2001") == 1


def test_passages(index: sr.Index) -> None:
    found = index.passages("graph tree", k=5)
    assert len(found) == 5
    assert all(passage in index.full_text(passage.paper) for passage in found)
    assert {passage.paper for passage in index.passages("graph tree", k=50, within=["p04", "p05"])} == {"p04", "p05"}
    assert {passage.paper for passage in index.passages("graph", k=500, filter="year < 2003")} == {"p01", "p02"}
    assert all(passage.section == "2 Methods" for passage in index.passages("graph section:methods", k=20))
    assert index.reader.matching_passages("section:methods", "year = 2001").tolist()


def test_words_of_full_texts_alone_are_no_slips(folder: Path) -> None:
    rows = papers()
    rows[1]["text"] += " The quagga is an animal."
    rows[2]["abstract"] = "A quaggy is none."
    with built(folder / "slips", rows) as index:
        run = index.search("quagga")
        assert (run[0].ids[0], run[0].corrections) == ("p01", {})
        assert not run[0].weak


def test_of_several_indexes_each_has_its_own_full_texts(index: sr.Index, folder: Path) -> None:
    rows = papers()
    for row in rows:
        row |= {"id": row["id"].replace("p", "q"), "title": f"Other {row['title']}"}
    built(folder / "other", rows).close()
    with sr.open_many([index, folder / "other"], encoder=LetterEncoder()) as several:
        hits = several.search("graph tree", 60, group=False).hits
        assert len(hits) == 60
        for hit in hits:
            assert hit.passage is None or hit.passage.paper == hit.id
            assert (hit.passage is None) == (int(hit.id[1:]) % 3 == 0)


def test_an_index_without_full_texts_says_so(without: sr.Index) -> None:
    with pytest.raises(InvalidRequest, match="has no full texts"):
        without.passages("graph")
    assert without.full_text("p01") == []
    assert all(hit.passage is None for hit in without.search("graph").hits)
