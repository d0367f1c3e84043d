"""Answers in which every work stands once."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from tests.made_up import write_jsonl
from tests.toy_encoder import StandIn

COPIES = [25, 1, 14, 3, 1, 1, 40, 2, 1, 6, 1, 1]
"""How many papers each of twelve works has."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Works in many copies, in mixed order over several shards, with vectors of no meaning. A text query has the id "1"."""
    folder, chance = tmp_path_factory.mktemp("copies"), random.Random(2)
    papers: list[dict[str, Any]] = []
    for work, copies in enumerate(COPIES):
        title = f"The graph theory of work number {work}"
        for copy in range(copies):
            shown = title.upper() if copy % 3 == 1 else title.replace(" ", " - ") if copy % 3 == 2 else title
            author = f"Name{work}, Ada" if copy % 2 else f"Ada Name{work}"
            abstract = "graph " * chance.randint(0, 9) + "theory " * chance.randint(0, 3)
            papers.append(
                {"title": shown, "authors": [author, "Someone Else"], "abstract": abstract, "work": work, "year": 2000 + copy % 9}
            )
    chance.shuffle(papers)
    for number, paper in enumerate(papers):
        paper["id"] = f"p{number:03d}"
    vectors = np.random.default_rng(4).normal(size=(len(papers) + 1, 6))
    # copies of the greatest works are the nearest, so that the first answers are all of one work
    vectors[1:, 0] += [COPIES[paper["work"]] / 6 for paper in papers]
    vectors[0] = [9.0, 0, 0, 0, 0, 0]
    ids = ["1", *(paper["id"] for paper in papers)]
    rows = [{"paper_id": id, "embedding": vector.tolist()} for id, vector in zip(ids, vectors, strict=True)]
    (folder / "v.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = sr.build(write_jsonl(folder / "p.jsonl", papers), folder / "index", encoder=f"vectors:{folder / 'v.jsonl'}", shard_size=40)
    return sr.open(index.path, encoder=StandIn(folder / "v.jsonl"))


@pytest.mark.parametrize("filter", [None, "year >= 2004", "work in (0, 6)"])
@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_an_answer_has_every_work_once(copied: sr.Index, mode: Mode, filter: str | None) -> None:
    """k works whenever there are k, each by its best paper; no paper before the last shown is lost."""
    everything = copied.search("graph theory", 1000, mode=mode, filter=filter, group=False).rankings[0]
    work = {hit.id: hit.paper.extra["work"] for hit in copied.search("graph theory", 1000, mode=mode, group=False).hits}
    best: dict[int, str] = {}
    for id in everything.ids:
        best.setdefault(work[id], id)
    scores = dict(zip(everything.ids, everything.scores.tolist(), strict=True))
    for k in (1, 2, 3, 7, 12, 15):
        ours = copied.search("graph theory", k, mode=mode, filter=filter, group=True).rankings[0]
        assert list(ours.ids) == list(best.values())[:k]
        assert ours.scores.tolist() == [scores[id] for id in ours.ids]
        for id, also in zip(ours.ids, ours.also, strict=True):
            assert id not in also
            assert {work[other] for other in also} <= {work[id]}
            assert list(also) == sorted(also, key=list(everything.ids).index)
        ids = [*ours.ids, *(other for also in ours.also for other in also)]
        assert len(ids) == len(set(ids))
        last = list(everything.ids).index(ours.ids[-1])
        assert set(everything.ids[:last]) <= set(ids)


def test_more_copies_than_are_looked_at_first(copied: sr.Index) -> None:
    """The first papers are nearly all copies of two works: the search has to go deeper to find three."""
    first = copied.search("graph theory", 3 + 10, mode="dense", group=False).hits
    assert len({hit.paper.extra["work"] for hit in first}) < 3
    hits = copied.search("graph theory", 3, mode="dense", group=True).hits
    assert len({hit.paper.extra["work"] for hit in hits}) == len(hits) == 3
    assert len(hits[0].also) > 10


def test_all_copies_of_a_work_stand_with_it(copied: sr.Index) -> None:
    hits = copied.search("graph theory", 100, mode="bm25", group=True).hits
    assert {hit.paper.extra["work"]: 1 + len(hit.also) for hit in hits} == dict(enumerate(COPIES))


def test_records_with_one_doi_are_one_work(tmp_path: Path) -> None:
    """A preprint's title may have changed in print; a DOI written as an address is the same DOI."""
    papers = [
        {"id": "print", "title": "Deep graph networks", "authors": ["Ann Aye"], "doi": "10.1000/x"},
        {"id": "preprint", "title": "Deep graph networks for molecules", "authors": ["Ann Aye"], "doi": "https://doi.org/10.1000/X"},
        {"id": "chapter", "title": "Graph colouring", "authors": ["Bob Bee"], "doi": "10.1000/x"},
        {"id": "other", "title": "Networks", "authors": ["Ann Aye"]},
    ]
    index = sr.build(papers, tmp_path / "index", encoder=None)
    hits = index.search("graph networks", 4, group=True).hits
    assert {hit.id: hit.also for hit in hits} == {"print": ("preprint",), "chapter": (), "other": ()}
    assert not any(hit.also for hit in index.search("graph networks", 4, group=False).hits)


def test_papers_like_a_given_one_are_grouped(copied: sr.Index) -> None:
    hits = copied.similar(["p000"], 12, group=True).hits
    assert len({hit.paper.extra["work"] for hit in hits}) == len(hits)
    assert "p000" not in {id for hit in hits for id in (hit.id, *hit.also)}
    assert any(hit.also for hit in copied.similar(["p000"], 3, group=True).hits)
