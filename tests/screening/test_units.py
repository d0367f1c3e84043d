"""Near-identical papers are decided on once, and all counts are of works."""

import json
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NoSuchPaper
from sciretrieve.screening.rules import DRY

COPIES = 3


@pytest.fixture(scope="module")
def doubled(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Eighty works, the first twenty of which are there three times: as a preprint without an abstract, in capitals, and without the
    subtitle and the author, by DOI. All others have one DOI, as chapters of a book have in some databases."""
    rows: list[dict[str, Any]] = []
    for work in range(80):
        title, doi = f"Work {work} and its long and distinctive title: what it is about", f"10.1000/{work if work < 20 else 'book'}"
        row = {"title": title, "abstract": f"vaccine dose {work}", "authors": [f"Ada Author{work}"], "year": 2010, "doi": doi}
        rows.append({"id": f"w{work}", **row})
        if work < 20:
            rows.insert(0, {"id": f"pre{work}", **row, "abstract": "", "doi": None, "year": 2009, "title": title.upper()})
            rows.append({"id": f"db{work}", **row, "title": title.split(":")[0], "authors": [], "doi": f"https://doi.org/{doi}"})
    return sr.build(rows, tmp_path_factory.mktemp("doubled") / "index", encoder=None, shard_size=50)


def test_a_work_is_one_and_any_of_its_papers_stands_for_it(doubled: sr.Index, tmp_path: Path) -> None:
    file = tmp_path / "review.jsonl"
    with sr.Screening(doubled, file, "vaccine dose") as session:
        assert (len(session), session.status.papers, len(doubled)) == (80, 80, 120)
        shown = [paper.id for paper in session.next(100)]
        assert len(shown) == 80
        assert not any(id.startswith("pre") for id in shown)  # there is one with an abstract
        session.decide("pre3", "db4", "w5")
        assert (session.relevant, session.irrelevant, session.unresolved) == (["w3"], ["w4"], ["w5"])
        assert {*session.units.also["w3"]} == {"pre3", "db3"}
        session.decide("db4")  # the last decision counts, on whatever paper of a work
        assert session.status.read == COPIES
        with pytest.raises(InvalidRequest, match="two decisions"):
            session.decide("pre6", "db6")
        assert not {"w3", "w4", "w5"} & {paper.id for paper in session.next(100)}
    with sr.Screening(doubled, file) as session:
        assert session.relevant == ["w3", "w4"]
        assert {row["id"] for row in map(json.loads, file.read_text().splitlines()) if "relevant" in row} == {"w3", "w4", "w5"}


def test_the_sample_and_its_bounds_are_of_works(doubled: sr.Index, tmp_path: Path) -> None:
    with sr.Screening(doubled, tmp_path / "review.jsonl", "vaccine dose") as session:
        session.decide(irrelevant=[paper.id for paper in session.next(DRY)])
        drawn = [paper.id for paper in session.next(100)]
        assert len(drawn) == len(set(drawn)) == 80 - DRY
        session.decide(drawn[0], drawn[1:-1])
        assert (session.status.sampled, session.status.unread) == (80 - DRY - 1, 1)
        session.decide(irrelevant=drawn[-1])
        assert (session.status.recall, session.status.stop) == (1.0, True)


def test_papers_can_be_decided_on_one_by_one(doubled: sr.Index, tmp_path: Path) -> None:
    with sr.Screening(doubled, tmp_path / "review.jsonl", "vaccine dose", group=False) as session:
        assert len(session) == 120
        session.decide("pre3", "w3")
        assert (session.relevant, session.irrelevant) == (["pre3"], ["w3"])
    with pytest.raises(InvalidRequest, match="begun with group False"):
        sr.Screening(doubled, tmp_path / "review.jsonl", group=True)


def test_groups_are_those_that_a_session_began_with(doubled: sr.Index, tmp_path: Path) -> None:
    """They stand in the file, so that a title that is corrected later moves no paper from one work to another."""
    file = tmp_path / "review.jsonl"
    sr.Screening(doubled, file, "vaccine dose").close()
    start = json.loads(file.read_text().splitlines()[0])
    assert len(start["groups"]) == 20
    file.write_text(json.dumps(start | {"groups": [["w0", "w1"]]}) + "\n")
    with sr.Screening(doubled, file) as session:
        assert len(session) == 119
    for groups in ([["w0"]], [["w0", "nobody"]], [["w0", "w1"], ["w1", "w2"]], "w0", [["w0", 7]]):
        file.write_text(json.dumps(start | {"groups": groups}) + "\n")
        with pytest.raises(InvalidRequest, match="line 1: not the first line"):
            sr.Screening(doubled, file)


def test_only_the_papers_that_pass_are_grouped(doubled: sr.Index, tmp_path: Path) -> None:
    with sr.Screening(doubled, tmp_path / "review.jsonl", "vaccine", filter="year >= 2010") as session:
        assert len(session) == 80
        assert session.units.also["w3"] == ["db3"]
        with pytest.raises(NoSuchPaper, match="no paper 'pre3'"):
            session.decide("pre3")


def test_a_work_ranks_by_the_best_of_its_papers(doubled: sr.Index, tmp_path: Path) -> None:
    query = "its long title about work 13"
    with sr.Screening(doubled, tmp_path / "review.jsonl", query) as session:
        run = doubled.search(query, 120, group=False)
        best: dict[str, float] = {}
        for id, score in zip(run[0].ids, run[0].scores.tolist(), strict=True):
            shown = session.units.ids[session.units.place_of[id]]
            best[shown] = max(best.get(shown, score), score)
        expected = sorted(best, key=lambda id: (-best[id], id))
        assert [paper.id for paper in session.next(len(expected))] == expected
