"""Papers that are one work: what makes two titles and two names the same, that groups never mix first authors, and answers
in which every work stands once."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.choices import Mode
from sciretrieve.query.ranking.grouping import groups, key
from sciretrieve.types import Paper
from tests.made_up import write_jsonl
from tests.toy_encoder import StandIn

LONG = "A long title that names one paper only"


def family(name: str) -> str:
    work_key = key(LONG, [name])
    assert work_key is not None
    return work_key[1]


def of(*papers: tuple[str, tuple[str, ...]]) -> list[Paper]:
    return [Paper(str(position), title, authors=authors) for position, (title, authors) in enumerate(papers)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{BERT}: Pre-training of Transformers", "BERT - pretraining of transformers"),
        ("Schrödinger's cat", 'Schr{\\"o}dinger’s Cat'),
        ("Schro\u0308dinger's cat", "Schrödinger's cat"),
        ("The \\emph{Drosophila} genome.", "The Drosophila  genome"),
        ("$\\beta$-decay", "β decay"),
        ("Graphs\u2014a\nsurvey", "Graphs: a survey"),
        ("snake_case", "Snake case"),
    ],
)
def test_titles_that_are_the_same(one: str, other: str) -> None:
    assert key(one, []) == key(other, [])


def test_titles_that_differ() -> None:
    assert key("Attention is all you need", []) != key("Attention is not all you need", [])
    assert key("Part 1", []) != key("Part 2", [])
    assert key("图像检索", []) != key("文本检索", [])


@pytest.mark.parametrize("title", ["", "  ", "?!", "$$", "{}"])
def test_an_empty_title_has_no_key(title: str) -> None:
    assert key(title, ["Ada Lovelace"]) is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Lovelace, Ada", "Ada Lovelace", "A. Lovelace", "A.Lovelace", "LOVELACE, A.", "Lovelace A.", "Ada Lovelace, PhD"], "lovelace"),
        (["van Beethoven, Ludwig", "Ludwig van Beethoven", "L. van Beethoven"], "beethoven"),
        (["King, Jr., Martin Luther", "Martin Luther King Jr.", "King III, Martin"], "king"),
        (["Gödel, Kurt", 'Kurt G{\\"o}del', "K. Godel"], "godel"),
        (["J.-P. Serre", "Serre, Jean-Pierre", "Serre J.-P."], "serre"),
        (["Conan O'Brien", "O’Brien, C."], "obrien"),
        (["O, Kenneth"], "o"),
        (["王小明"], "王小明"),
        (["", " ", ","], ""),
    ],
)
def test_family_names(names: list[str], expected: str) -> None:
    assert {family(name) for name in names} == {expected}


def test_only_the_first_author_counts() -> None:
    assert key(LONG, ["Ada Lovelace", "Charles Babbage"]) == key(LONG, ["Lovelace, A."])
    assert key(LONG, ["Charles Babbage", "Ada Lovelace"]) != key(LONG, ["Ada Lovelace"])


def test_groups_are_in_order() -> None:
    papers = of((LONG, ("Bob Bee",)), ("Other", ()), (LONG, ("Ann Aye",)), ("", ()), (LONG.upper(), ("Bee, B.",)), ("", ()))
    assert groups(papers) == [[0, 4], [1], [2], [3], [5]]


def test_a_paper_without_authors_joins_the_only_author_of_its_long_title() -> None:
    assert groups(of((LONG, ()), (LONG, ("Ann Aye",)), (LONG, ()), (LONG, ("Aye, A.",)))) == [[0, 1, 2, 3]]
    assert groups(of((LONG, ()), (LONG, ()))) == [[0, 1]]


def test_a_paper_without_authors_never_joins_two_first_authors() -> None:
    assert groups(of((LONG, ("Ann Aye",)), (LONG, ()), (LONG, ("Bob Bee",)), (LONG, ()))) == [[0], [1, 3], [2]]


def test_a_short_title_without_authors_is_alone() -> None:
    short = "Introduction"
    assert groups(of((short, ()), (short, ("Ann Aye",)), (short, ()), (short, ("Aye, Ann",)))) == [[0], [1, 3], [2]]


def test_the_length_that_tells_is_counted_in_letters_and_digits() -> None:
    assert groups(of(("a " * 25, ()), ("a" * 25, ()))) == [[0], [1]]
    assert groups(of(("a " * 26, ()), ("a" * 26, ()))) == [[0, 1]]


some_papers = st.lists(
    st.builds(
        Paper,
        st.just("id"),
        st.sampled_from(["", "Note", "NOTE.", LONG, f"{{{LONG}}}", LONG.replace(" ", "-"), "Another long title of another paper"]),
        authors=st.sampled_from([(), ("",), ("Ann Aye",), ("Aye, Ann", "Bob Bee"), ("Bob Bee",)]),
    ),
    max_size=25,
)


@given(some_papers)
def test_every_paper_is_in_one_group(papers: list[Paper]) -> None:
    works = groups(papers)
    assert sorted(position for group in works for position in group) == list(range(len(papers)))
    assert all(group == sorted(group) for group in works)
    assert [group[0] for group in works] == sorted(group[0] for group in works)


@given(some_papers)
def test_a_group_has_one_title_and_at_most_one_first_author(papers: list[Paper]) -> None:
    group_of = {position: number for number, group in enumerate(groups(papers)) for position in group}
    keys = [key(paper.title, paper.authors) for paper in papers]
    for position, one in enumerate(keys):
        for later in range(position + 1, len(keys)):
            other = keys[later]
            if group_of[position] == group_of[later]:
                assert one is not None
                assert other is not None
                assert one[0] == other[0]
                assert "" in (one[1], other[1]) or one == other
            elif one is not None and one[1]:
                assert one != other
    for group in groups(papers):
        assert len({work_key[1] for position in group if (work_key := keys[position]) and work_key[1]}) <= 1


@given(some_papers, st.randoms(use_true_random=False))
def test_groups_do_not_hang_on_the_order(papers: list[Paper], chance: object) -> None:
    order = list(range(len(papers)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    shuffled = groups([papers[position] for position in order])
    assert {frozenset(order[position] for position in group) for group in shuffled} == {frozenset(group) for group in groups(papers)}


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


def test_several_queries_are_grouped_each_for_itself(copied: sr.Index) -> None:
    queries = ["graph", "theory number 3", "work 11"]
    together = copied.search(queries, 4, mode="bm25", group=True)
    for query, ranking in zip(queries, together, strict=True):
        alone = copied.search(query, 4, mode="bm25", group=True).rankings[0]
        assert list(ranking.ids) == list(alone.ids)
        assert len(ranking) == 4


def test_papers_like_a_given_one_are_grouped(copied: sr.Index) -> None:
    hits = copied.similar(["p000"], 12, group=True).hits
    assert len({hit.paper.extra["work"] for hit in hits}) == len(hits)
    assert "p000" not in {id for hit in hits for id in (hit.id, *hit.also)}
    assert any(hit.also for hit in copied.similar(["p000"], 3, group=True).hits)
    assert not any(hit.also for hit in copied.similar(["p000"], 50, group=False).hits)
