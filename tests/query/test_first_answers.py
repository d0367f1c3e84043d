"""The first papers of an answer are the same for every larger k, every order of the rows, every sharding, and after updates that change
nothing; with all that an answer can be asked for, over libraries made up by chance."""

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.types import Paper, Query, Scores, Vectors
from sciretrieve.query.index import Index
from sciretrieve.query.ranking import diversity, linking
from sciretrieve.runs import Ranking
from tests.made_up import TOPICS

Rows = list[dict[str, Any]]
NAMES = ("Ada Schwarz", "Bo Schwarz", "Cid Witten", "Dee Müller", "Eve Witten", "Flo Graph")
WORDS_OF_TEXTS = sorted({word for words in TOPICS.values() for word in words})


def library(chance: random.Random) -> Rows:
    """Papers of few words and few authors, so that many share scores, titles, names and DOIs, and cite each other."""
    count = chance.randint(40, 90)
    papers: Rows = []
    for number in range(count):
        title = " ".join(chance.choices(WORDS_OF_TEXTS, k=chance.randint(1, 5)))
        paper = {
            "id": f"{chance.choice('abc')}{number}",
            "title": title,
            "abstract": " ".join(chance.choices(WORDS_OF_TEXTS, k=chance.randint(0, 12))),
            "authors": chance.sample(NAMES, chance.randint(0, 2)),
            "year": chance.choice([None, 1999, 2005, 2012]),
            "doi": chance.choice([None, None, f"10.1000/{chance.randint(0, 30)}"]),
        }
        if papers and chance.random() < 0.2:  # another record of an earlier one, with or without what tells that
            twin = chance.choice(papers)
            paper |= {"title": twin["title"] * 3, "authors": chance.choice([twin["authors"], []])}
            twin["title"] = paper["title"]
        papers.append(paper)
    ids = [paper["id"] for paper in papers]
    return [{**paper, "references": chance.sample(ids, chance.randint(0, 3))} for paper in papers]


class Words:
    """An encoder of one's own: unit vectors that count words, those of titles threefold, in few places."""

    identity, dim = "words of first answers", 24

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        return np.array([self._vector(f"{paper.title} {paper.title} {paper.title} {paper.abstract}") for paper in papers])

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        return np.array([self._vector(query.text) for query in queries])

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(self.dim, np.float32)
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % self.dim] += 1
        return vector / max(float(np.linalg.norm(vector)), 1e-6)


WORDS = Words()


class Letters:
    """A reranker of no sense."""

    name = "letters"

    def score(self, query: Query, papers: Sequence[Paper]) -> Scores:
        return np.array([float(len(paper.title) * 7 % 5) for paper in papers])


def asked(chance: random.Random, papers: Rows) -> tuple[Callable[[Index, int], Ranking], dict[str, Any]]:
    """A search, by what it asks and an index and k; and what else it says, to be shown where it fails."""
    paper, other = chance.sample(papers, 2)
    text = chance.choice(
        [
            " ".join(chance.choices(WORDS_OF_TEXTS, k=chance.randint(1, 9))),
            chance.choice(["schwarz", "witten 1999", "ada schwarz", "müller", "graph", "schwarz graph"]),
            paper["title"],
            paper["doi"] or "galaxxy dust",
            f'"{paper["title"].split()[0]}" OR star',
            f"year:1999 {chance.choice(WORDS_OF_TEXTS)}",
            "netwroks of moleculs",
        ]
    )
    mode = chance.choice(["hybrid", "hybrid", "hybrid", "bm25", "dense"])
    options: dict[str, Any] = {
        "mode": mode,
        "group": chance.random() < 0.6,
        "filter": chance.choice([None, None, "year >= 2000", "authors contains 'schwarz'"]),
        "diversify": chance.random() < 0.2,
    }
    if mode == "hybrid":
        options |= {"depth": chance.choice([3, 8, None]), "fusion": chance.choice([None, None, "rrf"])}
    way = chance.choice(["search", "search", "search", "rerank", "feedback", "similar", "citations"])
    given_ids = {"like": paper["id"], "unlike": [other["id"]]}
    if way == "rerank":
        options |= {"reranker": Letters(), "rerank_depth": chance.choice([2, 6, 200])}
    facts = {"text": text, "way": way, **options}
    if way == "similar":
        by = chance.choice([None, "text", "both"])
        return lambda index, k: index.similar(paper["id"], k, negatives=other["id"], by=by, **options)[0], facts | {"by": by}
    if way == "citations":
        options = {name: options[name] for name in ("group", "filter")}
        return lambda index, k: index.similar([paper["id"], other["id"]], k, by="citations", **options)[0], facts
    return lambda index, k: index.search(text, k, **options, **(given_ids if way == "feedback" else {}))[0], facts


def told(ranking: Ranking) -> list[tuple[Any, ...]]:
    """Of each paper what an answer says: its id, its score in all and in each part, and whether the query names it."""
    parts = [np.nan_to_num(values, nan=-99).tolist() for _, values in sorted(ranking.parts.items())]
    return [*zip(ranking.ids, ranking.scores.tolist(), map(ranking.known.get, ranking.ids), *parts, strict=True)]


@contextmanager
def small_depths() -> Iterator[None]:
    """Depths that these libraries are larger than."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "DEPTH", 12)
        patch.setattr(diversity, "POOL", 7)
        patch.setattr("sciretrieve.query.index.POOL", 7)
        yield


def variants(papers: Rows, chance: random.Random, folder: Path) -> dict[str, Sequence[Path]]:
    """Indexes, or several to be searched as one, that have the same papers in other rows and shards."""

    def build(name: str, rows: Rows, shard_size: int) -> Path:
        sr.build(rows, folder / name, encoder=WORDS, shard_size=shard_size, progress=False).close()
        return folder / name

    mixed, half = chance.sample(papers, len(papers)), len(papers) // 2
    changed = [{**paper, "abstract": "market", "year": 1950} for paper in chance.sample(papers, 9)]
    updated = build("updated", [*papers[half:], *changed], 29)
    for rows in (papers, papers[:3]):
        sr.add(rows, updated, encoder=WORDS, progress=False)
    return {
        "mixed": [build("mixed", mixed, 17)],
        "updated": [updated],
        "split": [build("first", mixed[:half], 1000), build("second", mixed[half:], 13)],
    }


@pytest.mark.parametrize("part", range(2))
def test_the_first_papers_of_an_answer_are_the_same(part: int, tmp_path: Path, effort: Callable[[int, int], int]) -> None:
    """Of each k those of the longest answer, whatever is asked; and of each variant the same, with the same total and facets."""
    for seed in range(1000 * part, 1000 * part + effort(1, 100)):
        chance, folder = random.Random(seed), tmp_path / str(seed)
        papers = library(chance)
        with ExitStack() as opened, small_depths():
            sr.build(papers, folder / "plain", encoder=WORDS, shard_size=1000, progress=False).close()
            plain = opened.enter_context(sr.open(folder / "plain", encoder=WORDS))
            others: dict[str, Index] = {
                name: opened.enter_context(sr.open_many(paths, encoder=WORDS) if len(paths) > 1 else sr.open(paths[0], encoder=WORDS))
                for name, paths in variants(papers, chance, folder).items()
            }
            for number in range(effort(10, 80)):
                search, facts = asked(chance, papers)
                facts |= {"seed": seed, "number": number}
                whole = search(plain, len(papers) + 5)
                for k in chance.sample(range(1, len(papers) + 5), 3):
                    assert told(search(plain, k)) == told(whole)[:k], facts | {"k": k}
                for name, index in others.items():
                    ranking = search(index, len(papers) + 5)
                    assert (ranking.total, ranking.strength, ranking.corrections) == (whole.total, whole.strength, whole.corrections), facts
                    if not facts["group"] or name != "split":
                        assert told(ranking) == told(whole), facts | {"name": name}
                    k = chance.randint(1, len(papers))
                    assert told(search(index, k)) == told(ranking)[:k], facts | {"name": name, "k": k}
